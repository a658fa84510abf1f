//! PoRep C1s: read in any encoding, checked, written in any encoding.
//!
//! [`decode`] tells the encoding by its first bytes, unwraps compression and the
//! wrapper of lotus, and reads JSON or bincode in one pass straight into the
//! noun, [`C1`](cuzk_values::C1). Everything is checked on the way or right
//! after it:
//!
//! - every list's length, every path's levels and arities, every index, against
//!   the shape of the sector size that the first path in `TreeD` shows;
//! - every hash: canonical, below the field's modulus;
//! - what is stated more than once: roots, indices, layers, parents' labels;
//! - `comm_r = H(comm_c, comm_r_last)`, the paths in `TreeD`, the labels of the
//!   challenged nodes, the encoding of their data;
//! - the challenges, from `replica_id` and `seed`; the parents, where the
//!   registered seal proof says which graph.
//!
//! [`check_trees`] does the rest, at the price of 33,000 Poseidon hashes for a
//! 32 GiB sector; [`check_identity`] compares with a known miner and sector.
//!
//! A fault names its path, as `vanilla_proofs[3][17].labeling_proofs[2].parents[36]`,
//! the byte where it is known, and the values.
//!
//! ```
//! use cuzk_synth::c1::{self, Encoding, Identity};
//! use cuzk_synth::fixture;
//!
//! let mut file = Vec::new();
//! c1::encode(&fixture::porep(2048, 1)?, Encoding::LotusJson, &mut file)?;
//!
//! let c1 = c1::decode(&file[..])?;
//! assert_eq!((c1.partitions.len(), c1.layers()), (1, 2));
//! let miner = Identity { prover_id: Some(c1::prover_id(1000)), ..Identity::default() };
//! assert!(c1::check_identity(&c1, &miner)?);
//!
//! let error = c1::decode(&file[..1000]).unwrap_err().to_string();
//! assert!(error.contains("of the filecoin-proofs-api JSON in base64 in lotus JSON): the input ends here"));
//! # Ok::<(), cuzk_synth::input::InputError>(())
//! ```

mod check;
mod decode;
mod encode;
mod encoding;
mod layout;
pub mod upstream;

pub(crate) use check::graph;
pub use check::{Identity, check_identity, check_trees, check_trees_watched, prover_id};
pub use decode::{decode, decode_noting};
pub(crate) use decode::{read_bincode, read_json, sniff_bincode};
pub use encode::encode;
pub use encoding::Encoding;

use crate::SectorShape;
use crate::input::InputError;
pub use crate::registered::{porep_id, seal_proof_name};

/// The shape of a C1's sector.
///
/// # Errors
/// [`InputError::SectorSize`].
pub fn shape_of(c1: &cuzk_values::C1) -> Result<SectorShape, InputError> {
    SectorShape::of_size(c1.sector_size).ok_or(InputError::SectorSize { bytes: c1.sector_size })
}
