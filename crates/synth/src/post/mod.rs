//! The vanilla proofs of a `WindowPoSt` or a `WinningPoSt`: read in any encoding,
//! checked, written in any encoding.
//!
//! [`decode`] reads `filecoin_proofs::FallbackPoStSectorProof`s in bincode 1, one
//! a sector: one after the other, as texts in base64 in a list of JSON, or in an
//! object of JSON with all else that a proof takes ([`Encoding`]). What the bare
//! forms do not say the caller must know ([`Known`]). It checks
//!
//! - every list's length, every path's levels, arities and indices, against the
//!   shape of the sector size that the first path shows; every node is canonical;
//! - what is stated more than once: roots, sizes, kinds;
//! - `comm_r = H(comm_c, comm_r_last)` of each sector;
//! - the challenges, from the randomness, the sectors' numbers and the version.
//!
//! [`check_trees`] follows the paths: 235,000 Poseidon hashes in a WindowPoSt of
//! 2,349 sectors. What passes both is what upstream's
//! `FallbackPoSt::verify_all_partitions` accepts, and satisfies the circuit.
//!
//! A partition may have fewer sectors than its circuit has room for. Filecoin
//! proves sectors in ascending order of their numbers; the order of the input
//! is kept, as upstream keeps it.

mod check;
mod decode;
mod encode;
mod layout;
pub mod upstream;

use std::fmt;

use cuzk_values::{Node, Post, PostKind, PostVersion};

pub(crate) use check::first_index;
pub use check::{challenge, check_trees, check_trees_watched};
pub use decode::{decode, decode_noting};
pub(crate) use decode::{same_size, settle};
pub use encode::encode;
pub(crate) use layout::{MAX_SECTORS, Sectors, is_sector};

use crate::PostShape;
use crate::input::InputError;

/// The forms in which vanilla proofs travel. Each may be compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// An object of JSON with all that a proof takes: see `docs/inputs.md`.
    Json,
    /// A list of JSON: each sector's proof in base64.
    List,
    /// bincode 1 of the sectors' proofs, one after the other.
    Bincode,
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "PoSt JSON",
            Self::List => "JSON list of PoSt proofs",
            Self::Bincode => "PoSt bincode",
        })
    }
}

/// What the caller knows of a PoSt. What the input says too must agree; what it
/// does not say must be known, save the `kind` (the number of challenges tells),
/// the `sector_size` (the paths tell), the `version` of a WinningPoSt, and the
/// `partition` (0).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    /// Window or winning.
    pub kind: Option<PostKind>,
    /// How challenges are drawn: what the registered proof stands for.
    pub version: Option<PostVersion>,
    /// Bytes in each sector.
    pub sector_size: Option<u64>,
    /// The prover: see [`c1::prover_id`](crate::c1::prover_id).
    pub prover_id: Option<Node>,
    /// The randomness of the challenges.
    pub randomness: Option<Node>,
    /// Which partition of a WindowPoSt.
    pub partition: Option<u32>,
}

/// The shape of a PoSt.
///
/// # Errors
/// [`InputError::SectorSize`].
pub fn shape_of(post: &Post) -> Result<PostShape, InputError> {
    let bytes = post.sector_size;
    PostShape::of_size(bytes, post.kind).ok_or(InputError::SectorSize { bytes })
}

/// `window-post` or `winning-post`.
pub fn kind_name(kind: PostKind) -> &'static str {
    match kind {
        PostKind::Window => "window-post",
        PostKind::Winning => "winning-post",
    }
}

/// `V1` or `V1_1`.
pub fn version_name(version: PostVersion) -> &'static str {
    match version {
        PostVersion::V1 => "V1",
        PostVersion::V1_1 => "V1_1",
    }
}
