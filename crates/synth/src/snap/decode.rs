//! From bytes to an update: what its parts must agree on.

use std::io::Read;

use cuzk_values::{Node, Snap};

use super::layout::First;
use super::{Known, Partitions, check};
use crate::input::InputError;
use crate::input::error::{Fault, Problem, hex};
use crate::input::layers::Layers;
use crate::input::open::{Opened, open};
use crate::input::request::{GIVEN, Kind, Proofs, REGISTERED, Registered, Request, agree};
use crate::input::window::Window;
use crate::post::{kind_name, same_size};
use crate::registered::UpdateProof;

/// Reads an update in any [`Encoding`](super::Encoding), compressed or not, and
/// checks all but its Poseidon trees (see the [module](super)).
///
/// The input is a stream: beside the update, reading takes a few buffers of 64 KiB,
/// whatever the input's length.
///
/// # Errors
/// [`InputError::Invalid`], with the path, the byte and the value.
pub fn decode(input: impl Read, known: &Known) -> Result<Snap, InputError> {
    decode_noting(input, known, &mut Layers::default())
}

/// As [`decode`]; notes the encodings as they are recognised.
///
/// # Errors
/// As [`decode`].
pub fn decode_noting(input: impl Read, known: &Known, layers: &mut Layers) -> Result<Snap, InputError> {
    layers.0.clear();
    let mut request = Request::snap();
    let read = match open(Window::new(input), layers, Proofs::recognises) {
        Ok(Opened::Json(json)) => request.read_json(json, layers),
        Ok(Opened::Binary(window)) => request.read_bincode(window, layers),
        Err(fault) => Err(fault),
    };
    read.and_then(|()| settle(request, known)).map_err(|fault| fault.error(layers))
}

/// Holds what was read against what its size asks for, and against what is known.
pub(crate) fn settle(request: Request, known: &Known) -> Result<Snap, Fault> {
    let registered = registered(&request)?;
    let Proofs::Snap(Partitions { partitions, first: Some(first) }) = request.proofs else {
        let expected = "the proof of at least one partition";
        let problem = Problem::Expected { expected, found: "none".into() };
        return Err(Fault::from(problem).in_field("vanilla_proofs"));
    };
    let First { shape, comm_c, old, data, new } = first;
    if let Some(Kind::Post(kind)) = request.kind {
        let problem = Problem::differs(kind_name(kind), "snap", "what the vanilla proofs are of");
        return Err(Fault::from(problem).in_field("kind"));
    }
    let registered = registered.map(|proof| proof.shape.sector_size());
    let sector_size = agree("sector_size", request.sector_size, registered, REGISTERED, u64::to_string)?;
    let sector_size = agree("sector_size", sector_size, known.sector_size, GIVEN, u64::to_string)?;
    same_size(sector_size, shape.sector)?;

    let high_bits = agree("high_bits", request.high_bits, known.high_bits, GIVEN, u32::to_string)?;
    let high_bits = high_bits.unwrap_or(shape.default_high_bits());
    if !shape.high_bits.contains(&high_bits) {
        let mut known = shape.high_bits.to_vec();
        known.dedup();
        let known: Vec<String> = known.iter().map(u32::to_string).collect();
        let found =
            format!("{high_bits}, where the circuit of {} sectors knows {}", shape.sector, known.join(", "));
        let problem = Problem::Expected { expected: "a number of bits that the circuit knows", found };
        return Err(Fault::from(problem).in_field("high_bits"));
    }
    let node = |node: &Node| format!("0x{}", hex(node));
    let needed = |name, said, known| {
        let value = agree(name, said, known, GIVEN, node)?;
        value.ok_or_else(|| Fault::from(Problem::NotGiven).in_field(name))
    };
    let snap = Snap {
        sector_size: shape.sector.sector_size(),
        high_bits,
        comm_r_old: needed("comm_r_old", request.comm_r_old, known.comm_r_old)?,
        comm_r_new: needed("comm_r_new", request.comm_r_new, known.comm_r_new)?,
        comm_d_new: needed("comm_d_new", request.comm_d_new, known.comm_d_new)?,
        comm_c,
        root_r_old: old,
        root_r_new: new,
        partitions,
    };
    check::on_reading(&snap, shape, &data)?;
    Ok(snap)
}

fn registered(request: &Request) -> Result<Option<UpdateProof>, Fault> {
    let (found, proof) = match &request.registered {
        None => return Ok(None),
        Some(Registered::Number(number)) => (number.to_string(), UpdateProof::of_number(*number)),
        Some(Registered::Name(name)) => (format!("{name:?}"), UpdateProof::of_name(name)),
    };
    proof.map(Some).ok_or_else(|| {
        let expected = "a registered update proof: 0 to 4, or a name as StackedDrg32GiBV1";
        Fault::from(Problem::Expected { expected, found }).in_field("registered_proof")
    })
}
