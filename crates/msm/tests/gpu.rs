//! Multiplication on devices against its definition: on the host's always, on NVIDIA's
//! and on OpenCL's where there is one.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use blstrs::Scalar;
use cuzk_gpu_backend::{Backend, Device, Error, Host, Stream};
use cuzk_msm::gpu::{DeviceCurve, GpuMsm, Plan, base_bytes, scalar_bytes};
use cuzk_msm::{G1, G2, MsmError, msm, naive};
use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

const SEED: u64 = 0xb15_381;

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

/// Rows of scalars of each kind that matters.
fn rows(n: usize, rng: &mut ChaCha20Rng) -> Vec<(&'static str, Vec<Scalar>)> {
    let mut row = |name, scalar: &mut dyn FnMut(usize, &mut ChaCha20Rng) -> Scalar| {
        (name, (0..n).map(|i| scalar(i, rng)).collect())
    };
    let one = Scalar::ONE;
    let half = Scalar::from(2).invert().unwrap();
    vec![
        row("random", &mut |_, r| Scalar::random(r)),
        row("zeros", &mut |_, _| Scalar::ZERO),
        row("ones", &mut |_, _| one),
        row("r - 1", &mut |_, _| -one),
        row("about r / 2", &mut |i, _| if i % 2 == 0 { half } else { half - one }),
        row("one bucket", &mut |_, _| Scalar::from(0x1234_5678_9abc)),
        row("powers of two", &mut |i, _| Scalar::from(2).pow_vartime([i as u64 % 256])),
        row("short, of both signs", &mut |i, r| {
            let short = Scalar::from(r.next_u64());
            if i % 2 == 0 { short } else { -short }
        }),
        row("99 % ones", &mut |_, r| if r.next_u32() % 100 == 0 { Scalar::random(r) } else { one }),
    ]
}

struct Bench<B: Backend> {
    device: B::Device,
    stream: B::Stream,
}

impl<B: Backend> Bench<B> {
    /// `None` where the backend has no device.
    fn open() -> Option<Self> {
        match B::open(0, None) {
            Ok(device) => Some(Self { stream: device.stream().unwrap(), device }),
            Err(error @ (Error::Unavailable { .. } | Error::NoDevice { .. })) => {
                eprintln!("SKIPPED, this tests nothing: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn upload(&self, bytes: &[u8]) -> B::Buffer {
        let buffer = self.device.buffer(bytes.len() as u64).unwrap();
        self.stream.upload(bytes, &buffer, 0).unwrap();
        buffer
    }

    fn bases<C: TestCurve>(&self, bases: &[C::Affine]) -> B::Buffer {
        self.upload(&bases.iter().flat_map(base_bytes::<C>).collect::<Vec<u8>>())
    }

    fn scalars(&self, scalars: &[Scalar]) -> B::Buffer {
        self.upload(&scalars.iter().flat_map(scalar_bytes).collect::<Vec<u8>>())
    }

    fn multiply<C: TestCurve>(&self, plan: Plan, bases: &[C::Affine], scalars: &[Scalar]) -> C::Projective {
        let msm = GpuMsm::<B, C>::with_plan(&self.device, plan).unwrap();
        let [bases, scalars_] = [self.bases::<C>(bases), self.scalars(scalars)];
        msm.multiply(&self.stream, [&bases, &scalars_], [0, 0], scalars.len() as u64).unwrap()
    }
}

fn sums_equal_their_definition<B: Backend, C: TestCurve>(sizes: &[usize]) {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    for &n in sizes {
        let bases = points::<C>(n, &mut rng);
        let msm = GpuMsm::<B, C>::new(&bench.device, n as u64, 1 << 28).unwrap();
        let on_device = bench.bases::<C>(&bases);
        for (name, scalars) in rows(n, &mut rng) {
            let want = naive::msm::<C>(&bases, &scalars);
            let scalars = bench.scalars(&scalars);
            let sum = msm.multiply(&bench.stream, [&on_device, &scalars], [0, 0], n as u64).unwrap();
            assert_eq!(sum, want, "{n} {name}, {:?}, seed {SEED:#x}", msm.plan());
        }
    }
}

fn any_plan_gives_the_same<B: Backend, C: TestCurve>(n: usize, most: u32) {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let bases = points::<C>(n, &mut rng);
    for (name, scalars) in rows(n, &mut rng) {
        let want = msm::<C>(&bases, &scalars).unwrap();
        for (bits, terms, group) in [(2, n, 128), (5, n / 3, 7), (most - 1, n, 3), (most, n / 2 + 1, 24)] {
            for (chunk, rounds) in [(16, 0), (1 + bits % 5, 1), (16, 2), (2, 5)] {
                let mut plan = Plan::of(n as u64, [bits, rounds], terms as u64, group, 1);
                plan.chunk = chunk;
                let sum = bench.multiply::<C>(plan, &bases, &scalars);
                assert_eq!(sum, want, "{name} {plan:?}, seed {SEED:#x}");
            }
        }
    }
}

fn all_points_equal_and_opposite<B: Backend, C: TestCurve>(n: usize) {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let point = C::Affine::generator();
    let scalars: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
    let total: Scalar = scalars.iter().sum();
    let both: Vec<C::Affine> = (0..n).map(|i| if i % 2 == 0 { point } else { -point }).collect();
    for rounds in [0, 3] {
        let plan = Plan::of(n as u64, [8, rounds], n as u64, 32, 2);
        let sum = bench.multiply::<C>(plan, &vec![point; n], &scalars);
        assert_eq!(sum, C::Projective::generator() * total);
        assert_eq!(bench.multiply::<C>(plan, &both, &vec![scalars[0]; n]), C::Projective::identity());
        let sum = bench.multiply::<C>(plan, &vec![C::Affine::identity(); n], &scalars);
        assert_eq!(sum, C::Projective::identity());
    }
}

fn parts_of_buffers_are_multiplied<B: Backend, C: TestCurve>() {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let bases = points::<C>(50, &mut rng);
    let scalars: Vec<Scalar> = (0..60).map(|_| Scalar::random(&mut rng)).collect();
    let msm = GpuMsm::<B, C>::new(&bench.device, 50, 1 << 28).unwrap();
    let buffers = [bench.bases::<C>(&bases), bench.scalars(&scalars)];
    let part = |first, at, len| msm.multiply(&bench.stream, [&buffers[0], &buffers[1]], [first, at], len);
    for (first, at, len) in [(0, 0, 50), (7, 20, 31), (49, 59, 1), (50, 60, 0)] {
        let want = naive::msm::<C>(&bases[first..first + len], &scalars[at..at + len]);
        assert_eq!(part(first as u64, at as u64, len as u64).unwrap(), want, "{first} {at} {len}");
    }
    for (first, at, len) in [(1, 0, 50), (0, 11, 50), (0, 0, 51), (u64::MAX, 0, 2), (0, u64::MAX, 2)] {
        let error = part(first, at, len).unwrap_err();
        assert!(matches!(error, MsmError::Lengths { .. }), "{error}");
    }
}

fn plans_keep_their_limit<B: Backend, C: TestCurve>() {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let bases = points::<C>(700, &mut rng);
    let scalars: Vec<Scalar> = (0..700).map(|_| Scalar::random(&mut rng)).collect();
    let want = naive::msm::<C>(&bases, &scalars);
    let buffers = [bench.bases::<C>(&bases), bench.scalars(&scalars)];
    for limit in [400 << 10, 700 << 10, 2 << 20, 16 << 20] {
        let before = bench.device.memory().unwrap().ours;
        let msm = GpuMsm::<B, C>::new(&bench.device, 700, limit).unwrap();
        let taken = bench.device.memory().unwrap().ours - before;
        assert!(msm.plan().bytes::<C>() <= limit, "{limit} {:?}", msm.plan());
        assert!(taken <= msm.plan().bytes::<C>(), "{taken} {:?}", msm.plan());
        let sum = msm.multiply(&bench.stream, [&buffers[0], &buffers[1]], [0, 0], 700).unwrap();
        assert_eq!(sum, want, "{limit} {:?}, seed {SEED:#x}", msm.plan());
    }
    let error = GpuMsm::<B, C>::new(&bench.device, 700, 1 << 10).map(drop).unwrap_err();
    assert!(matches!(error, MsmError::Limit { limit: 1024, least } if least > 1024), "{error}");
}

/// The tests of a backend and a group, with the sizes that suit it.
macro_rules! suite {
    ($name:ident: $backend:ty, $group:ty, $sizes:expr, $any:expr, $equal:expr) => {
        suite!($name: $backend, $group, $sizes, $any, $equal, ());
    };
    ($name:ident: $backend:ty, $group:ty, $sizes:expr, $any:expr, $equal:expr, $before:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn sums_equal_their_definition() {
                $before;
                super::sums_equal_their_definition::<$backend, $group>(&$sizes);
            }

            #[test]
            fn any_plan_gives_the_same() {
                $before;
                let (n, bits) = $any;
                super::any_plan_gives_the_same::<$backend, $group>(n, bits);
            }

            #[test]
            fn all_points_equal_and_opposite() {
                $before;
                super::all_points_equal_and_opposite::<$backend, $group>($equal);
            }

            #[test]
            fn parts_of_buffers_are_multiplied() {
                $before;
                super::parts_of_buffers_are_multiplied::<$backend, $group>();
            }

            #[test]
            fn plans_keep_their_limit() {
                $before;
                super::plans_keep_their_limit::<$backend, $group>();
            }
        }
    };
}

suite!(host_g1: Host, G1, [0, 1, 2, 3, 33, 255, 1024], (67, 7), 500);
suite!(host_g2: Host, G2, [0, 1, 2, 3, 33], (35, 6), 100);
#[cfg(feature = "cuda")]
suite!(cuda_g1: cuzk_gpu_backend::Cuda, G1, [0, 1, 2, 3, 33, 255, 1024, 5001], (5001, 12), 100_002);
#[cfg(feature = "cuda")]
suite!(cuda_g2: cuzk_gpu_backend::Cuda, G2, [0, 1, 2, 3, 33, 255, 1024], (2001, 10), 50_002);
#[cfg(feature = "opencl")]
suite!(opencl_g1: cuzk_gpu_backend::OpenCl, G1, [0, 1, 3, 255], (67, 7), 200, cuzk_gpu_backend::OpenCl::accept_cpus());
#[cfg(feature = "opencl")]
suite!(opencl_g2: cuzk_gpu_backend::OpenCl, G2, [0, 1, 33], (35, 6), 60, cuzk_gpu_backend::OpenCl::accept_cpus());
