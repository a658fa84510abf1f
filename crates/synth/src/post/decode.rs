//! From bytes to a PoSt: what its parts must agree on.

use std::io::Read;

use cuzk_values::{Node, Post, PostKind, PostVersion};

use super::{Known, Sectors, check, kind_name, version_name};
use crate::input::InputError;
use crate::input::error::{Fault, Problem, hex};
use crate::input::layers::Layers;
use crate::input::open::{Opened, open};
use crate::input::request::{GIVEN, Kind, Proofs, REGISTERED, Registered, Request, agree};
use crate::input::window::Window;
use crate::registered::PostProof;
use crate::{PostShape, SectorShape};

/// Reads a PoSt in any [`Encoding`](super::Encoding), compressed or not, and
/// checks all but its trees (see the [module](super)).
///
/// The input is a stream: beside the PoSt, reading takes a few buffers of 64 KiB,
/// whatever the input's length.
///
/// # Errors
/// [`InputError::Invalid`], with the path, the sector, the byte and the value.
pub fn decode(input: impl Read, known: &Known) -> Result<Post, InputError> {
    decode_noting(input, known, &mut Layers::default())
}

/// As [`decode`]; notes the encodings as they are recognised.
///
/// # Errors
/// As [`decode`].
pub fn decode_noting(input: impl Read, known: &Known, layers: &mut Layers) -> Result<Post, InputError> {
    layers.0.clear();
    let mut request = Request::post(known.kind);
    let read = match open(Window::new(input), layers, Proofs::recognises) {
        Ok(Opened::Json(json)) => request.read_json(json, layers),
        Ok(Opened::Binary(window)) => request.read_bincode(window, layers),
        Err(fault) => Err(fault),
    };
    read.and_then(|()| settle(request, known)).map_err(|fault| fault.error(layers))
}

/// Holds what was read against what its kind and size ask for, and against what is known.
pub(crate) fn settle(request: Request, known: &Known) -> Result<Post, Fault> {
    let registered = registered(&request)?;
    let Proofs::Post(Sectors { sectors, shape: Some(shape) }) = request.proofs else {
        let expected = "the proof of at least one sector";
        let problem = Problem::Expected { expected, found: "none".into() };
        return Err(Fault::from(problem).in_field("vanilla_proofs"));
    };
    let kind = match request.kind {
        Some(Kind::Post(kind)) => Some(kind),
        Some(Kind::Snap) => {
            let problem = Problem::differs("snap", "a proof of spacetime", "what the vanilla proofs are of");
            return Err(Fault::from(problem).in_field("kind"));
        }
        None => None,
    };
    let kind_said = |kind: &PostKind| kind_name(*kind).to_owned();
    let kind = agree("kind", kind, registered.map(|proof| proof.kind), REGISTERED, kind_said)?;
    let kind = agree("kind", kind, known.kind, GIVEN, kind_said)?;
    let kind =
        kind.unwrap_or(if sectors[0].challenges.len() == 66 { PostKind::Winning } else { PostKind::Window });

    let registered_size = registered.map(|proof| proof.shape.sector_size());
    let sector_size = agree("sector_size", request.sector_size, registered_size, REGISTERED, u64::to_string)?;
    let sector_size = agree("sector_size", sector_size, known.sector_size, GIVEN, u64::to_string)?;
    same_size(sector_size, shape)?;

    let version_said = |version: &PostVersion| version_name(*version).to_owned();
    let registered = registered.filter(|proof| proof.kind == PostKind::Window).map(|proof| proof.version);
    let version = agree("version", request.version, registered, REGISTERED, version_said)?;
    let version = match (kind, agree("version", version, known.version, GIVEN, version_said)?) {
        (PostKind::Winning, _) => PostVersion::V1,
        (PostKind::Window, Some(version)) => version,
        (PostKind::Window, None) => return Err(Fault::from(Problem::NotGiven).in_field("registered_proof")),
    };

    let node = |node: &Node| format!("0x{}", hex(node));
    let needed = |name, said, known| {
        let value = agree(name, said, known, GIVEN, node)?;
        value.ok_or_else(|| Fault::from(Problem::NotGiven).in_field(name))
    };
    let partition =
        agree("partition_index", request.partition, known.partition, GIVEN, u32::to_string)?.unwrap_or(0);
    if kind == PostKind::Winning && partition != 0 {
        let problem = Problem::differs(partition, 0, "the only partition of a WinningPoSt");
        return Err(Fault::from(problem).in_field("partition_index"));
    }
    let post = Post {
        kind,
        version,
        sector_size: shape.sector_size(),
        prover_id: needed("miner_id", request.prover_id, known.prover_id)?,
        randomness: needed("randomness", request.randomness, known.randomness)?,
        partition,
        sectors,
    };
    check::on_reading(&post, PostShape::new(shape, kind))?;
    Ok(post)
}

fn registered(request: &Request) -> Result<Option<PostProof>, Fault> {
    let (found, proof) = match &request.registered {
        None => return Ok(None),
        Some(Registered::Number(number)) => (number.to_string(), PostProof::of_number(*number)),
        Some(Registered::Name(name)) => (format!("{name:?}"), PostProof::of_name(name)),
    };
    proof.map(Some).ok_or_else(|| {
        let expected = "a registered proof of spacetime: 0 to 14, or a name as StackedDrgWindow32GiBV1_1";
        Fault::from(Problem::Expected { expected, found }).in_field("registered_proof")
    })
}

/// The size that is said must be the one that the paths have.
pub(crate) fn same_size(said: Option<u64>, shape: SectorShape) -> Result<(), Fault> {
    match said.filter(|said| *said != shape.sector_size()) {
        None => Ok(()),
        Some(said) => {
            let of = "the sector size that the trees have";
            Err(Fault::from(Problem::differs(said, shape.sector_size(), of)).in_field("sector_size"))
        }
    }
}
