//! The groups' points as words of a device's memory.

use std::ops::Neg;

use blst::{blst_fp, blst_fp2, blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use cuzk_gpu_backend::{Backend, Family};
use cuzk_values::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::Field as _;
use group::{Curve as _, Group as _};

use super::family;
use super::plan::Costs;
use super::queue::Kernels;
use super::workspace::Workspace;
use crate::arith::BlstField;
use crate::{Curve, G1, G2};

/// A group that kernels exist for.
pub trait DeviceCurve: Group {}

impl DeviceCurve for G1 {}
impl DeviceCurve for G2 {}

/// What of it is this crate's own.
pub trait Group: Curve<Affine: Neg<Output = <Self as Curve>::Affine>, Projective: Copy> {
    /// Coordinates.
    type Field: Element;
    /// Bytes of a coordinate.
    const COORDINATE: u64 = 8 * Self::Field::WORDS as u64;
    /// Bytes of a base: x, y.
    const AFFINE: u64 = 2 * Self::COORDINATE;
    /// Bytes of a sum: X, Y, ZZ, ZZZ with `x = X / ZZ`, `y = Y / ZZZ`, `ZZ^3 = ZZZ^2`, and infinity
    /// where ZZ is 0.
    const SUM: u64 = 4 * Self::COORDINATE;

    /// What its sums take.
    const COSTS: Costs;

    /// The kernels.
    fn family() -> &'static Family;
    /// Those of a workspace.
    fn kernels<B: Backend>(workspace: &Workspace<B>) -> &Kernels<B>;
    /// x and y, both 0 for infinity.
    fn coordinates(base: &Self::Affine) -> [Self::Field; 2];
    /// The base of x and y.
    fn from_coordinates(coordinates: [Self::Field; 2]) -> Self::Affine;
    /// The base that a sum is.
    fn affine(sum: &Self::Projective) -> Self::Affine;
    /// X, Y, Z with `x = X / Z^2`, `y = Y / Z^3`.
    fn jacobian(sum: &Self::Projective) -> [Self::Field; 3];
    /// The sum of X, Y, Z.
    fn from_jacobian(coordinates: [Self::Field; 3]) -> Self::Projective;

    /// The base that words of a device are.
    fn base(words: &[u64]) -> Self::Affine {
        Self::from_coordinates(elements(words))
    }

    /// The words of a base on a device.
    fn base_words(base: &Self::Affine, words: &mut [u64]) {
        set_elements(&Self::coordinates(base), words);
    }

    /// The sum that words of a device are.
    fn sum(words: &[u64]) -> Self::Projective {
        // (X ZZ : Y ZZZ : ZZ) in Jacobian coordinates, as ZZ^3 = ZZZ^2.
        let [mut x, mut y, zz, zzz] = elements::<Self::Field, 4>(words);
        x.multiply(&zz);
        y.multiply(&zzz);
        Self::from_jacobian([x, y, zz])
    }

    /// The words of a sum on a device.
    fn sum_words(sum: &Self::Projective, words: &mut [u64]) {
        let [x, y, z] = Self::jacobian(sum);
        let [mut zz, mut zzz] = [Self::Field::ZERO; 2];
        zz.set_square(&z);
        zzz.set_product(&zz, &z);
        set_elements(&[x, y, zz, zzz], words);
    }

    /// 0
    fn zero() -> Self::Projective {
        Self::Projective::identity()
    }
}

/// A coordinate, which is so many words.
pub trait Element: BlstField {
    /// How many.
    const WORDS: usize;
    /// The element that words of a device are.
    fn from_words(words: &[u64]) -> Self;
    /// Writes the words of a device.
    fn set_words(&self, words: &mut [u64]);
}

impl Element for blst_fp {
    const WORDS: usize = 6;

    fn from_words(words: &[u64]) -> Self {
        Self { l: std::array::from_fn(|i| words[i]) }
    }

    fn set_words(&self, words: &mut [u64]) {
        words.copy_from_slice(&self.l);
    }
}

impl Element for blst_fp2 {
    const WORDS: usize = 12;

    fn from_words(words: &[u64]) -> Self {
        Self { fp: elements(words) }
    }

    fn set_words(&self, words: &mut [u64]) {
        set_elements(&self.fp, words);
    }
}

fn elements<F: Element, const N: usize>(words: &[u64]) -> [F; N] {
    std::array::from_fn(|i| F::from_words(&words[F::WORDS * i..]))
}

fn set_elements<F: Element>(elements: &[F], words: &mut [u64]) {
    for (words, element) in words.chunks_exact_mut(F::WORDS).zip(elements) {
        element.set_words(words);
    }
}

macro_rules! group {
    ($group:ty, $field:ty, $affine:ty, $projective:ty, $blst_affine:ident, $blst:ident, $family:ident, $kernels:ident, $costs:expr) => {
        impl Group for $group {
            type Field = $field;
            const COSTS: Costs = $costs;

            fn family() -> &'static Family {
                &family::$family
            }

            fn kernels<B: Backend>(workspace: &Workspace<B>) -> &Kernels<B> {
                &workspace.$kernels
            }

            fn coordinates(base: &$affine) -> [$field; 2] {
                [base.as_ref().x, base.as_ref().y]
            }

            fn from_coordinates([x, y]: [$field; 2]) -> $affine {
                let mut base = <$affine>::default();
                *base.as_mut() = $blst_affine { x, y };
                base
            }

            fn affine(sum: &$projective) -> $affine {
                sum.to_affine()
            }

            fn jacobian(sum: &$projective) -> [$field; 3] {
                let $blst { x, y, z } = *sum.as_ref();
                [x, y, z]
            }

            fn from_jacobian([x, y, z]: [$field; 3]) -> $projective {
                let mut sum = <$projective>::identity();
                *sum.as_mut() = $blst { x, y, z };
                sum
            }
        }
    };
}

group!(
    G1,
    blst_fp,
    G1Affine,
    G1Projective,
    blst_p1_affine,
    blst_p1,
    MSM_G1,
    g1,
    Costs { entry: 24, pair: 255, single: 430, bucket: 1400, round: 450_000_000 }
);
group!(
    G2,
    blst_fp2,
    G2Affine,
    G2Projective,
    blst_p2_affine,
    blst_p2,
    MSM_G2,
    g2,
    Costs { entry: 24, pair: 860, single: 1650, bucket: 4800, round: 600_000_000 }
);

/// The bytes of a scalar on a device: its Montgomery form, `2^256` times the scalar.
pub fn scalar_bytes(scalar: &Scalar) -> [u8; 32] {
    (*scalar * Scalar::from(2).pow_vartime([256])).to_bytes_le()
}

/// The bytes of a base on a device: its affine coordinates in Montgomery form, (0, 0) for infinity.
pub fn base_bytes<C: DeviceCurve>(base: &C::Affine) -> Vec<u8> {
    let mut words = vec![0_u64; C::AFFINE as usize / 8];
    C::base_words(base, &mut words);
    bytemuck::cast_slice(&words).to_vec()
}
