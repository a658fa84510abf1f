//! Affine points in limbs, and their way from and to blst's form.

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use cuzk_values::{G1Affine, G2Affine};

use super::add::{self, Work};
use super::fp::Fp8;
use super::lanes::Element;
use super::words::{Words, double, join, power_of_two, split};
use crate::arith::portable::BlstField;
use crate::arith::{Packed, Tables, Term};

/// A point over Fp (`N = 1`) or Fp2 (`N = 2`): coordinates in limbs of 52 bits,
/// `R = 2^416`, below `1.01 p`. Infinity is all zeros, where no point of the curve is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, align(128))]
pub struct IfmaPoint<const N: usize> {
    pub(super) x: Element<N>,
    pub(super) y: Element<N>,
}

impl<const N: usize> IfmaPoint<N> {
    /// Two points of different `x`, for lanes that nobody reads.
    pub(super) const FILLER: [Self; 2] =
        { [Self { x: [[1; 8]; N], y: Self::ONE }, Self { x: Self::ONE, y: Self::ONE }] };

    pub(super) const INFINITY: Self = Self { x: [[0; 8]; N], y: [[0; 8]; N] };

    /// The field's 1.
    pub(super) const ONE: Element<N> = {
        let mut one = [[0; 8]; N];
        one[0] = split(&power_of_two(416));
        one
    };

    /// Coordinates modulo `p`, in words.
    fn x_words(&self) -> [Words; N] {
        self.x.each_ref().map(join)
    }
    fn y_words(&self) -> [Words; N] {
        self.y.each_ref().map(join)
    }

    pub(super) fn has_x_of(&self, other: &Self) -> bool {
        self.x_words() == other.x_words()
    }

    pub(super) fn has_y_of(&self, other: &Self) -> bool {
        self.y_words() == other.y_words()
    }

    /// `2y`
    pub(super) fn twice_y(&self) -> Element<N> {
        self.y_words().map(|y| split(&double(&y).0))
    }

    /// `1 / a`
    pub(super) fn inverse(a: &Element<N>) -> Element<N> {
        // blst reads a 2^416 as the element A = 2^32 a, and gives 1/A = 2^-32 / a, which it
        // writes with its R as 2^352 / a. Times 2^448 / 2^384 that is 2^416 / a.
        const SCALE: blst_fp = blst_fp { l: power_of_two(448) };
        let a = a.each_ref().map(|limbs| blst_fp { l: join(limbs) });
        let mut inverse = a;
        if N == 1 {
            inverse[0].invert();
        } else {
            // 1 / (a0 + a1 u) = (a0 - a1 u) / (a0^2 + a1^2)
            let (mut norm, mut squares) = (a[0], a);
            squares[0].set_square(&a[0]);
            squares[1].set_square(&a[1]);
            norm.set_sum(&squares[0], &squares[1]);
            norm.invert();
            inverse[0].set_product(&a[0], &norm);
            squares[1].set_product(&a[1], &norm);
            inverse[1].set_signed(true, &squares[1]);
        }
        inverse.map(|mut c| {
            c.multiply(&SCALE);
            split(&c.l)
        })
    }

    pub(super) fn is_infinity(&self) -> bool {
        self.y[0][0] == 0 && *self == Self::INFINITY
    }

    pub(super) fn negated(&self) -> Self {
        let negative = |y: Words| {
            let mut minus_y = blst_fp::ZERO;
            minus_y.set_signed(true, &blst_fp { l: y });
            split(&minus_y.l)
        };
        Self { x: self.x, y: self.y_words().map(negative) }
    }

    /// A coordinate in blst's form.
    fn to_blst(coordinate: &Element<N>) -> [blst_fp; N] {
        /// `2^-32` in blst's form, which turns our `R` into blst's.
        const SCALE: blst_fp = blst_fp { l: power_of_two(384 - 32) };
        coordinate.each_ref().map(|limbs| {
            let mut c = blst_fp { l: join(limbs) };
            c.multiply(&SCALE);
            c
        })
    }

    /// Writes the points whose coordinates `of` gives to `packed`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn pack_all<A>(points: &[A], at: &[u32], packed: &mut [Self], of: fn(&A) -> [[&blst_fp; N]; 2]) {
        for (at, packed) in at.chunks(8).zip(packed.chunks_mut(8)) {
            let mut rows = [of(&points[at[0] as usize]); 8];
            for (row, i) in rows.iter_mut().zip(at) {
                *row = of(&points[*i as usize]);
            }
            let mut eight = [Self::FILLER[0]; 8];
            for i in 0..N {
                Fp8::from_words(rows.map(|[x, _]| &x[i].l)).store(eight.each_mut().map(|p| &mut p.x[i]));
                Fp8::from_words(rows.map(|[_, y]| &y[i].l)).store(eight.each_mut().map(|p| &mut p.y[i]));
            }
            packed.copy_from_slice(&eight[..packed.len()]);
        }
    }
}

macro_rules! packed {
    ($n:literal, $affine:ty, $coordinates:expr, $point:expr) => {
        impl Packed for IfmaPoint<$n> {
            type Affine = $affine;
            type Work = Work<$n>;

            const INFINITY: Self = Self::INFINITY;
            const WORK_BYTES: usize = Work::<$n>::BYTES;

            fn pack(points: &[$affine], at: &[u32], packed: &mut [Self]) {
                assert_eq!(at.len(), packed.len());
                assert!(super::is_available());
                // SAFETY: the CPU has the features.
                unsafe { Self::pack_all(points, at, packed, $coordinates) }
            }

            fn unpack(&self) -> $affine {
                $point(Self::to_blst(&self.x), Self::to_blst(&self.y))
            }

            fn is_infinity(&self) -> bool {
                self.is_infinity()
            }

            fn negated(&self) -> Self {
                self.negated()
            }

            fn add_pairs(
                tables: Tables<'_, Self>,
                pairs: &[[Term; 2]],
                sums: &mut [Self],
                work: &mut Work<$n>,
            ) {
                assert_eq!(pairs.len(), sums.len());
                assert!(super::is_available());
                // SAFETY: the CPU has the features.
                unsafe { add::add_pairs(tables, pairs, sums, work) }
            }
        }
    };
}

packed!(
    1,
    G1Affine,
    |point| {
        let point = point.as_ref();
        [[&point.x], [&point.y]]
    },
    |[x]: [blst_fp; 1], [y]: [blst_fp; 1]| {
        let mut point = G1Affine::default();
        *point.as_mut() = blst_p1_affine { x, y };
        point
    }
);
packed!(
    2,
    G2Affine,
    |point| {
        let point = point.as_ref();
        [point.x.fp.each_ref(), point.y.fp.each_ref()]
    },
    |x, y| {
        let mut point = G2Affine::default();
        *point.as_mut() = blst_p2_affine { x: blst_fp2 { fp: x }, y: blst_fp2 { fp: y } };
        point
    }
);
