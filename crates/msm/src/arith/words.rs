//! Elements of Fp as words, and sums of them in plain Rust.
//!
//! A multiplication by blst costs little more than its 78 products of words, but an
//! addition by blst is a call that waits for memory and always reduces. Here sums are
//! inlined, choose by masks, and stay unreduced where they are only a factor:
//!
//! Montgomery's multiplication gives `(ab + qp) / 2^384` with `q < 2^384`, which is
//! below `2p` if `ab < 2^384 p`, so that the subtraction of `p` which ends it reduces
//! it, as for reduced operands. `2^384 > 9.8 p`: one factor may be up to `9.8 p` if
//! the other is below `p`. On the way, after the words `0..i` of `b`, the sum is
//! `(a (b mod 2^(64i)) + q p) / 2^(64i) < a + p`, and `2^64 (a + p)` before the next
//! division: nothing leaves the seven words that are kept if `a + p < 2^384`.

use std::array::from_fn;
use std::hint::black_box;

/// A number below 2^384, least significant word first.
pub(super) type Words = [u64; 6];

/// `p`
pub(super) const MODULUS: Words = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// `2p`
const TWICE: Words = {
    let (mut twice, mut i) = ([MODULUS[0] << 1; 6], 1);
    while i < 6 {
        twice[i] = MODULUS[i] << 1 | MODULUS[i - 1] >> 63;
        i += 1;
    }
    twice
};

/// `a + b` modulo `2^384`
#[inline(always)]
fn add(a: &Words, b: &Words) -> Words {
    let mut carry = false;
    from_fn(|i| {
        let sum;
        (sum, carry) = a[i].carrying_add(b[i], carry);
        sum
    })
}

/// `a - b` modulo `2^384`, and all ones if that is negative, else 0.
#[inline(always)]
fn sub(a: &Words, b: &Words) -> (Words, u64) {
    let mut borrow = false;
    let words = from_fn(|i| {
        let difference;
        (difference, borrow) = a[i].borrowing_sub(b[i], borrow);
        difference
    });
    (words, u64::from(borrow).wrapping_neg())
}

/// `a` where `mask` is all ones, 0 where it is 0.
#[inline(always)]
fn masked(a: &Words, mask: u64) -> Words {
    from_fn(|i| a[i] & mask)
}

/// `!a` where `mask` is all ones, `a` where it is 0.
#[inline(always)]
fn flipped(a: &Words, mask: u64) -> Words {
    from_fn(|i| a[i] ^ mask)
}

/// All ones if `negative`, else 0.
#[inline(always)]
fn mask(negative: bool) -> u64 {
    u64::from(negative).wrapping_neg()
}

/// The constant, of which the compiler does not know that it is one: where it does, it
/// makes comparisons of carries.
#[inline(always)]
fn hidden(constant: &'static Words) -> &'static Words {
    black_box(constant)
}

/// `a - b + p`, for `a < p` and `b < p`: from 1 to `2p`.
#[inline(always)]
pub(super) fn difference(a: &Words, b: &Words) -> Words {
    add(&sub(a, b).0, hidden(&MODULUS))
}

/// `(±a) - (±b) + 2p`, for `a` and `b` below `p`, where `minus` tells which of both are
/// negated: from 1 to `4p`.
#[inline(always)]
pub(super) fn signed_difference(a: &Words, b: &Words, minus: [bool; 2]) -> Words {
    // -a = !a + 1 modulo 2^384. The lowest word of 2p is far from both ends.
    let (a, b) = (flipped(a, mask(minus[0])), flipped(b, mask(minus[1])));
    let mut offset = *hidden(&TWICE);
    offset[0] = offset[0].wrapping_add(minus[0].into()).wrapping_sub(minus[1].into());
    add(&sub(&a, &b).0, &offset)
}

/// `p - a` if `negative`, else `a`, for `a <= p`.
#[inline(always)]
pub(super) fn signed(negative: bool, a: &Words) -> Words {
    let mask = mask(negative);
    // As above; the lowest word of p is not the highest.
    let mut offset = masked(hidden(&MODULUS), mask);
    offset[0] = offset[0].wrapping_add(negative.into());
    add(&flipped(a, mask), &offset)
}

/// `a - b`, or `a - b + p` if that is negative, for `a` and `b` up to `p`: reduced if `a < p`.
#[inline(always)]
pub(super) fn reduced_difference(a: &Words, b: &Words) -> Words {
    let (difference, negative) = sub(a, b);
    add(&difference, &masked(hidden(&MODULUS), negative))
}

/// `a - b - c` reduced, for `a`, `b` and `c` below `p`.
#[inline(always)]
pub(super) fn reduced_difference_of_three(a: &Words, b: &Words, c: &Words) -> Words {
    let (difference, negative) = sub(a, &add(b, c));
    let from_0_to_2p = add(&difference, &masked(hidden(&TWICE), negative));
    let p = hidden(&MODULUS);
    let (difference, negative) = sub(&from_0_to_2p, p);
    add(&difference, &masked(p, negative))
}

#[cfg(test)]
pub(super) mod tests {
    use blst::{blst_fp, blst_fp_add, blst_fp_cneg, blst_fp_mul, blst_fp_sub};
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::{RngCore, SeedableRng};

    use super::*;

    const SEED: u64 = 0xb15_381;

    /// Elements at both ends, at the ends of words, and some others.
    pub(in crate::arith) fn elements() -> Vec<Words> {
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        let mut random = || {
            let mut words = [0; 6].map(|_: u64| rng.next_u64());
            words[5] %= MODULUS[5];
            words
        };
        let mut ends: Vec<Words> = (0..6).map(|i| from_fn(|j| u64::from(i == j))).collect();
        ends.extend((1..6).map(|i| from_fn(|j| if j < i { u64::MAX } else { 0 })));
        let from_p: Vec<Words> = ends.iter().map(|a| sub(&MODULUS, a).0).collect();
        let others = (0..20).map(|_| random()).collect();
        [vec![[0; 6]], ends, from_p, others].concat()
    }

    fn pairs() -> Vec<(Words, Words)> {
        let all = elements();
        all.iter().flat_map(|a| all.iter().map(|b| (*a, *b))).collect()
    }

    /// Which of two operands are negated.
    pub(in crate::arith) const SIGNS: [[bool; 2]; 4] =
        [[false, false], [false, true], [true, false], [true, true]];

    fn by_blst(
        f: unsafe extern "C" fn(*mut blst_fp, *const blst_fp, *const blst_fp),
        a: &Words,
        b: &Words,
    ) -> Words {
        let mut out = blst_fp::default();
        // SAFETY: references are valid.
        unsafe { f(&raw mut out, &blst_fp { l: *a }, &blst_fp { l: *b }) }
        out.l
    }

    fn negated(negative: bool, a: &Words) -> Words {
        let mut out = blst_fp::default();
        // SAFETY: references are valid.
        unsafe { blst_fp_cneg(&raw mut out, &blst_fp { l: *a }, negative) }
        out.l
    }

    #[test]
    fn reduced_sums_equal_those_of_blst() {
        let all = elements();
        for (a, b) in pairs() {
            let difference = by_blst(blst_fp_sub, &a, &b);
            assert_eq!(reduced_difference(&a, &b), difference, "{a:x?} - {b:x?}, seed {SEED:#x}");
            let sum = by_blst(blst_fp_add, &a, &b);
            assert_eq!(reduced_difference(&a, &signed(true, &b)), sum, "{a:x?} + {b:x?}, seed {SEED:#x}");
            assert_eq!(signed(false, &b), b);
            for c in &all {
                let three = reduced_difference_of_three(&a, &b, c);
                assert_eq!(three, by_blst(blst_fp_sub, &difference, c), "{a:x?} - {b:x?} - {c:x?}");
            }
        }
    }

    /// What stands at the top: blst's product of an unreduced factor is that of the reduced one.
    #[test]
    fn blst_multiplies_by_unreduced_factors() {
        let largest = sub(&MODULUS, &[1, 0, 0, 0, 0, 0]).0;
        let check = |factor: &Words, reduced: &Words| {
            for a in [&largest, &[1, 0, 0, 0, 0, 0], reduced, &[0; 6]] {
                let want = by_blst(blst_fp_mul, a, reduced);
                assert_eq!(by_blst(blst_fp_mul, a, factor), want, "{a:x?} {factor:x?}, seed {SEED:#x}");
                assert_eq!(by_blst(blst_fp_mul, factor, a), want, "{factor:x?} {a:x?}, seed {SEED:#x}");
            }
        };
        for (a, b) in pairs() {
            check(&difference(&a, &b), &by_blst(blst_fp_sub, &a, &b));
            for minus in SIGNS {
                let reduced = by_blst(blst_fp_sub, &negated(minus[0], &a), &negated(minus[1], &b));
                check(&signed_difference(&a, &b, minus), &reduced);
            }
        }
    }

    #[test]
    fn factors_stay_in_their_ranges() {
        let is_less = |a: &Words, b: &Words| sub(a, b).1 != 0;
        let four = add(&TWICE, &TWICE);
        for (a, b) in pairs() {
            let positive = difference(&a, &b);
            assert!(positive != [0; 6] && is_less(&positive, &TWICE), "{a:x?} - {b:x?}");
            for minus in SIGNS {
                let positive = signed_difference(&a, &b, minus);
                assert!(positive != [0; 6] && is_less(&positive, &four), "{a:x?} {b:x?} {minus:?}");
            }
        }
    }
}
