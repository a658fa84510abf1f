//! `cuzk circuit`, and where circuits are kept.

#![allow(clippy::doc_markdown, reason = "the docs are help texts, for a terminal")]

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cuzk_synth::FilecoinCircuit;

use crate::units::circuit;

/// Where circuits are kept.
#[derive(Debug, Args)]
pub(crate) struct CircuitsDir {
    /// The folder where circuits are kept once they are recorded
    /// [default: cuzk/circuits in XDG_CACHE_HOME, then in ~/.cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) circuits: Option<PathBuf>,
}

/// Whether circuits are kept, for commands that can do without.
#[derive(Debug, Args)]
pub(crate) struct Circuits {
    #[command(flatten)]
    pub(crate) dir: CircuitsDir,
    /// Record the circuit anew, and do not keep it
    #[arg(long, conflicts_with = "circuits")]
    pub(crate) no_circuits: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Circuit {
    /// List the circuits, and which of them are kept
    List(CircuitList),
    /// Show a circuit's size
    Show(CircuitShow),
    /// Record circuits from Filecoin's own code, and keep them
    Build(CircuitBuild),
    /// Check a circuit that is kept, row by row, against Filecoin's own code
    Check(CircuitCheck),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk circuit list
  cuzk circuit list --circuits /var/cache/cuzk --json")]
pub(crate) struct CircuitList {
    #[command(flatten)]
    pub(crate) circuits: CircuitsDir,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk circuit show porep-32GiB
  cuzk circuit show window-post-2KiB --no-circuits --json")]
pub(crate) struct CircuitShow {
    /// The circuit: porep, window-post, winning-post or snap, and a sector size
    #[arg(value_name = "ID", value_parser = circuit)]
    pub(crate) circuit: FilecoinCircuit,
    #[command(flatten)]
    pub(crate) circuits: Circuits,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk circuit build porep-32GiB
  cuzk circuit build --all
  cuzk circuit build --small --force --circuits /var/cache/cuzk")]
pub(crate) struct CircuitBuild {
    /// The circuits: porep, window-post, winning-post or snap, and a sector size
    #[arg(value_name = "ID", value_parser = circuit, required_unless_present_any = ["all", "small"])]
    pub(crate) names: Vec<FilecoinCircuit>,
    /// All circuits
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
    /// All circuits of sectors below 32GiB
    #[arg(long, conflicts_with_all = ["names", "all"])]
    pub(crate) small: bool,
    /// Record them again where they are kept already
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) circuits: CircuitsDir,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk circuit check snap-2KiB
  cuzk circuit check porep-32GiB    (a minute or two of one core)")]
pub(crate) struct CircuitCheck {
    /// The circuit: porep, window-post, winning-post or snap, and a sector size
    #[arg(value_name = "ID", value_parser = circuit)]
    pub(crate) circuit: FilecoinCircuit,
    #[command(flatten)]
    pub(crate) circuits: CircuitsDir,
}
