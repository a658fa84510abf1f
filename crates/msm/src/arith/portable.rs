//! Points in blst's form, for any CPU: blst's assembly, one element at a time.

use blst::{
    blst_fp, blst_fp_add, blst_fp_cneg, blst_fp_eucl_inverse, blst_fp_mul, blst_fp_sqr, blst_fp_sub,
    blst_fp2, blst_fp2_add, blst_fp2_cneg, blst_fp2_eucl_inverse, blst_fp2_mul, blst_fp2_sqr, blst_fp2_sub,
    blst_p1_affine, blst_p2_affine,
};
use cuzk_values::{G1Affine, G2Affine};

use super::{Packed, Tables, Term, resolve};

/// The arithmetic of blst's base field or of its quadratic extension.
///
/// Results are written where they stay: an element that blst's assembly has just
/// stored by words and that is then moved by vectors costs a stalled load.
pub trait BlstField: Copy + PartialEq + Send + Sync + 'static {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// `self = a + b`
    fn set_sum(&mut self, a: &Self, b: &Self);
    /// `self = a - b`
    fn set_difference(&mut self, a: &Self, b: &Self);
    /// `self = self - b`
    fn subtract(&mut self, b: &Self);
    /// `self = a b`
    fn set_product(&mut self, a: &Self, b: &Self);
    /// `self = self b`
    fn multiply(&mut self, b: &Self);
    /// `self = a^2`
    fn set_square(&mut self, a: &Self);
    /// `self = -a` if `negative`, else `self = a`.
    fn set_signed(&mut self, negative: bool, a: &Self);
    /// `self = 1 / self`, and 0 for 0.
    fn invert(&mut self);
}

macro_rules! blst_field {
    ($field:ty, $zero:expr, $one:expr, $add:ident, $sub:ident, $mul:ident, $sqr:ident, $cneg:ident, $inverse:ident) => {
        // Each call of blst gets pointers to valid elements, which may be the same.
        impl BlstField for $field {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            #[inline]
            fn set_sum(&mut self, a: &Self, b: &Self) {
                // SAFETY: references are valid.
                unsafe { $add(self, a, b) }
            }
            #[inline]
            fn set_difference(&mut self, a: &Self, b: &Self) {
                // SAFETY: references are valid.
                unsafe { $sub(self, a, b) }
            }
            #[inline]
            fn subtract(&mut self, b: &Self) {
                let this = std::ptr::from_mut(self);
                // SAFETY: `this` is valid, and blst reads it before it writes.
                unsafe { $sub(this, this, b) }
            }
            #[inline]
            fn set_product(&mut self, a: &Self, b: &Self) {
                // SAFETY: references are valid.
                unsafe { $mul(self, a, b) }
            }
            #[inline]
            fn multiply(&mut self, b: &Self) {
                let this = std::ptr::from_mut(self);
                // SAFETY: `this` is valid, and blst reads it before it writes.
                unsafe { $mul(this, this, b) }
            }
            #[inline]
            fn set_square(&mut self, a: &Self) {
                // SAFETY: references are valid.
                unsafe { $sqr(self, a) }
            }
            #[inline]
            fn set_signed(&mut self, negative: bool, a: &Self) {
                // SAFETY: references are valid.
                unsafe { $cneg(self, a, negative) }
            }
            fn invert(&mut self) {
                let this = std::ptr::from_mut(self);
                // SAFETY: `this` is valid, and blst reads it before it writes.
                unsafe { $inverse(this, this) }
            }
        }
    };
}

/// 0
const ZERO: blst_fp = blst_fp { l: [0; 6] };
/// `2^384 mod p`
const ONE: blst_fp = blst_fp {
    l: [
        0x7609_0000_0002_fffd,
        0xebf4_000b_c40c_0002,
        0x5f48_9857_53c7_58ba,
        0x77ce_5853_7052_5745,
        0x5c07_1a97_a256_ec6d,
        0x15f6_5ec3_fa80_e493,
    ],
};

blst_field!(
    blst_fp,
    ZERO,
    ONE,
    blst_fp_add,
    blst_fp_sub,
    blst_fp_mul,
    blst_fp_sqr,
    blst_fp_cneg,
    blst_fp_eucl_inverse
);
blst_field!(
    blst_fp2,
    blst_fp2 { fp: [ZERO; 2] },
    blst_fp2 { fp: [ONE, ZERO] },
    blst_fp2_add,
    blst_fp2_sub,
    blst_fp2_mul,
    blst_fp2_sqr,
    blst_fp2_cneg,
    blst_fp2_eucl_inverse
);

/// A point in blst's affine form. Infinity is all zeros, where no point of the curve is.
#[derive(Clone, Copy, PartialEq)]
pub struct PortablePoint<F> {
    x: F,
    y: F,
}

/// Additions that share an inversion. An inversion takes as long as about ten of them.
const BATCH: usize = 1024;

/// Memory for one batch.
#[derive(Default)]
pub struct Work<F> {
    /// `products[k]` is the product of the first `k` denominators.
    products: Vec<F>,
    /// `x2 - x1`, or what stands for it in an exception. None is 0.
    denominators: Vec<F>,
    /// The additions that do not follow the formula, ascending.
    exceptions: Vec<usize>,
}

/// An addition that does not follow the formula.
enum Exception<F> {
    /// Both operands are the same.
    Doubling,
    /// One operand is infinity, or they cancel: the sum is known.
    Known(PortablePoint<F>),
}

impl<F: BlstField> PortablePoint<F> {
    const INFINITY: Self = Self { x: F::ZERO, y: F::ZERO };

    fn is_infinity(&self) -> bool {
        self.x == F::ZERO && self.y == F::ZERO
    }

    fn negated(&self) -> Self {
        let mut negated = *self;
        negated.y.set_signed(true, &self.y);
        negated
    }

    /// What `self + b` is when no line through two points gives it.
    #[cold]
    fn exception(&self, b: &Self) -> Option<Exception<F>> {
        if self.is_infinity() {
            Some(Exception::Known(*b))
        } else if b.is_infinity() {
            Some(Exception::Known(*self))
        } else if self.x != b.x {
            None
        } else if self.y == b.y {
            Some(Exception::Doubling)
        } else {
            Some(Exception::Known(Self::INFINITY))
        }
    }

    /// Appends an addition's denominator, and multiplies it to the product of all.
    #[inline]
    fn begin([a, b]: [&Self; 2], signed: impl FnOnce() -> [Self; 2], k: usize, work: &mut Work<F>) {
        let Work { products, denominators, exceptions } = work;
        let denominator = &mut denominators[k];
        denominator.set_difference(&b.x, &a.x);
        if [*denominator, a.x, b.x].contains(&F::ZERO) {
            let [a, b] = signed();
            if let Some(exception) = a.exception(&b) {
                match exception {
                    Exception::Doubling => denominator.set_sum(&a.y, &a.y),
                    Exception::Known(_) => *denominator = F::ONE,
                }
                exceptions.push(k);
            }
        }
        let (products, rest) = products.split_at_mut(k + 1);
        rest[0].set_product(&products[k], denominator);
    }

    /// The sum of `a` and `b`, given the inverse of an addition's denominator, which
    /// becomes the slope of their line.
    #[inline]
    fn finish(&mut self, slope: &mut F, [a, b]: [&Self; 2], [minus_a, minus_b]: [bool; 2]) {
        let (mut y, mut t) = (F::ZERO, F::ZERO);
        y.set_signed(minus_a, &a.y);
        t.set_signed(minus_b, &b.y);
        t.subtract(&y);
        slope.multiply(&t);
        self.follow(slope, [&a.x, &b.x], &y);
    }

    /// The third point of a line of the given slope, mirrored.
    #[inline]
    fn follow(&mut self, slope: &F, [x1, x2]: [&F; 2], y1: &F) {
        self.x.set_square(slope);
        self.x.subtract(x1);
        self.x.subtract(x2);
        let mut fall = F::ZERO;
        fall.set_difference(x1, &self.x);
        self.y.set_product(slope, &fall);
        self.y.subtract(y1);
    }

    /// The sum of `a` and `b` where that is exceptional, given the inverse of what
    /// stood for the denominator.
    #[cold]
    fn finish_exception(&mut self, inverse: &F, a: &Self, b: &Self) {
        match a.exception(b) {
            Some(Exception::Known(sum)) => *self = sum,
            Some(Exception::Doubling) => {
                let (mut square, mut slope) = (F::ZERO, F::ZERO);
                square.set_square(&a.x);
                slope.set_sum(&square, &square);
                let twice = slope;
                slope.set_sum(&twice, &square);
                slope.multiply(inverse);
                self.follow(&slope, [&a.x, &b.x], &a.y);
            }
            None => {}
        }
    }
}

/// See [`Packed::add_pairs`].
fn add_pairs<F: BlstField>(
    tables: Tables<'_, PortablePoint<F>>,
    pairs: &[[Term; 2]],
    sums: &mut [PortablePoint<F>],
    work: &mut Work<F>,
) where
    PortablePoint<F>: Packed,
{
    work.products.resize(BATCH + 1, F::ONE);
    work.denominators.resize(BATCH, F::ONE);
    for (pairs, sums) in pairs.chunks(BATCH).zip(sums.chunks_mut(BATCH)) {
        for (k, pair) in pairs.iter().enumerate() {
            let signed = || pair.map(|term| resolve(tables, term));
            PortablePoint::begin(pair.map(|term| term.point(tables)), signed, k, work);
        }
        let mut inverse = work.products[pairs.len()];
        inverse.invert();
        for (k, (pair, sum)) in pairs.iter().zip(sums).enumerate().rev() {
            let mut slope = F::ZERO;
            slope.set_product(&inverse, &work.products[k]);
            inverse.multiply(&work.denominators[k]);
            if work.exceptions.pop_if(|e| *e == k).is_some() {
                let [a, b] = pair.map(|term| resolve(tables, term));
                sum.finish_exception(&slope, &a, &b);
            } else {
                sum.finish(&mut slope, pair.map(|term| term.point(tables)), pair.map(Term::is_negative));
            }
        }
    }
}

macro_rules! packed {
    ($field:ty, $affine:ty, $blst:ident) => {
        impl Packed for PortablePoint<$field> {
            type Affine = $affine;
            type Work = Work<$field>;

            const INFINITY: Self = Self::INFINITY;
            const WORK_BYTES: usize = (2 * BATCH + 1) * size_of::<$field>();

            fn pack(points: &[$affine], at: &[u32], packed: &mut [Self]) {
                assert_eq!(at.len(), packed.len());
                for (packed, at) in packed.iter_mut().zip(at) {
                    let $blst { x, y } = *points[*at as usize].as_ref();
                    *packed = Self { x, y };
                }
            }

            fn unpack(&self) -> $affine {
                let mut point = <$affine>::default();
                *point.as_mut() = $blst { x: self.x, y: self.y };
                point
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
                work: &mut Self::Work,
            ) {
                assert_eq!(pairs.len(), sums.len());
                add_pairs(tables, pairs, sums, work);
            }
        }
    };
}

packed!(blst_fp, G1Affine, blst_p1_affine);
packed!(blst_fp2, G2Affine, blst_p2_affine);
