//! The arithmetic of AVX-512 IFMA: five limbs of 52 bits, eight lanes.
//!
//! A value is `sum v_i 2^(52 i)` with limbs that are signed 64-bit numbers: sums and
//! differences carry nothing, and may be negative. A product propagates the carries of
//! the factor that varies, of which the instructions then use the low 52 bits of each
//! limb. That factor `a` must be within 2^259 of zero, 17.66 r: adding 2^51 to its
//! highest limb makes all limbs positive, and a term of the prepared constant takes
//! `2^51 2^208 w` away again. Another one subtracts `3 r`, the middle of what five
//! limbs below 2^52 times five constants below `r` and one step of the reduction make:
//! products are within 3 r of zero, so that a level of butterflies adds 3 r to a
//! bound and five levels need no reduction (checked below). Both terms are where the
//! sums start, instead of zero, and cost no instruction.
#![allow(
    clippy::unused_self,
    clippy::large_types_passed_by_value,
    reason = "an `Ifma` is the proof that instructions exist; all is inlined, values are in registers"
)]

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi256_si512, _mm512_castsi512_si256, _mm512_cmpge_epi64_mask, _mm512_extracti64x4_epi64,
    _mm512_inserti64x4, _mm512_loadu_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_mask_mov_epi64, _mm512_or_si512, _mm512_permutex2var_epi64, _mm512_set1_epi64, _mm512_setr_epi64,
    _mm512_setzero_si512, _mm512_shrdi_epi64, _mm512_shuffle_i64x2, _mm512_slli_epi64, _mm512_srai_epi64,
    _mm512_srli_epi64, _mm512_storeu_si512, _mm512_sub_epi64, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use blst::blst_fr;
use blstrs::Scalar;
use ff::PrimeField;

use super::portable::{self, constant};
use super::{Bounds, Constant, Job, Lanes, MAX_DOT};

const LIMBS: usize = 5;
const LIMB_BITS: u32 = 52;
const MASK: u64 = (1 << LIMB_BITS) - 1;
/// The order of the scalar field (BLS12-381).
const R: [u64; LIMBS] = limbs(portable::R);
/// `2^260 - r`.
const MINUS_R: [u64; LIMBS] = {
    let mut limbs = [MASK - R[0] + 1, 0, 0, 0, 0];
    let mut i = 1;
    while i < LIMBS {
        limbs[i] = MASK - R[i];
        i += 1;
    }
    limbs
};
/// `-1/r` modulo 2^52.
const MINUS_R_INVERSE: u64 = portable::MINUS_R_INVERSE & MASK;
/// What a product adds to the highest limb of the factor that varies.
const BIAS: u64 = 1 << 51;
/// The multiple of `r` in the middle of what a product's sum may be.
const CENTRE: u64 = 3;
/// Terms of a prepared constant: the limbs of `w_0`, …, `w_4`, then where the six sums start.
const TERMS: usize = LIMBS * LIMBS + LIMBS + 1;

/// `2^259 / r`, rounded down; products within 3 r; `2^256 / r`, and what rounding
/// multiples of `2^257 / r` to multiples of `r` leaves.
const BOUNDS: Bounds =
    Bounds { loaded: 1_001, product: 3_000, folded: 2_209 + 417, factor: 17_666, stored: STORED * 1_000 };

/// A dot product is from `-5/2 n r` to `(5/2 n + 1) r`; [`FOLDS`] rounds to multiples
/// of `2^257 = 4.416 r` from -8 to 7.
const _: () = assert!(5 * MAX_DOT as u32 / 2 + 1 < 75 * 4_416 / 10_000);

const fn limbs(words: [u64; 4]) -> [u64; LIMBS] {
    [
        words[0] & MASK,
        (words[0] >> 52 | words[1] << 12) & MASK,
        (words[1] >> 40 | words[2] << 24) & MASK,
        (words[2] >> 28 | words[3] << 36) & MASK,
        words[3] >> 16,
    ]
}

/// [`Ifma::fold`]'s table for each limb: what to add for `h = floor(v / 2^257 + 1/2)`,
/// which is `-round(h 2^257 / r) r`, at the four low bits of `h`.
static FOLDS: [[i64; 16]; LIMBS] = {
    let mut table = [[0; 16]; LIMBS];
    let mut at = 0;
    while at < 16 {
        let h = (at as u64).cast_signed() - if at < 8 { 0 } else { 16 };
        // 2^257 / r = 4.41652…
        let multiple = (h * 441_652 + 16 * 100_000 + 50_000) / 100_000 - 16;
        let mut i = 0;
        while i < LIMBS {
            table[i][at] = -multiple * R[i].cast_signed();
            i += 1;
        }
        at += 1;
    }
    table
};

/// The values that [`Ifma::store`] takes are within this many `r` of zero.
const STORED: u32 = 22;
/// `floor(2^306 / r)`, less 2^-43 of it.
const RECIPROCAL: u64 = 0x8_d542_53b7_fa5d;

/// A prepared constant, 16 of its terms a cache line and more.
#[derive(Clone)]
#[repr(align(64))]
pub struct Fixed([u64; TERMS]);

/// A prepared constant for each lane.
#[derive(Clone, Copy)]
pub struct FixedLanes([__m512i; TERMS]);

/// 16
static SIXTEEN: Fixed = fixed_power_of_two(4, false);
/// `-2^51`
static MINUS_BIAS: Fixed = fixed_power_of_two(51, true);

/// Prepares `2^log`, or `-2^log`.
const fn fixed_power_of_two(log: u32, negative: bool) -> Fixed {
    let mut terms = [0; TERMS];
    let mut i = 0;
    while i < LIMBS {
        let limbs = limbs(power_of_two(log + LIMB_BITS * (i as u32 + 1), negative));
        let mut j = 0;
        while j < LIMBS {
            terms[LIMBS * i + j] = limbs[j];
            j += 1;
        }
        i += 1;
    }
    let start = limbs(power_of_two(log + LIMB_BITS * LIMBS as u32 + BIAS.ilog2(), !negative));
    with_start(terms, start)
}

/// `2^log`, or `-2^log`, modulo `r`.
const fn power_of_two(log: u32, negative: bool) -> [u64; 4] {
    let power = constant::power_of_two(log);
    if negative { constant::add(portable::R, constant::negate(power)) } else { power }
}

/// The terms with where the sums start: `-2^51 2^208 w` as `start`, and `-3 r 2^52`.
const fn with_start(mut terms: [u64; TERMS], start: [u64; LIMBS]) -> Fixed {
    let mut i = 0;
    while i < LIMBS {
        terms[LIMBS * LIMBS + i] = terms[LIMBS * LIMBS + i].wrapping_add(start[i]);
        terms[LIMBS * LIMBS + i + 1] = terms[LIMBS * LIMBS + i + 1].wrapping_sub(CENTRE * R[i]);
        i += 1;
    }
    Fixed(terms)
}

/// Where products take the terms of a prepared constant from.
trait Terms {
    fn term(&self, l: Ifma, k: usize) -> __m512i;
}

impl Terms for Fixed {
    #[inline(always)]
    fn term(&self, l: Ifma, k: usize) -> __m512i {
        l.word(self.0[k])
    }
}

impl Terms for FixedLanes {
    #[inline(always)]
    fn term(&self, _: Ifma, k: usize) -> __m512i {
        self.0[k]
    }
}

/// The proof that this CPU has the instructions.
#[derive(Debug, Clone, Copy)]
pub struct Ifma(());

type V = [__m512i; LIMBS];

/// Calls intrinsics that need no more than the CPU's features.
macro_rules! intrinsic {
    ($call:expr) => {
        // SAFETY: an `Ifma` exists only where `detect` found all the features.
        unsafe { $call }
    };
}

impl Ifma {
    /// Asks the CPU.
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512ifma")
            && is_x86_feature_detected!("avx512vbmi2"))
        .then_some(Self(()))
    }

    #[inline(always)]
    fn word(self, x: u64) -> __m512i {
        intrinsic!(_mm512_set1_epi64(x.cast_signed()))
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_add_epi64(a, b))
    }
    #[inline(always)]
    fn mask(self, a: __m512i) -> __m512i {
        intrinsic!(_mm512_and_si512(a, self.word(MASK)))
    }
    /// `sum + low52(low52(a) low52(b))`
    #[inline(always)]
    fn low(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_madd52lo_epu64(sum, a, b))
    }
    /// `sum + floor(low52(a) low52(b) / 2^52)`
    #[inline(always)]
    fn high(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_madd52hi_epu64(sum, a, b))
    }
    /// `floor(a / 2^52)`
    #[inline(always)]
    fn carry_of(self, a: __m512i) -> __m512i {
        intrinsic!(_mm512_srai_epi64::<LIMB_BITS>(a))
    }

    /// Moves carries up; those that left stay above the 52 bits of their limb too.
    #[inline(always)]
    fn carry(self, mut v: V) -> V {
        for i in 1..LIMBS {
            v[i] = self.add(v[i], self.carry_of(v[i - 1]));
        }
        v
    }

    /// `(c + m r) / 2^52` with the `m` that makes it whole, carries not propagated.
    #[inline(always)]
    fn reduce_limb(self, mut c: [__m512i; LIMBS + 1]) -> V {
        let m = self.low(intrinsic!(_mm512_setzero_si512()), c[0], self.word(MINUS_R_INVERSE));
        for i in 0..LIMBS {
            let r = self.word(R[i]);
            c[i] = self.low(c[i], m, r);
            c[i + 1] = self.high(c[i + 1], m, r);
        }
        c[1] = self.add(c[1], self.carry_of(c[0]));
        [c[1], c[2], c[3], c[4], c[5]]
    }

    /// `a w`, for `a` within 17.66 r of zero; within 3 r of zero.
    #[inline(always)]
    fn product(self, a: V, w: &impl Terms) -> V {
        let a = self.biased(a);
        self.reduce_limb(self.add_terms([self.word(0); LIMBS + 1], &a, w))
    }

    /// Limbs of 52 bits, the highest with the bias.
    #[inline(always)]
    fn biased(self, a: V) -> Factor {
        let mut a = self.carry(a);
        a[4] = self.add(a[4], self.word(BIAS));
        Factor(a)
    }

    /// The sums `c` with those of `a w`, and with where these start.
    #[inline(always)]
    fn add_terms(
        self,
        mut c: [__m512i; LIMBS + 1],
        Factor(a): &Factor,
        w: &impl Terms,
    ) -> [__m512i; LIMBS + 1] {
        for (k, sum) in c.iter_mut().enumerate() {
            *sum = self.add(*sum, w.term(self, LIMBS * LIMBS + k));
        }
        for (i, limb) in a.iter().enumerate() {
            for j in 0..LIMBS {
                let term = w.term(self, LIMBS * i + j);
                c[j] = self.low(c[j], *limb, term);
                c[j + 1] = self.high(c[j + 1], *limb, term);
            }
        }
        c
    }

    /// The limbs of `v + 22 r` less a multiple of `r` that makes it less than
    /// `(1 + 2^-36) r`, for `v` within 22 r of zero.
    #[inline(always)]
    fn reduce(self, mut v: V) -> V {
        for i in 0..LIMBS {
            v[i] = self.add(v[i], self.word(u64::from(STORED) * R[i]));
        }
        // The two highest limbs give the quotient, too small rather than too large: the
        // carries of the others, below 2^-40 r, are less than what `RECIPROCAL` lacks.
        let top = self.add(v[4], self.carry_of(v[3]));
        let top = intrinsic!(_mm512_srli_epi64::<1>(top));
        let quotient = self.high(self.word(0), top, self.word(RECIPROCAL));
        let quotient = intrinsic!(_mm512_srli_epi64::<45>(quotient));
        for i in 0..LIMBS {
            let minus_r = self.word(MINUS_R[i]);
            v[i] = self.low(v[i], quotient, minus_r);
            if i < LIMBS - 1 {
                v[i + 1] = self.high(v[i + 1], quotient, minus_r);
            }
        }
        v = self.carry(v);
        for limb in &mut v {
            *limb = self.mask(*limb);
        }
        v
    }

    /// [`reduce`](Self::reduce), to less than `r`.
    #[inline(always)]
    fn reduce_fully(self, v: V) -> V {
        let v = self.reduce(v);
        let may_exceed = intrinsic!(_mm512_cmpge_epi64_mask(v[4], self.word(R[4])));
        if may_exceed == 0 { v } else { self.subtract_r(v) }
    }

    /// `v - r`, in the lanes where it is not negative.
    #[cold]
    #[inline(always)]
    fn subtract_r(self, v: V) -> V {
        let mut less = v;
        for i in 0..LIMBS {
            less[i] = intrinsic!(_mm512_sub_epi64(v[i], self.word(R[i])));
        }
        let less = self.carry(less);
        let positive = intrinsic!(_mm512_cmpge_epi64_mask(less[4], self.word(0)));
        let mut result = v;
        for i in 0..LIMBS {
            result[i] = intrinsic!(_mm512_mask_mov_epi64(v[i], positive, self.mask(less[i])));
        }
        result
    }

    /// Eight scalars of four words as they are in memory to words 0, 1, 2, 3 of all.
    /// The lanes hold scalars 0, 2, 1, 3, 4, 6, 5, 7.
    #[inline(always)]
    fn words(self, z: [__m512i; 4]) -> [__m512i; 4] {
        let words_02 = |a, b| intrinsic!(_mm512_unpacklo_epi64(a, b));
        let words_13 = |a, b| intrinsic!(_mm512_unpackhi_epi64(a, b));
        let even = |a, b| intrinsic!(_mm512_shuffle_i64x2::<0b10_00_10_00>(a, b));
        let odd = |a, b| intrinsic!(_mm512_shuffle_i64x2::<0b11_01_11_01>(a, b));
        let (low_02, low_13) = (words_02(z[0], z[1]), words_13(z[0], z[1]));
        let (high_02, high_13) = (words_02(z[2], z[3]), words_13(z[2], z[3]));
        [even(low_02, high_02), even(low_13, high_13), odd(low_02, high_02), odd(low_13, high_13)]
    }

    /// The inverse of [`words`](Self::words).
    #[inline(always)]
    fn scalars(self, x: [__m512i; 4]) -> [__m512i; 4] {
        let pairs_0145 = |a, b| intrinsic!(_mm512_unpacklo_epi64(a, b));
        let pairs_2367 = |a, b| intrinsic!(_mm512_unpackhi_epi64(a, b));
        let low = |a, b| {
            let at = intrinsic!(_mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11));
            intrinsic!(_mm512_permutex2var_epi64(a, at, b))
        };
        let high = |a, b| {
            let at = intrinsic!(_mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15));
            intrinsic!(_mm512_permutex2var_epi64(a, at, b))
        };
        let (a, b) = (pairs_0145(x[0], x[1]), pairs_0145(x[2], x[3]));
        let (c, d) = (pairs_2367(x[0], x[1]), pairs_2367(x[2], x[3]));
        [low(a, b), low(c, d), high(a, b), high(c, d)]
    }

    /// Limbs of words.
    #[inline(always)]
    fn split(self, x: [__m512i; 4]) -> V {
        [
            self.mask(x[0]),
            self.mask(intrinsic!(_mm512_shrdi_epi64::<52>(x[0], x[1]))),
            self.mask(intrinsic!(_mm512_shrdi_epi64::<40>(x[1], x[2]))),
            self.mask(intrinsic!(_mm512_shrdi_epi64::<28>(x[2], x[3]))),
            intrinsic!(_mm512_srli_epi64::<16>(x[3])),
        ]
    }

    /// Words of limbs of 52 bits.
    #[inline(always)]
    fn join(self, v: V) -> [__m512i; 4] {
        let or = |a, b| intrinsic!(_mm512_or_si512(a, b));
        [
            or(v[0], intrinsic!(_mm512_slli_epi64::<52>(v[1]))),
            or(intrinsic!(_mm512_srli_epi64::<12>(v[1])), intrinsic!(_mm512_slli_epi64::<40>(v[2]))),
            or(intrinsic!(_mm512_srli_epi64::<24>(v[2])), intrinsic!(_mm512_slli_epi64::<28>(v[3]))),
            or(intrinsic!(_mm512_srli_epi64::<36>(v[3])), intrinsic!(_mm512_slli_epi64::<16>(v[4]))),
        ]
    }
}

/// The limbs of a scalar's value, not of its Montgomery form.
fn limbs_of(scalar: &Scalar) -> [u64; LIMBS] {
    let bytes = scalar.to_repr();
    let word =
        |i: usize| bytes[8 * i..8 * i + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    limbs([word(0), word(1), word(2), word(3)])
}

/// A value with carries propagated and the bias added: limbs of 52 bits.
#[derive(Clone, Copy)]
pub struct Factor(V);

impl Lanes for Ifma {
    const LANES: usize = 8;
    const BOUNDS: Bounds = BOUNDS;
    type V = V;
    type Factor = Factor;
    type Fixed = Fixed;
    type FixedLanes = FixedLanes;

    fn fixed(w: &Scalar) -> Fixed {
        let mut terms = [0; TERMS];
        let shift = Scalar::from(1 << LIMB_BITS);
        let mut shifted = *w;
        for row in terms[..LIMBS * LIMBS].chunks_exact_mut(LIMBS) {
            shifted *= shift;
            row.copy_from_slice(&limbs_of(&shifted));
        }
        with_start(terms, limbs_of(&-(shifted * Scalar::from(BIAS))))
    }

    #[inline(always)]
    fn fixed_lanes(self, w: V) -> FixedLanes {
        let mut terms = [self.word(0); TERMS];
        // w 2^260, of w's Montgomery form w 2^256.
        let mut shifted = self.reduce(self.product(w, &SIXTEEN));
        let start = self.product(shifted, &MINUS_BIAS);
        for i in (0..LIMBS).rev() {
            terms[LIMBS * i..LIMBS * (i + 1)].copy_from_slice(&shifted);
            let [v0, v1, v2, v3, v4] = shifted;
            shifted = self.carry(self.reduce_limb([v0, v1, v2, v3, v4, self.word(0)]));
            for limb in &mut shifted {
                *limb = self.mask(*limb);
            }
        }
        terms[LIMBS * LIMBS..LIMBS * LIMBS + LIMBS].copy_from_slice(&start);
        for i in 0..LIMBS {
            let sum = &mut terms[LIMBS * LIMBS + 1 + i];
            *sum = intrinsic!(_mm512_sub_epi64(*sum, self.word(CENTRE * R[i])));
        }
        FixedLanes(terms)
    }

    #[inline(always)]
    fn zero(self) -> V {
        [self.word(0); LIMBS]
    }

    #[inline(always)]
    unsafe fn load(self, from: *const Scalar, stride: usize) -> V {
        let mut z = [self.word(0); 4];
        for (i, z) in z.iter_mut().enumerate() {
            // SAFETY: the CPU has the instructions; the caller says that scalars 2i and 2i + 1,
            // of 32 bytes each, can be read.
            *z = unsafe {
                if stride == 1 {
                    _mm512_loadu_si512(from.add(2 * i).cast())
                } else {
                    let first = _mm256_loadu_si256(from.add(2 * i * stride).cast());
                    let second = _mm256_loadu_si256(from.add((2 * i + 1) * stride).cast());
                    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second)
                }
            };
        }
        self.split(self.words(z))
    }

    #[inline(always)]
    unsafe fn store(self, v: V, to: *mut Scalar, stride: usize) {
        let z = self.scalars(self.join(self.reduce_fully(v)));
        for (i, z) in z.into_iter().enumerate() {
            // SAFETY: the CPU has the instructions; the caller says that scalars 2i and 2i + 1,
            // of 32 bytes each, can be written.
            unsafe {
                if stride == 1 {
                    _mm512_storeu_si512(to.add(2 * i).cast(), z);
                } else {
                    _mm256_storeu_si256(to.add(2 * i * stride).cast(), _mm512_castsi512_si256(z));
                    let second: __m256i = _mm512_extracti64x4_epi64::<1>(z);
                    _mm256_storeu_si256(to.add((2 * i + 1) * stride).cast(), second);
                }
            }
        }
    }

    #[inline(always)]
    fn all(self, scalar: &Scalar) -> V {
        limbs(blst_fr::from(*scalar).l).map(|limb| self.word(limb))
    }

    #[inline(always)]
    fn canonical(self, v: V) -> V {
        self.reduce_fully(v)
    }

    #[inline(always)]
    fn factor(self, v: V) -> Factor {
        self.biased(v)
    }

    #[inline(always)]
    fn dot(self, factors: &[Factor], constants: &[Fixed]) -> V {
        debug_assert!(factors.len() == constants.len() && factors.len() <= MAX_DOT);
        // A term's middle is 3 r, half a step of the reduction more than its share of a sum.
        let centre = factors.len() as u64 / 2;
        let mut c = [self.word(0); LIMBS + 1];
        for i in 0..LIMBS {
            c[i + 1] = self.word(centre * R[i]);
        }
        for (factor, constant) in factors.iter().zip(constants) {
            c = self.add_terms(c, factor, constant);
        }
        self.fold(self.reduce_limb(c))
    }

    #[inline(always)]
    fn add_product(self, mut sum: V, factor: &Factor, constant: &Fixed) -> V {
        let product = self.reduce_limb(self.add_terms([self.word(0); LIMBS + 1], factor, constant));
        for i in 0..LIMBS {
            sum[i] = self.add(sum[i], product[i]);
        }
        sum
    }

    /// `a` times `16 b`, reduced by 2^260: the Montgomery forms are with 2^256.
    #[inline(always)]
    fn times(self, a: V, b: V) -> V {
        let mut c = [self.word(0); 2 * LIMBS + 1];
        for j in 0..LIMBS {
            let mut limb = intrinsic!(_mm512_slli_epi64::<4>(b[j]));
            if j > 0 {
                limb = intrinsic!(_mm512_or_si512(limb, _mm512_srli_epi64::<48>(b[j - 1])));
            }
            for i in 0..LIMBS {
                c[i + j] = self.low(c[i + j], a[i], limb);
                c[i + j + 1] = self.high(c[i + j + 1], a[i], limb);
            }
        }
        for i in 0..LIMBS {
            let window = [c[i], c[i + 1], c[i + 2], c[i + 3], c[i + 4], c[i + 5]];
            c[i + 1..=i + LIMBS].copy_from_slice(&self.reduce_limb(window));
        }
        [c[5], c[6], c[7], c[8], c[9]]
    }

    #[inline(always)]
    fn add_sub(self, a: V, b: V) -> (V, V) {
        let (mut sum, mut difference) = (a, b);
        for i in 0..LIMBS {
            sum[i] = self.add(a[i], b[i]);
            difference[i] = intrinsic!(_mm512_sub_epi64(a[i], b[i]));
        }
        (sum, difference)
    }

    #[inline(always)]
    fn fold(self, mut v: V) -> V {
        let top = self.add(v[4], self.carry_of(v[3]));
        let h = intrinsic!(_mm512_srai_epi64::<49>(self.add(top, self.word(1 << 48))));
        for i in 0..LIMBS {
            let (low, high) = FOLDS[i].split_at(8);
            // SAFETY: the CPU has the instructions; both halves are eight words.
            let multiple = unsafe {
                let low = _mm512_loadu_si512(low.as_ptr().cast());
                let high = _mm512_loadu_si512(high.as_ptr().cast());
                _mm512_permutex2var_epi64(low, h, high)
            };
            v[i] = self.add(v[i], multiple);
        }
        v
    }

    #[inline(always)]
    fn vectorize<J: Job<Self>>(self, job: J) {
        #[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
        fn inner<J: Job<Ifma>>(l: Ifma, job: J) {
            job.run(l);
        }
        // SAFETY: an `Ifma` exists only where `detect` found these features.
        unsafe { inner(self, job) }
    }
}

impl<T: Terms + Send + Sync> Constant<Ifma> for T {
    #[inline(always)]
    fn mul(&self, l: Ifma, v: V) -> V {
        l.product(v, self)
    }
    #[inline(always)]
    fn butterfly(&self, l: Ifma, a: V, b: V) -> (V, V) {
        l.add_sub(a, l.product(b, self))
    }
}
