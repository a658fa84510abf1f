//! The kernels of `field` against blstrs and against plain numbers, on the host and on NVIDIA's
//! devices where there are any.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

#[allow(dead_code, reason = "the example writes the constants")]
mod support;

use blst::{blst_fp, blst_fr};
use blstrs::{G1Affine, G1Projective, Scalar};
use cuzk_gpu_backend::field::{FAMILY, FP, FR, Modulus, fixed};
use cuzk_gpu_backend::{Arg, Backend, Device, Error, Grid, Host, Stream};
use ff::Field as _;
use group::Group as _;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn same<const N: usize, const M: usize>(field: &Modulus<N>, constants: &support::Constants<M>) {
    let words = |x: &[u64; N]| -> Vec<u32> { x.iter().flat_map(|x| [*x as u32, (x >> 32) as u32]).collect() };
    assert_eq!(words(&field.p), constants.modulus);
    assert_eq!(words(&field.r2), constants.r2);
    assert_eq!(words(&field.to_montgomery(&std::array::from_fn(|i| u64::from(i == 0)))), constants.r);
    assert_eq!(field.inv as u32, constants.inv);
}

#[test]
fn constants_are_those_of_blstrs() {
    let committed = include_str!("../kernels/generated/fields.cuh");
    assert!(support::fields_cuh() == committed, "run `cargo run -p cuzk-gpu-backend --example constants`");
    let committed = include_str!("../kernels/generated/fields.clh");
    assert!(support::fields_clh() == committed, "run `cargo run -p cuzk-gpu-backend --example constants`");
    same(&FR, &support::fr());
    same(&FP, &support::fp());
}

#[test]
fn quotients_of_factors_are_whole() {
    for m in numbers(&FR, 2000, &mut rng()) {
        let words = fixed(&m);
        assert_eq!(FR.to_montgomery(&[words[0], words[1], words[2], words[3]]), m);
        // w' p + (w R mod p) = w R
        let mut sum = [m[0], m[1], m[2], m[3], 0, 0, 0, 0];
        for (i, q) in words[4..].iter().enumerate() {
            let mut carry = 0;
            for (j, limb) in sum[i..].iter_mut().enumerate() {
                let p = FR.p.get(j).copied().unwrap_or(0);
                let total = u128::from(*limb) + u128::from(*q) * u128::from(p) + carry;
                (*limb, carry) = (total as u64, total >> 64);
            }
        }
        assert_eq!((&sum[..4], &sum[4..]), (&[0; 4][..], &words[..4]));
    }
}

/// The first device, where there is one.
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

fn rng() -> ChaCha8Rng {
    let seed = rand::random();
    eprintln!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

type Words<const N: usize> = Vec<[u64; N]>;
type Binary<'a, const N: usize> = &'a dyn Fn(&[u64; N], &[u64; N]) -> [u64; N];

/// Runs a kernel on elements.
fn run<B: Backend, const N: usize>(
    device: &B::Device,
    kernel: &str,
    steps: Option<u32>,
    inputs: &[&[[u64; N]]],
) -> Words<N>
where
    [u64; N]: bytemuck::Pod,
{
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| bytemuck::cast_slice(input)).collect();
    let bytes = run_bytes::<B>(device, kernel, steps, &inputs, inputs[0].len() / (8 * N), 8 * N);
    bytes.chunks_exact(8 * N).map(bytemuck::pod_read_unaligned).collect()
}

/// Runs a kernel for `n` elements of so many bytes.
fn run_bytes<B: Backend>(
    device: &B::Device,
    kernel: &str,
    steps: Option<u32>,
    inputs: &[&[u8]],
    n: usize,
    element: usize,
) -> Vec<u8> {
    let stream = device.stream().unwrap();
    let buffers: Vec<_> = inputs
        .iter()
        .map(|input| {
            let buffer = device.buffer(input.len() as u64).unwrap();
            stream.upload(input, &buffer, 0).unwrap();
            buffer
        })
        .collect();
    let mut result = vec![0xa5; n * element];
    let out = device.buffer(result.len() as u64).unwrap();
    stream.upload(&result, &out, 0).unwrap();
    let mut args: Vec<Arg<'_, B>> = steps.map(Arg::U32).into_iter().collect();
    args.extend(buffers.iter().map(Arg::Read));
    args.push(Arg::Write(&out));
    let kernel = device.kernel(&FAMILY, kernel).unwrap();
    stream.launch(&kernel, Grid::cover(n as u64, 128), &args).unwrap();
    stream.download(&out, 0, &mut result).unwrap();
    result
}

/// Numbers at the edges, as they are and as Montgomery forms, and random ones.
fn numbers<const N: usize>(field: &Modulus<N>, random: usize, rng: &mut impl RngCore) -> Words<N> {
    let small = |n: u64| std::array::from_fn(|i| if i == 0 { n } else { 0 });
    let mut found: Words<N> = (0..4).map(small).collect();
    let minus = |n: u64| field.sub(&[0; N], &small(n));
    found.extend([minus(1), minus(2), minus(3), small(u64::MAX), small(1 << 32), small(u64::from(u32::MAX))]);
    found.push(field.to_montgomery(&small(1)));
    found.push(field.r2);
    found.push(field.to_montgomery(&minus(1)));
    found.push(field.from_montgomery(&small(1)));
    // A single bit, and all bits below it.
    for bit in 0..64 * N - 4 {
        found.push(std::array::from_fn(|i| if i == bit / 64 { 1 << (bit % 64) } else { 0 }));
        found.push(std::array::from_fn(|i| match i.cmp(&(bit / 64)) {
            std::cmp::Ordering::Less => u64::MAX,
            std::cmp::Ordering::Equal => (1 << (bit % 64)) - 1,
            std::cmp::Ordering::Greater => 0,
        }));
    }
    // Random limbs, of which some are all zeros or all ones.
    while found.len() < random {
        let limbs: [u64; N] = std::array::from_fn(|_| match rng.gen_range(0..8) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::from(u32::MAX),
            _ => rng.next_u64(),
        });
        if limbs.iter().rev().lt(field.p.iter().rev()) {
            found.push(limbs);
        }
    }
    found
}

fn pairs<const N: usize>(numbers: &Words<N>, rng: &mut impl Rng) -> (Words<N>, Words<N>) {
    let edges = &numbers[..14];
    let mut pairs: Vec<_> = edges.iter().flat_map(|a| edges.iter().map(|b| (*a, *b))).collect();
    pairs.extend(numbers.iter().map(|a| (*a, numbers[rng.gen_range(0..numbers.len())])));
    pairs.extend(numbers.iter().map(|a| (*a, *a)));
    pairs.into_iter().unzip()
}

/// The kernels against the host's definitions.
fn field_is_its_definition<B: Backend, const N: usize>(prefix: &str, field: &Modulus<N>, random: usize)
where
    [u64; N]: bytemuck::Pod,
{
    let Some(device) = open::<B>() else { return };
    let rng = &mut rng();
    let (x, y) = pairs(&numbers(field, random, rng), rng);
    let zipped = |f: Binary<'_, N>| -> Words<N> { x.iter().zip(&y).map(|(x, y)| f(x, y)).collect() };
    let check = |name: &str, steps: Option<u32>, two: bool, expected: Words<N>| {
        let inputs: &[&[[u64; N]]] = if two { &[&x, &y] } else { &[&x] };
        let got = run::<B, N>(&device, &format!("{prefix}_{name}"), steps, inputs);
        let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        if let Some(i) = wrong {
            panic!("{prefix}_{name} of {:x?}, {:x?}: {:x?} is not {:x?}", x[i], y[i], got[i], expected[i]);
        }
    };
    check("add", None, true, zipped(&|x, y| field.add(x, y)));
    check("sub", None, true, zipped(&|x, y| field.sub(x, y)));
    check("mul", None, true, zipped(&|x, y| field.mul(x, y)));
    check("neg", None, false, zipped(&|x, _| field.sub(&[0; N], x)));
    check("sqr", None, false, zipped(&|x, _| field.mul(x, x)));
    check("from", None, false, zipped(&|x, _| field.to_montgomery(x)));
    check("to", None, false, zipped(&|x, _| field.from_montgomery(x)));
    let power = |x: &[u64; N], y: &[u64; N]| (0..5).fold(*x, |x, _| field.mul(&x, y));
    check("times_power", Some(5), true, zipped(&power));
    check("squarings", Some(3), false, zipped(&|x, _| (0..3).fold(*x, |x, _| field.mul(&x, &x))));
}

/// Numbers below `2p + 2^224`: canonical ones, those plus `p`, and those at the limits.
fn loose_numbers(numbers: &Words<4>) -> Words<4> {
    let plus = |a: &[u64; 4], b: &[u64; 4]| -> Option<[u64; 4]> {
        let mut carry = false;
        let sum = std::array::from_fn(|i| {
            let (limb, one) = a[i].overflowing_add(b[i]);
            let (limb, two) = limb.overflowing_add(u64::from(carry));
            carry = one | two;
            limb
        });
        (!carry).then_some(sum)
    };
    let p = FR.p;
    let twice = plus(&p, &p).unwrap();
    let mut found = numbers.clone();
    found.extend(numbers.iter().filter_map(|x| plus(x, &p)));
    // What is above 2p, within 2^224.
    let above = |x: [u64; 4]| plus(&twice, &[x[0], x[1], x[2], x[3] & 0xffff_ffff]).unwrap();
    found.extend([[0; 4], [1, 0, 0, 0], [u64::MAX; 4], [u64::MAX, u64::MAX, u64::MAX, 0]].map(above));
    found.extend(numbers.iter().take(2000).map(|x| above(*x)));
    found
}

/// The arithmetic of transforms against the host's definitions.
fn loose_arithmetic_is_its_definition<B: Backend>(random: usize) {
    let Some(device) = open::<B>() else { return };
    let rng = &mut rng();
    let numbers = numbers(&FR, random, rng);
    let loose = loose_numbers(&numbers);
    let mut pairs: Vec<_> = loose.iter().map(|x| (numbers[rng.gen_range(0..numbers.len())], *x)).collect();
    let edges = || numbers[..14].iter();
    pairs.extend(edges().flat_map(|w| loose[numbers.len() - 14..].iter().map(|x| (*w, *x))));
    let twice = loose_numbers(&vec![FR.p])[1];
    pairs.extend(
        edges().chain([&FR.p, &twice]).flat_map(|w| loose[loose.len() - 2014..].iter().map(|x| (*w, *x))),
    );
    let (w, x): (Words<4>, Words<4>) = pairs.iter().copied().unzip();
    let (one, two) = (FR.to_montgomery(&[1, 0, 0, 0]), [&x[..], &w[..]]);
    let mod_p = |x: &[u64; 4]| FR.mul(&FR.mul(x, &one), &one);
    let below = |x: &[u64; 4], limit: &[u64; 4]| x.iter().rev().lt(limit.iter().rev());
    let limit = [twice[0], twice[1], twice[2], twice[3] + (1 << 32)];
    // The results stand for what they should, and are below the limit.
    let check = |name: &str, got: Vec<u8>, limit: [u64; 4], f: Binary<'_, 4>| {
        for (i, got) in got.chunks_exact(32).enumerate() {
            let (got, expected): ([u64; 4], _) = (bytemuck::pod_read_unaligned(got), f(&w[i], &x[i]));
            assert_eq!(mod_p(&got), expected, "{name} of {:x?} and {:x?}", w[i], x[i]);
            assert!(below(&got, &limit), "{name} of {:x?} and {:x?}: {got:x?}", w[i], x[i]);
        }
    };
    let two = two.map(bytemuck::cast_slice);
    let add = run_bytes::<B>(&device, "fr_add_loose", None, &two, w.len(), 32);
    check("fr_add_loose", add, limit, &|w, x| FR.add(&mod_p(x), &mod_p(w)));
    let sub = run_bytes::<B>(&device, "fr_sub_loose", None, &two, w.len(), 32);
    check("fr_sub_loose", sub, limit, &|w, x| FR.sub(&mod_p(x), &mod_p(w)));
    let canonical = run_bytes::<B>(&device, "fr_canonical", None, &two[..1], w.len(), 32);
    check("fr_canonical", canonical, FR.p, &|_, x| mod_p(x));
    // Factors are canonical.
    let factors: Vec<[u64; 8]> = w.iter().map(|w| fixed(&mod_p(w))).collect();
    let inputs: [&[u8]; 2] = [bytemuck::cast_slice(&factors), bytemuck::cast_slice(&x)];
    let products = run_bytes::<B>(&device, "fr_times_fixed", None, &inputs, w.len(), 32);
    check("fr_times_fixed", products, twice, &|w, x| FR.mul(&mod_p(w), &mod_p(x)));
}

#[test]
fn definitions_are_blstrs() {
    let rng = &mut rng();
    let device = open::<Host>().unwrap();
    let scalars: Vec<(Scalar, Scalar)> =
        (0..200).map(|_| (Scalar::random(&mut *rng), Scalar::random(&mut *rng))).collect();
    let words = |f: &dyn Fn(Scalar, Scalar) -> Scalar| -> Words<4> {
        scalars.iter().map(|(x, y)| blst_fr::from(f(*x, *y)).l).collect()
    };
    let (x, y) = (words(&|x, _| x), words(&|_, y| y));
    let fr = |kernel, inputs: &[&[[u64; 4]]]| run::<Host, 4>(&device, kernel, None, inputs);
    assert_eq!(fr("fr_add", &[&x, &y]), words(&|x, y| x + y));
    assert_eq!(fr("fr_sub", &[&x, &y]), words(&|x, y| x - y));
    assert_eq!(fr("fr_mul", &[&x, &y]), words(&|x, y| x * y));
    assert_eq!(fr("fr_neg", &[&x]), words(&|x, _| -x));
    assert_eq!(fr("fr_sqr", &[&x]), words(&|x, _| x * x));
    let plain: Words<4> =
        scalars.iter().map(|(x, _)| bytemuck::pod_read_unaligned(&x.to_bytes_le())).collect();
    assert_eq!(fr("fr_to", &[&x]), plain);
    assert_eq!(fr("fr_from", &[&plain]), x);

    // Elements of the base field are coordinates of points.
    let mut coordinate = || G1Affine::from(G1Projective::random(&mut *rng)).x();
    let elements: Vec<_> = (0..200).map(|_| (coordinate(), coordinate())).collect();
    macro_rules! words {
        ($x:ident $y:ident => $result:expr) => {
            elements.iter().map(|&($x, $y)| blst_fp::from($result).l).collect::<Words<6>>()
        };
    }
    let (x, y) = (words!(x _y => x), words!(_x y => y));
    let fp = |kernel, inputs: &[&[[u64; 6]]]| run::<Host, 6>(&device, kernel, None, inputs);
    assert_eq!(fp("fp_add", &[&x, &y]), words!(x y => x + y));
    assert_eq!(fp("fp_sub", &[&x, &y]), words!(x y => x - y));
    assert_eq!(fp("fp_mul", &[&x, &y]), words!(x y => x * y));
    assert_eq!(fp("fp_neg", &[&x]), words!(x _y => -x));
    assert_eq!(fp("fp_sqr", &[&x]), words!(x _y => x * x));
    let plain: Words<6> =
        elements.iter().map(|(x, _)| bytemuck::pod_read_unaligned(&x.to_bytes_le())).collect();
    assert_eq!(fp("fp_to", &[&x]), plain);
    assert_eq!(fp("fp_from", &[&plain]), x);
}

#[test]
fn host() {
    field_is_its_definition::<Host, 4>("fr", &FR, 1000);
    field_is_its_definition::<Host, 6>("fp", &FP, 1000);
    loose_arithmetic_is_its_definition::<Host>(1000);
}

#[cfg(feature = "opencl")]
#[test]
fn opencl() {
    use cuzk_gpu_backend::OpenCl;

    OpenCl::accept_cpus();
    field_is_its_definition::<OpenCl, 4>("fr", &FR, 2000);
    field_is_its_definition::<OpenCl, 6>("fp", &FP, 2000);
    loose_arithmetic_is_its_definition::<OpenCl>(2000);
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuzk_gpu_backend::{Buffer, Cuda, Event};

    use super::*;

    #[test]
    fn cuda() {
        field_is_its_definition::<Cuda, 4>("fr", &FR, 200_000);
        field_is_its_definition::<Cuda, 6>("fp", &FP, 200_000);
        loose_arithmetic_is_its_definition::<Cuda>(200_000);
    }

    /// Prints how many products and squares a second the device does.
    #[test]
    #[ignore = "a measurement"]
    fn rates() {
        let Some(device) = open::<Cuda>() else { return };
        rates_of::<4>(&device, "fr", &FR);
        rates_of::<6>(&device, "fp", &FP);
    }

    fn rates_of<const N: usize>(device: &<Cuda as Backend>::Device, prefix: &str, field: &Modulus<N>)
    where
        [u64; N]: bytemuck::Pod,
    {
        let (threads, blocks, steps) = (256_u32, 132 * 8 * 4, 1000_u32);
        let x = numbers(field, (threads * blocks) as usize, &mut rng());
        let stream = device.stream().unwrap();
        let buffers: Vec<_> = (0..3).map(|_| device.buffer(size_of_val(&x[..]) as u64).unwrap()).collect();
        for buffer in &buffers {
            stream.upload(bytemuck::cast_slice(&x), buffer, 0).unwrap();
            assert_eq!(buffer.bytes(), size_of_val(&x[..]) as u64);
        }
        for name in ["times_power", "squarings"] {
            let kernel = device.kernel(&FAMILY, &format!("{prefix}_{name}")).unwrap();
            let mut args = vec![Arg::U32(steps), Arg::Read(&buffers[0])];
            if name == "times_power" {
                args.push(Arg::Read(&buffers[1]));
            }
            args.push(Arg::Write(&buffers[2]));
            let mut times: Vec<_> = (0..9)
                .map(|_| {
                    let start = stream.record().unwrap();
                    stream.launch(&kernel, Grid::new(blocks, threads), &args).unwrap();
                    stream.record().unwrap().since(&start).unwrap()
                })
                .collect();
            times.sort();
            let rate = f64::from(threads * blocks) * f64::from(steps) / times[4].as_secs_f64();
            eprintln!("{prefix}_{name}: {:.1} G/s", rate / 1e9);
        }
    }
}
