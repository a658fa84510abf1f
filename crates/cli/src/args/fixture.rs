//! `cuzk fixture`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use cuzk_synth::SectorShape;

use super::given::Version;
use crate::units::{Miner, sector_shape};

#[derive(Debug, Subcommand)]
pub(crate) enum Fixture {
    /// Make the C1 output of a sector that satisfies the circuit, without sealing one
    Porep(FixturePorep),
    /// Make the vanilla proofs of a sector's update (SnapDeals)
    Snap(FixtureSnap),
    /// Make the vanilla proofs of a WindowPoSt's partition
    WindowPost(FixturePost),
    /// Make the vanilla proof of a WinningPoSt
    WinningPost(FixturePost),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk fixture porep --sector-size 2KiB --out c1.json
  cuzk fixture porep --sector-size 8MiB --seed 7 --format json --out c1.json")]
pub(crate) struct FixturePorep {
    /// The sector's size: 2KiB, 8MiB, 512MiB, 32GiB or 64GiB; and for tests 4KiB,
    /// 16KiB, 32KiB, 16MiB or 1GiB
    #[arg(long, value_name = "SIZE", value_parser = sector_shape)]
    pub(crate) sector_size: SectorShape,
    /// The seed: the same gives the same file
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The miner whose sector it is, as t01000, f01000 or 1000
    #[arg(long, value_name = "ID", default_value = "t01000")]
    pub(crate) miner_addr: Miner,
    /// The sector's number
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) sector_number: u64,
    /// How to write it [default: lotus, or json for sizes that the API does not know]
    #[arg(long, value_enum)]
    pub(crate) format: Option<C1Format>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk fixture window-post --sector-size 2KiB --out post.json
  cuzk fixture window-post --sector-size 32GiB --out post.json
  cuzk fixture winning-post --sector-size 32GiB --seed 7 --format bincode --out post.bin
  cuzk check-vanilla post.json")]
pub(crate) struct FixturePost {
    /// The sectors' size: 2KiB, 8MiB, 512MiB, 32GiB or 64GiB; and for tests 4KiB,
    /// 16KiB, 32KiB, 16MiB or 1GiB
    #[arg(long, value_name = "SIZE", value_parser = sector_shape)]
    pub(crate) sector_size: SectorShape,
    /// The seed: the same gives the same file
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The miner whose sectors they are, as t01000, f01000 or 1000
    #[arg(long, value_name = "ID", default_value = "t01000")]
    pub(crate) miner_addr: Miner,
    /// The first sector's number; the others follow it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) sector_number: u64,
    /// How many sectors [default: as many as the partition has room for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2349))]
    pub(crate) sectors: Option<u32>,
    /// How challenges of a WindowPoSt are numbered [default: V1_1]
    #[arg(long, value_enum, value_name = "VERSION")]
    pub(crate) post_version: Option<Version>,
    /// How to write it
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: VanillaFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk fixture snap --sector-size 2KiB --out snap.json
  cuzk fixture snap --sector-size 32GiB --seed 7 --format list --out snap-vproof.json
  cuzk check-vanilla snap.json")]
pub(crate) struct FixtureSnap {
    /// The sector's size: 2KiB, 8MiB, 512MiB, 32GiB or 64GiB; and for tests 4KiB,
    /// 16KiB, 32KiB or 16MiB. Sectors of 1GiB cannot be updated
    #[arg(long, value_name = "SIZE", value_parser = sector_shape)]
    pub(crate) sector_size: SectorShape,
    /// The seed: the same gives the same file
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// How to write it
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: VanillaFormat,
}

/// The encodings of vanilla proofs.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum VanillaFormat {
    /// JSON with all that a proof takes
    Json,
    /// A JSON list of the proofs in base64
    List,
    /// The proofs in bincode, one after the other
    Bincode,
}

/// The encodings of a C1 output.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum C1Format {
    /// The wrapper that lotus-bench and Curio write
    Lotus,
    /// JSON of filecoin-proofs' struct
    Json,
    /// JSON of filecoin-proofs-api's struct
    ApiJson,
    /// bincode of filecoin-proofs' struct
    Bincode,
    /// bincode of filecoin-proofs-api's struct
    ApiBincode,
}
