//! Affine additions, eight at once, with one inversion a batch.
//!
//! A first pass multiplies the denominators up, remembering each partial product;
//! a second one, backwards, turns them into inverses and finishes the additions:
//!
//! ```text
//! lambda = (y2 - y1) / (x2 - x1)    x3 = lambda^2 - x1 - x2    y3 = lambda (x1 - x3) - y1
//! ```
//!
//! Coordinates at rest are below `1.01 p`, so that `x2 - x1 + 2p` is a multiple of
//! `p` only as `p`, `2p` or `3p`; one limb is compared, and the rare lane that
//! passes is looked at alone: it may be a doubling, or need no addition at all.

use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
use std::array::from_fn;

use super::super::{Tables, Term};
use super::lanes::{Lanes, Sums};
use super::point::IfmaPoint;

/// How many groups of eight additions ahead operands are fetched.
const AHEAD: usize = 8;
/// How many groups the second pass takes together.
const BLOCK: usize = 4;
/// Additions that share an inversion. An inversion takes as long as about 70 of
/// them; this many fit a level 2 cache with their operands.
const BATCH: usize = 2048;

/// What the second pass needs of a group of eight additions.
#[derive(Clone, Copy)]
struct Step<const N: usize> {
    /// The product of the denominators of all groups before this one.
    before: Lanes<N>,
    /// `x2 - x1`, or what stands for it in an exception. It is never 0.
    denominator: Lanes<N>,
    /// `y2 - y1`, or what stands for it in an exception.
    numerator: Lanes<N>,
    /// `x1`
    x1: Lanes<N>,
    /// `-y1`
    minus_y1: Sums<N>,
}

impl<const N: usize> Step<N> {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn empty() -> Self {
        let zero = Lanes::zero();
        Self { before: zero, denominator: zero, numerator: zero, x1: zero, minus_y1: Sums::signed(0, &zero) }
    }
}

/// An addition that does not follow the formula.
struct Exception<const N: usize> {
    group: usize,
    lane: usize,
    kind: Kind<N>,
}

enum Kind<const N: usize> {
    /// Both operands are the same.
    Doubling,
    /// One operand is infinity, or they cancel: the sum is known.
    Known(IfmaPoint<N>),
}

/// Memory for one batch.
pub struct Work<const N: usize> {
    steps: Vec<Step<N>>,
    exceptions: Vec<Exception<N>>,
}

impl<const N: usize> Default for Work<N> {
    fn default() -> Self {
        Self { steps: Vec::new(), exceptions: Vec::new() }
    }
}

impl<const N: usize> Work<N> {
    /// The most bytes of one, exceptions apart.
    pub(super) const BYTES: usize = BATCH.div_ceil(8) * size_of::<Step<N>>();
}

/// The operands of eight additions.
#[derive(Clone, Copy)]
struct Group<'a, const N: usize> {
    a: [&'a IfmaPoint<N>; 8],
    b: [&'a IfmaPoint<N>; 8],
    minus_a: u8,
    minus_b: u8,
}

impl<'a, const N: usize> Group<'a, N> {
    /// Up to eight pairs, fetched; the lanes that are left add two points of no meaning.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn fetch(tables: Tables<'a, IfmaPoint<N>>, pairs: &[[Term; 2]]) -> Self {
        let [a, b] = IfmaPoint::FILLER.each_ref();
        let mut group = Self { a: [a; 8], b: [b; 8], minus_a: 0, minus_b: 0 };
        for (lane, [a, b]) in pairs.iter().take(8).enumerate() {
            group.a[lane] = a.point(tables);
            group.b[lane] = b.point(tables);
            group.minus_a |= u8::from(a.is_negative()) << lane;
            group.minus_b |= u8::from(b.is_negative()) << lane;
            prefetch(group.a[lane]);
            prefetch(group.b[lane]);
        }
        group
    }
}

/// See [`Packed::add_pairs`](super::super::Packed::add_pairs).
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add_pairs<const N: usize>(
    tables: Tables<'_, IfmaPoint<N>>,
    pairs: &[[Term; 2]],
    sums: &mut [IfmaPoint<N>],
    work: &mut Work<N>,
) {
    for (pairs, sums) in pairs.chunks(BATCH).zip(sums.chunks_mut(BATCH)) {
        let groups = pairs.len().div_ceil(8);
        if work.steps.len() < groups {
            work.steps.resize(groups, Step::empty());
        }
        let steps = &mut work.steps[..groups];
        let product = multiply_up(tables, pairs, steps, &mut work.exceptions);
        finish(sums, steps, &mut work.exceptions, invert(&product));
    }
}

/// The first pass: the product of all denominators, lane by lane.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_up<const N: usize>(
    tables: Tables<'_, IfmaPoint<N>>,
    pairs: &[[Term; 2]],
    steps: &mut [Step<N>],
    exceptions: &mut Vec<Exception<N>>,
) -> Lanes<N> {
    let mut product = Lanes::splat(&IfmaPoint::ONE);
    let mut groups = pairs.chunks(8).map(|group| Group::fetch(tables, group));
    let mut ahead: [_; AHEAD] = from_fn(|_| groups.next());
    for (g, step) in steps.iter_mut().enumerate() {
        let Some(group) = std::mem::replace(&mut ahead[g % AHEAD], groups.next()) else { break };
        let x1 = Lanes::load(group.a.map(|p| &p.x));
        let x2 = Lanes::load(group.b.map(|p| &p.x));
        let denominator = x2.plus_multiple::<2>().minus(&x1).carried();
        let odd = denominator.maybe_zero() | x1.maybe_infinity() | x2.maybe_infinity();
        step.before = product;
        step.x1 = x1;
        step.denominator = denominator;
        let y1 = Lanes::load(group.a.map(|p| &p.y));
        let y2 = Lanes::load(group.b.map(|p| &p.y));
        step.minus_y1 = Sums::signed(!group.minus_a, &y1);
        let rise = Lanes::zero().plus_multiple::<3>().plus(&Sums::signed(group.minus_b, &y2));
        step.numerator = rise.plus(&step.minus_y1).carried();
        if odd != 0 {
            except(odd, g, &group, step, exceptions);
        }
        product = product.mul(&step.denominator);
    }
    product
}

/// The second pass: the sums, given the inverse of the product of all denominators.
///
/// It goes block by block, so that the iterations of its loops are independent
/// and the CPU works on more than one.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn finish<const N: usize>(
    sums: &mut [IfmaPoint<N>],
    steps: &[Step<N>],
    exceptions: &mut Vec<Exception<N>>,
    mut inverse: Lanes<N>,
) {
    let mut slopes = [Lanes::zero(); BLOCK];
    let mut x3 = [Lanes::zero(); BLOCK];
    for (block, (steps, sums)) in steps.chunks(BLOCK).zip(sums.chunks_mut(8 * BLOCK)).enumerate().rev() {
        for (step, slope) in steps.iter().zip(&mut slopes).rev() {
            *slope = inverse.mul(&step.before);
            inverse = inverse.mul(&step.denominator);
        }
        for (step, slope) in steps.iter().zip(&mut slopes) {
            *slope = slope.mul(&step.numerator);
        }
        for ((step, slope), x3) in steps.iter().zip(&slopes).zip(&mut x3) {
            // x1 + x2 = 2 x1 + (x2 - x1 + 2p) - 2p
            let square = slope.square().plus_multiple::<5>();
            *x3 = square.minus(&step.denominator).minus(&step.x1).minus(&step.x1).reduced();
        }
        let first = BLOCK * block;
        if exceptions.last().is_some_and(|e| e.group >= first) {
            redouble(first, exceptions, steps, &slopes, &mut x3);
        }
        for (((step, slope), x3), sums) in steps.iter().zip(&slopes).zip(&x3).zip(sums.chunks_mut(8)) {
            let fall = step.x1.plus_multiple::<2>().minus(x3).carried();
            let y3 = slope.mul(&fall).plus_multiple::<2>().plus(&step.minus_y1).reduced();
            store(sums, x3, &y3);
        }
        while let Some(e) = exceptions.pop_if(|e| e.group >= first) {
            if let Kind::Known(sum) = e.kind {
                sums[8 * (e.group - first) + e.lane] = sum;
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn store<const N: usize>(sums: &mut [IfmaPoint<N>], x: &Lanes<N>, y: &Lanes<N>) {
    if let Ok(full) = <&mut [IfmaPoint<N>; 8]>::try_from(&mut *sums) {
        x.store(full.each_mut().map(|p| &mut p.x));
        y.store(full.each_mut().map(|p| &mut p.y));
    } else {
        let mut full = [IfmaPoint::FILLER[0]; 8];
        x.store(full.each_mut().map(|p| &mut p.x));
        y.store(full.each_mut().map(|p| &mut p.y));
        sums.copy_from_slice(&full[..sums.len()]);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch<T>(value: &T) {
    for line in 0..size_of::<T>() / 64 {
        // SAFETY: a hint about memory that a reference covers.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(value).cast::<i8>().add(64 * line)) }
    }
}

/// Looks at the lanes `odd` one by one, and gives those whose sum is exceptional
/// a slope: `3 x^2 / 2y` for a doubling, any where the sum is known.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
fn except<const N: usize>(
    odd: u8,
    g: usize,
    group: &Group<'_, N>,
    step: &mut Step<N>,
    exceptions: &mut Vec<Exception<N>>,
) {
    let one = IfmaPoint::<N>::ONE;
    let square = step.x1.square();
    let tripled = square.add(&square).add(&square);
    for lane in (0..8).filter(|lane| odd >> lane & 1 == 1) {
        let signed = |p: &IfmaPoint<N>, minus: u8| if minus >> lane & 1 == 1 { p.negated() } else { *p };
        let (a, b) = (signed(group.a[lane], group.minus_a), signed(group.b[lane], group.minus_b));
        let (kind, denominator) = if a.is_infinity() {
            (Kind::Known(b), one)
        } else if b.is_infinity() {
            (Kind::Known(a), one)
        } else if !a.has_x_of(&b) {
            continue;
        } else if a.has_y_of(&b) {
            step.numerator = step.numerator.select(1 << lane, &tripled);
            (Kind::Doubling, a.twice_y())
        } else {
            (Kind::Known(IfmaPoint::INFINITY), one)
        };
        step.denominator = step.denominator.select(1 << lane, &Lanes::splat(&denominator));
        exceptions.push(Exception { group: g, lane, kind });
    }
}

/// Works out `x3` again for the doublings from group `first` on, where `x2` is `x1`
/// although the denominator is not 0.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
fn redouble<const N: usize>(
    first: usize,
    exceptions: &[Exception<N>],
    steps: &[Step<N>],
    slopes: &[Lanes<N>],
    x3: &mut [Lanes<N>],
) {
    for e in exceptions.iter().rev().take_while(|e| e.group >= first) {
        if matches!(e.kind, Kind::Doubling) {
            let i = e.group - first;
            let square = slopes[i].square().plus_multiple::<3>();
            let doubled = square.minus(&steps[i].x1).minus(&steps[i].x1).reduced();
            x3[i] = x3[i].select(1 << e.lane, &doubled);
        }
    }
}

/// The inverses, lane by lane, with one scalar inversion for all eight.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn invert<const N: usize>(a: &Lanes<N>) -> Lanes<N> {
    let from_4 = a.swap_lanes::<4>();
    let two = a.mul(&from_4);
    let from_2 = two.swap_lanes::<2>();
    let four = two.mul(&from_2);
    let from_1 = four.swap_lanes::<1>();
    let all = four.mul(&from_1);
    let inverse = Lanes::splat(&IfmaPoint::inverse(&all.first()));
    inverse.mul(&from_1).mul(&from_2).mul(&from_4)
}
