//! What a statement costs before the first transform, beside upstream's `WitnessCS`:
//! the witness, the circuit's constraints, the evaluations of A and B.
//!
//! `cargo run --release -p cuzk-synth --example statement_speed -- porep 32GiB --rival`
//!
//! Kinds are `porep`, `snap`, `window-post`, `winning-post`. With `--rival` upstream's
//! witness is made too, once; with `--whole` the evaluations are held whole. One
//! thread makes the witness, two evaluate. CPU-seconds are the process's; peaks are
//! resident memory beside what was there before, the input among it.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use bellpepper_core::{Circuit, ConstraintSystem};
use bellperson::util_cs::witness_cs::WitnessCS;
use cuzk_pipeline_core::{Cx, Value as _};
use cuzk_synth::c1::upstream::{WithTree, with_tree};
use cuzk_synth::template::Store;
use cuzk_synth::{
    Evaluator, FilecoinCircuit, PostCircuit, Side, Statement, SynthError, c1, eval_ab, fixture, post, snap,
};
use cuzk_values::{C1, PoRepVariant, Post, PostKind, Scalar, Snap, Witness};
use ff::Field;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use rustix::time::{ClockId, clock_gettime};
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{ComponentPrivateInputs, FallbackPoStCompound};
use storage_proofs_update::EmptySectorUpdateCompound;

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// Sectors of a WindowPoSt that are written at once where it is streamed.
const SECTORS: usize = 64;
/// Rows that are evaluated at once.
const ROWS: usize = 1 << 20;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, size] = [0, 1].map(|i| args.get(i).map_or("", String::as_str));
    let circuit: FilecoinCircuit = format!("{kind}-{size}").parse()?;
    let (rival, whole) = (args.iter().any(|a| a == "--rival"), args.iter().any(|a| a == "--whole"));
    let size = circuit.shape().sector_size();
    println!("{circuit}");
    match circuit {
        FilecoinCircuit::Porep(circuit) => {
            let c1 = fixture::porep(size, 1)?;
            witnesses(circuit, &c1)?;
            if rival {
                upstream(|| with_tree(circuit.shape(), Upstream(&c1)));
            }
            all_of_a_c1(&c1)?;
            evaluations(circuit, &c1, whole)
        }
        FilecoinCircuit::Snap(circuit) => {
            let snap = fixture::snap(size, 1)?;
            witnesses(circuit, &snap)?;
            if rival {
                upstream(|| with_tree(circuit.shape(), Upstream(&snap)));
            }
            evaluations(circuit, &snap, whole)
        }
        FilecoinCircuit::Post(circuit) => {
            let post = fixture::SparsePost::new(circuit.kind(), size, 1)?.build();
            if circuit.kind() == PostKind::Window {
                streamed(circuit, &post)?;
            } else {
                witnesses(circuit, &post)?;
            }
            if rival {
                upstream(|| with_tree(circuit.shape(), Upstream(&post)));
            }
            evaluations(circuit, &post, whole)
        }
    }
}

/// One partition's witness, seven times.
fn witnesses<S: Statement>(statement: S, input: &S::Input) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let meter = Meter::start();
    let mut seconds = Vec::new();
    for _ in 0..7 {
        let start = cpu();
        let witness = pool.install(|| statement.witness(&Cx::detached(), black_box(input), 0))?;
        seconds.push(cpu() - start);
        black_box(&witness);
    }
    seconds.sort_by(f64::total_cmp);
    let size = statement.witness_size();
    println!("  witness: {:.3} CPU-s (median of 7, {:.3} to {:.3})", seconds[3], seconds[0], seconds[6]);
    println!("    {} variables, {} of full width, {} MiB", size.aux, size.wide, size.footprint().host >> 20);
    println!("    {}", meter.peak());
    Ok(())
}

/// A WindowPoSt's witness in parts, and what it holds.
fn streamed(circuit: PostCircuit, post: &Post) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let meter = Meter::start();
    let (start, mut variables) = (cpu(), 0);
    let at_once = NonZeroUsize::new(SECTORS).ok_or("parts of no sector")?;
    pool.install(|| {
        circuit.witness_in_parts(&Cx::detached(), post, at_once, |_, part| {
            variables += black_box(part).aux.len();
            Ok(())
        })
    })?;
    println!("  witness in parts of {SECTORS} sectors: {:.3} CPU-s, {variables} variables", cpu() - start);
    println!("    {}", meter.peak());
    Ok(())
}

/// Decodes a C1, and makes the witnesses of all its partitions.
fn all_of_a_c1(c1: &C1) -> Result<()> {
    let mut file = Vec::new();
    c1::encode(c1, c1::Encoding::LotusJson, &mut file).or_else(|_| {
        file.clear();
        c1::encode(c1, c1::Encoding::ProofsJson, &mut file)
    })?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let circuit = cuzk_synth::PorepCircuit::of_size(c1.sector_size).ok_or("no circuit")?;
    let start = cpu();
    let decoded = c1::decode(&file[..])?;
    let decoding = cpu() - start;
    for partition in 0..decoded.partitions.len() {
        black_box(pool.install(|| circuit.witness(&Cx::detached(), &decoded, partition))?);
    }
    let partitions = decoded.partitions.len();
    println!("  {partitions} partitions: {:.2} CPU-s, {decoding:.2} of them to decode the C1", cpu() - start);
    Ok(())
}

fn upstream(make: impl FnOnce() -> Result<WitnessCS<Scalar>>) {
    let (meter, start) = (Meter::start(), cpu());
    match make() {
        Ok(witness) => {
            println!(
                "  upstream's WitnessCS: {:.2} CPU-s, {} variables",
                cpu() - start,
                witness.aux_slice().len()
            );
            println!("    {}", meter.peak());
        }
        Err(error) => println!("  upstream refused: {error}"),
    }
}

fn evaluations<S: Statement>(statement: S, input: &S::Input, whole: bool) -> Result<()> {
    let circuit: FilecoinCircuit = statement.into();
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path().to_owned());
    let meter = Meter::start();
    let start = cpu();
    let recording = circuit.record()?;
    println!(
        "  constraints recorded: {:.2} CPU-s, {} MiB",
        cpu() - start,
        recording.r1cs.footprint().host >> 20
    );
    println!("    {}", meter.peak());
    drop(recording);
    store.load_or_record(circuit)?;
    let (start, wall) = (cpu(), Instant::now());
    let r1cs = store.load_or_record(circuit)?.recording.r1cs;
    let bytes = fs::metadata(store.path(circuit))?.len();
    println!(
        "    loaded: {:.2} s, {:.2} CPU-s, {} KiB of file",
        wall.elapsed().as_secs_f64(),
        cpu() - start,
        bytes >> 10
    );

    if statement.witness_size().footprint().host > 1 << 30 && !whole {
        return Ok(());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let witness = pool.install(|| statement.witness(&Cx::detached(), input, 0))?;
    let meter = Meter::start();
    let start = cpu();
    let mut block = vec![Scalar::ZERO; ROWS.min(r1cs.constraints().next_power_of_two())];
    pool.install(|| {
        let rows = Evaluator::new(&r1cs, &witness)?;
        for side in [Side::A, Side::B] {
            for first in (0..r1cs.constraints()).step_by(block.len()) {
                rows.evaluate(&Cx::detached(), side, first, &mut block)?;
                black_box(&mut block);
            }
        }
        Ok::<_, SynthError>(())
    })?;
    let in_blocks = cpu() - start;
    println!("  a and b in blocks of {ROWS} rows: {in_blocks:.2} CPU-s");
    println!("    {}, constraints and witness not counted", meter.peak());
    if whole {
        hold(&pool, &r1cs, &witness, in_blocks)?;
    }
    Ok(())
}

fn hold(pool: &rayon::ThreadPool, r1cs: &cuzk_values::R1cs, witness: &Witness, in_blocks: f64) -> Result<()> {
    let (meter, start, faults) = (Meter::start(), cpu(), faults());
    black_box(pool.install(|| eval_ab(&Cx::detached(), r1cs, witness))?);
    let (seconds, faults) = (cpu() - start, self::faults() - faults);
    let share = 100.0 * (seconds - in_blocks) / seconds;
    println!("  a and b held whole: {seconds:.2} CPU-s, {faults} page faults, {share:.0} % of the time more");
    println!("    {}, constraints and witness not counted", meter.peak());
    Ok(())
}

struct Upstream<'a, I>(&'a I);

fn synthesize(circuit: impl Circuit<Scalar>) -> Result<WitnessCS<Scalar>> {
    let mut cs = WitnessCS::new();
    circuit.synthesize(&mut cs)?;
    Ok(cs)
}

impl WithTree for Upstream<'_, C1> {
    type Output = Result<WitnessCS<Scalar>>;
    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let shape = c1::shape_of(self.0)?;
        let setup = c1::upstream::setup_params(shape, PoRepVariant::V1_1, [0; 32]);
        let params = StackedDrg::<Tree, Sha256Hasher>::setup(&setup)?;
        let proofs = c1::upstream::partition_proofs::<Tree>(self.0, 0)?;
        let inputs = c1::upstream::public_inputs(self.0, Some(0));
        synthesize(StackedCompound::<Tree, Sha256Hasher>::circuit(&inputs, (), &proofs, &params, None)?)
    }
}

impl WithTree for Upstream<'_, Snap> {
    type Output = Result<WitnessCS<Scalar>>;
    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let (inputs, params) =
            (snap::upstream::public_inputs(self.0, 0), snap::upstream::public_params(self.0)?);
        let proof = snap::upstream::partition_proof::<Tree>(self.0, 0)?;
        synthesize(EmptySectorUpdateCompound::<Tree>::circuit(&inputs, (), &proof, &params, None)?)
    }
}

impl WithTree for Upstream<'_, Post> {
    type Output = Result<WitnessCS<Scalar>>;
    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let params = post::upstream::public_params(post::shape_of(self.0)?, self.0.version);
        let proof = post::upstream::partition_proof::<Tree>(self.0)?;
        let inputs = post::upstream::public_inputs(self.0);
        synthesize(FallbackPoStCompound::<Tree>::circuit(
            &inputs,
            ComponentPrivateInputs::default(),
            &proof,
            &params,
            None,
        )?)
    }
}

/// Resident memory from some moment on.
struct Meter {
    before: u64,
}

impl Meter {
    fn start() -> Self {
        // Linux: 5 resets the high-water mark to what is resident now.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self { before: status("VmRSS:") }
    }

    fn peak(&self) -> String {
        let peak = status("VmHWM:");
        format!(
            "peak {} MiB more than the {} MiB before",
            (peak - self.before.min(peak)) >> 10,
            self.before >> 10
        )
    }
}

/// A line of `/proc/self/status`, in KiB.
fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Page faults that read nothing: field 10 of `/proc/self/stat`.
fn faults() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    stat.split(' ').nth(9).and_then(|field| field.parse().ok()).unwrap_or(0)
}
