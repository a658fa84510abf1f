//! Times of sums on the first device of a backend, each checked against the CPU's.
//!
//! `gpu_msm g1|g2|w1|w2|d1|d2 [--opencl] [--once] LOG[:BITS[:GROUP[:ROUNDS[:FOLD[:CHUNK]]]]]...`: 2^LOG terms of full width (g),
//! or 2^LOG variables of a witness that are as those of a PoRep (w) or of a WindowPoSt (d), with windows of BITS, GROUP windows at
//! once, ROUNDS of pairs, buckets folded and entries added by a thread where they are given. All is on the device.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use std::time::Instant;

use blst::blst_fr;
use blstrs::Scalar;
use cuzk_gpu_backend::{Backend, Context, Cuda, Device, OpenCl, Stream};
use cuzk_msm::gpu::{DeviceCurve, DeviceDensity, GpuMsm, Pending, Plan, Workspace, base_bytes, scalar_bytes};
use cuzk_msm::{G1, G2, MsmError, msm};
use cuzk_values::{Bits, Densities, DeviceBases, DeviceWitness};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rayon::prelude::*;

/// Different bases; more terms repeat them.
const BASES: usize = 1 << 18;
/// How often each is timed.
const TIMES: usize = 9;
/// Memory that a sum may take.
const LIMIT: u64 = 20 << 30;
/// Of 1000 variables so many are of full width, half of the others are 1: in a PoRep, and in a WindowPoSt.
const WIDE: [u64; 2] = [13, 990];

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

/// A group whose points have the usual traits.
trait Timed:
    DeviceCurve<Affine: PrimeCurveAffine<Curve = Self::Projective>, Projective: Curve<AffineRepr = Self::Affine>>
{
}
impl Timed for G1 {}
impl Timed for G2 {}

fn bases<C: Timed>() -> Vec<C::Affine> {
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

/// What a sum is over, on the device, and the sum.
struct Sum<B: Backend, C: Timed> {
    points: B::Buffer,
    scalars: B::Buffer,
    /// Of a witness, its bits and the places of its wide variables.
    bits: Option<[B::Buffer; 2]>,
    want: C::Projective,
}

struct Bench<B: Backend, C: Timed> {
    context: Context<B>,
    bases: Vec<C::Affine>,
    bytes: Vec<u8>,
}

impl<B: Backend, C: Timed> Bench<B, C> {
    fn buffer(&self, bytes: u64) -> B::Buffer {
        self.context.device().buffer(bytes).unwrap()
    }

    fn upload(&self, bytes: &[u8]) -> B::Buffer {
        let buffer = self.buffer(bytes.len() as u64);
        self.context.compute().upload(bytes, &buffer, 0).unwrap();
        buffer
    }

    /// `n` bases.
    fn points(&self, n: u64) -> B::Buffer {
        let end = (self.bytes.len() / BASES) as u64 * n;
        let points = self.buffer(end);
        for start in (0..end).step_by(self.bytes.len()) {
            let len = (end - start).min(self.bytes.len() as u64) as usize;
            self.context.compute().upload(&self.bytes[..len], &points, start).unwrap();
        }
        points
    }

    /// Full-width scalars.
    fn full(&self, n: u64) -> Sum<B, C> {
        let scalars = self.buffer(32 * n);
        let mut sums = vec![Scalar::from(0); BASES];
        for start in (0..n).step_by(1 << 22) {
            let part: Vec<[u64; 4]> = (start..n.min(start + (1 << 22))).into_par_iter().map(scalar).collect();
            self.context.compute().upload(bytemuck::cast_slice(&part), &scalars, 32 * start).unwrap();
            sums.par_iter_mut().enumerate().for_each(|(i, sum)| {
                let of_base = part.iter().skip(i).step_by(BASES);
                of_base.for_each(|words| *sum += Scalar::from(blst_fr { l: *words }));
            });
        }
        let want = msm::<C>(&self.bases, &sums).unwrap();
        Sum { points: self.points(n), scalars, bits: None, want }
    }

    /// A witness, of which so many of 1000 variables are of full width.
    fn witness(&self, n: u64, share: u64) -> Sum<B, C> {
        let (mut bits, mut places, mut wide) = (Bits::with_capacity(n as usize), Vec::new(), Vec::new());
        let mut sums = vec![Scalar::from(0); BASES];
        for i in 0..n {
            let draw = random(i ^ 1 << 40);
            let (is_wide, is_one) = (draw % 1000 < share, draw >> 63 == 1);
            bits.push(is_one && !is_wide);
            if is_wide {
                places.push(i as u32);
                wide.push(scalar(i));
                sums[i as usize % BASES] += Scalar::from(blst_fr { l: scalar(i) });
            } else if is_one {
                sums[i as usize % BASES] += Scalar::from(1);
            }
        }
        let bits =
            [self.upload(bytemuck::cast_slice(bits.words())), self.upload(bytemuck::cast_slice(&places))];
        let scalars = self.upload(bytemuck::cast_slice(&wide));
        let want = msm::<C>(&self.bases, &sums).unwrap();
        Sum { points: self.points(n), scalars, bits: Some(bits), want }
    }
}

fn main() {
    if std::env::args().any(|argument| argument == "--opencl") {
        start::<OpenCl>();
    } else {
        start::<Cuda>();
    }
}

fn start<B: Backend>() {
    match std::env::args().nth(1).as_deref() {
        Some("g1") => run::<B, G1>(None),
        Some("g2") => run::<B, G2>(None),
        Some("w1") => run::<B, G1>(Some(WIDE[0])),
        Some("w2") => run::<B, G2>(Some(WIDE[0])),
        Some("d1") => run::<B, G1>(Some(WIDE[1])),
        Some("d2") => run::<B, G2>(Some(WIDE[1])),
        _ => println!("gpu_msm g1|g2|w1|w2|d1|d2 [--opencl] LOG[:BITS[:GROUP[:ROUNDS[:FOLD[:CHUNK]]]]]..."),
    }
}

fn run<B: Backend, C: Timed>(wide: Option<u64>) {
    let of_witness = wide.is_some();
    // For a profiler, which runs each kernel many times itself.
    let once = std::env::args().any(|argument| argument == "--once");
    let context = Context::<B>::open(0, None).unwrap();
    let bases = bases::<C>();
    let bytes: Vec<u8> = bases.par_iter().flat_map_iter(base_bytes::<C>).collect();
    let bench = Bench::<B, C> { context, bases, bytes };
    let (device, stream) = (bench.context.device(), bench.context.compute());
    let units = device.info().units;
    println!("{}", device.info().name);
    println!("log bits windows group rounds fold chunk   bytes   median     least  right");
    let mut at: Option<(u32, Sum<B, C>)> = None;
    for argument in std::env::args().skip(2).filter(|argument| !argument.starts_with("--")) {
        let mut numbers = argument.split(':').map(|number| number.parse::<u32>().unwrap());
        let log = numbers.next().unwrap();
        let n = 1_u64 << log;
        if at.as_ref().is_none_or(|(at, _)| *at != log) {
            drop(at.take());
            at = Some((log, wide.map_or_else(|| bench.full(n), |share| bench.witness(n, share))));
        }
        let Sum { points, scalars, bits, want } = &at.as_ref().unwrap().1;
        let terms = (scalars_of::<B>(scalars) + u64::from(of_witness)).min(n);
        let chosen = match of_witness {
            true => Plan::witness::<C>(terms, n, LIMIT, units),
            false => Plan::new::<C>(n, LIMIT, units),
        }
        .unwrap();
        let mut plan = numbers.next().map_or(chosen, |bits| {
            let (group, rounds) = (numbers.next().unwrap_or(128), numbers.next().unwrap_or(chosen.rounds));
            let plan = Plan::of(terms, [bits, rounds], terms, group, units);
            if of_witness { plan.with_ones(n, units) } else { plan }
        });
        plan.fold = numbers.next().unwrap_or(plan.fold);
        plan.chunk = numbers.next().unwrap_or(plan.chunk);
        let queue: Box<dyn Fn() -> Result<Pending<B, C>, MsmError>> = match bits {
            None => {
                let sum = GpuMsm::<B, C>::with_plan(device, plan).unwrap();
                Box::new(move || sum.queue(stream, [points, scalars], [0, 0], n))
            }
            Some([bits, places]) => {
                let workspace = Workspace::with_plan::<C>(&bench.context, &plan).unwrap();
                let maps = Densities {
                    a_aux: Bits::ones(n as usize),
                    b_inputs: Bits::ones(1),
                    b_aux: Bits::ones(n as usize),
                };
                let density = DeviceDensity::new(&bench.context, &maps).unwrap();
                let witness = DeviceWitness {
                    inputs: bench.upload(&scalar_bytes(&Scalar::from(1))),
                    ones: bits.clone(),
                    wide_at: places.clone(),
                    wide: scalars.clone(),
                    aux: n as usize,
                };
                let bases = DeviceBases::new(points.clone(), 0..n as usize);
                Box::new(move || workspace.witness_by(&plan, stream, &witness, &density.l, &bases))
            }
        };
        let (mut seconds, mut right) = (Vec::new(), true);
        for _ in 0..if once { 1 } else { TIMES } {
            let start = Instant::now();
            let got = queue().unwrap().wait().unwrap();
            seconds.push(start.elapsed().as_secs_f64());
            right &= got == *want;
        }
        seconds.sort_by(f64::total_cmp);
        println!(
            "{log:3} {:4} {:7} {:5} {:6} {:4} {:5} {:5.1} G {:6.2} ms {:6.2} ms  {right}",
            plan.bits,
            plan.windows,
            plan.group,
            plan.rounds,
            plan.fold,
            plan.chunk,
            plan.bytes::<C>() as f64 / 1e9,
            1e3 * seconds[seconds.len() / 2],
            1e3 * seconds[0]
        );
    }
}

fn scalars_of<B: Backend>(buffer: &B::Buffer) -> u64 {
    cuzk_gpu_backend::Buffer::bytes(buffer) / 32
}
