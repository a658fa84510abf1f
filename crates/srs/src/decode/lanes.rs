//! Eight points at once, where the CPU has AVX-512 IFMA.
//!
//! Multiplications divide by `R = 2^416` and coordinates leave in blst's Montgomery
//! form `v 2^384`, which is made first and used for the curve's equation
//! `y^2 = x^3 + b` as it is: `y y` then stands for `y^2 2^352` and `x x x` for
//! `x^3 2^320`, so that one more factor brings the left side to the scale of the right.

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G2Affine};

use super::{GROUP, Point};
use crate::lanes::{Coordinate, Fp2, Fp8, Ifma, Limbs, WORDS, times_power_of_two};

/// From a number to blst's form.
const TO_OUTSIDE: Limbs = times_power_of_two(1, 384 + 416);
/// From the scale of `y^2` to that of `x^3`.
const LEFT: Limbs = times_power_of_two(1, 320 + 416 - 352);
/// `b` of G1, and both parts of that of G2, at the scale of `x^3`.
const FOUR: Limbs = times_power_of_two(4, 320);
const ALL: u8 = u8::MAX;

/// The points of a group, unless there is a fault in one of them.
pub(super) fn g1(ifma: Ifma, bytes: &[u8]) -> Option<[G1Affine; GROUP]> {
    let (x, y) =
        (coordinate(ifma, bytes, G1Affine::BYTES, 0)?, coordinate(ifma, bytes, G1Affine::BYTES, 48)?);
    let left = y.square().mul(&Fp8::splat(ifma, &LEFT));
    let right = x.square().mul(&x).add(&Fp8::splat(ifma, &FOUR));
    if left.sub(&right).is_zero() != ALL || x.is_zero() != 0 {
        return None;
    }
    let (x, y) = (outside(&x), outside(&y));
    Some(std::array::from_fn(|i| {
        let mut point = G1Affine::default();
        *point.as_mut() = blst_p1_affine { x: x[i], y: y[i] };
        point
    }))
}

/// The points of a group, unless there is a fault in one of them.
pub(super) fn g2(ifma: Ifma, bytes: &[u8]) -> Option<[G2Affine; GROUP]> {
    let fp2 = |at| {
        let (c1, c0) = (
            coordinate(ifma, bytes, G2Affine::BYTES, at)?,
            coordinate(ifma, bytes, G2Affine::BYTES, at + 48)?,
        );
        Some(Fp2 { c0, c1 })
    };
    let (x, y) = (fp2(0)?, fp2(96)?);
    let (squared, scale) = (y.square(), Fp8::splat(ifma, &LEFT));
    let left = Fp2 { c0: squared.c0.mul(&scale), c1: squared.c1.mul(&scale) };
    let four = Fp8::splat(ifma, &FOUR);
    let difference = left.sub(&x.square().mul(&x).add(&Fp2 { c0: four, c1: four }));
    if difference.c0.is_zero() & difference.c1.is_zero() != ALL || x.c0.is_zero() & x.c1.is_zero() != 0 {
        return None;
    }
    let (x, y) = (outside2(&x), outside2(&y));
    Some(std::array::from_fn(|i| {
        let mut point = G2Affine::default();
        *point.as_mut() = blst_p2_affine { x: x[i], y: y[i] };
        point
    }))
}

/// The big-endian coordinate at byte `at` of each point, in blst's form; `None`
/// where one is not below the modulus, as it is not with a flag set.
fn coordinate(ifma: Ifma, bytes: &[u8], point_bytes: usize, at: usize) -> Option<Fp8> {
    let mut words = [[0; GROUP]; WORDS];
    for (lane, point) in bytes.chunks_exact(point_bytes).enumerate() {
        let (chunks, _) = point[at..at + 8 * WORDS].as_chunks::<8>();
        for (word, chunk) in words.iter_mut().rev().zip(chunks) {
            word[lane] = u64::from_be_bytes(*chunk);
        }
    }
    let number = Fp8::from_words(ifma, &words);
    (number.below_modulus() == ALL).then(|| number.mul(&Fp8::splat(ifma, &TO_OUTSIDE)))
}

fn outside(coordinates: &Fp8) -> [blst_fp; GROUP] {
    let words = coordinates.words();
    std::array::from_fn(|i| blst_fp { l: words.map(|word| word[i]) })
}

fn outside2(coordinates: &Fp2<Fp8>) -> [blst_fp2; GROUP] {
    let (c0, c1) = (outside(&coordinates.c0), outside(&coordinates.c1));
    std::array::from_fn(|i| blst_fp2 { fp: [c0[i], c1[i]] })
}
