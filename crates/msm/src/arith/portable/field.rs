//! Coordinates: products by blst's assembly, sums in [plain Rust](super::super::words).

use blst::{
    blst_fp, blst_fp_add, blst_fp_cneg, blst_fp_eucl_inverse, blst_fp_mul, blst_fp_sqr, blst_fp2,
    blst_fp2_add, blst_fp2_cneg, blst_fp2_eucl_inverse, blst_fp2_mul, blst_fp2_sqr,
};

use crate::arith::words::{
    difference, reduced_difference, reduced_difference_of_three, signed, signed_difference,
};

/// The arithmetic of blst's base field or of its quadratic extension.
///
/// Results are written where they stay: an element that blst's assembly has just
/// stored by words and that is then moved by vectors costs a stalled load.
///
/// A *factor* is good only to be multiplied with an element: it, or each of its
/// coefficients, is up to `4p` instead of below `p`. All else is reduced. blst's
/// multiplication in Fp2 is Karatsuba's: of `f0 + f1`, which fits six words, it takes
/// `p` off once, so that its three products are below `7 p^2 < 2^384 p`, and their
/// differences, into which it folds `2^384 p` when they are negative, too.
pub trait BlstField: Copy + PartialEq + Send + Sync + 'static {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// A word that equal elements share.
    fn low(&self) -> u64;
    /// `self = a + b`
    fn set_sum(&mut self, a: &Self, b: &Self);
    /// The factor `self = a - b`.
    fn set_difference(&mut self, a: &Self, b: &Self);
    /// The factor `self = (±a) - (±b)`, where `minus` tells which of both are negated.
    fn set_signed_difference(&mut self, a: &Self, b: &Self, minus: [bool; 2]);
    /// `self = self - b - c`
    fn subtract_two(&mut self, b: &Self, c: &Self);
    /// `self = self - (±b)`, where `minus` tells whether `b` is negated.
    fn subtract_signed(&mut self, b: &Self, minus: bool);
    /// `self = a b`, of which `b` is a factor.
    fn set_product(&mut self, a: &Self, b: &Self);
    /// `self = self b`, of which `b` is a factor.
    fn multiply(&mut self, b: &Self);
    /// `self = a^2`
    fn set_square(&mut self, a: &Self);
    /// `self = -a` if `negative`, else `self = a`.
    fn set_signed(&mut self, negative: bool, a: &Self);
    /// `self = 1 / self`, and 0 for 0.
    fn invert(&mut self);
}

/// What blst does, alike in both fields.
macro_rules! by_blst {
    ($add:ident, $mul:ident, $sqr:ident, $cneg:ident, $inverse:ident) => {
        // Each call of blst gets pointers to valid elements, which may be the same.
        #[inline]
        fn set_sum(&mut self, a: &Self, b: &Self) {
            // SAFETY: references are valid.
            unsafe { $add(self, a, b) }
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
    };
}

impl BlstField for blst_fp {
    const ZERO: Self = Self { l: [0; 6] };
    /// `2^384 mod p`
    const ONE: Self = Self {
        l: [
            0x7609_0000_0002_fffd,
            0xebf4_000b_c40c_0002,
            0x5f48_9857_53c7_58ba,
            0x77ce_5853_7052_5745,
            0x5c07_1a97_a256_ec6d,
            0x15f6_5ec3_fa80_e493,
        ],
    };

    by_blst!(blst_fp_add, blst_fp_mul, blst_fp_sqr, blst_fp_cneg, blst_fp_eucl_inverse);

    #[inline(always)]
    fn low(&self) -> u64 {
        self.l[0]
    }
    #[inline(always)]
    fn set_difference(&mut self, a: &Self, b: &Self) {
        self.l = difference(&a.l, &b.l);
    }
    #[inline(always)]
    fn set_signed_difference(&mut self, a: &Self, b: &Self, minus: [bool; 2]) {
        self.l = signed_difference(&a.l, &b.l, minus);
    }
    #[inline(always)]
    fn subtract_two(&mut self, b: &Self, c: &Self) {
        self.l = reduced_difference_of_three(&self.l, &b.l, &c.l);
    }
    #[inline(always)]
    fn subtract_signed(&mut self, b: &Self, minus: bool) {
        self.l = reduced_difference(&self.l, &signed(minus, &b.l));
    }
}

impl BlstField for blst_fp2 {
    const ZERO: Self = Self { fp: [blst_fp::ZERO; 2] };
    const ONE: Self = Self { fp: [blst_fp::ONE, blst_fp::ZERO] };

    by_blst!(blst_fp2_add, blst_fp2_mul, blst_fp2_sqr, blst_fp2_cneg, blst_fp2_eucl_inverse);

    #[inline(always)]
    fn low(&self) -> u64 {
        self.fp[0].l[0]
    }
    #[inline(always)]
    fn set_difference(&mut self, a: &Self, b: &Self) {
        for i in 0..2 {
            self.fp[i].set_difference(&a.fp[i], &b.fp[i]);
        }
    }
    #[inline(always)]
    fn set_signed_difference(&mut self, a: &Self, b: &Self, minus: [bool; 2]) {
        for i in 0..2 {
            self.fp[i].set_signed_difference(&a.fp[i], &b.fp[i], minus);
        }
    }
    #[inline(always)]
    fn subtract_two(&mut self, b: &Self, c: &Self) {
        for i in 0..2 {
            self.fp[i].subtract_two(&b.fp[i], &c.fp[i]);
        }
    }
    #[inline(always)]
    fn subtract_signed(&mut self, b: &Self, minus: bool) {
        for i in 0..2 {
            self.fp[i].subtract_signed(&b.fp[i], minus);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::words::tests::{SIGNS, elements};

    fn negated(minus: bool, a: &blst_fp2) -> blst_fp2 {
        let mut out = blst_fp2::ZERO;
        out.set_signed(minus, a);
        out
    }

    /// Coefficients that lead to the ends of the ranges of factors meet one another.
    #[test]
    fn blst_multiplies_by_unreduced_factors() {
        let ends: Vec<blst_fp> = elements().into_iter().step_by(3).map(|l| blst_fp { l }).collect();
        let all = ends.iter().flat_map(|a| ends.iter().map(|b| blst_fp2 { fp: [*a, *b] }));
        let all: Vec<blst_fp2> = all.collect();
        let largest = negated(true, &blst_fp2 { fp: [blst_fp { l: [1, 0, 0, 0, 0, 0] }; 2] });
        for (i, a) in all.iter().enumerate() {
            // Strides without common factors.
            for b in all.iter().skip(i % 7).step_by(7) {
                let check = |factor: &blst_fp2, reduced: &blst_fp2| {
                    for other in [a, b, &largest] {
                        let [mut product, mut want] = [blst_fp2::ZERO; 2];
                        product.set_product(other, factor);
                        want.set_product(other, reduced);
                        assert_eq!(product, want, "{other:x?} {factor:x?}");
                    }
                };
                let [mut factor, mut reduced] = [blst_fp2::ZERO; 2];
                factor.set_difference(a, b);
                reduced.set_sum(a, &negated(true, b));
                check(&factor, &reduced);
                for minus in SIGNS {
                    factor.set_signed_difference(a, b, minus);
                    reduced.set_sum(&negated(minus[0], a), &negated(!minus[1], b));
                    check(&factor, &reduced);
                }
            }
        }
    }

    #[test]
    fn sums_equal_those_of_blst() {
        let all = elements();
        for (i, a) in all.iter().enumerate() {
            let b = &all[(7 * i + 1) % all.len()];
            let [x, y] = [[a, b], [b, a]].map(|fp| blst_fp2 { fp: fp.map(|l| blst_fp { l: *l }) });
            for minus in [false, true] {
                let (mut got, mut want) = (x, blst_fp2::ZERO);
                got.subtract_signed(&y, minus);
                want.set_sum(&x, &negated(!minus, &y));
                assert_eq!(got, want);
                let sum = want;
                got.subtract_two(&x, &y);
                want.set_sum(&sum, &negated(true, &x));
                let sum = want;
                want.set_sum(&sum, &negated(true, &y));
                assert_eq!(got, want);
            }
        }
    }
}
