//! `cuzk inspect` and `cuzk check-vanilla`

use std::path::PathBuf;

use clap::Args;

use super::Given;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk inspect c1.json
  cuzk inspect post.json
  cuzk inspect snap-vproof.json --comm-r-old 1d9c… --comm-r-new 03f2… --comm-d-new 8b41…
  cuzk inspect proof.bin --json")]
pub(crate) struct Inspect {
    /// The file. Parameters and keys are told by their names, `.params` and `.vk`; all
    /// inputs and a proof by what is in them
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) given: Given,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk check-vanilla c1.json
  cuzk check-vanilla post.json --json
  cuzk check-vanilla post.bin --randomness be65… --miner-addr t01000 --post-version V1_1

It is what Filecoin's own provers check before they prove, and takes seconds for the largest \
sectors. An input that passes has a valid proof. A fault is named by its place, with the \
partition, the sector and the challenge; the exit code is 2.")]
pub(crate) struct CheckVanilla {
    /// The file: a C1 output; vanilla proofs of a WindowPoSt, a WinningPoSt or an update,
    /// as JSON with all that a proof takes, as a JSON list in base64, or in bincode; gz or
    /// zst of any
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) given: Given,
    /// At most so many threads [default: every core that the process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
}
