//! The command line: types only. What they mean is in `commands`.

#![allow(clippy::doc_markdown, reason = "the docs are help texts, for a terminal")]

mod circuit;
mod fixture;
mod given;
mod input;
mod sealed;
mod vanilla;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use cuzk_synth::SectorShape;

pub(crate) use fixture::{C1Format, Fixture, FixturePorep, FixturePost, FixtureSnap, VanillaFormat};
pub(crate) use given::{Given, GivenSnap, GivenWindow};
pub(crate) use sealed::{Vanilla, VanillaPorep, VanillaPost, VanillaSnap, VanillaWindowPost};
pub(crate) use vanilla::{CheckVanilla, Inspect};

use crate::devices::Wish;
use crate::units::{Memory, sector_shape};
pub(crate) use circuit::{
    Circuit, CircuitBuild, CircuitCheck, CircuitList, CircuitShow, Circuits, CircuitsDir,
};
pub(crate) use input::{Kind, PorepInput, PostInput, SnapInput, WindowPostInput, WinningPostInput};

/// Prove Filecoin's Groth16 statements.
#[derive(Debug, Parser)]
#[command(name = "cuzk", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
A first proof, without a sector and without Filecoin's 44 GiB of parameters:
  cuzk fixture porep --sector-size 2KiB --out c1.json
  cuzk setup porep --sector-size 2KiB
  cuzk prove porep --c1 c1.json --test-params --out proof.bin
  cuzk verify porep --c1 c1.json --proof proof.bin --test-params

Exit codes:
  0  done
  1  a fault of this program (please report it)
  2  a bad argument or a bad input file
  3  the proof does not verify
  4  a resource is missing: memory, disk, parameters
  5  a device failed
  130  interrupted")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Options that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Global {
    /// Print one JSON object to stdout instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log more: -v for stages, -vv for all (RUST_LOG overrides it)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Show no progress and no notes
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a proof
    #[command(subcommand)]
    Prove(Prove),
    /// Check a proof
    #[command(subcommand)]
    Verify(Verify),
    /// Say what a file is: the input of a proof, a proof, parameters, a key
    Inspect(Inspect),
    /// Check the input of a proof as far as that goes without proving it
    CheckVanilla(CheckVanilla),
    /// Make the input of a proof from sealed sectors
    #[command(subcommand)]
    Vanilla(Vanilla),
    /// Make an input to try things with, from a seed
    #[command(subcommand)]
    Fixture(Fixture),
    /// Make test parameters. They are INSECURE: whoever makes them can forge proofs
    #[command(subcommand)]
    Setup(Setup),
    /// List and check parameter files
    #[command(subcommand)]
    Params(Params),
    /// Show, record and check circuits: the constraints that proofs are about
    #[command(subcommand)]
    Circuit(Circuit),
    /// Prove a C1 many times and report throughput, latency and memory
    Bench(Bench),
    /// Show the graph of a proof: its stages, what they cost, what they wait for
    Graph(GraphArgs),
    /// List the devices that proofs can be made on, and why others are not
    #[command(after_help = "\
Examples:
  cuzk devices
  CUDA_VISIBLE_DEVICES=1 cuzk devices --json

CUDA_VISIBLE_DEVICES hides devices of CUDA, by number or UUID, and numbers the others from 0.")]
    Devices,
    /// Make a small proof on every device, and compare it with the CPU's
    #[command(after_help = "\
Examples:
  cuzk selftest
  cuzk selftest --backend opencl --device 0 --json")]
    Selftest(DeviceOptions),
    /// Show the NUMA nodes, cores and memory that cuzk would use
    #[command(after_help = "\
Examples:
  cuzk topology
  taskset -c 0-3 cuzk topology --json")]
    Topology,
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  cuzk completions bash > ~/.local/share/bash-completion/completions/cuzk
  source <(cuzk completions bash)")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write man pages into a folder
    #[command(after_help = "\
Examples:
  cuzk man man1 && man -l man1/cuzk.1")]
    Man {
        /// The folder, made if it is missing
        out: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Prove {
    /// Make a PoRep proof (Commit 2) from a C1 output (Commit 1)
    #[command(after_help = "\
Examples:
  cuzk prove porep --c1 c1.json --out proof.bin
  cuzk prove porep --c1 c1.json --test-params --out proof.bin --timeline
  cuzk prove porep --c1 c1.json --memory 14GiB --threads 8 --out proof.bin --trace trace.json

With FIL_PROOFS_VERIFY_PRODUCTION_PARAMS=1 the digest of the parameters is compared with the \
published one before they are used.")]
    Porep(Box<Proving<PorepInput>>),
    /// Make a SnapDeals proof of a sector's update
    #[command(after_help = "\
Examples:
  cuzk prove snap --input snap.json --out proof.bin
  cuzk prove snap --input snap-vproof.json --comm-r-old 1f… --comm-r-new 2a… --comm-d-new 07… \
--test-params --out proof.bin")]
    Snap(Box<Proving<SnapInput>>),
    /// Make a WindowPoSt proof of one partition
    #[command(after_help = "\
Examples:
  cuzk prove window-post --input post.json --out proof.bin
  cuzk prove window-post --input proofs.bin --post-version V1_1 --miner-addr t01000 \
--randomness 3c… --test-params --out proof.bin")]
    WindowPost(Box<Proving<WindowPostInput>>),
    /// Make a WinningPoSt proof
    #[command(after_help = "\
Examples:
  cuzk prove winning-post --input post.json --out proof.bin
  cuzk prove winning-post --input sector.bin --miner-addr t01000 --randomness 3c… \
--test-params --out proof.bin")]
    WinningPost(Box<Proving<WinningPostInput>>),
}

/// A proof of an input.
#[derive(Debug, Args)]
pub(crate) struct Proving<I: Args> {
    #[command(flatten)]
    pub(crate) input: I,
    #[command(flatten)]
    pub(crate) options: ProveOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ProveOptions {
    #[command(flatten)]
    pub(crate) params: ParamsDir,
    #[command(flatten)]
    pub(crate) circuits: Circuits,
    /// Where the proof goes, 192 bytes a partition; without it, hex on stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Check every constraint of the circuit first, and name the first that does not hold
    #[arg(long)]
    pub(crate) check_constraints: bool,
    /// Write a timeline in Chrome's trace format: open it in ui.perfetto.dev
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) trace: Option<PathBuf>,
    /// Print the timeline as text once the proof is made
    #[arg(long, help_heading = "Output")]
    pub(crate) timeline: bool,
    /// Take r and s from this seed instead of the operating system. INSECURE: two
    /// proofs with one seed give the witness away. For comparing provers
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) insecure_blinding_seed: Option<u64>,
}

/// Where parameters come from.
#[derive(Debug, Args)]
pub(crate) struct ParamsDir {
    /// The folder of Filecoin's parameters [default: FIL_PROOFS_PARAMETER_CACHE,
    /// then /var/tmp/filecoin-proof-parameters]; with --test-params, of test parameters
    #[arg(long, value_name = "DIR")]
    pub(crate) params: Option<PathBuf>,
    /// Use test parameters (`cuzk setup`). INSECURE: no chain accepts such a proof
    #[arg(long)]
    pub(crate) test_params: bool,
}

/// What of the machine is used.
#[derive(Debug, Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct Machine {
    /// At most so many threads [default: every core that the process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// At most so much memory, as 14GiB, or `auto`: what cgroups and free memory
    /// allow, minus a margin
    #[arg(long, value_name = "SIZE", default_value = "auto")]
    pub(crate) memory: Memory,
    #[command(flatten)]
    pub(crate) devices: DeviceOptions,
}

/// Which devices prove.
#[derive(Debug, Args)]
#[command(next_help_heading = "Devices")]
pub(crate) struct DeviceOptions {
    /// Prove on devices of this backend: auto, cpu, cuda or opencl [default: as
    /// BELLMAN_NO_GPU, BELLMAN_GPU_FRAMEWORK or FIL_PROOFS_GPU_FRAMEWORK say, else auto:
    /// the first backend with a device, else the CPU]
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Option<Wish>,
    /// Only these devices, by their numbers in `cuzk devices` [default: all of the backend]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) device: Vec<u16>,
    /// At most so much memory of each device, as 16GiB, or `auto`: what is free, minus a margin
    #[arg(long, value_name = "SIZE", default_value = "auto")]
    pub(crate) device_memory: Memory,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verify {
    /// Check a PoRep proof against what its C1 output states; its paths are not followed
    #[command(after_help = "\
Examples:
  cuzk verify porep --c1 c1.json --proof proof.bin
  cuzk verify porep --c1 c1.json --proof proof.bin --test-params --json")]
    Porep(Verifying<PorepInput>),
    /// Check a SnapDeals proof against what its vanilla proofs state; their paths are not followed
    #[command(after_help = "\
Examples:
  cuzk verify snap --input snap.json --proof proof.bin --test-params")]
    Snap(Verifying<SnapInput>),
    /// Check a WindowPoSt proof against what its vanilla proofs state; their paths are not followed
    #[command(after_help = "\
Examples:
  cuzk verify window-post --input post.json --proof proof.bin --test-params")]
    WindowPost(Verifying<WindowPostInput>),
    /// Check a WinningPoSt proof against what its vanilla proofs state; their paths are not followed
    #[command(after_help = "\
Examples:
  cuzk verify winning-post --input post.json --proof proof.bin --test-params")]
    WinningPost(Verifying<WinningPostInput>),
}

/// A check of an input's proof.
#[derive(Debug, Args)]
pub(crate) struct Verifying<I: Args> {
    #[command(flatten)]
    pub(crate) input: I,
    /// The proof: bytes, or hex text
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: PathBuf,
    #[command(flatten)]
    pub(crate) params: ParamsDir,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Setup {
    /// Make test parameters for a PoRep circuit
    #[command(after_help = "\
Examples:
  cuzk setup porep --sector-size 2KiB
  cuzk setup porep --sector-size 2KiB --seed 1 --out params
  cuzk prove porep --c1 c1.json --params params --test-params --out proof.bin")]
    Porep(SetupOptions),
    /// Make test parameters for a SnapDeals circuit
    #[command(after_help = "\
Examples:
  cuzk setup snap --sector-size 2KiB")]
    Snap(SetupOptions),
    /// Make test parameters for a WindowPoSt circuit
    #[command(after_help = "\
Examples:
  cuzk setup window-post --sector-size 2KiB")]
    WindowPost(SetupOptions),
    /// Make test parameters for a WinningPoSt circuit
    #[command(after_help = "\
Examples:
  cuzk setup winning-post --sector-size 2KiB")]
    WinningPost(SetupOptions),
}

#[derive(Debug, Args)]
pub(crate) struct SetupOptions {
    /// The sector's size: 2KiB, 8MiB, 512MiB, 32GiB or 64GiB; and for tests 4KiB,
    /// 16KiB, 32KiB, 16MiB or 1GiB
    #[arg(long, value_name = "SIZE", value_parser = sector_shape)]
    pub(crate) sector_size: SectorShape,
    /// Make them from this seed [default: from the operating system]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The folder to write to [default: cuzk-test-parameters in the user's data folder]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Name the files as Filecoin's own, for tools that look for those. Keep such a
    /// folder away from real parameters
    #[arg(long, requires = "out")]
    pub(crate) official_names: bool,
    /// Make them again where they exist
    #[arg(long)]
    pub(crate) force: bool,
    /// At most so many threads [default: every core that the process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) circuits: Circuits,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Params {
    /// List the parameter files of a folder
    List(ParamsList),
    /// Check a parameter file against the circuit it is named for, and its key against it
    Check(ParamsCheck),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk params list
  cuzk params list --test-params")]
pub(crate) struct ParamsList {
    #[command(flatten)]
    pub(crate) params: ParamsDir,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk params check --sector-size 32GiB
  cuzk params check --kind snap --sector-size 2KiB --test-params --deep")]
pub(crate) struct ParamsCheck {
    /// What the parameters prove
    #[arg(long, value_enum, default_value = "porep")]
    pub(crate) kind: Kind,
    /// The sector size that they are for
    #[arg(long, value_name = "SIZE", value_parser = sector_shape)]
    pub(crate) sector_size: SectorShape,
    #[command(flatten)]
    pub(crate) circuits: Circuits,
    #[command(flatten)]
    pub(crate) params: ParamsDir,
    /// Also check that every point is in the prime-order subgroup: minutes for large files
    #[arg(long)]
    pub(crate) deep: bool,
    /// At most so many threads [default: every core that the process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk bench --c1 c1.json --test-params
  cuzk bench --c1 c1.json --test-params --count 10 --concurrency 2 --memory 4GiB --json")]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) input: PorepInput,
    /// How many proofs
    #[arg(long, short = 'n', value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) count: u32,
    /// How many at once
    #[arg(long, short = 'j', value_name = "J", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) concurrency: u32,
    #[command(flatten)]
    pub(crate) params: ParamsDir,
    #[command(flatten)]
    pub(crate) circuits: Circuits,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk graph
  cuzk graph --sector-size 32GiB
  cuzk graph --sector-size 32GiB --non-interactive
  cuzk graph --kind window-post --sector-size 32GiB
  cuzk graph --dot | dot -Tsvg > graph.svg")]
pub(crate) struct GraphArgs {
    /// What is proved
    #[arg(long, value_enum, default_value = "porep")]
    pub(crate) kind: Kind,
    /// The sector's size, as in `cuzk fixture porep --help`
    #[arg(long, value_name = "SIZE", default_value = "2KiB", value_parser = sector_shape)]
    pub(crate) sector_size: SectorShape,
    /// Of a non-interactive PoRep: 126 partitions, 13 of a test size
    #[arg(long)]
    pub(crate) non_interactive: bool,
    #[command(flatten)]
    pub(crate) circuits: Circuits,
    /// Print Graphviz text instead of a table: pipe it to `dot -Tsvg`
    #[arg(long)]
    pub(crate) dot: bool,
}
