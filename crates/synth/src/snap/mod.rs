//! Sector updates' vanilla proofs (SnapDeals, `EmptySectorUpdate`): read in any
//! encoding, checked, written in any encoding.
//!
//! [`decode`] reads `storage_proofs_update::PartitionProof`s in bincode 1, one a
//! partition: one after the other, as texts in base64 in a list of JSON (the
//! `snap-vproof.json` of Curio), or in an object of JSON with all else that a
//! proof takes ([`Encoding`]). What the bare forms do not say the caller must
//! know ([`Known`]). It checks
//!
//! - every list's length, every path's levels, arities and indices, against the
//!   shape of the sector size that the first path in `TreeD` shows; every node is
//!   canonical;
//! - what is stated more than once: roots, `comm_c`, sizes;
//! - `comm_r = H(comm_c, root)` before and after the update;
//! - the challenges, from `comm_r_new`;
//! - the paths in `TreeD`, through the apex leaves of their partition;
//! - that each new node is the old one plus the data times its `rho`.
//!
//! [`check_trees`] follows the paths in the two `TreeR`s: 27,500 Poseidon hashes
//! for a 32 GiB sector. What passes both is accepted by upstream's
//! `EmptySectorUpdate::verify_all_partitions`, and satisfies the circuit. The
//! circuit asks more than upstream's check of the apex leaves; so does this.

mod check;
mod decode;
mod encode;
mod layout;
pub mod upstream;

use std::fmt;

use cuzk_values::{Node, Snap};

pub(crate) use check::Rhos;
pub use check::{check_trees, check_trees_watched};
pub(crate) use decode::settle;
pub use decode::{decode, decode_noting};
pub use encode::encode;
pub(crate) use layout::{MAX_PARTITIONS, Partitions, is_partition};

use crate::SnapShape;
use crate::input::InputError;

/// The forms in which vanilla proofs travel. Each may be compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// An object of JSON with all that a proof takes: see `docs/inputs.md`.
    Json,
    /// A list of JSON: each partition's proof in base64.
    List,
    /// bincode 1 of the partitions' proofs, one after the other.
    Bincode,
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "SnapDeals JSON",
            Self::List => "JSON list of SnapDeals proofs",
            Self::Bincode => "SnapDeals bincode",
        })
    }
}

/// What the caller knows of an update. What the input says too must agree; what
/// it does not say must be known, save the `sector_size` (the paths tell) and the
/// `high_bits` (those that the network uses).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    /// Bytes in the sector.
    pub sector_size: Option<u64>,
    /// The replica before the update.
    pub comm_r_old: Option<Node>,
    /// The replica after the update.
    pub comm_r_new: Option<Node>,
    /// The root of `TreeD` over the new data.
    pub comm_d_new: Option<Node>,
    /// How many of a node's highest bits choose its `rho`.
    pub high_bits: Option<u32>,
}

/// The shape of an update.
///
/// # Errors
/// [`InputError::NoUpdate`]: there is none for 1 GiB either.
pub fn shape_of(snap: &Snap) -> Result<SnapShape, InputError> {
    let bytes = snap.sector_size;
    SnapShape::of_size(bytes).ok_or(InputError::NoUpdate { bytes })
}
