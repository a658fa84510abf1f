//! Transforms and the quotient on devices against the CPU's, on the host backend always, and on
//! NVIDIA's and OpenCL's devices where there are any.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::sync::Arc;

use blst::blst_fr;
use cuzk_gpu_backend::suite::open;
use cuzk_gpu_backend::{Backend, Context, Device, Error, Host};
use cuzk_ntt::gpu::{DeviceDomain, DeviceQuotient, LoadQuotients, Shift, download, upload};
use cuzk_ntt::{Domain, NttError, quotient, quotient_with_c};
use cuzk_pipeline_core::{Cx, Place, Stage, Value};
use cuzk_values::{Evals, OnDevice, Poly, Scalar};
use ff::Field;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Random scalars with some of the edge between them.
fn random(log: u32, rng: &mut ChaCha8Rng) -> Vec<Scalar> {
    let edges =
        [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2), Scalar::from(u64::from(u32::MAX))];
    (0..1_usize << log)
        .map(|i| if i % 7 == 3 { edges[i / 7 % edges.len()] } else { Scalar::random(&mut *rng) })
        .collect()
}

fn rng() -> ChaCha8Rng {
    let seed = rand::random();
    eprintln!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// The limbs, which are equal only of scalars that are fully reduced.
fn limbs(scalars: &[Scalar]) -> Vec<[u64; 4]> {
    scalars.iter().map(|scalar| blst_fr::from(*scalar).l).collect()
}

type Cpu = fn(&Domain, &mut [Scalar], Scalar) -> Result<(), NttError>;
type Gpu<B> = fn(
    &DeviceDomain<B>,
    &<B as Backend>::Stream,
    &<B as Backend>::Buffer,
    Option<&Shift<B>>,
) -> Result<(), NttError>;

/// Scalars whose sums come just above twice the modulus, where devices may leave them between
/// levels: each eighth has one scalar, and the limbs of four of those add to `2p + 5`.
fn at_the_limit(log: u32) -> Vec<Scalar> {
    // By limbs, not by the numbers that they are the Montgomery forms of.
    let form = |limbs| Scalar::from(blst_fr { l: limbs });
    let small = |n| form([n, 0, 0, 0]);
    let eighths = [small(3), -small(1), small(0), -small(1), small(0), small(4), small(0), small(3)];
    (0..1_usize << log).map(|i| eighths[(i << 3) >> log]).collect()
}

/// Tables weigh what they say, the stage's quotient is the CPU's, and nothing is left behind.
fn the_stage_takes_what_it_declares<B: Backend>(logs: impl IntoIterator<Item = u32>) {
    let Some(device) = open::<B>() else { return };
    let (rng, context) = (&mut rng(), Context::<B>::new(device).unwrap());
    let (device, stream) = (context.device(), context.compute());
    let place = Place::Gpu(0);
    let used = || device.memory().unwrap().ours;
    for log in logs {
        let before = used();
        let cx = Cx::detached().with_device(place, &context);
        let load = LoadQuotients::<B>::new(log);
        let quotients = Arc::new(load.run(&cx, ()).unwrap());
        assert_eq!(used() - before, load.cost().left().device, "2^{log}");
        let [a, b] = [(); 2].map(|()| random(log, rng));
        let [on_a, on_b] = [&a, &b].map(|scalars| {
            let buffer = device.buffer(32 << log).unwrap();
            upload::<B>(stream, scalars, &buffer).unwrap();
            Poly::<Evals, OnDevice<B::Buffer>>::on_device(buffer, log)
        });
        let stage = DeviceQuotient::<B>::new(log);
        let h = stage.run(&cx, (on_a, on_b, quotients)).unwrap();
        assert!(h.footprint().fits(stage.cost().left()));
        let [a, b] = [a, b].map(|scalars| Poly::new(scalars).unwrap());
        let expected = quotient(&Domain::new(log).unwrap(), a, b).unwrap();
        assert_eq!(limbs(&download::<B>(stream, h.buffer()).unwrap()), limbs(expected.scalars()), "2^{log}");
        drop(h);
        assert_eq!(used(), before, "2^{log}");
    }
    let elsewhere = LoadQuotients::<B>::new(3).run(&Cx::detached(), ()).unwrap_err();
    assert!(matches!(elsewhere, NttError::Device(Error::NoContext { .. })), "{elsewhere}");
}

fn transforms_are_the_cpus<B: Backend>(logs: impl IntoIterator<Item = u32>) {
    let Some(device) = open::<B>() else { return };
    let (rng, stream) = (&mut rng(), device.stream().unwrap());
    let cases: [(&str, Cpu, Gpu<B>); 4] = [
        ("ntt to reversed", Domain::ntt_to_reversed, DeviceDomain::ntt_to_reversed),
        ("ntt from reversed", Domain::ntt_from_reversed, DeviceDomain::ntt_from_reversed),
        ("intt to reversed", Domain::intt_to_reversed, DeviceDomain::intt_to_reversed),
        ("intt from reversed", Domain::intt_from_reversed, DeviceDomain::intt_from_reversed),
    ];
    for log in logs {
        let (cpu, gpu) = (Domain::new(log).unwrap(), DeviceDomain::<B>::new(&device, &stream, log).unwrap());
        let buffer = device.buffer(gpu.bytes()).unwrap();
        let mut reversed_limit = at_the_limit(log);
        cpu.reverse(&mut reversed_limit).unwrap();
        let mut inputs = vec![random(log, rng)];
        if log <= 13 {
            inputs.extend([at_the_limit(log), reversed_limit]);
        }
        let shifts = [None, Some(Domain::GENERATOR), Some(Scalar::random(&mut *rng))];
        for (input, shift) in inputs.iter().flat_map(|input| shifts.map(|shift| (input, shift))) {
            let prepared = shift.map(|shift| gpu.shift(&device, &stream, shift).unwrap());
            for (name, on_cpu, on_gpu) in cases {
                let mut expected = input.clone();
                on_cpu(&cpu, &mut expected, shift.unwrap_or(Scalar::ONE)).unwrap();
                upload::<B>(&stream, input, &buffer).unwrap();
                on_gpu(&gpu, &stream, &buffer, prepared.as_ref()).unwrap();
                let got = limbs(&download::<B>(&stream, &buffer).unwrap());
                let expected = limbs(&expected);
                let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
                assert_eq!(wrong, None, "{name}, 2^{log}, shift {shift:?}");
            }
        }
    }
}

fn quotients_are_the_cpus<B: Backend>(logs: impl IntoIterator<Item = u32>) {
    let Some(device) = open::<B>() else { return };
    let (rng, stream) = (&mut rng(), device.stream().unwrap());
    for log in logs {
        let (cpu, gpu) = (Domain::new(log).unwrap(), DeviceDomain::<B>::new(&device, &stream, log).unwrap());
        let divisor = gpu.divisor(&device, &stream).unwrap();
        let [a, b, c] = [(); 3].map(|()| random(log, rng));
        let buffers = || {
            [&a, &b, &c].map(|values| {
                let buffer = device.buffer(gpu.bytes()).unwrap();
                upload::<B>(&stream, values, &buffer).unwrap();
                buffer
            })
        };
        let poly = |values: &Vec<Scalar>| Poly::new(values.clone()).unwrap();

        let [x, y, z] = buffers();
        gpu.quotient(&stream, &divisor, &x, &y, &z).unwrap();
        let expected = quotient(&cpu, poly(&a), poly(&b)).unwrap();
        assert!(limbs(&download::<B>(&stream, &x).unwrap()) == limbs(expected.scalars()), "2^{log}");

        let [x, y, z] = buffers();
        gpu.quotient_with_c(&stream, &divisor, &x, &y, &z).unwrap();
        let expected = quotient_with_c(&cpu, poly(&a), poly(&b), poly(&c)).unwrap();
        assert!(limbs(&download::<B>(&stream, &x).unwrap()) == limbs(expected.scalars()), "any c, 2^{log}");
    }
}

#[cfg(any(feature = "cuda", feature = "opencl"))]
/// The median of nine, after two.
fn median<B: Backend>(stream: &B::Stream, mut f: impl FnMut()) -> std::time::Duration {
    use cuzk_gpu_backend::{Event, Stream};

    let mut times: Vec<_> = (0..11)
        .map(|_| {
            let start = stream.record().unwrap();
            f();
            stream.record().unwrap().since(&start).unwrap()
        })
        .collect();
    times.drain(..2);
    times.sort();
    times[4]
}

#[cfg(any(feature = "cuda", feature = "opencl"))]
/// Prints the times of transforms.
fn print_times<B: Backend>(logs: impl IntoIterator<Item = u32>) {
    use cuzk_gpu_backend::Stream;

    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let scalars = random(20, &mut rng());
    for log in logs {
        let domain = DeviceDomain::<B>::new(&device, &stream, log).unwrap();
        let shift = domain.shift(&device, &stream, Domain::GENERATOR).unwrap();
        let divisor = domain.divisor(&device, &stream).unwrap();
        let buffers = [(); 3].map(|()| {
            let buffer = device.buffer(domain.bytes()).unwrap();
            upload::<B>(&stream, &scalars, &buffer).unwrap();
            for i in 1..1_u64 << (log - 20) {
                stream.copy(&buffer, 0..32 << 20, &buffer, i * (32 << 20)).unwrap();
            }
            buffer
        });
        let [a, b, c] = &buffers;
        let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        let time = |f: Gpu<B>, shift: Option<&Shift<B>>| {
            ms(median::<B>(&stream, || f(&domain, &stream, a, shift).unwrap()))
        };
        eprintln!(
            "2^{log}: ntt NR {:.3} RN {:.3}, coset NR {:.3} RN {:.3}, intt NR {:.3} RN {:.3}, coset NR {:.3} ms; quotient {:.3} ms",
            time(DeviceDomain::ntt_to_reversed, None),
            time(DeviceDomain::ntt_from_reversed, None),
            time(DeviceDomain::ntt_to_reversed, Some(&shift)),
            time(DeviceDomain::ntt_from_reversed, Some(&shift)),
            time(DeviceDomain::intt_to_reversed, None),
            time(DeviceDomain::intt_from_reversed, None),
            time(DeviceDomain::intt_to_reversed, Some(&shift)),
            ms(median::<B>(&stream, || domain.quotient(&stream, &divisor, a, b, c).unwrap())),
        );
    }
}

#[test]
fn transforms() {
    transforms_are_the_cpus::<Host>(0..=12);
}

#[test]
fn transforms_of_three_passes() {
    transforms_are_the_cpus::<Host>([19]);
}

#[test]
fn quotients() {
    quotients_are_the_cpus::<Host>(0..=12);
}

#[test]
fn stages() {
    the_stage_takes_what_it_declares::<Host>([0, 1, 5, 10, 11, 12]);
}

#[test]
fn what_cannot_be_transformed_is_refused() {
    let device = open::<Host>().unwrap();
    let stream = device.stream().unwrap();
    let error = DeviceDomain::<Host>::new(&device, &stream, 33).unwrap_err();
    assert_eq!(error, NttError::LogLen { log_len: 33, max: 32 });
    let domain = DeviceDomain::<Host>::new(&device, &stream, 3).unwrap();
    let error = domain.shift(&device, &stream, Scalar::ZERO).unwrap_err();
    assert_eq!(error, NttError::ZeroShift);
    let short = device.buffer(7 * 32).unwrap();
    let error = domain.ntt_to_reversed(&stream, &short, None).unwrap_err();
    assert_eq!(error, NttError::Length { len: 7, expected: 8 });
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuzk_gpu_backend::Cuda;

    use super::*;

    #[test]
    fn transforms() {
        transforms_are_the_cpus::<Cuda>(0..=20);
    }

    #[test]
    fn quotients() {
        quotients_are_the_cpus::<Cuda>(0..=20);
    }

    #[test]
    fn stages() {
        the_stage_takes_what_it_declares::<Cuda>([0, 5, 10, 11, 20]);
    }

    #[test]
    #[ignore = "gigabytes"]
    fn long_ones() {
        transforms_are_the_cpus::<Cuda>([24]);
        quotients_are_the_cpus::<Cuda>([24]);
    }

    #[test]
    #[ignore = "a measurement"]
    fn times() {
        print_times::<Cuda>(20..=27);
    }
}

#[cfg(feature = "opencl")]
mod opencl {
    use cuzk_gpu_backend::OpenCl;

    use super::*;

    #[test]
    fn transforms() {
        OpenCl::accept_cpus();
        transforms_are_the_cpus::<OpenCl>(0..=13);
    }

    #[test]
    fn quotients() {
        OpenCl::accept_cpus();
        quotients_are_the_cpus::<OpenCl>(0..=13);
    }

    #[test]
    #[ignore = "gigabytes"]
    fn long_ones() {
        transforms_are_the_cpus::<OpenCl>([20, 22]);
        quotients_are_the_cpus::<OpenCl>([20, 22]);
    }

    #[test]
    #[ignore = "a measurement"]
    fn times() {
        print_times::<OpenCl>([20, 22, 24]);
    }
}
