//! Proofs on devices: the CPU's to the byte, whatever the memory; and what is left when something fails.
//!
//! On the host backend always, and on NVIDIA's devices where there are any.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::sync::Arc;

use bellpepper_core::{Circuit as BellpepperCircuit, ConstraintSystem, SynthesisError};
use cuzk_gpu_backend::host::{Fault, HostConfig, HostDevice};
use cuzk_gpu_backend::{Backend, Context, Device as _, Error, Host, Kind, Stream as _};
use cuzk_groth16::device::{DevicePlan, Room};
use cuzk_groth16::{Blinding, Circuit, Groth16Error, Parameters, Prover, Residence, graph};
use cuzk_pipeline_core::{Cx, Device, Engine, ErrorKind, Footprint, Graph, Place, RunError, Value as _};
use cuzk_srs::{ParameterFile, Trapdoor, unwatched, write_parameters};
use cuzk_values::{PartitionProof, Scalar, Witness};
use ff::Field;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

const SEED: u64 = 0x6b_5eed;

/// Bits, squares of full width, and rows that have many of both.
#[derive(Clone)]
struct Mixed {
    seed: Option<u64>,
}

const BITS: usize = 300;
const SQUARES: usize = 40;

impl BellpepperCircuit<Scalar> for Mixed {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = self.seed.map(ChaCha20Rng::seed_from_u64);
        let value = |v: Option<Scalar>| v.ok_or(SynthesisError::AssignmentMissing);
        let mut sum = rng.as_ref().map(|_| Scalar::ZERO);
        let mut bits = Vec::new();
        for i in 0..BITS {
            let bit = rng.as_mut().map(|rng| Scalar::from(u64::from(rand_core::RngCore::next_u32(rng) % 2)));
            let var = cs.alloc(|| format!("bit {i}"), || value(bit))?;
            cs.enforce(|| format!("{i} is a bit"), |lc| lc + var, |lc| lc + CS::one() - var, |lc| lc);
            sum = sum.zip(bit).map(|(sum, bit)| sum + bit * Scalar::from(i as u64 + 3));
            bits.push(var);
        }
        let mut wide = rng.as_mut().map(Scalar::random);
        let mut var = cs.alloc(|| "wide", || value(wide))?;
        for i in 0..SQUARES {
            let square = wide.map(|x| x.square());
            let next = cs.alloc(|| format!("square {i}"), || value(square))?;
            cs.enforce(|| format!("{i} is a square"), |lc| lc + var, |lc| lc + var, |lc| lc + next);
            (wide, var) = (square, next);
        }
        let public = sum.zip(wide).map(|(sum, wide)| sum * wide);
        let input = cs.alloc_input(|| "public", || value(public))?;
        let all =
            |lc| bits.iter().enumerate().fold(lc, |lc, (i, bit)| lc + (Scalar::from(i as u64 + 3), *bit));
        cs.enforce(|| "public", all, |lc| lc + var, |lc| lc + input);
        Ok(())
    }
}

/// A prover on the CPU, its witness and its parameters' folder.
struct Case {
    prover: Prover,
    witness: Arc<Witness>,
    _folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let circuit = Circuit::new("mixed", || cuzk_synth::record(Mixed { seed: None })).unwrap();
        let size = circuit.sizes().witness;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mixed.params");
        let mut file = std::fs::File::create(&path).unwrap();
        write_parameters(circuit.r1cs(), &Trapdoor::from_seed(1), &mut file, &mut unwatched).unwrap();
        let file = ParameterFile::open(&path, &circuit.sizes().queries).unwrap();
        let witness = cuzk_synth::witness(&Cx::detached(), Mixed { seed: Some(SEED) }, &size).unwrap();
        let prover = Prover::new(circuit, Parameters::File(Arc::new(file), Residence::File)).unwrap();
        Self { prover, witness: Arc::new(witness), _folder: folder }
    }
}

type Proving = Arc<Graph<Arc<Witness>, PartitionProof>>;

fn proving(prover: &Prover) -> Proving {
    let blinding = Blinding::random(&mut ChaCha20Rng::seed_from_u64(SEED));
    let graph = Graph::build(|g, witness| {
        let witness = g.share_arc(witness);
        Ok(graph::prove(g, prover, witness, 0, Some(blinding)))
    });
    Arc::new(graph.unwrap())
}

/// An engine with a device of so many bytes.
fn engine<B: Backend>(device: B::Device, bytes: u64) -> Engine {
    engine_on(Arc::new(Context::<B>::new(device).unwrap()), bytes)
}

fn engine_on<B: Backend>(context: Arc<Context<B>>, bytes: u64) -> Engine {
    let budget = Footprint { host: 4 << 30, pinned: 256 << 20, device: 0 };
    let device = Device::new(0, bytes).lanes(3).handle(context);
    Engine::builder().budget(budget).device(device).build().unwrap()
}

fn on_cpu(case: &Case) -> PartitionProof {
    let engine = Engine::builder().budget(Footprint::host(4 << 30)).build().unwrap();
    engine.submit(&proving(&case.prover), case.witness.clone()).wait().unwrap()
}

fn open<B: Backend>() -> Option<B::Device> {
    match B::open(0, None) {
        Ok(device) => Some(device),
        Err(error @ (Error::Unavailable { .. } | Error::NoDevice { .. })) => {
            eprintln!("SKIPPED, this tests nothing: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Bytes in which the parameters stay on the device.
const ROOM: u64 = 4 << 30;

fn proofs_are_the_cpus<B: Backend>(kind: Kind) {
    let Some(device) = open::<B>() else { return };
    let (case, units) = (Case::new(), device.info().units);
    let expected = on_cpu(&case).to_bytes();
    let room = Room { bytes: ROOM, units };
    let resident = case.prover.on(kind, room).unwrap();
    assert!(resident.accelerator().unwrap().plan().is_resident());
    // Pieces of 100 and of 50 points, in not much more memory than one proof takes.
    let plan = DevicePlan::streamed(&case.prover.sizes(), 9600, room).unwrap();
    assert!(!plan.is_resident());
    let streamed = case.prover.on_with(kind, plan).unwrap();
    let floor = proving(&streamed).floor_with(case.witness.footprint()).device;
    for (prover, bytes) in [(resident, ROOM), (streamed, floor + 4096)] {
        let (engine, graph) = (engine::<B>(device.clone(), bytes), proving(&prover));
        let runs: Vec<_> = (0..4).map(|_| engine.submit(&graph, case.witness.clone())).collect();
        for run in runs {
            assert_eq!(run.wait().unwrap().to_bytes(), expected, "{bytes} bytes");
        }
    }
}

/// What the device holds after many proofs is what it holds after one.
fn memory_does_not_grow<B: Backend>(kind: Kind, proofs: usize) {
    let Some(device) = open::<B>() else { return };
    let (case, room) = (Case::new(), Room { bytes: ROOM, units: device.info().units });
    let prover = case.prover.on(kind, room).unwrap();
    let context = Arc::new(Context::<B>::new(device.clone()).unwrap());
    let (engine, graph) = (engine_on(context.clone(), room.bytes), proving(&prover));
    // What queued work used is let go of once it is waited for.
    let ours = || {
        context.compute().sync().unwrap();
        context.transfer().sync().unwrap();
        device.memory().unwrap().ours
    };
    engine.submit(&graph, case.witness.clone()).wait().unwrap();
    let after_one = ours();
    for _ in 1..proofs {
        engine.submit(&graph, case.witness.clone()).wait().unwrap();
    }
    assert_eq!(ours(), after_one);
    drop(engine);
    assert_eq!(ours(), 0);
}

#[test]
fn the_host_backend_makes_the_cpus_proofs() {
    proofs_are_the_cpus::<Host>(Kind::Host);
}

#[test]
fn memory_after_fifty_proofs_is_that_after_one() {
    memory_does_not_grow::<Host>(Kind::Host, 50);
}

/// Every allocation fails once: the run ends with the device's own error, and the next one
/// gives the proof.
#[test]
fn an_allocation_that_fails_costs_one_run() {
    let case = Case::new();
    let prover = case.prover.on(Kind::Host, Room { bytes: ROOM, units: 1 }).unwrap();
    let (expected, graph) = (on_cpu(&case).to_bytes(), proving(&prover));
    for after in 0.. {
        let device = HostDevice::new(&HostConfig::default());
        let engine = engine::<Host>(device.clone(), ROOM);
        device.inject(Fault::Allocation { after });
        let failed = engine.submit(&graph, case.witness.clone()).wait();
        let Err(error) = failed else {
            assert!(after > 20, "only {after} allocations");
            break;
        };
        assert_eq!(error.kind(), ErrorKind::Resource, "{after}: {error:?}");
        let chain = anyhow_chain(&error);
        assert!(chain.contains("out of"), "{after}: {chain}");
        let proof = engine.submit(&graph, case.witness.clone()).wait().unwrap();
        assert_eq!(proof.to_bytes(), expected, "after allocation {after}");
        drop(engine);
        assert_eq!(device.memory().unwrap().ours, 0, "after allocation {after}");
    }
}

fn anyhow_chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(Some(error), |error| error.source());
    sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Every launch is refused once, and the device is lost at many points: the run ends with an
/// error of the kind `Device`, and the CPU proves on the same engine.
#[test]
fn a_device_that_fails_is_left_to_the_cpu() {
    let case = Case::new();
    let prover = case.prover.on(Kind::Host, Room { bytes: ROOM, units: 1 }).unwrap();
    let (expected, graph) = (on_cpu(&case).to_bytes(), proving(&prover));
    let cpu = proving(&prover.on_cpu());
    let launches = (0..).step_by(7).map(|after| Fault::Launch { after });
    let losses = (0..).step_by(23).map(|after| Fault::Loss { after });
    for faults in [Box::new(launches) as Box<dyn Iterator<Item = Fault>>, Box::new(losses)] {
        for (count, fault) in faults.enumerate() {
            let device = HostDevice::new(&HostConfig::default());
            let engine = engine::<Host>(device.clone(), ROOM);
            device.inject(fault);
            let Err(error) = engine.submit(&graph, case.witness.clone()).wait() else {
                assert!(count > 4, "{fault:?} never struck");
                break;
            };
            assert_eq!(error.kind(), ErrorKind::Device, "{fault:?}: {error:?}");
            let again = engine.submit(&graph, case.witness.clone()).wait().err().unwrap();
            assert!(matches!(again, RunError::Quarantined { place: Place::Gpu(0) }), "{fault:?}: {again}");
            let proof = engine.submit(&cpu, case.witness.clone()).wait().unwrap();
            assert_eq!(proof.to_bytes(), expected, "{fault:?}");
        }
    }
}

#[test]
fn a_device_that_is_too_small_is_refused_before_anything_is_done() {
    let case = Case::new();
    let error = case.prover.on(Kind::Host, Room { bytes: 1 << 10, units: 1 }).err().unwrap();
    assert!(matches!(error, Groth16Error::Msm(_)), "{error}");
    assert_eq!(error.kind(), ErrorKind::Resource);
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuzk_gpu_backend::Cuda;

    use super::*;

    #[test]
    fn a_card_makes_the_cpus_proofs() {
        proofs_are_the_cpus::<Cuda>(Kind::Cuda);
    }

    #[test]
    fn memory_after_fifty_proofs_is_that_after_one() {
        memory_does_not_grow::<Cuda>(Kind::Cuda, 50);
    }
}
