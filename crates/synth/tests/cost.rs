//! What the stages declare, held against every byte that they allocate.
#![allow(unsafe_code, reason = "an allocator that counts")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use cuzk_pipeline_core::{Cancelled, Cost, Cx, Footprint, Graph, Stage, Value, stage_fn};
use cuzk_synth::{EvalStage, PorepCircuit, PostCircuit, SnapCircuit, Statement, WitnessStage, c1, fixture};
use cuzk_testing::circuits::C1_2KIB;
use cuzk_values::{C1, Evals, Poly, PostKind, R1cs, Witness};

/// The counters are the process's.
static ALONE: Mutex<()> = Mutex::new(());

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grew(by: usize) {
    PEAK.fetch_max(NOW.fetch_add(by, Relaxed) + by, Relaxed);
}

// SAFETY: it is the system's allocator, and counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grew(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grew(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grew(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs a stage, and gives its output and the most bytes that it held.
fn peak<S: Stage>(stage: &S, input: S::In) -> (S::Out, u64) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let out = stage.run(&Cx::detached(), input).map_err(Into::into).unwrap();
    (out, (PEAK.load(Relaxed) - before) as u64)
}

/// At most what is declared, and not much less.
fn held(name: &str, taken: u64, declared: Footprint) {
    println!("{name}: {taken} bytes taken, {} declared", declared.host);
    assert!(taken <= declared.host, "{name}: {taken} bytes taken, {} declared", declared.host);
    assert!(taken >= declared.host / 10 * 8, "{name}: {taken} bytes taken, {} declared", declared.host);
}

#[test]
fn stages_take_what_they_declare() {
    let _alone = ALONE.lock();
    let circuit = PorepCircuit::of_size(2048).unwrap();
    let c1 = Arc::new(c1::decode(C1_2KIB).unwrap());
    // Poseidon's constants are made once a process.
    circuit.witness(&Cx::detached(), &c1, 0).unwrap();

    let stage = WitnessStage::new(circuit, 0);
    assert_eq!(stage.name(), "synth.witness");
    let floor = Graph::<C1, Witness>::build(|g, c1| {
        let c1 = g.share(c1);
        Ok(g.stage(WitnessStage::new(circuit, 0), c1))
    });
    let (witness, taken) = peak(&stage, c1);
    // What two threads hold at once need not coincide: see below.
    assert!(taken <= floor.unwrap().floor().host);
    assert_eq!(witness.footprint(), circuit.witness_size().footprint());

    let recording = circuit.record().unwrap();
    let (size, log_domain) = (recording.size, recording.r1cs.log_domain());
    let stage = EvalStage::new(size, log_domain);
    assert_eq!(stage.name(), "eval.ab");
    let floor = Graph::<Witness, Done>::build(|g, witness| {
        let r1cs =
            g.stage(stage_fn("r1cs", nothing(), |_, ()| -> Result<R1cs, Cancelled> { Err(Cancelled) }), ());
        let (witness, r1cs) = (g.share(witness), g.share(r1cs));
        let ab = g.stage(EvalStage::new(size, log_domain), (witness, r1cs));
        let done = |_: &Cx<'_>, _: (Poly<Evals>, Poly<Evals>)| Ok::<_, Cancelled>(Done);
        Ok(g.stage(stage_fn("done", nothing(), done), ab))
    });
    let ((a, b), taken) = peak(&stage, (Arc::new(witness), Arc::new(recording.r1cs)));
    held("eval.ab", taken, floor.unwrap().floor());
    assert_eq!(a.footprint() + b.footprint(), Footprint::host(64 << log_domain));
}

/// Small witnesses: what threads hold at once weighs more, and need not coincide.
fn witness_takes_what_is_declared<S: Statement>(statement: S, input: S::Input) {
    statement.witness(&Cx::detached(), &input, 0).unwrap();
    let circuit: cuzk_synth::FilecoinCircuit = statement.into();
    let stage = WitnessStage::new(statement, 0);
    let (witness, taken) = peak(&stage, Arc::new(input));
    let output = statement.witness_size().footprint();
    assert_eq!(witness.footprint(), output, "{circuit}");
    let declared = (statement.witness_scratch() + output).host;
    println!("{circuit}: {taken} bytes taken, {declared} declared, {} of them the witness", output.host);
    assert!((output.host..=declared).contains(&taken), "{circuit}");
    assert!(taken >= declared / 2, "{circuit}");
}

#[test]
fn witnesses_of_all_kinds_take_what_is_declared() {
    let _alone = ALONE.lock();
    let post = |kind| PostCircuit::of_size(kind, 2048).unwrap();
    witness_takes_what_is_declared(post(PostKind::Window), fixture::window_post(2048, 1).unwrap());
    witness_takes_what_is_declared(post(PostKind::Winning), fixture::winning_post(2048, 1).unwrap());
    let snap = SnapCircuit::of_size(2048).unwrap();
    witness_takes_what_is_declared(snap, fixture::snap(2048, 1).unwrap());
    let porep = PorepCircuit::of_size(2048).unwrap();
    witness_takes_what_is_declared(porep, fixture::porep(2048, 1).unwrap());
}

fn nothing() -> Cost {
    Cost::free().output(Footprint::ZERO)
}

struct Done;

impl Value for Done {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}
