//! Points on devices against the CPU's decoder: on the host's device always, on NVIDIA's and on
//! OpenCL's where there is one.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod fixture;
#[cfg(feature = "cuda")]
mod rates;

use std::fs;
use std::sync::Arc;

use blstrs::{Fp, G1Affine, G2Affine};
use cuzk_gpu_backend::host::{Fault, HostConfig, HostDevice};
use cuzk_gpu_backend::{Backend, Context, Error, Host};
use cuzk_pipeline_core::{
    CancelToken, Cost, Cx, Engine, ErrorKind, Footprint, Graph, Placement, Stage, Value, stage_fn,
};
use cuzk_srs::SrsError;
use cuzk_srs::gpu::{LoadBases, MakeStaging, Staging};
use cuzk_values::{Bases, BasesError, DeviceBases};
use rand_core::RngCore;

use fixture::{Bench, Spoil, TestFile, TestPoint, limbs, random, random_points, words_of};

/// An error about points, with all that it says.
fn bases_error(error: SrsError) -> BasesError {
    match error {
        SrsError::Bases(error) => error,
        other => panic!("{other:?}"),
    }
}

fn any_range_is_what_the_cpu_decodes<B: Backend, P: TestPoint>(n: usize) {
    // Ten points and a bit.
    let Some(bench) = Bench::<B>::open(10 * P::BYTES + 7) else { return };
    let mut random = random();
    let points = random_points::<P>(n, &mut random);
    let srs = TestFile::new(&points).srs();
    let mut ranges = vec![0..n, 0..0, n..n, 0..1, n - 1..n, 3..13, 3..14, 0..10, 0..20];
    ranges.extend((0..20).map(|_| {
        let mut at = || random.next_u32() as usize % (n + 1);
        let (x, y) = (at(), at());
        x.min(y)..x.max(y)
    }));
    let resident = Bases::new(points.clone());
    for range in ranges {
        for bases in [P::query(&srs), &resident] {
            let loaded = bench.load(bases, range.clone()).unwrap();
            assert_eq!(loaded.range(), range);
            assert_eq!(bench.words(loaded.points()), limbs(&points[range.clone()]), "{bases:?} {range:?}");
        }
    }
    for (start, end) in [(0, n + 1), (n + 1, n + 1), (5, 4), (usize::MAX - 1, usize::MAX)] {
        for bases in [P::query(&srs), &resident] {
            let error = bases_error(bench.load(bases, start..end).unwrap_err());
            assert_eq!(error, BasesError::Range { start, end, len: n });
        }
    }
}

fn modulus() -> [u8; 48] {
    let mut bytes = (-Fp::from(1)).to_bytes_be();
    bytes[47] += 1; // p - 1 is even.
    bytes
}

/// Adds the modulus to a coordinate: the same point, were it not for the encoding.
fn add_modulus(coordinate: &mut [u8]) {
    let mut carry = 0;
    for (byte, modulus) in coordinate.iter_mut().zip(modulus()).rev() {
        let sum = u16::from(*byte) + u16::from(modulus) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
}

fn every_fault() -> Vec<(&'static str, Box<Spoil>)> {
    let mut faults: Vec<(&'static str, Box<Spoil>)> = vec![
        ("compressed", Box::new(|p| p[0] |= 0x80)),
        ("larger y", Box::new(|p| p[0] |= 0x20)),
        ("flag of another coordinate", Box::new(|p| p[48] |= 0x80)),
        ("off the curve", Box::new(|p| p[p.len() - 1] ^= 1)),
        ("zeros", Box::new(|p| p.fill(0))),
        ("ones", Box::new(|p| p.fill(0xff))),
        (
            "infinity",
            Box::new(|p| {
                p.fill(0);
                p[0] = 0x40;
            }),
        ),
        (
            "(0, 2), which is on G1's curve",
            Box::new(|p| {
                p.fill(0);
                p[p.len() - 1] = 2;
            }),
        ),
        ("y = p", Box::new(|p| p.rchunks_mut(48).next().unwrap().copy_from_slice(&modulus()))),
        ("y + p", Box::new(|p| add_modulus(p.rchunks_mut(48).next().unwrap()))),
        ("-y and a flag", Box::new(|p| p[p.len() / 2] |= 0x40)),
    ];
    faults.push(("x = p", Box::new(|p| p[..48].copy_from_slice(&modulus()))));
    faults
}

fn faults_are_the_cpus<B: Backend, P: TestPoint>(n: usize) {
    let Some(bench) = Bench::<B>::open(7 * P::BYTES) else { return };
    let file = TestFile::new(&random_points::<P>(n, &mut random()));
    let first = 2;
    for (name, fault) in every_fault() {
        for index in [first, n / 2, n - 1] {
            let srs = file.spoil::<P>(&[(index, &*fault)]);
            let expected = P::query(&srs).points(first..n).unwrap_err();
            assert!(matches!(expected, BasesError::Point { index: at, .. } if at == index));
            let error = bench.load(P::query(&srs), first..n).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Input);
            assert_eq!(bases_error(error), expected, "{name} at {index}");
            assert!(bench.load(P::query(&srs), index + 1..n).is_ok(), "{name} before {index}");
        }
    }
    let faults = every_fault();
    let several = file.spoil::<P>(&[(n - 1, &*faults[0].1), (9, &*faults[3].1), (n / 2, &*faults[5].1)]);
    let error = bases_error(bench.load(P::query(&several), 0..n).unwrap_err());
    assert!(matches!(error, BasesError::Point { index: 9, .. }), "{error}");
}

/// Any bit of a point but one that leaves it a point.
fn a_wrong_bit_is_what_the_cpu_says<B: Backend, P: TestPoint>(step: usize) {
    let Some(bench) = Bench::<B>::open(1 << 20) else { return };
    let mut random = random();
    let file = TestFile::new(&random_points::<P>(20, &mut random));
    for bit in (random.next_u32() as usize % step..8 * P::BYTES).step_by(step) {
        let srs =
            file.spoil::<P>(&[(random.next_u32() as usize % 20, &move |p| p[bit / 8] ^= 1 << (bit % 8))]);
        let expected = P::query(&srs).points(0..20).unwrap_err();
        assert_eq!(bases_error(bench.load(P::query(&srs), 0..20).unwrap_err()), expected, "bit {bit}");
    }
}

fn a_changed_file_is_seen<B: Backend, P: TestPoint>() {
    let Some(bench) = Bench::<B>::open(1 << 20) else { return };
    let file = TestFile::new(&random_points::<P>(20, &mut random()));
    let srs = file.srs();
    assert!(bench.load(P::query(&srs), 0..20).is_ok());
    for len in [file.bytes.len() + 1, 1000] {
        let opened = fs::OpenOptions::new().write(true).open(&file.path).unwrap();
        opened.set_len(len as u64).unwrap();
        let expected = P::query(&srs).points(3..20).unwrap_err();
        assert!(matches!(expected, BasesError::Point { reason, .. } if reason.contains("changed")));
        assert_eq!(bases_error(bench.load(P::query(&srs), 3..20).unwrap_err()), expected);
    }
}

fn declared_bytes_are_those_taken<B: Backend, P: TestPoint>() {
    let Some(bench) = Bench::<B>::open(1 << 12) else { return };
    let srs = TestFile::new(&random_points::<P>(50, &mut random())).srs();
    for piece in [0, 1000, 1 << 12, 1 << 20] {
        let declared = MakeStaging::<B>::new(piece).cost();
        let before = bench.used();
        let made = MakeStaging::<B>::new(piece).run(&bench.cx(), ()).unwrap();
        assert_eq!(declared.left(), made.footprint());
        assert_eq!(declared.to_start(), made.footprint());
        assert_eq!(bench.used() - before, made.footprint().device.next_multiple_of(256));
    }
    for range in [0..0, 0..50, 7..9] {
        let load = || LoadBases::<B, P>::new("srs.test", P::query(&srs).clone(), range.clone());
        let bytes = (range.len() * P::BYTES) as u64;
        assert_eq!(load().cost().to_start(), Footprint::device(bytes));
        assert_eq!(load().cost().left(), Footprint::device(bytes));
        let before = bench.used();
        let loaded = load().run(&bench.cx(), bench.staging.clone()).unwrap();
        assert_eq!(loaded.footprint(), Footprint::device(bytes));
        assert_eq!(bench.used() - before, bytes.next_multiple_of(256));
        drop(loaded);
        let resident = load().resident();
        let own = Staging::<B>::bytes(Staging::<B>::PIECE);
        assert_eq!(resident.cost().to_start(), Footprint::device(bytes) + own);
        let loaded = resident.run(&bench.cx(), ()).unwrap();
        assert_eq!(loaded.footprint(), resident.cost().left());
        assert_eq!(bench.used() - before, bytes.next_multiple_of(256));
    }
}

/// What a device's stage leaves on the host.
struct Words(Vec<u64>);

impl Value for Words {
    fn footprint(&self) -> Footprint {
        Footprint::host(8 * self.0.len() as u64)
    }
}

/// A query in parts, of which two have room on the device, and one that stays there.
fn a_graph_streams_a_query<B: Backend, P: TestPoint>() {
    let Some(bench) = Bench::<B>::open(1) else { return };
    let (n, part) = (100, 16);
    let points = random_points::<P>(n, &mut random());
    let srs = TestFile::new(&points).srs();
    let bytes = |points: usize| (points * P::BYTES) as u64;
    let read = |len: usize| {
        let cost = Cost::free().output(Footprint::host(bytes(len)));
        let read = |cx: &Cx<'_>, bases: Arc<DeviceBases<B::Buffer, P>>| {
            Ok::<_, SrsError>(Words(words_of(cx.device::<Context<B>>().unwrap(), bases.points())))
        };
        stage_fn("test.read", cost, read).at(Placement::Gpu)
    };
    let graph = Graph::build(|g, nothing| {
        let staging = g.resident("staging", MakeStaging::<B>::new(5 * P::BYTES));
        let query = P::query(&srs).clone();
        let whole = g.resident("whole", LoadBases::<B, P>::new("srs.whole", query, 0..n).resident());
        let mut parts = vec![g.stage(read(n), whole)];
        for start in (0..n).step_by(part) {
            let range = start..n.min(start + part);
            let len = range.len();
            let load = LoadBases::<B, P>::new("srs.part", P::query(&srs).clone(), range);
            let loaded = g.stage(load, staging);
            let loaded = g.share(loaded);
            parts.push(g.stage(read(len), loaded));
        }
        let cost = Cost::free().output(Footprint::host(2 * bytes(n)));
        let join = |_: &Cx<'_>, (_, parts): (Words, Vec<Words>)| {
            Ok::<_, SrsError>(Words(parts.into_iter().flat_map(|words| words.0).collect()))
        };
        Ok(g.stage(stage_fn("test.join", cost, join), (nothing, parts)))
    });
    let graph = Arc::new(graph.unwrap());
    let budget = Footprint { host: 1 << 24, pinned: 1 << 26, device: 0 };
    let device = bytes(n) + 2 * bytes(part) + 16;
    let engine = Engine::builder()
        .budget(budget)
        .device(cuzk_pipeline_core::Device::new(0, device).lanes(2).handle(bench.context.clone()))
        .build()
        .unwrap();
    for _ in 0..3 {
        let all = engine.submit(&graph, Words(Vec::new())).wait().unwrap().0;
        assert_eq!(all[..limbs(&points).len()], limbs(&points));
        assert_eq!(all[limbs(&points).len()..], limbs(&points));
    }
}

/// A failure of any allocation, launch or piece of work is an error that says so, and leaves
/// nothing behind; after all but the last the same load goes well.
fn failures_leave_nothing_behind<P: TestPoint>() {
    let points = random_points::<P>(40, &mut random());
    let srs = TestFile::new(&points).srs();
    let config = HostConfig { memory: 1 << 20, ..HostConfig::default() };
    let device = HostDevice::new(&config);
    let bench = Bench::<Host>::of(Context::new(device.clone()).unwrap(), 16 * P::BYTES);
    let load = || LoadBases::<Host, P>::new("srs.test", P::query(&srs).clone(), 0..40);
    let clean = bench.used();
    let whole = || {
        let resident = load().resident().run(&bench.cx(), ());
        resident.map(|bases| assert_eq!(bench.words(bases.points()), limbs(&points)))
    };
    let mut failed = 0;
    loop {
        device.inject(Fault::Allocation { after: failed });
        match whole() {
            Err(error) => {
                assert!(matches!(error, SrsError::Device(Error::OutOfMemory { .. })), "{error:?}");
                assert_eq!(error.kind(), ErrorKind::Resource);
            }
            Ok(()) => break,
        }
        assert_eq!(bench.used(), clean);
        failed += 1;
    }
    // Two halves, their verdict, and the points.
    assert_eq!(failed, 4);
    // What was injected last strikes next.
    assert!(whole().is_err());
    device.inject(Fault::Launch { after: 0 });
    let error = bench.load(P::query(&srs), 0..40).unwrap_err();
    assert!(
        matches!(error, SrsError::Device(Error::Launch { kernel, .. }) if kernel == P::KERNEL),
        "{error:?}"
    );
    assert_eq!(error.kind(), ErrorKind::Device);
    assert_eq!(bench.used(), clean);
    whole().unwrap();

    let token = CancelToken::default();
    token.cancel();
    let cancelled = load().run(&bench.cx().with_cancel(token), bench.staging.clone()).unwrap_err();
    assert!(matches!(cancelled, SrsError::Cancelled));
    assert_eq!(bench.used(), clean);

    let elsewhere = load().run(&Cx::detached(), bench.staging.clone()).unwrap_err();
    assert!(matches!(elsewhere, SrsError::Device(Error::NoContext { backend: "host", .. })));

    // Three copies, a setting to zero, the kernel.
    for after in 0..5 {
        let device = HostDevice::new(&config);
        let bench = Bench::<Host>::of(Context::new(device.clone()).unwrap(), 16 * P::BYTES);
        device.inject(Fault::Loss { after });
        let error = bench.load(P::query(&srs), 0..40).unwrap_err();
        assert!(matches!(error, SrsError::Device(Error::Lost { .. })), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Device);
    }
}

/// The tests of a backend and a group, with the sizes that suit it.
macro_rules! suite {
    ($name:ident: $backend:ty, $point:ty, $points:expr, $bits:expr) => {
        suite!($name: $backend, $point, $points, $bits, ());
    };
    ($name:ident: $backend:ty, $point:ty, $points:expr, $bits:expr, $before:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn any_range_is_what_the_cpu_decodes() {
                $before;
                super::any_range_is_what_the_cpu_decodes::<$backend, $point>($points);
            }

            #[test]
            fn faults_are_the_cpus() {
                $before;
                super::faults_are_the_cpus::<$backend, $point>(40);
            }

            #[test]
            fn a_wrong_bit_is_what_the_cpu_says() {
                $before;
                super::a_wrong_bit_is_what_the_cpu_says::<$backend, $point>($bits);
            }

            #[test]
            fn a_changed_file_is_seen() {
                $before;
                super::a_changed_file_is_seen::<$backend, $point>();
            }

            #[test]
            fn declared_bytes_are_those_taken() {
                $before;
                super::declared_bytes_are_those_taken::<$backend, $point>();
            }

            #[test]
            fn a_graph_streams_a_query() {
                $before;
                super::a_graph_streams_a_query::<$backend, $point>();
            }
        }
    };
}

suite!(host_g1: Host, G1Affine, 64, 7);
suite!(host_g2: Host, G2Affine, 45, 13);
#[cfg(feature = "cuda")]
suite!(cuda_g1: cuzk_gpu_backend::Cuda, G1Affine, 1000, 1);
#[cfg(feature = "cuda")]
suite!(cuda_g2: cuzk_gpu_backend::Cuda, G2Affine, 1000, 1);
#[cfg(feature = "opencl")]
suite!(opencl_g1: cuzk_gpu_backend::OpenCl, G1Affine, 64, 7, cuzk_gpu_backend::OpenCl::accept_cpus());
#[cfg(feature = "opencl")]
suite!(opencl_g2: cuzk_gpu_backend::OpenCl, G2Affine, 45, 13, cuzk_gpu_backend::OpenCl::accept_cpus());

#[test]
fn failures_leave_nothing_behind_in_g1() {
    failures_leave_nothing_behind::<G1Affine>();
}

#[test]
fn failures_leave_nothing_behind_in_g2() {
    failures_leave_nothing_behind::<G2Affine>();
}
