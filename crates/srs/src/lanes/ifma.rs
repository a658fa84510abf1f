//! Eight elements of the base field side by side, with AVX-512's 52-bit multiplier.
//!
//! An element is eight limbs of 52 bits, register `k` holding limb `k` of all eight
//! lanes, in Montgomery form with `R = 2^416`, below `2p`. The 35 bits between `p`
//! and `R` make a product of two such numbers come out of the reduction below
//! `(1 + 2^-33) p`, so that no multiplication ends with a subtraction
//! (Gueron and Krasnov, "Software implementation of modular exponentiation, using
//! advanced vector instructions architectures", WAIFI 2012, for the representation).
//! A multiplication first sums the products by position and then reduces from the
//! lowest limb up: sixteen accumulators, no more than the registers hold.
#![allow(
    unsafe_code,
    reason = "functions that need CPU features are called once the CPU is known to have them"
)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmplt_epi64_mask, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_mask_blend_epi64, _mm512_or_si512, _mm512_permutex2var_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_sub_epi64, _mm512_test_epi64_mask, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use blst::blst_fp;
use blstrs::G1Affine;
use bytemuck::cast;
use ff::Field;

use super::Coordinate;

const LIMBS: usize = 8;
const LIMB_BITS: usize = 52;
const LIMB_MASK: i64 = (1 << LIMB_BITS) - 1;
/// 64-bit words of an element outside.
pub(crate) const WORDS: usize = 6;

/// The modulus (BLS12-381), little-endian.
const P: [u64; WORDS] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];
const P_LIMBS: Limbs = limbs(P);
/// `-1/p` modulo 2^52.
const MINUS_P_INVERSE: i64 = minus_p_inverse();

/// One element at rest: its limbs.
pub(crate) type Limbs = [u64; LIMBS];

/// The proof that this CPU has the instructions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ifma(());

impl Ifma {
    /// Asks the CPU.
    pub(crate) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")).then_some(Self(()))
    }
}

/// Eight elements. Only made with an [`Ifma`] at hand, or from others.
#[derive(Clone, Copy)]
pub(crate) struct Fp8([__m512i; LIMBS]);

impl Fp8 {
    /// Elements from blst's.
    pub(crate) fn from_blst(ifma: Ifma, elements: &[blst_fp; 8]) -> Self {
        let words = std::array::from_fn(|k| std::array::from_fn(|lane| elements[lane].l[k]));
        Self::from_words(ifma, &words).mul(&Self::splat(ifma, &FROM_OUTSIDE))
    }

    /// Numbers, not in Montgomery form, from their words: `words[k][lane]`.
    pub(crate) fn from_words(_: Ifma, words: &[[u64; 8]; WORDS]) -> Self {
        // SAFETY: an `Ifma` exists.
        unsafe { from_words(words) }
    }

    /// The same number in each lane, as it stands.
    pub(crate) fn splat(_: Ifma, number: &Limbs) -> Self {
        Self(number.map(|limb| cast([limb; 8])))
    }

    /// The numbers as they stand, below p, as `words[k][lane]`.
    pub(crate) fn words(&self) -> [[u64; 8]; WORDS] {
        // SAFETY: an `Fp8` exists.
        unsafe { to_words(self) }
    }

    /// The lanes whose number is below the modulus.
    pub(crate) fn below_modulus(&self) -> u8 {
        // SAFETY: an `Fp8` exists.
        unsafe { below_modulus(self) }
    }

    /// The lanes that are zero modulo p.
    pub(crate) fn is_zero(&self) -> u8 {
        // SAFETY: an `Fp8` exists.
        unsafe { is_zero(self) }
    }
}

/// `value * 2^exponent` modulo p, to be multiplied with: a Montgomery product
/// divides by `R = 2^416`.
pub(crate) const fn times_power_of_two(value: u64, exponent: usize) -> Limbs {
    let mut words = [value, 0, 0, 0, 0, 0];
    let mut i = 0;
    while i < exponent {
        words = double(words);
        i += 1;
    }
    limbs(words)
}

/// From 2^384, blst's Montgomery form, to 2^416.
const FROM_OUTSIDE: Limbs = times_power_of_two(1, 2 * 416 - 384);
/// And back.
const TO_OUTSIDE: Limbs = times_power_of_two(1, 384);

impl Coordinate for Fp8 {
    const LANES: usize = 8;
    type Packed = Limbs;

    #[inline]
    fn gather<'a>(lane: impl Fn(usize) -> &'a Limbs) -> Self {
        let rows = std::array::from_fn(|i| cast(*lane(i)));
        // SAFETY: limbs come from an `Fp8`.
        Self(unsafe { transpose(&rows) })
    }

    #[inline]
    fn lanes(&self) -> impl Iterator<Item = Limbs> {
        // SAFETY: an `Fp8` exists.
        let rows = unsafe { transpose(&self.0) };
        rows.into_iter().map(cast)
    }

    #[inline]
    fn add(&self, other: &Self) -> Self {
        // SAFETY: an `Fp8` exists.
        unsafe { add(self, other) }
    }

    #[inline]
    fn sub(&self, other: &Self) -> Self {
        // SAFETY: an `Fp8` exists.
        unsafe { sub(self, other) }
    }

    #[inline]
    fn mul(&self, other: &Self) -> Self {
        // SAFETY: an `Fp8` exists.
        unsafe { mul(self, other) }
    }

    #[inline]
    fn square(&self) -> Self {
        // SAFETY: an `Fp8` exists.
        unsafe { square(self) }
    }

    #[inline]
    fn negate_if(&self, lanes: u8) -> Self {
        // SAFETY: an `Fp8` exists.
        unsafe { negate_if(self, lanes) }
    }

    /// By one of blst's inversions for the eight lanes.
    fn invert(&self) -> Option<Self> {
        let words = self.mul(&Self::splat(Ifma(()), &TO_OUTSIDE)).words();
        let elements = std::array::from_fn(|lane| blst_fp { l: words.map(|word| word[lane]) });
        Some(Self::from_blst(Ifma(()), &invert_eight(&elements)?))
    }
}

/// Montgomery's trick on eight of blst's elements.
fn invert_eight(elements: &[blst_fp; 8]) -> Option<[blst_fp; 8]> {
    let elements = elements.map(coordinate);
    let mut inverses = elements;
    for i in 1..8 {
        inverses[i] = inverses[i - 1] * elements[i];
    }
    let mut inverse = Coordinate::invert(&inverses[7])?;
    for i in (1..8).rev() {
        inverses[i] = inverses[i - 1] * inverse;
        inverse *= elements[i];
    }
    inverses[0] = inverse;
    Some(inverses.map(Into::into))
}

/// blstrs' element, whose type has no public name.
fn coordinate(element: blst_fp) -> impl Field + Into<blst_fp> {
    let mut holder = G1Affine::default();
    holder.as_mut().x = element;
    holder.x()
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn broadcast(value: u64) -> __m512i {
    _mm512_set1_epi64(value.cast_signed())
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn mul(a: &Fp8, b: &Fp8) -> Fp8 {
    montgomery::<false>(a, b)
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn square(a: &Fp8) -> Fp8 {
    montgomery::<true>(a, a)
}

/// The product over R, of two equal factors where `SQUARE`. One function, because
/// sixteen registers of sums do not survive a call.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
fn montgomery<const SQUARE: bool>(Fp8(a): &Fp8, Fp8(b): &Fp8) -> Fp8 {
    // The products by position, each sum below 2^58.
    let mut t = [_mm512_setzero_si512(); 2 * LIMBS];
    for i in 0..LIMBS {
        let from = if SQUARE { i + 1 } else { 0 };
        for j in from..LIMBS {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[i], b[j]);
        }
        for j in from..LIMBS {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[i], b[j]);
        }
    }
    if SQUARE {
        for sum in &mut t {
            *sum = _mm512_add_epi64(*sum, *sum);
        }
        for i in 0..LIMBS {
            t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a[i], a[i]);
            t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a[i], a[i]);
        }
    }
    // Montgomery's reduction: multiples of p that clear the lower half, limb by limb.
    let minus_p_inverse = _mm512_set1_epi64(MINUS_P_INVERSE);
    for i in 0..LIMBS {
        let q = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[i], minus_p_inverse);
        let cleared = _mm512_madd52lo_epu64(t[i], q, broadcast(P_LIMBS[0]));
        for j in 1..LIMBS {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], q, broadcast(P_LIMBS[j]));
        }
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<{ LIMB_BITS as u32 }>(cleared));
        for j in 0..LIMBS {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], q, broadcast(P_LIMBS[j]));
        }
    }
    let mut r = [_mm512_setzero_si512(); LIMBS];
    r.copy_from_slice(&t[LIMBS..]);
    Fp8(carry(r))
}

/// Brings all limbs but the top one to 52 bits; a negative number has a negative top limb.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carry(mut limbs: [__m512i; LIMBS]) -> [__m512i; LIMBS] {
    let mask = _mm512_set1_epi64(LIMB_MASK);
    for k in 0..LIMBS - 1 {
        let over = _mm512_srai_epi64::<{ LIMB_BITS as u32 }>(limbs[k]);
        limbs[k] = _mm512_and_si512(limbs[k], mask);
        limbs[k + 1] = _mm512_add_epi64(limbs[k + 1], over);
    }
    limbs
}

/// `if_not`, and `plus` in the lanes where that is negative.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn unless_negative(if_not: &[__m512i; LIMBS], plus: &[__m512i; LIMBS]) -> Fp8 {
    let negative = _mm512_cmplt_epi64_mask(if_not[LIMBS - 1], _mm512_setzero_si512());
    let mut limbs = *if_not;
    for k in 0..LIMBS {
        limbs[k] = _mm512_mask_blend_epi64(negative, if_not[k], plus[k]);
    }
    Fp8(limbs)
}

/// The sum, less 2p unless that is negative.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add(a: &Fp8, b: &Fp8) -> Fp8 {
    let mut sum = a.0;
    let mut less = a.0;
    for k in 0..LIMBS {
        sum[k] = _mm512_add_epi64(a.0[k], b.0[k]);
        less[k] = _mm512_sub_epi64(sum[k], broadcast(2 * P_LIMBS[k]));
    }
    unless_negative(&carry(less), &carry(sum))
}

/// The difference, plus 2p where that is negative.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn sub(a: &Fp8, b: &Fp8) -> Fp8 {
    let mut difference = a.0;
    let mut more = a.0;
    for k in 0..LIMBS {
        difference[k] = _mm512_sub_epi64(a.0[k], b.0[k]);
        more[k] = _mm512_add_epi64(difference[k], broadcast(2 * P_LIMBS[k]));
    }
    unless_negative(&carry(difference), &carry(more))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn negate_if(a: &Fp8, lanes: u8) -> Fp8 {
    let negated = sub(&Fp8([_mm512_setzero_si512(); LIMBS]), a);
    let mut limbs = a.0;
    for (limb, negated) in limbs.iter_mut().zip(negated.0) {
        *limb = _mm512_mask_blend_epi64(lanes, *limb, negated);
    }
    Fp8(limbs)
}

/// Below p, from below 2p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn canonical(a: &Fp8) -> Fp8 {
    let mut less = a.0;
    for k in 0..LIMBS {
        less[k] = _mm512_sub_epi64(a.0[k], broadcast(P_LIMBS[k]));
    }
    unless_negative(&carry(less), &a.0)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn is_zero(a: &Fp8) -> u8 {
    let bits =
        canonical(a).0.into_iter().fold(_mm512_setzero_si512(), |bits, limb| _mm512_or_si512(bits, limb));
    !_mm512_test_epi64_mask(bits, bits)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn below_modulus(a: &Fp8) -> u8 {
    let mut less = a.0;
    for k in 0..LIMBS {
        less[k] = _mm512_sub_epi64(a.0[k], broadcast(P_LIMBS[k]));
    }
    _mm512_cmplt_epi64_mask(carry(less)[LIMBS - 1], _mm512_setzero_si512())
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn from_words(words: &[[u64; 8]; WORDS]) -> Fp8 {
    let w: [__m512i; WORDS] = words.map(cast);
    let mask = _mm512_set1_epi64(LIMB_MASK);
    Fp8([
        w[0],
        _mm512_or_si512(_mm512_srli_epi64::<52>(w[0]), _mm512_slli_epi64::<12>(w[1])),
        _mm512_or_si512(_mm512_srli_epi64::<40>(w[1]), _mm512_slli_epi64::<24>(w[2])),
        _mm512_or_si512(_mm512_srli_epi64::<28>(w[2]), _mm512_slli_epi64::<36>(w[3])),
        _mm512_or_si512(_mm512_srli_epi64::<16>(w[3]), _mm512_slli_epi64::<48>(w[4])),
        _mm512_srli_epi64::<4>(w[4]),
        _mm512_or_si512(_mm512_srli_epi64::<56>(w[4]), _mm512_slli_epi64::<8>(w[5])),
        _mm512_srli_epi64::<44>(w[5]),
    ]
    .map(|limb| cast(_mm512_and_si512(limb, mask))))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn to_words(a: &Fp8) -> [[u64; 8]; WORDS] {
    let l = canonical(a).0;
    [
        _mm512_or_si512(l[0], _mm512_slli_epi64::<52>(l[1])),
        _mm512_or_si512(_mm512_srli_epi64::<12>(l[1]), _mm512_slli_epi64::<40>(l[2])),
        _mm512_or_si512(_mm512_srli_epi64::<24>(l[2]), _mm512_slli_epi64::<28>(l[3])),
        _mm512_or_si512(_mm512_srli_epi64::<36>(l[3]), _mm512_slli_epi64::<16>(l[4])),
        _mm512_or_si512(
            _mm512_or_si512(_mm512_srli_epi64::<48>(l[4]), _mm512_slli_epi64::<4>(l[5])),
            _mm512_slli_epi64::<56>(l[6]),
        ),
        _mm512_or_si512(_mm512_srli_epi64::<8>(l[6]), _mm512_slli_epi64::<44>(l[7])),
    ]
    .map(cast)
}

/// Rows to columns: pairs, then quadruples, then halves.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn transpose(rows: &[__m512i; 8]) -> [__m512i; 8] {
    let mut pairs = *rows;
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    }
    // Of two registers' pairs: the even ones of both, the odd ones of both.
    let even: __m512i = cast([0_u64, 1, 8, 9, 4, 5, 12, 13]);
    let odd: __m512i = cast([2_u64, 3, 10, 11, 6, 7, 14, 15]);
    let low: __m512i = cast([0_u64, 1, 2, 3, 8, 9, 10, 11]);
    let high: __m512i = cast([4_u64, 5, 6, 7, 12, 13, 14, 15]);
    let mut columns = *rows;
    for i in 0..2 {
        let quad =
            |which, base: usize| _mm512_permutex2var_epi64(pairs[base + i], which, pairs[base + i + 2]);
        let (first_even, second_even) = (quad(even, 0), quad(even, 4));
        let (first_odd, second_odd) = (quad(odd, 0), quad(odd, 4));
        columns[i] = _mm512_permutex2var_epi64(first_even, low, second_even);
        columns[i + 2] = _mm512_permutex2var_epi64(first_odd, low, second_odd);
        columns[i + 4] = _mm512_permutex2var_epi64(first_even, high, second_even);
        columns[i + 6] = _mm512_permutex2var_epi64(first_odd, high, second_odd);
    }
    columns
}

/// 64-bit words to 52-bit limbs.
const fn limbs(words: [u64; WORDS]) -> Limbs {
    let mut limbs = [0; LIMBS];
    let mut k = 0;
    while k < LIMBS {
        let (word, shift) = (LIMB_BITS * k / 64, LIMB_BITS * k % 64);
        let mut limb = words[word] >> shift;
        if shift > 64 - LIMB_BITS && word + 1 < WORDS {
            limb |= words[word + 1] << (64 - shift);
        }
        limbs[k] = limb & LIMB_MASK.cast_unsigned();
        k += 1;
    }
    limbs
}

/// Twice a number below p, modulo p.
const fn double(words: [u64; WORDS]) -> [u64; WORDS] {
    let (mut doubled, mut less, mut borrow) = ([0; WORDS], [0; WORDS], false);
    let mut k = 0;
    while k < WORDS {
        doubled[k] = words[k] << 1 | if k == 0 { 0 } else { words[k - 1] >> 63 };
        let (once, first) = doubled[k].overflowing_sub(P[k]);
        let (twice, second) = once.overflowing_sub(borrow as u64);
        (less[k], borrow) = (twice, first || second);
        k += 1;
    }
    if borrow { doubled } else { less }
}

/// By Newton's iteration, which doubles the bits that are right.
const fn minus_p_inverse() -> i64 {
    let mut inverse = 1_u64;
    let mut i = 0;
    while i < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(P[0].wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg().cast_signed() & LIMB_MASK
}
