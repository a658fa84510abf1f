//! The groups' points as words of a device's memory.

use std::ops::Neg;

use blst::{blst_fp, blst_p1, blst_p1_affine};
use cuzk_values::{G1Affine, G1Projective, Scalar};
use ff::Field;
use group::{Curve as _, Group as _};

use crate::arith::BlstField;
use crate::{Curve, G1};

/// A group that kernels exist for.
pub trait DeviceCurve: Group {}

/// What of it is this crate's own.
pub trait Group: Curve<Affine: Neg<Output = <Self as Curve>::Affine>, Projective: Copy> {
    /// Coordinates.
    type Field: BlstField;
    /// Bytes of a coordinate.
    const COORDINATE: u64 = Self::AFFINE / 2;
    /// Bytes of a base.
    const AFFINE: u64;
    /// Bytes of a sum: X, Y, ZZ, ZZZ with `x = X / ZZ`, `y = Y / ZZZ`, `ZZ^3 = ZZZ^2`, and infinity
    /// where ZZ is 0.
    const SUM: u64 = 2 * Self::AFFINE;
    /// The name of a kernel.
    const ACCUMULATE: &'static str;
    /// The name of a kernel.
    const FORWARD: &'static str;
    /// The name of a kernel.
    const INVERT: &'static str;
    /// The name of a kernel.
    const BACKWARD: &'static str;
    /// The name of a kernel.
    const MERGE: &'static str;
    /// The name of a kernel.
    const FOLD: &'static str;
    /// The name of a kernel.
    const LINES: &'static str;
    /// The name of a kernel.
    const BITS: &'static str;

    /// The base that words of a device are.
    fn base(words: &[u64]) -> Self::Affine;
    /// The words of a base on a device.
    fn base_words(base: &Self::Affine) -> Vec<u64>;
    /// x and y, both 0 for infinity.
    fn coordinates(base: &Self::Affine) -> [Self::Field; 2];
    /// The base of x and y.
    fn from_coordinates(coordinates: &[Self::Field; 2]) -> Self::Affine;
    /// The base that a sum is.
    fn affine(sum: &Self::Projective) -> Self::Affine;
    /// The `i`-th of the coordinates that words of a device are.
    fn field(words: &[u64], i: usize) -> Self::Field;
    /// Writes the `i`-th of coordinates.
    fn field_words(element: &Self::Field, words: &mut [u64], i: usize);
    /// The sum that words of a device are.
    fn sum(words: &[u64]) -> Self::Projective;
    /// The words of a sum on a device.
    fn sum_words(sum: &Self::Projective, words: &mut [u64]);

    /// 0
    fn zero() -> Self::Projective {
        Self::Projective::identity()
    }
}

impl DeviceCurve for G1 {}

impl Group for G1 {
    type Field = blst_fp;
    const AFFINE: u64 = 96;
    const FORWARD: &'static str = "msm_forward_g1";
    const INVERT: &'static str = "msm_invert_g1";
    const BACKWARD: &'static str = "msm_backward_g1";
    const ACCUMULATE: &'static str = "msm_accumulate_g1";
    const MERGE: &'static str = "msm_merge_g1";
    const FOLD: &'static str = "msm_fold_g1";
    const LINES: &'static str = "msm_lines_g1";
    const BITS: &'static str = "msm_bits_g1";

    fn base(words: &[u64]) -> G1Affine {
        Self::from_coordinates(&elements(words))
    }

    fn coordinates(base: &G1Affine) -> [blst_fp; 2] {
        [base.as_ref().x, base.as_ref().y]
    }

    fn from_coordinates(&[x, y]: &[blst_fp; 2]) -> G1Affine {
        let mut base = G1Affine::default();
        *base.as_mut() = blst_p1_affine { x, y };
        base
    }

    fn affine(sum: &G1Projective) -> G1Affine {
        sum.to_affine()
    }

    fn field(words: &[u64], i: usize) -> blst_fp {
        let [element] = elements(&words[6 * i..]);
        element
    }

    fn field_words(element: &blst_fp, words: &mut [u64], i: usize) {
        words[6 * i..6 * i + 6].copy_from_slice(&element.l);
    }

    fn base_words(base: &G1Affine) -> Vec<u64> {
        [base.as_ref().x.l, base.as_ref().y.l].concat()
    }

    fn sum(words: &[u64]) -> G1Projective {
        // (X ZZ : Y ZZZ : ZZ) in Jacobian coordinates, as ZZ^3 = ZZZ^2.
        let [mut x, mut y, zz, zzz] = elements(words);
        x.multiply(&zz);
        y.multiply(&zzz);
        let mut sum = G1Projective::identity();
        *sum.as_mut() = blst_p1 { x, y, z: zz };
        sum
    }

    fn sum_words(sum: &G1Projective, words: &mut [u64]) {
        let blst_p1 { x, y, z } = *sum.as_ref();
        let [mut zz, mut zzz] = [blst_fp::ZERO; 2];
        zz.set_square(&z);
        zzz.set_product(&zz, &z);
        for (words, element) in words.chunks_exact_mut(6).zip([x, y, zz, zzz]) {
            words.copy_from_slice(&element.l);
        }
    }
}

fn elements<const N: usize>(words: &[u64]) -> [blst_fp; N] {
    std::array::from_fn(|i| blst_fp { l: std::array::from_fn(|j| words[6 * i + j]) })
}

/// The bytes of a scalar on a device: its Montgomery form, `2^256` times the scalar.
pub fn scalar_bytes(scalar: &Scalar) -> [u8; 32] {
    (*scalar * Scalar::from(2).pow_vartime([256])).to_bytes_le()
}

/// The bytes of a base on a device: its affine coordinates in Montgomery form, (0, 0) for infinity.
pub fn base_bytes<C: DeviceCurve>(base: &C::Affine) -> Vec<u8> {
    bytemuck::cast_slice(&C::base_words(base)).to_vec()
}
