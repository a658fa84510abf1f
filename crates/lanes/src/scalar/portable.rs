//! The arithmetic on any CPU: four limbs of 64 bits, four lanes.
//!
//! Values are below 2^256, which is 2.2 r; a product is below 1.004 r.

use std::array;

use blst::blst_fr;
use blstrs::Scalar;

use super::{Bounds, Constant, Job, Lanes};

type Limbs = [u64; 4];

/// The order of the scalar field (BLS12-381).
pub(super) const R: Limbs =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];
/// `-1/r` modulo 2^64.
pub(super) const MINUS_R_INVERSE: u64 = 0xffff_fffe_ffff_ffff;
/// `0, r, 2r, …` modulo 2^256, as many as [`quotient`] may find.
const MULTIPLES: [Limbs; 8] = {
    let mut multiples = [[0; 4]; 8];
    let mut k = 1;
    while k < 8 {
        multiples[k] = constant::add(multiples[k - 1], R);
        k += 1;
    }
    multiples
};

/// Arithmetic for constants, where the carrying operations are not stable.
pub(super) mod constant {
    use super::{Limbs, R};

    /// `a + b` modulo 2^256
    pub(in super::super) const fn add(a: Limbs, b: Limbs) -> Limbs {
        let mut sum = [0; 4];
        let mut carry = 0;
        let mut i = 0;
        while i < 4 {
            let s = a[i] as u128 + b[i] as u128 + carry;
            (sum[i], carry) = (s as u64, s >> 64);
            i += 1;
        }
        sum
    }

    /// `-a` modulo 2^256
    pub(in super::super) const fn negate(a: Limbs) -> Limbs {
        add([!a[0], !a[1], !a[2], !a[3]], [1, 0, 0, 0])
    }

    /// `2^log` modulo `r`, by doubling.
    pub(in super::super) const fn power_of_two(log: u32) -> Limbs {
        let mut power = [1, 0, 0, 0];
        let mut i = 0;
        while i < log {
            let twice = add(power, power);
            let less = add(twice, negate(R));
            // Both are below 2^256, which is more than 2 r: the difference wrapped if it grew.
            power = if less[3] > twice[3] { twice } else { less };
            i += 1;
        }
        power
    }
}

const LANES: usize = 4;
type V = [Limbs; LANES];

/// A prepared constant.
#[derive(Clone, Copy)]
pub struct Fixed([Limbs; 4]);

/// A prepared constant for each lane.
#[derive(Clone, Copy)]
pub struct FixedLanes([Fixed; LANES]);

/// Any CPU.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

#[inline(always)]
fn add(a: Limbs, b: Limbs) -> (Limbs, bool) {
    let (s0, c) = a[0].carrying_add(b[0], false);
    let (s1, c) = a[1].carrying_add(b[1], c);
    let (s2, c) = a[2].carrying_add(b[2], c);
    let (s3, c) = a[3].carrying_add(b[3], c);
    ([s0, s1, s2, s3], c)
}

#[inline(always)]
fn sub(a: Limbs, b: Limbs) -> (Limbs, bool) {
    let (d0, c) = a[0].borrowing_sub(b[0], false);
    let (d1, c) = a[1].borrowing_sub(b[1], c);
    let (d2, c) = a[2].borrowing_sub(b[2], c);
    let (d3, c) = a[3].borrowing_sub(b[3], c);
    ([d0, d1, d2, d3], c)
}

/// At most `floor(v / r)` and at most one less, for `v` of which `top` is
/// `floor(v / 2^246)`, below 5 r: `r / 2^246` is 463.7, and 565 / 2^18 is a little
/// above 1/464.
#[inline(always)]
fn quotient(top: u64) -> usize {
    ((top * 565) >> 18) as usize
}

/// `v - q r`, below 1.004 r.
#[inline(always)]
fn fold(v: Limbs) -> Limbs {
    sub(v, MULTIPLES[quotient(v[3] >> 54) & 3]).0
}

/// `a w`, five limbs.
#[inline(always)]
fn row(a: u64, w: &Limbs) -> [u64; 5] {
    let product = |limb: u64| {
        let p = u128::from(a) * u128::from(limb);
        (p as u64, (p >> 64) as u64)
    };
    let [(l0, h0), (l1, h1), (l2, h2), (l3, h3)] = w.map(product);
    let (s1, c) = h0.carrying_add(l1, false);
    let (s2, c) = h1.carrying_add(l2, c);
    let (s3, c) = h2.carrying_add(l3, c);
    [l0, s1, s2, s3, h3 + u64::from(c)]
}

#[inline(always)]
fn add_row(t: [u64; 5], row: [u64; 5]) -> ([u64; 5], bool) {
    let (t0, c) = t[0].carrying_add(row[0], false);
    let (t1, c) = t[1].carrying_add(row[1], c);
    let (t2, c) = t[2].carrying_add(row[2], c);
    let (t3, c) = t[3].carrying_add(row[3], c);
    let (t4, c) = t[4].carrying_add(row[4], c);
    ([t0, t1, t2, t3, t4], c)
}

/// `t + m r` with the `m` that makes its lowest limb zero.
#[inline(always)]
fn clear_lowest(t: [u64; 5]) -> ([u64; 5], bool) {
    add_row(t, row(t[0].wrapping_mul(MINUS_R_INVERSE), &R))
}

/// `a w` for a prepared `w`, below 1.004 r.
#[inline(always)]
fn product(a: Limbs, Fixed(w): &Fixed) -> Limbs {
    // The rows sum to less than 4 2^64 r, and with `m r` to less than 5 2^64 r = 2.27 2^320:
    // of the four additions the first has no carry.
    let (t, _) = add_row(row(a[0], &w[0]), row(a[1], &w[1]));
    let (t, c2) = add_row(t, row(a[2], &w[2]));
    let (t, c3) = add_row(t, row(a[3], &w[3]));
    let (t, c4) = clear_lowest(t);
    let top = (u64::from(c2) + u64::from(c3) + u64::from(c4)) << 10 | t[4] >> 54;
    sub([t[1], t[2], t[3], t[4]], MULTIPLES[quotient(top) & 7]).0
}

/// Subtracts `r` where that leaves no negative number.
#[inline(always)]
fn reduce_once(v: Limbs) -> Limbs {
    let (less, borrow) = sub(v, R);
    if borrow { v } else { less }
}

/// `w 2^64 2^(64 i)` for each `i`, of `w`'s Montgomery form `w 2^256`.
fn prepare(w: Limbs) -> Fixed {
    let mut prepared = [reduce_once(fold(w)); 4];
    for i in (0..3).rev() {
        let [t0, t1, t2, t3] = prepared[i + 1];
        let ([_, t @ ..], _) = clear_lowest([t0, t1, t2, t3, 0]);
        prepared[i] = t;
    }
    Fixed(prepared)
}

/// `a + b` and `a - b`, of two below 1.004 r.
#[inline(always)]
fn sum_difference(a: Limbs, b: Limbs) -> (Limbs, Limbs) {
    let (difference, borrow) = sub(a, b);
    (add(a, b).0, add(difference, MULTIPLES[2 * usize::from(borrow)]).0)
}

/// `t`, of which all but the lowest six bits of the highest limb are zero: below
/// 2^262, which is 141 r, to below 1.004 r.
#[inline(always)]
fn reduce_wide(t: [u64; 5]) -> Limbs {
    let quotient = quotient(t[4] << 10 | t[3] >> 54) as u64;
    let [m0, m1, m2, m3, _] = row(quotient, &R);
    // One `r` too many may be left, which is less than 2^256.
    fold(sub([t[0], t[1], t[2], t[3]], [m0, m1, m2, m3]).0)
}

/// `sum a_i w_i`, below 1.004 r.
#[inline(always)]
fn dot(factors: &[V], constants: &[Fixed], lane: usize) -> Limbs {
    let (mut t, mut carries) = ([0; 5], 0);
    for (factor, Fixed(w)) in factors.iter().zip(constants) {
        for (limb, w) in factor[lane].iter().zip(w) {
            let (sum, carry) = add_row(t, row(*limb, w));
            (t, carries) = (sum, carries + u64::from(carry));
        }
    }
    let (t, carry) = clear_lowest(t);
    reduce_wide([t[1], t[2], t[3], t[4], carries + u64::from(carry)])
}

impl Lanes for Portable {
    const LANES: usize = LANES;
    /// Values never grow: sums are reduced.
    const BOUNDS: Bounds = Bounds { loaded: 1_000, product: 0, folded: 1_004, factor: 2_209, stored: 2_209 };
    type V = V;
    type Factor = V;
    type Fixed = Fixed;
    type FixedLanes = FixedLanes;

    fn fixed(w: &Scalar) -> Fixed {
        prepare(blst_fr::from(*w).l)
    }

    fn fixed_lanes(self, w: V) -> FixedLanes {
        FixedLanes(w.map(prepare))
    }

    #[inline(always)]
    fn zero(self) -> V {
        [[0; 4]; LANES]
    }

    #[inline(always)]
    unsafe fn load(self, from: *const Scalar, stride: usize) -> V {
        let mut v = [[0; 4]; LANES];
        for (i, lane) in v.iter_mut().enumerate() {
            // SAFETY: the caller says that it can be read; `Scalar` is a transparent `blst_fr`.
            *lane = unsafe { from.add(i * stride).cast::<blst_fr>().read() }.l;
        }
        v
    }

    #[inline(always)]
    unsafe fn store(self, v: V, to: *mut Scalar, stride: usize) {
        for (i, lane) in v.into_iter().enumerate() {
            // SAFETY: the caller says that it can be written; `Scalar` is a transparent `blst_fr`.
            unsafe { to.add(i * stride).cast::<blst_fr>().write(blst_fr { l: reduce_once(fold(lane)) }) }
        }
    }

    #[inline(always)]
    fn all(self, scalar: &Scalar) -> V {
        [blst_fr::from(*scalar).l; LANES]
    }

    #[inline(always)]
    fn canonical(self, v: V) -> V {
        v.map(|lane| reduce_once(fold(lane)))
    }

    #[inline(always)]
    fn factor(self, v: V) -> V {
        v
    }

    #[inline(always)]
    fn dot(self, factors: &[V], constants: &[Fixed]) -> V {
        array::from_fn(|lane| dot(factors, constants, lane))
    }

    #[inline(always)]
    fn add_product(self, mut sum: V, factor: &V, constant: &Fixed) -> V {
        for (sum, factor) in sum.iter_mut().zip(factor) {
            *sum = add(fold(*sum), product(*factor, constant)).0;
        }
        sum
    }

    /// Montgomery's product: the rows of `a`, each followed by a step of the reduction.
    #[inline(always)]
    fn times(self, mut a: V, b: V) -> V {
        for (a, b) in a.iter_mut().zip(b) {
            let mut t = [0; 5];
            for limb in *a {
                // Below 2 r 2^64, by r's missing bit, all the way.
                let (sum, _) = clear_lowest(add_row(t, row(limb, &b)).0);
                t = [sum[1], sum[2], sum[3], sum[4], 0];
            }
            *a = [t[0], t[1], t[2], t[3]];
        }
        a
    }

    #[inline(always)]
    fn add_sub(self, a: V, b: V) -> (V, V) {
        let (mut sum, mut difference) = (a, b);
        for i in 0..LANES {
            (sum[i], difference[i]) = sum_difference(fold(a[i]), fold(b[i]));
        }
        (sum, difference)
    }

    /// They never grow.
    #[inline(always)]
    fn fold(self, v: V) -> V {
        v
    }

    fn vectorize<J: Job<Self>>(self, job: J) {
        job.run(self);
    }
}

impl Constant<Portable> for Fixed {
    #[inline(always)]
    fn mul(&self, _: Portable, mut v: V) -> V {
        for lane in &mut v {
            *lane = product(*lane, self);
        }
        v
    }
    #[inline(always)]
    fn butterfly(&self, _: Portable, mut a: V, mut b: V) -> (V, V) {
        for i in 0..LANES {
            (a[i], b[i]) = sum_difference(fold(a[i]), product(b[i], self));
        }
        (a, b)
    }
}

impl Constant<Portable> for FixedLanes {
    #[inline(always)]
    fn mul(&self, _: Portable, mut v: V) -> V {
        for (lane, w) in v.iter_mut().zip(&self.0) {
            *lane = product(*lane, w);
        }
        v
    }
    #[inline(always)]
    fn butterfly(&self, _: Portable, mut a: V, mut b: V) -> (V, V) {
        for i in 0..LANES {
            (a[i], b[i]) = sum_difference(fold(a[i]), product(b[i], &self.0[i]));
        }
        (a, b)
    }
}
