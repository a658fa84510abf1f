//! Eight elements of the base field at once, in AVX-512 IFMA.
//!
//! An element is eight limbs of 52 bits in Montgomery form with `R = 2^416`, and
//! a vector holds one limb of eight elements. `vpmadd52luq` and `vpmadd52huq`
//! add the low and the high half of a 52 by 52 bit product to a 64-bit lane, so
//! that up to 2^12 such halves are summed before any carry.
//!
//! Reduction folds from the low end: with `F = 2^-52 mod p`, the lowest limb `t0`
//! is worth `t0 F` one limb up, which takes 16 multiplications and no quotient.
//! After seven folds the value is below `2^433`, and one Montgomery step brings it
//! below `2p`. That is one multiplication less a limb than eight Montgomery steps,
//! and a dependency chain of half the length.
//!
//! Values are kept loosely: a *normal* element has limbs below 2^52 and stands for
//! any integer of its class; each function says how large. Differences add a
//! multiple of `p` whose limbs are padded so that no limb becomes negative.

#[allow(clippy::wildcard_imports, reason = "every line is an intrinsic")]
use std::arch::x86_64::*;

use super::words::{MODULUS, Words, reciprocal, split};

/// The limbs of one element.
pub(super) type Limbs = [u64; 8];

/// The bits of a limb.
pub(super) const MASK: u64 = (1 << 52) - 1;
/// `-p^-1 mod 2^52`
const P_INV: u64 = {
    let (mut inverse, mut bits) = (1u64, 1);
    while bits < 52 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(MODULUS[0].wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse.wrapping_neg() & MASK
};
/// The limbs of `k p + add`.
const fn multiple_plus(k: u64, add: u64) -> [u64; 9] {
    let p = split(&MODULUS);
    let (mut limbs, mut carry, mut i) = ([0; 9], add as u128, 0);
    while i < 9 {
        if i < 8 {
            carry += p[i] as u128 * k as u128;
        }
        limbs[i] = carry as u64 & MASK;
        carry >>= 52;
        i += 1;
    }
    limbs
}
/// `k p`, below 2^416.
const fn multiple(k: u64) -> Limbs {
    match multiple_plus(k, 0).first_chunk() {
        Some(limbs) => *limbs,
        None => unreachable!(),
    }
}
/// `2^-52 mod p = (k p + 1) / 2^52` with `k = -p^-1 mod 2^52`.
const FOLD: Limbs = *multiple_plus(P_INV, 1).last_chunk().unwrap();
const P: Limbs = multiple(1);
/// `k p` in limbs that stay above zero when up to four normal limbs are taken from each.
const fn padded(k: u64) -> Limbs {
    let mut limbs = multiple(k);
    let mut i = 0;
    while i < 7 {
        limbs[i] += 4 << 52;
        limbs[i + 1] -= 4;
        i += 1;
    }
    limbs
}
/// Column `i` holds limb `i` of `0, p, .., 7p`.
static MULTIPLES: [Limbs; 8] = {
    let mut columns = [[0; 8]; 8];
    let mut k = 0;
    while k < 8 {
        let limbs = multiple(k as u64);
        let mut i = 0;
        while i < 8 {
            columns[i][k] = limbs[i];
            i += 1;
        }
        k += 1;
    }
    columns
};

/// Eight elements.
#[derive(Clone, Copy)]
pub(super) struct Fp8(pub(super) [__m512i; 8]);

/// Sixteen limbs that carry nothing yet: a product, or a sum of products.
type Wide = [__m512i; 16];

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn splat(x: u64) -> __m512i {
    _mm512_set1_epi64(x.cast_signed())
}

/// Carries limbs that are not negative up to the highest, which keeps its excess.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carry(limbs: &mut [__m512i; 8]) {
    for i in 0..7 {
        limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], _mm512_srli_epi64::<52>(limbs[i]));
        limbs[i] = _mm512_and_si512(limbs[i], splat(MASK));
    }
}

/// Adds `a b` to `t`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn product(t: &mut Wide, a: &Fp8, b: &Fp8) {
    for i in 0..8 {
        for j in 0..8 {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a.0[j], b.0[i]);
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a.0[j], b.0[i]);
        }
    }
}

/// `t / 2^416 mod p`, below `2.01 p`, for `t` below `2^408 p`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn reduce(mut t: Wide) -> Fp8 {
    for i in 0..7 {
        let m = t[i]; // multiplications read its low 52 bits
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<52>(m));
        for j in 0..8 {
            t[i + j + 1] = _mm512_madd52lo_epu64(t[i + j + 1], m, splat(FOLD[j]));
            t[i + j + 2] = _mm512_madd52hi_epu64(t[i + j + 2], m, splat(FOLD[j]));
        }
    }
    let m = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[7], splat(P_INV));
    for j in 0..8 {
        t[j + 7] = _mm512_madd52lo_epu64(t[j + 7], m, splat(P[j]));
        t[j + 8] = _mm512_madd52hi_epu64(t[j + 8], m, splat(P[j]));
    }
    t[8] = _mm512_add_epi64(t[8], _mm512_srli_epi64::<52>(t[7]));
    let mut limbs = [t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15]];
    carry(&mut limbs);
    Fp8(limbs)
}

impl Fp8 {
    /// `a b`, below `2.01 p`, for normal factors whose product is below `2^408 p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, b: &Self) -> Self {
        let mut t = [_mm512_setzero_si512(); 16];
        product(&mut t, self, b);
        reduce(t)
    }

    /// `a b + c d`, as [`mul`](Self::mul) with one reduction for both.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sum_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let mut t = [_mm512_setzero_si512(); 16];
        product(&mut t, a, b);
        product(&mut t, c, d);
        reduce(t)
    }

    /// `a^2`, as [`mul`](Self::mul) with 36 limb products for 64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let (a, mut t) = (&self.0, [_mm512_setzero_si512(); 16]);
        for i in 0..8 {
            for j in i + 1..8 {
                t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[j], a[i]);
                t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[j], a[i]);
            }
        }
        for limb in &mut t[1..15] {
            *limb = _mm512_add_epi64(*limb, *limb);
        }
        for i in 0..8 {
            t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a[i], a[i]);
            t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a[i], a[i]);
        }
        reduce(t)
    }

    /// 0
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn zero() -> Self {
        Self([_mm512_setzero_si512(); 8])
    }

    /// `a + b`
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn add(mut self, b: &Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(b.0) {
            *a = _mm512_add_epi64(*a, b);
        }
        carry(&mut self.0);
        self
    }

    /// The sum `a + k p`, from which up to four normal elements can be taken.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn plus_multiple<const K: u64>(&self) -> Sum {
        let padded = const { padded(K) };
        let mut limbs = self.0;
        for (limb, pad) in limbs.iter_mut().zip(padded) {
            *limb = _mm512_add_epi64(*limb, splat(pad));
        }
        Sum(limbs)
    }

    /// The lanes whose lowest limb is that of `k p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn low_limb_is<const K: u64>(&self) -> u8 {
        _mm512_cmpeq_epi64_mask(self.0[0], splat(const { multiple(K)[0] }))
    }

    /// The lanes of `other` where `lanes` is set, and of `self` elsewhere.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn select(mut self, lanes: u8, other: &Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = _mm512_mask_mov_epi64(*limb, lanes, other);
        }
        self
    }

    /// Lane `i` from lane `i ^ DISTANCE`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn swap_lanes<const DISTANCE: i64>(mut self) -> Self {
        let own = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let other = _mm512_xor_si512(own, _mm512_set1_epi64(DISTANCE));
        for limb in &mut self.0 {
            *limb = _mm512_permutexvar_epi64(other, *limb);
        }
        self
    }

    /// The same element in every lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn splat(limbs: &Limbs) -> Self {
        let mut lanes = [_mm512_setzero_si512(); 8];
        for (lane, limb) in lanes.iter_mut().zip(limbs) {
            *lane = splat(*limb);
        }
        Self(lanes)
    }

    /// Eight elements from memory, a lane each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: [&Limbs; 8]) -> Self {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (row, limbs) in rows.iter_mut().zip(elements) {
            // SAFETY: a reference to 64 bytes.
            *row = unsafe { _mm512_loadu_si512(limbs.as_ptr().cast()) };
        }
        Self(transpose(rows))
    }

    /// Eight elements to memory.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(self, elements: [&mut Limbs; 8]) {
        for (row, limbs) in transpose(self.0).into_iter().zip(elements) {
            // SAFETY: an exclusive reference to 64 bytes.
            unsafe { _mm512_storeu_si512(limbs.as_mut_ptr().cast(), row) }
        }
    }

    /// `2^32 w mod p`, below `1.01 p`, for eight numbers `w` below `p`.
    ///
    /// This turns blst's Montgomery form (`R = 2^384`) into ours. The quotient is
    /// `2^32 w / p` from the highest 52 bits of `w`, and too small by one at most.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn from_words(elements: [&Words; 8]) -> Self {
        /// `floor(2^432 / p)`
        const RECIPROCAL: u64 = reciprocal(432);
        /// `2^416 - p`
        const NEGATIVE: Limbs = {
            let (mut limbs, mut i) = (P, 0);
            while i < 8 {
                limbs[i] = MASK - limbs[i];
                i += 1;
            }
            limbs[0] += 1; // p is odd
            limbs
        };
        let mut w = [_mm512_setzero_si512(); 8];
        for (row, words) in w.iter_mut().zip(elements) {
            // SAFETY: a reference to the 48 bytes that the mask admits.
            *row = unsafe { _mm512_maskz_loadu_epi64(0b11_1111, words.as_ptr().cast()) };
        }
        let w = transpose(w);
        let mask = splat(MASK);
        // Limb i of 2^32 w has the bits from 52 i - 32 on.
        let mut t = [
            _mm512_slli_epi64::<32>(w[0]),
            _mm512_or_si512(_mm512_srli_epi64::<20>(w[0]), _mm512_slli_epi64::<44>(w[1])),
            _mm512_srli_epi64::<8>(w[1]),
            _mm512_or_si512(_mm512_srli_epi64::<60>(w[1]), _mm512_slli_epi64::<4>(w[2])),
            _mm512_or_si512(_mm512_srli_epi64::<48>(w[2]), _mm512_slli_epi64::<16>(w[3])),
            _mm512_or_si512(_mm512_srli_epi64::<36>(w[3]), _mm512_slli_epi64::<28>(w[4])),
            _mm512_or_si512(_mm512_srli_epi64::<24>(w[4]), _mm512_slli_epi64::<40>(w[5])),
            _mm512_srli_epi64::<12>(w[5]),
        ];
        for limb in &mut t {
            *limb = _mm512_and_si512(*limb, mask);
        }
        let high = _mm512_srli_epi64::<9>(w[5]);
        let q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), high, splat(RECIPROCAL));
        let q = _mm512_srli_epi64::<19>(q);
        for i in 0..8 {
            t[i] = _mm512_madd52lo_epu64(t[i], q, splat(NEGATIVE[i]));
            if i < 7 {
                t[i + 1] = _mm512_madd52hi_epu64(t[i + 1], q, splat(NEGATIVE[i]));
            }
        }
        carry(&mut t);
        t[7] = _mm512_and_si512(t[7], mask);
        Self(t)
    }
}

/// A sum of normal elements and a padded multiple of `p`, not yet carried.
///
/// It must stand for more than `p / 2` when it is turned into an element again.
#[derive(Clone, Copy)]
pub(super) struct Sum([__m512i; 8]);

impl Sum {
    /// `-a` in the lanes that are set, `a` in the others: not to be carried alone.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn signed(minus: u8, a: &Fp8) -> Self {
        let mut limbs = a.0;
        for limb in &mut limbs {
            *limb = _mm512_mask_sub_epi64(*limb, minus, _mm512_setzero_si512(), *limb);
        }
        Self(limbs)
    }

    /// `self + other`
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn plus(mut self, other: &Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = _mm512_add_epi64(*limb, other);
        }
        self
    }

    /// `self - a`
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn minus(mut self, a: &Fp8) -> Self {
        for (limb, a) in self.0.iter_mut().zip(a.0) {
            *limb = _mm512_sub_epi64(*limb, a);
        }
        self
    }

    /// The element, as large as the sum.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn carried(mut self) -> Fp8 {
        carry(&mut self.0);
        Fp8(self.0)
    }

    /// The element below `1.01 p`, for a sum below `7p` of which at most three elements were taken.
    ///
    /// The highest limb, 17 bits of `p`, gives the quotient or a little less.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reduced(mut self) -> Fp8 {
        const RECIPROCAL: u64 = (1 << 52) / (P[7] + 1);
        let q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), self.0[7], splat(RECIPROCAL));
        for (limb, multiples) in self.0.iter_mut().zip(&MULTIPLES) {
            // SAFETY: 64 bytes.
            let multiples = unsafe { _mm512_loadu_si512(multiples.as_ptr().cast()) };
            *limb = _mm512_sub_epi64(*limb, _mm512_permutexvar_epi64(q, multiples));
        }
        self.carried()
    }
}

/// Rows to columns.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn transpose(r: [__m512i; 8]) -> [__m512i; 8] {
    let mut pairs = r;
    for i in [0, 2, 4, 6] {
        pairs[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
    }
    let mut columns = r;
    for i in 0..2 {
        // Rows 0 to 3 and 4 to 7: columns (i, i + 4) and (i + 2, i + 6), two lanes at a time.
        let even = _mm512_shuffle_i64x2::<0x88>(pairs[i], pairs[i + 2]);
        let odd = _mm512_shuffle_i64x2::<0xdd>(pairs[i], pairs[i + 2]);
        let even_below = _mm512_shuffle_i64x2::<0x88>(pairs[i + 4], pairs[i + 6]);
        let odd_below = _mm512_shuffle_i64x2::<0xdd>(pairs[i + 4], pairs[i + 6]);
        columns[i] = _mm512_shuffle_i64x2::<0x88>(even, even_below);
        columns[i + 4] = _mm512_shuffle_i64x2::<0xdd>(even, even_below);
        columns[i + 2] = _mm512_shuffle_i64x2::<0x88>(odd, odd_below);
        columns[i + 6] = _mm512_shuffle_i64x2::<0xdd>(odd, odd_below);
    }
    columns
}
