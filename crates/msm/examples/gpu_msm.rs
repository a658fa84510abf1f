//! Times of a multiplication on the first device of a backend, each sum checked against the CPU's.
//!
//! `gpu_msm g1|g2 [--opencl] [--once] LOG[:BITS[:GROUP[:ROUNDS]]]...`: 2^LOG terms, with windows of BITS, GROUP windows at
//! once and ROUNDS of pairs where they are given. Bases and scalars are on the device.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use std::time::Instant;

use blst::blst_fr;
use blstrs::Scalar;
use cuzk_gpu_backend::{Backend, Cuda, Device, OpenCl, Stream};
use cuzk_msm::gpu::{DeviceCurve, GpuMsm, Plan, base_bytes};
use cuzk_msm::{G1, G2, msm};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rayon::prelude::*;

/// Different bases; more terms repeat them.
const BASES: usize = 1 << 18;
/// How often each is timed.
const TIMES: usize = 9;
/// Memory that a multiplication may take.
const LIMIT: u64 = 20 << 30;

/// Sebastiano Vigna's splitmix64.
fn random(i: u64) -> u64 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Montgomery forms below 2^254, which is below the order.
fn scalar(i: u64) -> [u64; 4] {
    let mut words = [0, 1, 2, 3].map(|word| random(4 * i + word));
    words[3] >>= 2;
    words
}

fn bases<C: DeviceCurve>() -> Vec<C::Affine>
where
    C::Affine: PrimeCurveAffine<Curve = C::Projective>,
    C::Projective: Curve<AffineRepr = C::Affine>,
{
    let step = C::Projective::generator() * Scalar::from(0x1234_5678_9abc_def1);
    let part = |part: usize| {
        let first = step * Scalar::from((part * 1024) as u64 + 1);
        let sums: Vec<_> = std::iter::successors(Some(first), |sum| Some(*sum + step)).take(1024).collect();
        let mut affine = vec![C::Affine::identity(); 1024];
        C::Projective::batch_normalize(&sums, &mut affine);
        affine
    };
    (0..BASES / 1024).into_par_iter().flat_map_iter(part).collect()
}

fn main() {
    let opencl = std::env::args().any(|argument| argument == "--opencl");
    match (std::env::args().nth(1).as_deref(), opencl) {
        (Some("g1"), false) => run::<Cuda, G1>(),
        (Some("g2"), false) => run::<Cuda, G2>(),
        (Some("g1"), true) => run::<OpenCl, G1>(),
        (Some("g2"), true) => run::<OpenCl, G2>(),
        _ => println!("gpu_msm g1|g2 [--opencl] [--once] LOG[:BITS[:GROUP[:ROUNDS]]]..."),
    }
}

/// The logarithm of the terms, bases, scalars and their sum.
type Case<B, P> = (u32, <B as Backend>::Buffer, <B as Backend>::Buffer, P);

fn run<B: Backend, C: DeviceCurve>()
where
    C::Affine: PrimeCurveAffine<Curve = C::Projective>,
    C::Projective: Curve<AffineRepr = C::Affine>,
{
    // For a profiler, which runs each kernel many times itself.
    let once = std::env::args().any(|argument| argument == "--once");
    let device = B::open(0, None).unwrap();
    let stream = device.stream().unwrap();
    let bases = bases::<C>();
    let bytes: Vec<u8> = bases.par_iter().flat_map_iter(base_bytes::<C>).collect();
    println!("{}", device.info().name);
    println!("log bits windows group rounds chunk   bytes   median     least  right");
    let mut at: Option<Case<B, C::Projective>> = None;
    for argument in std::env::args().skip(2).filter(|argument| !argument.starts_with("--")) {
        let mut numbers = argument.split(':').map(|number| number.parse::<u32>().unwrap());
        let (log, bits, group, rounds) =
            (numbers.next().unwrap(), numbers.next(), numbers.next(), numbers.next());
        let n = 1_u64 << log;
        if at.as_ref().is_none_or(|(at, ..)| *at != log) {
            drop(at.take());
            let points = device.buffer((bytes.len() / BASES) as u64 * n).unwrap();
            for start in (0..(bytes.len() / BASES) as u64 * n).step_by(bytes.len()) {
                let end = ((bytes.len() / BASES) as u64 * n).min(start + bytes.len() as u64);
                stream.upload(&bytes[..(end - start) as usize], &points, start).unwrap();
            }
            let scalars = device.buffer(32 * n).unwrap();
            let mut sums = vec![Scalar::from(0); BASES];
            for start in (0..n).step_by(1 << 22) {
                let part: Vec<[u64; 4]> =
                    (start..n.min(start + (1 << 22))).into_par_iter().map(scalar).collect();
                stream.upload(bytemuck::cast_slice(&part), &scalars, 32 * start).unwrap();
                sums.par_iter_mut().enumerate().for_each(|(i, sum)| {
                    part.iter()
                        .skip(i)
                        .step_by(BASES)
                        .for_each(|words| *sum += Scalar::from(blst_fr { l: *words }));
                });
            }
            let want = msm::<C>(&bases, &sums).unwrap();
            at = Some((log, points, scalars, want));
        }
        let (_, points, scalars, want) = at.as_ref().unwrap();
        let units = device.info().units;
        let chosen = Plan::new::<C>(n, LIMIT, units).unwrap();
        let plan = bits.map_or(chosen, |bits| {
            Plan::of(n, [bits, rounds.unwrap_or(chosen.rounds)], n, group.unwrap_or(chosen.group), units)
        });
        let sum = GpuMsm::<B, C>::with_plan(&device, plan).unwrap();
        let (mut seconds, mut right) = (Vec::new(), true);
        for _ in 0..if once { 1 } else { TIMES } {
            let start = Instant::now();
            let got = sum.multiply(&stream, [points, scalars], [0, 0], n).unwrap();
            seconds.push(start.elapsed().as_secs_f64());
            right &= got == *want;
        }
        seconds.sort_by(f64::total_cmp);
        println!(
            "{log:3} {:4} {:7} {:5} {:6} {:5} {:5.1} G {:6.2} ms {:6.2} ms  {right}",
            plan.bits,
            plan.windows,
            plan.group,
            plan.rounds,
            plan.chunk,
            plan.bytes::<C>() as f64 / 1e9,
            1e3 * seconds[seconds.len() / 2],
            1e3 * seconds[0]
        );
    }
}
