//! From bytes to a C1: which encoding, what lies within it, and what must agree.

use std::io::Read;

use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use cuzk_values::{C1, Node};

use super::check;
use super::encoding::Encoding;
use super::layout::{MAX_CHALLENGES, MAX_PARTITIONS, Partitions};
use crate::input::bincode::Bincode;
use crate::input::decode::is_request;
use crate::input::error::{Fault, InputError, Problem};
use crate::input::json::Json;
use crate::input::layers::{Layer, Layers};
use crate::input::open::{Opened, SNIFFED, open, tag, word};
use crate::input::reader::{Names, Reader};
use crate::input::window::Window;
use crate::registered::{SEAL_PROOFS, VANILLA_PROOFS, seal_proof};

const PROOFS: Names = &["vanilla_proofs", "comm_r", "comm_d", "replica_id", "seed", "ticket"];
const API: Names =
    &["registered_proof", "vanilla_proofs", "comm_r", "comm_d", "replica_id", "seed", "ticket"];
/// Those of [`API`], then those of lotus.
const JSON: Names = &[
    "registered_proof",
    "vanilla_proofs",
    "comm_r",
    "comm_d",
    "replica_id",
    "seed",
    "ticket",
    "SectorNum",
    "Phase1Out",
    "SectorSize",
];
const VANILLA: usize = 1;
const PHASE1_OUT: usize = 8;

/// Reads a C1 in any [`Encoding`], compressed or not, and checks its shape and
/// its commitments (see the [module](super)).
///
/// The input is a stream: beside the C1, reading takes a few buffers of 64 KiB,
/// whatever the input's length (zstd takes a window of at most 128 MiB, as the
/// frame's header says).
///
/// # Errors
/// [`InputError::Invalid`], with the path, the byte and the value.
pub fn decode(input: impl Read) -> Result<C1, InputError> {
    decode_noting(input, &mut Layers::default())
}

/// As [`decode`]; notes the encodings as they are recognised.
///
/// # Errors
/// As [`decode`].
pub fn decode_noting(input: impl Read, layers: &mut Layers) -> Result<C1, InputError> {
    layers.0.clear();
    let mut draft = Draft::default();
    let read = draft.read(Window::new(input), layers);
    read.and_then(|()| draft.finish()).map_err(|fault| fault.error(layers))
}

/// A C1 in JSON that lies bare.
pub(crate) fn read_json(json: Json<'_>, layers: &mut Layers) -> Result<C1, Fault> {
    let mut draft = Draft::default();
    draft.read_json(json, layers)?;
    draft.finish()
}

/// A C1 in bincode that lies bare.
pub(crate) fn read_bincode(window: Window<'_>, encoding: Encoding, layers: &mut Layers) -> Result<C1, Fault> {
    layers.push(Layer::C1(encoding));
    let mut draft = Draft::default();
    draft.read_bincode(Bincode(window), encoding)?;
    draft.finish()
}

/// What has been read so far.
#[derive(Default)]
struct Draft {
    partitions: Partitions,
    comm_r: Node,
    comm_d: Node,
    replica_id: Node,
    seed: [u8; 32],
    ticket: [u8; 32],
    /// Which of [`SEAL_PROOFS`].
    registered_proof: Option<usize>,
    /// Which of [`VANILLA_PROOFS`].
    vanilla_tag: Option<usize>,
    sector_number: Option<u64>,
    sector_size: Option<u64>,
    /// The encodings within lotus JSON, while the rest of that is read.
    payload: Vec<Layer>,
}

impl Draft {
    /// Unwraps what lies around the C1, and reads it.
    fn read(&mut self, window: Window<'_>, layers: &mut Layers) -> Result<(), Fault> {
        match open(window, layers, |start| sniff_bincode(start).is_some())? {
            Opened::Json(json) => self.read_json(json, layers),
            Opened::Binary(mut window) => {
                let encoding = sniff_bincode(window.start(SNIFFED)?).unwrap_or(Encoding::ProofsBincode);
                layers.push(Layer::C1(encoding));
                self.read_bincode(Bincode(window), encoding)
            }
        }
    }

    fn read_bincode(&mut self, mut r: Bincode<'_>, encoding: Encoding) -> Result<(), Fault> {
        let names = if encoding == Encoding::ApiBincode { API } else { PROOFS };
        r.record(names, |r, i| match names[i] {
            "vanilla_proofs" if encoding == Encoding::ApiBincode => self.tagged_proofs(r),
            "vanilla_proofs" => self.partitions.read(r),
            name => self.field(r, name),
        })?;
        r.finish()
    }

    fn read_json(&mut self, mut json: Json<'_>, layers: &mut Layers) -> Result<(), Fault> {
        if json.token()? == b'{' && is_request(&mut json)? {
            let found = "the vanilla proofs of a PoSt or an update";
            return Err(Problem::OtherKind { found, expected: "a C1" }.into());
        }
        let seen = json.object(JSON, |json, i| match JSON[i] {
            "vanilla_proofs" if json.token()? == b'{' => {
                layers.refine(Layer::C1(Encoding::ApiJson));
                self.tagged_proofs(json)
            }
            "vanilla_proofs" => {
                layers.refine(Layer::C1(Encoding::ProofsJson));
                self.partitions.read(json)
            }
            "Phase1Out" => {
                layers.refine(Layer::C1(Encoding::LotusJson));
                self.phase1_out(json, layers)
            }
            name => self.field(json, name),
        })?;
        if seen & (1 << PHASE1_OUT) == 0 {
            if seen & (1 << VANILLA) == 0 {
                return Err(Problem::OtherJson.into());
            }
            if let Some(i) = (VANILLA..=PROOFS.len()).find(|i| seen & (1 << i) == 0) {
                return Err(Fault::from(Problem::Missing).in_field(JSON[i]));
            }
        }
        json.finish()?;
        layers.0.append(&mut self.payload);
        Ok(())
    }

    /// The payload of lotus JSON, an encoding of its own.
    fn phase1_out(&mut self, json: &mut Json<'_>, layers: &mut Layers) -> Result<(), Fault> {
        let outer = layers.0.len();
        let decoder = DecoderReader::new(json.string()?, &STANDARD);
        layers.push(Layer::Base64);
        self.read(Window::new(decoder), layers).map_err(Fault::rooted)?;
        self.payload = layers.0.split_off(outer);
        json.close_string()
    }

    fn tagged_proofs<R: Reader>(&mut self, r: &mut R) -> Result<(), Fault> {
        r.tagged(&VANILLA_PROOFS, |r, tag| {
            self.vanilla_tag = Some(tag);
            // The tag says what the trees say, and is no part of a path.
            self.partitions.read(r)
        })
    }

    fn field<R: Reader>(&mut self, r: &mut R, name: &str) -> Result<(), Fault> {
        match name {
            "registered_proof" => self.registered_proof = Some(r.unit(&SEAL_PROOFS)?),
            "comm_r" => self.comm_r = r.node()?,
            "comm_d" => self.comm_d = r.node()?,
            "replica_id" => self.replica_id = r.node()?,
            "seed" => self.seed = r.bytes()?,
            "ticket" => self.ticket = r.bytes()?,
            "SectorNum" => self.sector_number = Some(r.u64()?),
            _ => self.sector_size = Some(r.u64()?),
        }
        Ok(())
    }

    /// Compares what the parts say of each other.
    fn finish(self) -> Result<C1, Fault> {
        let Partitions { proofs, first } = self.partitions;
        let Some((shape, roots)) = first else {
            return Err(Fault::from(Problem::Count { found: 0, expected: 1 }).in_field("vanilla_proofs"));
        };
        let size = |log_nodes: usize| 32_u64 << log_nodes;
        let agree = |said: Option<u64>, name| match said {
            Some(said) if said != shape.sector_size() => {
                let problem =
                    Problem::differs(said, shape.sector_size(), "the sector size that the trees have");
                Err(Fault::from(problem).in_field(name))
            }
            _ => Ok(()),
        };
        let registered = self.registered_proof.map(seal_proof);
        agree(self.sector_size, "SectorSize")?;
        agree(registered.map(|(log_nodes, _)| size(log_nodes)), "registered_proof")?;
        agree(self.vanilla_tag.map(|tag| size(seal_proof(tag).0)), "vanilla_proofs")?;
        let c1 = C1 {
            sector_size: shape.sector_size(),
            variant: registered.map(|(_, variant)| variant),
            sector_number: self.sector_number,
            replica_id: self.replica_id,
            ticket: self.ticket,
            seed: self.seed,
            comm_d: self.comm_d,
            comm_r: self.comm_r,
            comm_c: roots.c,
            comm_r_last: roots.r_last,
            partitions: proofs,
        };
        if roots.d != c1.comm_d {
            let problem =
                Problem::nodes_differ(&c1.comm_d, &roots.d, "the root of the paths `comm_d_proofs`");
            return Err(Fault::from(problem).in_field("comm_d"));
        }
        check::on_reading(&c1, shape)?;
        Ok(c1)
    }
}

/// Both structs start with small numbers. That of filecoin-proofs: the
/// partitions, the challenges (8 bytes each), then the tag `Single` (4 bytes of
/// 0). That of filecoin-proofs-api: two tags (4 bytes each), the partitions, the
/// challenges; so bytes 16 to 20 are not 0.
pub(crate) fn sniff_bincode(start: &[u8]) -> Option<Encoding> {
    let counts = |at| {
        let partitions = (1..=MAX_PARTITIONS as u64).contains(&word(start, at)?);
        Some(partitions && (1..=MAX_CHALLENGES as u64).contains(&word(start, at + 8)?))
    };
    if tag(start, 16)? == 0 {
        counts(0)?.then_some(Encoding::ProofsBincode)
    } else {
        let tag = |at| tag(start, at).map(|tag| tag as usize);
        let tags = tag(0)? < SEAL_PROOFS.len() && tag(4)? < VANILLA_PROOFS.len();
        (tags && counts(8)?).then_some(Encoding::ApiBincode)
    }
}
