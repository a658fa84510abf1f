//! Proofs on devices: the CPU's to the byte, whatever the memory; and what is left when something fails.
//!
//! On the host backend always, on NVIDIA's devices and on OpenCL's where there are any.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod case;

use std::sync::Arc;

use case::{Case, SEED};
use cuzk_gpu_backend::host::{Fault, HostConfig, HostDevice};
use cuzk_gpu_backend::suite::open;
use cuzk_gpu_backend::{Backend, Context, Device as _, Host, Kind, Stream as _};
use cuzk_groth16::device::{DevicePlan, Room};
use cuzk_groth16::{Blinding, Groth16Error, Proofs, Prover, graph};
use cuzk_pipeline_core::{Device, Engine, ErrorKind, Footprint, Graph, Options, Place, RunError, Value as _};
use cuzk_values::{PartitionProof, Witness};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

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
    engine_on([(Arc::new(Context::<B>::new(device).unwrap()), bytes)])
}

fn engine_on<B: Backend>(devices: impl IntoIterator<Item = (Arc<Context<B>>, u64)>) -> Engine {
    let mut builder = Engine::builder().budget(Footprint { host: 4 << 30, pinned: 256 << 20, device: 0 });
    for (i, (context, bytes)) in (0..).zip(devices) {
        builder = builder.device(Device::new(i, bytes).lanes(3).handle(context));
    }
    builder.build().unwrap()
}

fn on_cpu(case: &Case) -> PartitionProof {
    let engine = Engine::builder().budget(Footprint::host(4 << 30)).build().unwrap();
    engine.submit(&proving(&case.prover), case.witness.clone()).wait().unwrap()
}

/// Bytes in which the parameters stay on the device.
const ROOM: u64 = 4 << 30;

fn proofs_are_the_cpus<B: Backend>(kind: Kind) {
    let Some(device) = open::<B>() else { return };
    let (case, units) = (Case::new(), device.info().units);
    let expected = on_cpu(&case).to_bytes();
    let room = Room { bytes: ROOM, largest: ROOM, units };
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
    let (case, room) = (Case::new(), Room { bytes: ROOM, largest: ROOM, units: device.info().units });
    let prover = case.prover.on(kind, room).unwrap();
    let context = Arc::new(Context::<B>::new(device.clone()).unwrap());
    let (engine, graph) = (engine_on([(context.clone(), room.bytes)]), proving(&prover));
    // What queued work used is let go of once it is waited for.
    let ours = || {
        context.compute().sync().unwrap();
        context.beside().sync().unwrap();
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

/// Something else holds most of a device's memory: one allocation or another is refused, the run ends
/// with the device's own error, and once there is room the same engine proves.
fn memory_that_is_not_there_costs_one_run<B: Backend>(kind: Kind) {
    let Some(device) = open::<B>() else { return };
    let (case, room) = (Case::new(), Room { bytes: ROOM, largest: ROOM, units: device.info().units });
    let (expected, graph) = (on_cpu(&case).to_bytes(), proving(&case.prover.on(kind, room).unwrap()));
    drop(device);
    let need = graph.floor_with(case.witness.footprint()).device.next_multiple_of(1 << 16);
    let mut refused = 0;
    for sixteenths in 1..16 {
        let device = B::open(0, Some(4 * need)).unwrap();
        let engine = engine::<B>(device.clone(), ROOM);
        let other = device.buffer(4 * need - need * sixteenths / 16).unwrap();
        if let Err(error) = engine.submit(&graph, case.witness.clone()).wait() {
            assert_eq!(error.kind(), ErrorKind::Resource, "{sixteenths}/16: {error:?}");
            assert!(anyhow_chain(&error).contains("out of"), "{sixteenths}/16: {error:?}");
            refused += 1;
        }
        drop(other);
        let proof = engine.submit(&graph, case.witness.clone()).wait().unwrap();
        assert_eq!(proof.to_bytes(), expected, "{sixteenths}/16");
        drop(engine);
        assert_eq!(device.memory().unwrap().ours, 0, "{sixteenths}/16");
    }
    assert!(refused > 8, "refused {refused} times");
}

#[test]
fn memory_that_a_host_lacks_costs_one_run() {
    memory_that_is_not_there_costs_one_run::<Host>(Kind::Host);
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
    let prover = case.prover.on(Kind::Host, Room { bytes: ROOM, largest: ROOM, units: 1 }).unwrap();
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
    let prover = case.prover.on(Kind::Host, Room { bytes: ROOM, largest: ROOM, units: 1 }).unwrap();
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

/// Bytes of each device, and whether it fails.
type Devices<'a> = &'a [(u64, bool)];

/// A proof is made again on the devices that are left if one of them can take it, and on the CPU if not.
#[test]
fn a_proof_survives_its_devices() {
    let case = Case::new();
    let prover = case.prover.on(Kind::Host, Room { bytes: ROOM, largest: ROOM, units: 1 }).unwrap();
    let expected = on_cpu(&case).to_bytes();
    let proofs = Proofs::of(Some(proving(&prover)), proving(&prover.on_cpu()));
    // Whether each new attempt is on the CPU.
    let cases: [(Devices<'_>, &[bool]); 5] = [
        (&[(ROOM, false)], &[]),
        (&[(ROOM, true)], &[true]),
        (&[(ROOM, true), (ROOM, true)], &[false, true]),
        (&[(ROOM, true), (1 << 10, false)], &[false, true]),
        (&[(ROOM, true), (1 << 10, false), (ROOM, false)], &[false]),
    ];
    for (devices, attempts) in cases {
        let engine = engine_on(devices.iter().map(|&(bytes, fails)| {
            let device = HostDevice::new(&HostConfig::default());
            if fails {
                device.inject(Fault::Loss { after: 40 });
            }
            (Arc::new(Context::<Host>::new(device).unwrap()), bytes)
        }));
        let attempt = proofs.submit(&engine, &case.witness, Options::default());
        let mut seen = Vec::new();
        let proof = attempt.wait(|_, _, on_cpu| seen.push(on_cpu)).unwrap();
        assert_eq!((proof.to_bytes(), seen.as_slice()), (expected, attempts), "{devices:?}");
    }
}

#[test]
fn a_device_that_is_too_small_is_refused_before_anything_is_done() {
    let case = Case::new();
    let error =
        case.prover.on(Kind::Host, Room { bytes: 1 << 10, largest: 1 << 10, units: 1 }).err().unwrap();
    assert!(matches!(error, Groth16Error::Msm(_)), "{error}");
    assert_eq!(error.kind(), ErrorKind::Resource);
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuzk_gpu_backend::{Arg, Cuda, Family, Grid, Param, Signature};

    use super::*;

    #[test]
    fn a_card_makes_the_cpus_proofs() {
        proofs_are_the_cpus::<Cuda>(Kind::Cuda);
    }

    #[test]
    fn memory_after_fifty_proofs_is_that_after_one() {
        memory_does_not_grow::<Cuda>(Kind::Cuda, 50);
    }

    #[test]
    fn memory_that_a_card_lacks_costs_one_run() {
        memory_that_is_not_there_costs_one_run::<Cuda>(Kind::Cuda);
    }

    /// `load` reads where it is told, whatever is there.
    static OWN: Family =
        Family::new("own", &[Signature { name: "load", params: &[Param::U64, Param::Write(8)] }]).cuda(
            br"
.version 7.0
.target sm_75
.address_size 64
.visible .entry load(.param .u64 from, .param .u64 to, .param .u64 n) {
    .reg .u64 %r<3>;
    ld.param.u64 %r0, [from];
    ld.param.u64 %r1, [to];
    ld.global.u64 %r2, [%r0];
    st.global.u64 [%r1], %r2;
    ret;
}
",
        );

    /// Comes alone, for it loses the device for its process (`scripts/gpu-test.sh`).
    #[test]
    fn a_fault_loses_the_device() {
        let Some(device) = open::<Cuda>() else { return };
        let (case, room) = (Case::new(), Room { bytes: ROOM, largest: ROOM, units: device.info().units });
        let expected = on_cpu(&case).to_bytes();
        let prover = case.prover.on(Kind::Cuda, room).unwrap();
        let proofs = Proofs::of(Some(proving(&prover)), proving(&prover.on_cpu()));
        let context = Arc::new(Context::<Cuda>::new(device.clone()).unwrap());
        let engine = engine_on([(context.clone(), room.bytes)]);
        for fault in [false, true] {
            if fault {
                let (load, out) = (device.kernel(&OWN, "load").unwrap(), device.buffer(8).unwrap());
                context.compute().launch(&load, Grid::new(1, 1), &[Arg::U64(8), Arg::Write(&out)]).unwrap();
            }
            let (attempt, mut seen) = (proofs.submit(&engine, &case.witness, Options::default()), Vec::new());
            let proof = attempt.wait(|_, _, on_cpu| seen.push(on_cpu)).unwrap();
            assert_eq!((proof.to_bytes(), seen), (expected, vec![true; usize::from(fault)]));
        }
    }
}

#[cfg(feature = "opencl")]
mod opencl {
    use cuzk_gpu_backend::OpenCl;
    use cuzk_groth16::device::families;

    use super::*;

    #[test]
    fn every_build_has_all_kernels_of_a_proof() {
        let built = Kind::OpenCl.families().unwrap();
        assert!(families().iter().all(|family| built.contains(family)), "{built:?}");
    }

    #[test]
    fn a_device_makes_the_cpus_proofs() {
        OpenCl::accept_cpus();
        proofs_are_the_cpus::<OpenCl>(Kind::OpenCl);
    }

    #[test]
    fn memory_after_five_proofs_is_that_after_one() {
        OpenCl::accept_cpus();
        memory_does_not_grow::<OpenCl>(Kind::OpenCl, 5);
    }
}
