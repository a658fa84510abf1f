//! Single elements: 52-bit limbs and 64-bit words, and the constants made of them.

use super::fp::{Limbs, MASK};
pub(super) use crate::arith::words::{MODULUS, Words};

/// Words as limbs.
pub(super) const fn split(words: &Words) -> Limbs {
    let (mut limbs, mut i) = ([0; 8], 0);
    while i < 8 {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        limbs[i] = words[word] >> shift;
        if shift > 12 && word < 5 {
            limbs[i] |= words[word + 1] << (64 - shift);
        }
        limbs[i] &= MASK;
        i += 1;
    }
    limbs
}

/// Normal limbs of a number below `3p` as words, modulo `p`.
pub(super) fn join(limbs: &Limbs) -> Words {
    let mut words = [0; 6];
    for (i, limb) in limbs.iter().enumerate() {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        words[word] |= limb << shift;
        if shift > 12 && word < 5 {
            words[word + 1] |= limb >> (64 - shift);
        }
    }
    less_modulus(&less_modulus(&words).0).0
}

/// `w - p` and `true` where that is not negative, else `w` and `false`.
const fn less_modulus(w: &Words) -> (Words, bool) {
    let (mut difference, mut borrow, mut i) = ([0; 6], false, 0);
    while i < 6 {
        let (partial, below) = w[i].overflowing_sub(MODULUS[i]);
        let (whole, below_still) = partial.overflowing_sub(borrow as u64);
        (difference[i], borrow) = (whole, below | below_still);
        i += 1;
    }
    if borrow { (*w, false) } else { (difference, true) }
}

/// `2w mod p` for `w < p`, and whether `2w` is not below `p`.
pub(super) const fn double(w: &Words) -> (Words, bool) {
    let (mut doubled, mut i) = ([0; 6], 0);
    while i < 6 {
        doubled[i] = w[i] << 1 | if i > 0 { w[i - 1] >> 63 } else { 0 };
        i += 1;
    }
    less_modulus(&doubled)
}

/// `2^exponent mod p`
pub(super) const fn power_of_two(exponent: u32) -> Words {
    let (mut power, mut i) = ([1, 0, 0, 0, 0, 0], 0);
    while i < exponent {
        power = double(&power).0;
        i += 1;
    }
    power
}

/// `floor(2^exponent / p)`, by long division.
pub(super) const fn reciprocal(exponent: u32) -> u64 {
    let (mut remainder, mut quotient, mut i) = ([1, 0, 0, 0, 0, 0], 0, 0);
    while i < exponent {
        let (next, bit) = double(&remainder);
        (remainder, quotient) = (next, quotient << 1 | bit as u64);
        i += 1;
    }
    quotient
}
