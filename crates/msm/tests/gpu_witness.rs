//! Sums over a witness on devices, and the stages of all sums, against the CPU's: on the host's
//! device always, on NVIDIA's and on OpenCL's where there is one.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_gpu_backend::host::{Fault, HostConfig, HostDevice};
use cuzk_gpu_backend::{Backend, Context, Device, Error, Host, Stream, suite};
use cuzk_msm::gpu::{
    DeviceCurve, DeviceDensity, DeviceMsmA, DeviceMsmB1, DeviceMsmB2, DeviceMsmH, DeviceMsmL, Extent, Join,
    LoadDensity, LoadWorkspace, Pending, Plan, QueryDensity, Workspace, base_bytes, scalar_bytes,
};
use cuzk_msm::{Density, G1, G2, MsmError, Sum, msm_bases, msm_compact};
use cuzk_pipeline_core::{Cx, ErrorKind, Footprint, Place, Stage, Value as _, weigh};
use cuzk_values::{
    Bases, Bits, CompactScalars, Densities, DeviceBases, DeviceWitness, Places, Poly, Witness,
};
use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

const SEED: u64 = 0x0e5_381;

/// A group whose points have the usual traits.
trait TestCurve:
    DeviceCurve<
        Affine: PrimeCurveAffine<Curve = Self::Projective> + std::ops::Neg<Output = Self::Affine>,
        Projective: group::Curve<AffineRepr = Self::Affine>,
    >
{
}
impl TestCurve for G1 {}
impl TestCurve for G2 {}

/// The first device with its queues, where there is one.
fn open<B: Backend>() -> Option<Context<B>> {
    suite::open::<B>().map(|device| Context::new(device).unwrap())
}

/// `n` points, of which equal ones, opposite ones and infinity are a part.
fn points<C: TestCurve>(n: usize, rng: &mut ChaCha20Rng) -> Vec<C::Affine> {
    let mut point = C::Projective::random(&mut *rng);
    let mut points: Vec<C::Affine> = Vec::with_capacity(n);
    for _ in 0..n {
        point = point.double();
        let last = points.last().copied();
        points.push(match (rng.next_u32() % 16, last) {
            (0, _) => C::Affine::identity(),
            (1, Some(last)) => last,
            (2, Some(last)) => -last,
            _ => point.to_affine(),
        });
    }
    points
}

/// How likely it is, of 256, that a variable is wide, that another is 1, and that one has a base.
#[derive(Debug, Clone, Copy)]
struct Shares {
    wide: u32,
    one: u32,
    base: u32,
}

const SHARES: [Shares; 7] = [
    Shares { wide: 4, one: 128, base: 256 },
    Shares { wide: 40, one: 100, base: 100 },
    Shares { wide: 0, one: 256, base: 256 },
    Shares { wide: 0, one: 0, base: 200 },
    Shares { wide: 256, one: 0, base: 256 },
    Shares { wide: 250, one: 200, base: 20 },
    Shares { wide: 60, one: 256, base: 0 },
];

fn chance(share: u32, rng: &mut ChaCha20Rng) -> bool {
    rng.next_u32() % 256 < share
}

/// Full width, or what is legal beside it: 0, 1, r - 1, a short one.
fn wide(rng: &mut ChaCha20Rng) -> Scalar {
    match rng.next_u32() % 8 {
        0 => Scalar::ZERO,
        1 => Scalar::ONE,
        2 => -Scalar::ONE,
        3 => Scalar::from(u64::from(rng.next_u32())),
        _ => Scalar::random(rng),
    }
}

fn witness(inputs: usize, aux: usize, shares: Shares, rng: &mut ChaCha20Rng) -> Witness {
    let (mut ones, mut wide_at, mut values) = (Bits::new(), Places::with_capacity(0), Vec::new());
    for i in 0..aux {
        let is_wide = chance(shares.wide, rng);
        if is_wide {
            wide_at.push(i as u32);
            values.push(wide(rng));
        }
        ones.push(!is_wide && chance(shares.one, rng));
    }
    let inputs = (0..inputs).map(|_| wide(rng)).collect();
    Witness { inputs, aux: CompactScalars::new(ones, wide_at, values) }
}

fn densities(inputs: usize, aux: usize, shares: Shares, rng: &mut ChaCha20Rng) -> Densities {
    let mut bits = |len| (0..len).map(|_| chance(shares.base, rng)).collect::<Bits>();
    Densities { a_aux: bits(aux), b_inputs: bits(inputs), b_aux: bits(aux) }
}

fn upload<B: Backend>(context: &Context<B>, bytes: &[u8]) -> B::Buffer {
    let buffer = context.device().buffer(bytes.len() as u64).unwrap();
    context.compute().upload(bytes, &buffer, 0).unwrap();
    buffer
}

fn upload_scalars<B: Backend>(context: &Context<B>, scalars: &[Scalar]) -> B::Buffer {
    upload(context, &scalars.iter().flat_map(scalar_bytes).collect::<Vec<u8>>())
}

fn upload_witness<B: Backend>(context: &Context<B>, witness: &Witness) -> DeviceWitness<B::Buffer> {
    let Witness { inputs, aux } = witness;
    DeviceWitness {
        inputs: upload_scalars(context, inputs),
        ones: upload(context, bytemuck::cast_slice(aux.ones().words())),
        wide_at: upload(context, bytemuck::cast_slice(&aux.wide_at().iter().collect::<Vec<u32>>())),
        wide: upload_scalars(context, aux.wide()),
        aux: aux.len(),
    }
}

/// A range of a query.
fn upload_bases<B: Backend, C: TestCurve>(
    context: &Context<B>,
    points: &[C::Affine],
    range: std::ops::Range<usize>,
) -> DeviceBases<B::Buffer, C::Affine> {
    let bytes: Vec<u8> = points[range.clone()].iter().flat_map(base_bytes::<C>).collect();
    DeviceBases::new(upload(context, &bytes), range)
}

fn on_cpu<C: TestCurve>(
    points: &[C::Affine],
    witness: &Witness,
    density: Density<'_>,
    inputs: bool,
) -> C::Projective {
    let scalars = if inputs { &*witness.inputs } else { &[] };
    let bases = Bases::new(points.to_vec());
    msm_compact::<C>(&bases, scalars, &witness.aux, density, &|| Ok(())).unwrap()
}

fn extent(bases: usize, wide: usize, limit: u64) -> Extent {
    Extent { terms: bases as u64, bases: bases as u64, wide: wide as u64, limit, sums: 4, units: 1 }
}

/// The queries of a circuit, as the CPU has them: whether of the inputs, and of which variables.
fn queries<B: Backend>(
    on_device: &DeviceDensity<B>,
    densities: &Densities,
    f: impl Fn(&'static str, &QueryDensity<B>, Density<'_>, bool),
) {
    f("l", &on_device.l, Density::Full, false);
    f("a", &on_device.a, Density::Map { inputs: None, aux: &densities.a_aux }, true);
    let b = Density::Map { inputs: Some(&densities.b_inputs), aux: &densities.b_aux };
    f("b", &on_device.b, b, true);
}

/// Witnesses of all kinds times whole queries and times ranges of them.
fn sums_equal_the_cpus<B: Backend, C: TestCurve>(sizes: &[(usize, usize)], limits: &[u64]) {
    let Some(context) = open::<B>() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    for &(inputs, aux) in sizes {
        let all = points::<C>(inputs + aux, &mut rng);
        for shares in SHARES {
            let (on_cpu_, maps) =
                (witness(inputs, aux, shares, &mut rng), densities(inputs, aux, shares, &mut rng));
            let there = upload_witness(&context, &on_cpu_);
            let density = DeviceDensity::<B>::new(&context, &maps).unwrap();
            for &limit in limits {
                let workspace = Workspace::new(&context, extent(inputs + aux, inputs + aux, limit)).unwrap();
                queries(&density, &maps, |name, query, map, with_inputs| {
                    let points = &all[..query.bases()];
                    let want = on_cpu::<C>(points, &on_cpu_, map, with_inputs);
                    let n = points.len();
                    for cuts in [vec![0, n], vec![0, n / 3, n / 3, n / 2 + n % 2, n]] {
                        let queue = |cut: &[usize]| {
                            let bases = upload_bases::<B, C>(&context, points, cut[0]..cut[1]);
                            workspace.witness::<C>(context.compute(), &there, query, &bases).unwrap()
                        };
                        let pending: Vec<Pending<B, C>> = cuts.windows(2).map(queue).collect();
                        let sum: C::Projective = pending.into_iter().map(|sum| sum.wait().unwrap()).sum();
                        assert_eq!(
                            sum, want,
                            "{name} of {inputs} + {aux}, {shares:?} {cuts:?} {limit}, seed {SEED:#x}"
                        );
                    }
                });
            }
        }
    }
}

/// One sum, of as many bases at once, in windows and rounds of any kind.
fn any_plan_gives_the_same<B: Backend, C: TestCurve>(aux: usize) {
    let Some(context) = open::<B>() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let shares = SHARES[1];
    let (on_cpu_, maps) = (witness(9, aux, shares, &mut rng), densities(9, aux, shares, &mut rng));
    let there = upload_witness(&context, &on_cpu_);
    let density = DeviceDensity::<B>::new(&context, &maps).unwrap();
    let points = points::<C>(density.a.bases(), &mut rng);
    let want = on_cpu::<C>(&points, &on_cpu_, Density::Map { inputs: None, aux: &maps.a_aux }, true);
    let n = points.len() as u64;
    let bases = upload_bases::<B, C>(&context, &points, 0..points.len());
    let terms = (9 + on_cpu_.aux.wide().len() as u64).min(n);
    for (shape, group, at_once) in
        [([4, 0], 128, n), ([5, 2], 3, n / 3 + 1), ([7, 1], 20, n / 7), ([3, 5], 99, n / 2)]
    {
        let plan = Plan::of(terms, shape, terms.min(at_once), group, 1).with_ones(at_once, 1);
        let workspace = Workspace::with_plan::<C>(&context, &plan).unwrap();
        let queue = |plan| workspace.witness_by::<C>(plan, context.compute(), &there, &density.a, &bases);
        assert_eq!(queue(&plan).unwrap().wait().unwrap(), want, "{plan:?}, seed {SEED:#x}");
        let error =
            queue(&Plan::of(terms, [12, 3], terms, 128, 1).with_ones(8 * n, 1)).map(drop).unwrap_err();
        assert!(matches!(error, MsmError::Limit { limit, least } if limit < least), "{error}");
    }
}

/// Ones of one base alone, of opposite bases, of infinity, in one run.
fn equal_and_opposite_bases<B: Backend, C: TestCurve>(aux: usize) {
    let Some(context) = open::<B>() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let point = C::Affine::generator();
    let workspace = Workspace::new(&context, extent(aux, 8, 1 << 26)).unwrap();
    let run: Bits = (0..aux).map(|i| (aux / 4..aux / 2).contains(&i)).collect();
    for (name, ones) in [("all", Bits::ones(aux)), ("a run", run)] {
        let on_cpu_ = Witness {
            inputs: vec![Scalar::ONE],
            aux: CompactScalars::new(ones, Places::with_capacity(0), Vec::new()),
        };
        let maps = densities(1, aux, SHARES[0], &mut rng);
        let there = upload_witness(&context, &on_cpu_);
        let density = DeviceDensity::<B>::new(&context, &maps).unwrap();
        let identity = C::Affine::identity();
        for bases in [
            vec![point; aux],
            (0..aux).map(|i| if i % 2 == 0 { point } else { -point }).collect(),
            vec![identity; aux],
            (0..aux).map(|i| if i % 3 == 0 { point } else { identity }).collect(),
        ] {
            let want = on_cpu::<C>(&bases, &on_cpu_, Density::Full, false);
            let on_device = upload_bases::<B, C>(&context, &bases, 0..aux);
            let pending = workspace.witness::<C>(context.compute(), &there, &density.l, &on_device);
            assert_eq!(pending.unwrap().wait().unwrap(), want, "{name}");
        }
    }
}

/// A proof's five sums by their stages, and what these declare.
fn stages_make_a_proofs_sums<B: Backend>(log: u32) {
    let Some(context) = open::<B>() else { return };
    let context = &context;
    let cx = &Cx::detached().with_device(Place::Gpu(0), context);
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let (inputs, n) = (5, 1 << log);
    let aux = n - inputs - 3;
    let on_cpu_ = witness(inputs, aux, SHARES[1], &mut rng);
    let maps = Arc::new(densities(inputs, aux, SHARES[1], &mut rng));
    let (g1, g2) = (points::<G1>(n, &mut rng), points::<G2>(n, &mut rng));
    let h: Vec<Scalar> = (0..n).map(|i| if i + 1 < n { wide(&mut rng) } else { Scalar::ZERO }).collect();

    let before = context.device().memory().unwrap().ours;
    let extent = Extent { limit: 1 << 24, sums: 2, ..extent(n, aux, 0) };
    let workspace = weigh(&LoadWorkspace::<B>::new(extent).unwrap(), cx, ()).unwrap();
    assert_eq!((workspace.overweight().count(), workspace.slack()), (0, Footprint::ZERO));
    assert!(workspace.declared[0].device <= extent.limit && workspace.declared[0].pinned > 0);
    let loaded = weigh(&LoadDensity::<B>::new(maps.clone()), cx, ()).unwrap();
    assert_eq!((loaded.overweight().count(), loaded.slack()), (0, Footprint::ZERO));
    let taken = context.device().memory().unwrap().ours - before;
    assert_eq!(taken, workspace.declared[0].device + loaded.declared[0].device);

    let (workspace, density) = (Arc::new(workspace.out), Arc::new(loaded.out));
    let declared = workspace.footprint();
    let there = Arc::new(upload_witness(context, &on_cpu_));
    let poly = Arc::new(Poly::on_device(upload_scalars(context, &h), log));
    macro_rules! sum {
        ($stage:expr, $curve:ty, $points:expr, |$bases:ident| $input:expr) => {{
            let points = $points;
            let half = points.len() / 2;
            let pending = [0..half, half..points.len()].map(|range| {
                let $bases = Arc::new(upload_bases::<B, $curve>(context, points, range));
                weigh(&$stage, cx, $input).unwrap().out
            });
            let Sum(sum) = Join::<B, $curve>::default().run(cx, pending.into()).unwrap();
            sum
        }};
    }
    let witness_sum = |map, inputs, points: &[_]| on_cpu::<G1>(points, &on_cpu_, map, inputs);
    let sum =
        sum!(DeviceMsmH::<B>::default(), G1, &g1[..n - 1], |bases| (poly.clone(), bases, workspace.clone()));
    let bases = Bases::new(g1[..n - 1].to_vec());
    assert_eq!(sum, msm_bases::<G1>(&bases, &h[..n - 1], &|| Ok(())).unwrap(), "h");
    let points = &g1[..aux];
    let input = |bases| (there.clone(), bases, density.clone(), workspace.clone());
    let sum = sum!(DeviceMsmL::<B>::default(), G1, points, |bases| input(bases));
    assert_eq!(sum, witness_sum(Density::Full, false, points), "l");
    let points = &g1[..density.a.bases()];
    let sum = sum!(DeviceMsmA::<B>::default(), G1, points, |bases| input(bases));
    assert_eq!(sum, witness_sum(Density::Map { inputs: None, aux: &maps.a_aux }, true, points), "a");
    let points = &g1[..density.b.bases()];
    let b = Density::Map { inputs: Some(&maps.b_inputs), aux: &maps.b_aux };
    let sum = sum!(DeviceMsmB1::<B>::default(), G1, points, |bases| input(bases));
    assert_eq!(sum, witness_sum(b, true, points), "b1");
    let points = &g2[..density.b.bases()];
    let input = |bases| (there.clone(), bases, density.clone(), workspace.clone());
    let sum = sum!(DeviceMsmB2::<B>::default(), G2, points, |bases| input(bases));
    assert_eq!(sum, on_cpu::<G2>(points, &on_cpu_, b, true), "b2");
    assert_eq!(workspace.footprint(), declared, "no more page-locked memory was taken");

    drop((there, poly, density, workspace));
    context.transfer().sync().unwrap();
    context.compute().sync().unwrap();
    assert_eq!(context.device().memory().unwrap().ours, before);
}

#[test]
fn a_place_without_the_device_is_an_error() {
    let stage = LoadWorkspace::<Host>::new(extent(8, 8, 1 << 20)).unwrap();
    let error = stage.run(&Cx::detached(), ()).map(drop).unwrap_err();
    assert!(
        matches!(error, MsmError::Device(Error::NoContext { .. })) && stage.kind(&error) == ErrorKind::Bug,
        "{error}"
    );
    let error = LoadWorkspace::<Host>::new(extent(8, 8, 1 << 10)).map(drop).unwrap_err();
    assert!(matches!(error, MsmError::Limit { limit: 1024, least } if least > 1024), "{error}");
}

#[test]
fn what_does_not_belong_together_is_an_error() {
    let context = open::<Host>().unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let workspace = Workspace::new(&context, extent(100, 100, 1 << 22)).unwrap();
    let points = points::<G1>(100, &mut rng);
    let ask = |[inputs, aux]: [usize; 2],
               [of_inputs, of_aux]: [usize; 2],
               range: std::ops::Range<usize>,
               given| {
        let there =
            upload_witness(&context, &witness(inputs, aux, SHARES[0], &mut ChaCha20Rng::seed_from_u64(1)));
        let maps = Densities {
            a_aux: Bits::ones(of_aux),
            b_inputs: Bits::ones(of_inputs),
            b_aux: Bits::ones(of_aux),
        };
        let density = DeviceDensity::<Host>::new(&context, &maps).unwrap();
        let buffer = upload_bases::<Host, G1>(&context, &points, 0..given).points().clone();
        let bases = DeviceBases::new(buffer, range);
        workspace.witness::<G1>(context.compute(), &there, &density.l, &bases).map(drop)
    };
    assert_eq!(ask([2, 70], [2, 70], 0..70, 70), Ok(()));
    let what = "inputs";
    assert_eq!(ask([2, 70], [3, 70], 0..70, 70), Err(MsmError::Density { what, bits: 3, variables: 2 }));
    let what = "auxiliary variables";
    assert_eq!(ask([2, 70], [2, 71], 0..70, 70), Err(MsmError::Density { what, bits: 71, variables: 70 }));
    assert_eq!(ask([2, 70], [2, 70], 1..71, 70), Err(MsmError::Lengths { bases: 70, scalars: 70 }));
    assert_eq!(ask([2, 70], [2, 70], 0..70, 69), Err(MsmError::Lengths { bases: 69, scalars: 70 }));
}

/// Any allocation, launch or piece of work that fails gives its error, and leaves no memory behind.
#[test]
fn faults_are_errors_and_leave_nothing() {
    let config = HostConfig { memory: 1 << 28, pinned: 1 << 28, ..HostConfig::default() };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let (inputs, aux) = (3, 130);
    let (on_cpu_, maps) =
        (witness(inputs, aux, SHARES[1], &mut rng), densities(inputs, aux, SHARES[1], &mut rng));
    let points = points::<G1>(aux, &mut rng);
    let want = on_cpu::<G1>(&points, &on_cpu_, Density::Full, false);
    let sum = |context: &Context<Host>| {
        let there = upload_witness(context, &on_cpu_);
        let bases = upload_bases::<Host, G1>(context, &points, 0..aux);
        let after = context.device().memory()?.ours;
        let run = || {
            let density = DeviceDensity::new(context, &maps)?;
            let workspace = Workspace::new(context, Extent { sums: 1, ..extent(aux, 40, 1 << 22) })?;
            let queue = || workspace.witness::<G1>(context.compute(), &there, &density.l, &bases);
            // The second finds no place for its result, and makes one.
            let both = [queue()?, queue()?];
            both.into_iter().map(Pending::wait).collect::<Result<Vec<_>, MsmError>>()
        };
        let result = run();
        if context.transfer().sync().and_then(|()| context.compute().sync()).is_ok() {
            assert_eq!(context.device().memory()?.ours, after, "nothing is left");
        }
        result
    };
    let mut struck = [0, 0, 0];
    for fault in 0..3 {
        for after in 0.. {
            let device = HostDevice::new(&config);
            let context = Context::<Host>::new(device.clone()).unwrap();
            // Uploads of the test itself come first.
            let (allocations, pieces) = (5, 5);
            device.inject(match fault {
                0 => Fault::Allocation { after: allocations + after },
                1 => Fault::Launch { after },
                _ => Fault::Loss { after: pieces + after },
            });
            match (sum(&context), fault) {
                (Ok(sums), _) => {
                    assert_eq!(sums, [want, want]);
                    break;
                }
                (Err(MsmError::Device(Error::OutOfMemory { .. })), 0)
                | (Err(MsmError::Device(Error::Launch { .. })), 1)
                | (Err(MsmError::Device(Error::Lost { .. })), 2) => struck[fault] += 1,
                (Err(error), _) => panic!("{error:?}"),
            }
        }
    }
    assert!(struck.iter().all(|times| *times > 20), "{struck:?}");
}

/// Threads queue whole sums, one after the other.
#[test]
fn threads_share_a_workspace() {
    let context = &open::<Host>().unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let (on_cpu_, maps) = (witness(2, 90, SHARES[1], &mut rng), densities(2, 90, SHARES[1], &mut rng));
    let points = points::<G1>(90, &mut rng);
    let want = on_cpu::<G1>(&points, &on_cpu_, Density::Full, false);
    let there = &upload_witness(context, &on_cpu_);
    let density = &DeviceDensity::<Host>::new(context, &maps).unwrap();
    let bases = &upload_bases::<Host, G1>(context, &points, 0..90);
    let workspace = &Workspace::new(context, extent(90, 40, 1 << 22)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                let queue = || workspace.witness::<G1>(context.compute(), there, &density.l, bases).unwrap();
                for sum in [queue(), queue()] {
                    assert_eq!(sum.wait().unwrap(), want);
                }
            });
        }
    });
}

/// The tests of a backend and a group, with the sizes that suit it.
macro_rules! suite {
    ($name:ident: $backend:ty, $group:ty, $sizes:expr, $limits:expr, $equal:expr) => {
        suite!($name: $backend, $group, $sizes, $limits, $equal, ());
    };
    ($name:ident: $backend:ty, $group:ty, $sizes:expr, $limits:expr, $equal:expr, $before:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn sums_equal_the_cpus() {
                $before;
                super::sums_equal_the_cpus::<$backend, $group>(&$sizes, &$limits);
            }

            #[test]
            fn any_plan_gives_the_same() {
                $before;
                super::any_plan_gives_the_same::<$backend, $group>($equal);
            }

            #[test]
            fn equal_and_opposite_bases() {
                $before;
                super::equal_and_opposite_bases::<$backend, $group>($equal);
            }
        }
    };
}

#[test]
fn stages_on_the_host() {
    stages_make_a_proofs_sums::<Host>(7);
}

#[cfg(feature = "cuda")]
#[test]
fn stages_on_cuda() {
    stages_make_a_proofs_sums::<cuzk_gpu_backend::Cuda>(12);
}

suite!(host_g1: Host, G1, [(1, 0), (1, 1), (3, 63), (64, 64), (65, 65), (20, 200)], [1 << 21, 1400 << 10], 300);
suite!(host_g2: Host, G2, [(2, 1), (3, 65)], [1 << 21], 70);
#[cfg(feature = "cuda")]
suite!(
    cuda_g1: cuzk_gpu_backend::Cuda, G1,
    [(1, 0), (1, 1), (3, 63), (64, 64), (65, 65), (20, 200), (70, 5001), (20, 70_000)],
    [1 << 30, 4 << 20], 100_001
);
#[cfg(feature = "cuda")]
suite!(cuda_g2: cuzk_gpu_backend::Cuda, G2, [(2, 1), (3, 65), (20, 3000)], [1 << 28], 20_001);
#[cfg(feature = "opencl")]
suite!(
    opencl_g1: cuzk_gpu_backend::OpenCl, G1, [(1, 1), (20, 200)], [1 << 21], 150,
    cuzk_gpu_backend::OpenCl::accept_cpus()
);
#[cfg(feature = "opencl")]
suite!(
    opencl_g2: cuzk_gpu_backend::OpenCl, G2, [(3, 65)], [1 << 21], 40,
    cuzk_gpu_backend::OpenCl::accept_cpus()
);
