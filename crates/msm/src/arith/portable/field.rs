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
/// stored by words and that is then moved by vectors costs a stalled load. A *factor*
/// may be unreduced: it is for one multiplication with an element. All else is reduced.
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
    /// The factor `self = ±a ∓ b`, where `minus` tells which is negative.
    fn set_signed_difference(&mut self, a: &Self, b: &Self, minus: [bool; 2]);
    /// `self = self - b - c`
    fn subtract_two(&mut self, b: &Self, c: &Self);
    /// `self = self ∓ b`
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
    // The coefficients of a factor are at most p: blst adds them up as if they were reduced.
    #[inline(always)]
    fn set_difference(&mut self, a: &Self, b: &Self) {
        for i in 0..2 {
            self.fp[i].l = reduced_difference(&a.fp[i].l, &b.fp[i].l);
        }
    }
    #[inline(always)]
    fn set_signed_difference(&mut self, a: &Self, b: &Self, minus: [bool; 2]) {
        for i in 0..2 {
            let (a, b) = (signed(minus[0], &a.fp[i].l), signed(minus[1], &b.fp[i].l));
            self.fp[i].l = reduced_difference(&a, &b);
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
    use crate::arith::words::MODULUS;

    /// `-0` is `p` in a factor.
    #[test]
    fn blst_multiplies_by_coefficients_that_are_p() {
        let (zero, one, p) = (blst_fp::ZERO, blst_fp::ONE, blst_fp { l: MODULUS });
        let mut minus_one = zero;
        minus_one.set_signed(true, &one);
        for a in [[one, zero], [zero, one], [minus_one, one], [one, minus_one], [minus_one, minus_one]] {
            for other in [zero, one, minus_one] {
                for (factor, reduced) in
                    [([p, other], [zero, other]), ([other, p], [other, zero]), ([p, p], [zero, zero])]
                {
                    let [mut product, mut want] = [blst_fp2::ZERO; 2];
                    product.set_product(&blst_fp2 { fp: a }, &blst_fp2 { fp: factor });
                    want.set_product(&blst_fp2 { fp: a }, &blst_fp2 { fp: reduced });
                    assert_eq!(product, want, "{a:x?} {factor:x?}");
                }
            }
        }
        let [mut y, mut x] = [blst_fp2::ZERO; 2];
        y.set_signed_difference(&blst_fp2::ZERO, &blst_fp2::ZERO, [true, false]);
        assert_eq!(y.fp, [p; 2]);
        x.set_signed_difference(&blst_fp2::ONE, &blst_fp2::ONE, [false, true]);
        assert_eq!(x.fp[0].l, {
            let mut two = zero;
            two.set_sum(&one, &one);
            two.l
        });
    }
}
