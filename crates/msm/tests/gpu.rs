//! Multiplication on devices against its definition: on the host's always, on NVIDIA's
//! where there is one.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use blstrs::{G1Affine, G1Projective, Scalar};
use cuzk_gpu_backend::{Backend, Device, Error, Host, Stream};
use cuzk_msm::gpu::{GpuMsm, Plan, base_bytes, scalar_bytes};
use cuzk_msm::{G1, MsmError, msm, naive};
use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

const SEED: u64 = 0xb15_381;

/// `n` points, of which equal ones, opposite ones and infinity are a part.
fn points(n: usize, rng: &mut ChaCha20Rng) -> Vec<G1Affine> {
    let mut point = G1Projective::random(&mut *rng);
    let mut points: Vec<G1Affine> = Vec::with_capacity(n);
    for _ in 0..n {
        point = point.double();
        let last = points.last().copied();
        points.push(match (rng.next_u32() % 16, last) {
            (0, _) => G1Affine::identity(),
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

    fn bases(&self, bases: &[G1Affine]) -> B::Buffer {
        self.upload(&bases.iter().flat_map(base_bytes::<G1>).collect::<Vec<u8>>())
    }

    fn scalars(&self, scalars: &[Scalar]) -> B::Buffer {
        self.upload(&scalars.iter().flat_map(scalar_bytes).collect::<Vec<u8>>())
    }

    fn multiply(&self, plan: Plan, bases: &[G1Affine], scalars: &[Scalar]) -> G1Projective {
        let msm = GpuMsm::<B, G1>::with_plan(&self.device, plan).unwrap();
        let [bases, scalars_] = [self.bases(bases), self.scalars(scalars)];
        msm.multiply(&self.stream, [&bases, &scalars_], [0, 0], scalars.len() as u64).unwrap()
    }
}

fn sums_equal_their_definition<B: Backend>(sizes: &[usize]) {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    for &n in sizes {
        let bases = points(n, &mut rng);
        let msm = GpuMsm::<B, G1>::new(&bench.device, n as u64, 1 << 28).unwrap();
        let on_device = bench.bases(&bases);
        for (name, scalars) in rows(n, &mut rng) {
            let want = naive::msm::<G1>(&bases, &scalars);
            let scalars = bench.scalars(&scalars);
            let sum = msm.multiply(&bench.stream, [&on_device, &scalars], [0, 0], n as u64).unwrap();
            assert_eq!(sum, want, "{n} {name}, {:?}, seed {SEED:#x}", msm.plan());
        }
    }
}

fn any_plan_gives_the_same<B: Backend>(n: usize, most: u32) {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let bases = points(n, &mut rng);
    for (name, scalars) in rows(n, &mut rng) {
        let want = msm::<G1>(&bases, &scalars).unwrap();
        for (bits, terms, group) in [(2, n, 128), (5, n / 3, 7), (most - 1, n, 3), (most, n / 2 + 1, 24)] {
            let mut plan = Plan::of(n as u64, bits, terms as u64, group, 1);
            for (chunk, rounds) in [(plan.chunk, 0), (1 + bits % 5, 1), (plan.chunk, 2), (2, 5)] {
                plan = plan.rounds(rounds, 1);
                plan.chunk = chunk;
                assert_eq!(bench.multiply(plan, &bases, &scalars), want, "{name} {plan:?}, seed {SEED:#x}");
            }
        }
    }
}

fn all_points_equal_and_opposite<B: Backend>(n: usize) {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let point = G1Affine::generator();
    let scalars: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
    let total: Scalar = scalars.iter().sum();
    let plan = Plan::of(n as u64, 8, n as u64, 32, 2);
    let sum = bench.multiply(plan, &vec![point; n], &scalars);
    assert_eq!(sum, G1Projective::generator() * total);
    let both: Vec<G1Affine> = (0..n).map(|i| if i % 2 == 0 { point } else { -point }).collect();
    assert_eq!(bench.multiply(plan, &both, &vec![scalars[0]; n]), G1Projective::identity());
    assert_eq!(bench.multiply(plan, &vec![G1Affine::identity(); n], &scalars), G1Projective::identity());
}

fn parts_of_buffers_are_multiplied<B: Backend>() {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let bases = points(50, &mut rng);
    let scalars: Vec<Scalar> = (0..60).map(|_| Scalar::random(&mut rng)).collect();
    let msm = GpuMsm::<B, G1>::new(&bench.device, 50, 1 << 28).unwrap();
    let buffers = [bench.bases(&bases), bench.scalars(&scalars)];
    let part = |first, at, len| msm.multiply(&bench.stream, [&buffers[0], &buffers[1]], [first, at], len);
    for (first, at, len) in [(0, 0, 50), (7, 20, 31), (49, 59, 1), (50, 60, 0)] {
        let want = naive::msm::<G1>(&bases[first..first + len], &scalars[at..at + len]);
        assert_eq!(part(first as u64, at as u64, len as u64).unwrap(), want, "{first} {at} {len}");
    }
    for (first, at, len) in [(1, 0, 50), (0, 11, 50), (0, 0, 51), (u64::MAX, 0, 2), (0, u64::MAX, 2)] {
        let error = part(first, at, len).unwrap_err();
        assert!(matches!(error, MsmError::Lengths { .. }), "{error}");
    }
}

fn plans_keep_their_limit<B: Backend>() {
    let Some(bench) = Bench::<B>::open() else { return };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let bases = points(700, &mut rng);
    let scalars: Vec<Scalar> = (0..700).map(|_| Scalar::random(&mut rng)).collect();
    let want = naive::msm::<G1>(&bases, &scalars);
    let buffers = [bench.bases(&bases), bench.scalars(&scalars)];
    for limit in [200 << 10, 500 << 10, 2 << 20, 16 << 20] {
        let before = bench.device.memory().unwrap().ours;
        let msm = GpuMsm::<B, G1>::new(&bench.device, 700, limit).unwrap();
        let taken = bench.device.memory().unwrap().ours - before;
        assert!(msm.plan().bytes::<G1>() <= limit, "{limit} {:?}", msm.plan());
        assert!(taken <= msm.plan().bytes::<G1>(), "{taken} {:?}", msm.plan());
        let sum = msm.multiply(&bench.stream, [&buffers[0], &buffers[1]], [0, 0], 700).unwrap();
        assert_eq!(sum, want, "{limit} {:?}, seed {SEED:#x}", msm.plan());
    }
    let error = GpuMsm::<B, G1>::new(&bench.device, 700, 1 << 10).unwrap_err();
    assert!(matches!(error, MsmError::Limit { limit: 1024, least } if least > 1024), "{error}");
}

#[test]
fn host_sums_equal_their_definition() {
    sums_equal_their_definition::<Host>(&[0, 1, 2, 3, 33, 255, 1024]);
}

#[test]
fn host_any_plan_gives_the_same() {
    any_plan_gives_the_same::<Host>(67, 7);
}

#[test]
fn host_all_points_equal_and_opposite() {
    all_points_equal_and_opposite::<Host>(500);
}

#[test]
fn host_parts_of_buffers_are_multiplied() {
    parts_of_buffers_are_multiplied::<Host>();
}

#[test]
fn host_plans_keep_their_limit() {
    plans_keep_their_limit::<Host>();
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuzk_gpu_backend::Cuda;

    use super::*;

    #[test]
    fn cuda_sums_equal_their_definition() {
        sums_equal_their_definition::<Cuda>(&[0, 1, 2, 3, 33, 255, 1024, 5001]);
    }

    #[test]
    fn cuda_any_plan_gives_the_same() {
        any_plan_gives_the_same::<Cuda>(5_001, 12);
    }

    #[test]
    fn cuda_all_points_equal_and_opposite() {
        all_points_equal_and_opposite::<Cuda>(100_002);
    }

    #[test]
    fn cuda_parts_of_buffers_are_multiplied() {
        parts_of_buffers_are_multiplied::<Cuda>();
    }

    #[test]
    fn cuda_plans_keep_their_limit() {
        plans_keep_their_limit::<Cuda>();
    }
}
