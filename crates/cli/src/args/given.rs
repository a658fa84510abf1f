//! What the user knows of an input, where the input itself does not say it.

use clap::{Args, ValueEnum};
use cuzk_values::PostVersion;

use crate::units::{Hash, Miner};

/// What bare vanilla proofs do not say, whatever they are of. What a file says too
/// must agree.
#[derive(Debug, Args)]
#[command(next_help_heading = "What the file does not say")]
pub(crate) struct Given {
    /// The miner, as t01000, f01000 or 1000. Of a C1 it is checked, which takes a
    /// sector number too, given or in the file
    #[arg(long, value_name = "ID")]
    pub(crate) miner_addr: Option<Miner>,
    /// The number of a C1's sector
    #[arg(long, value_name = "N")]
    pub(crate) sector_number: Option<u64>,
    /// A PoSt's randomness: 32 bytes in hex or base64
    #[arg(long, value_name = "HASH")]
    pub(crate) randomness: Option<Hash>,
    #[command(flatten)]
    pub(crate) window: GivenWindow,
    #[command(flatten)]
    pub(crate) snap: GivenSnap,
}

/// What the vanilla proofs of a WindowPoSt do not say, beside what those of a
/// WinningPoSt do not.
#[derive(Debug, Default, Clone, Copy, Args)]
#[command(next_help_heading = "What the file does not say")]
pub(crate) struct GivenWindow {
    /// How challenges of a WindowPoSt are numbered: V1 for registered proofs 5 to 9,
    /// V1_1 for 10 to 14
    #[arg(long, value_enum, value_name = "VERSION")]
    pub(crate) post_version: Option<Version>,
    /// The partition of a WindowPoSt, counted from 0
    #[arg(long, value_name = "K")]
    pub(crate) partition_index: Option<u32>,
}

/// What the vanilla proofs of an update do not say.
#[derive(Debug, Args)]
#[allow(clippy::struct_field_names, reason = "those of the options")]
#[command(next_help_heading = "What the file does not say")]
pub(crate) struct GivenSnap {
    /// An update's comm_r before it: 32 bytes in hex or base64
    #[arg(long, value_name = "HASH")]
    pub(crate) comm_r_old: Option<Hash>,
    /// An update's comm_r after it
    #[arg(long, value_name = "HASH")]
    pub(crate) comm_r_new: Option<Hash>,
    /// The comm_d of an update's data
    #[arg(long, value_name = "HASH")]
    pub(crate) comm_d_new: Option<Hash>,
}

/// How a WindowPoSt numbers challenges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Version {
    /// Through all sectors
    #[value(name = "V1")]
    V1,
    /// In each sector anew
    #[value(name = "V1_1")]
    V1_1,
}

impl From<Version> for PostVersion {
    fn from(version: Version) -> Self {
        match version {
            Version::V1 => Self::V1,
            Version::V1_1 => Self::V1_1,
        }
    }
}
