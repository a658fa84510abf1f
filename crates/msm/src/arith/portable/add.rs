//! Affine additions with one inversion a batch.
//!
//! A first pass multiplies the denominators up, remembering each partial product;
//! a second one, backwards, turns them into inverses and finishes the additions:
//!
//! ```text
//! lambda = (y2 - y1) / (x2 - x1)    x3 = lambda^2 - x1 - x2    y3 = lambda (x1 - x3) - y1
//! ```

use std::array::from_fn;

use super::{BlstField, PortablePoint};
use crate::arith::{Packed, Tables, Term, resolve};

/// Additions that share an inversion. An inversion takes as long as about ten of them.
const BATCH: usize = 1024;
/// How many products of denominators grow side by side, so that a multiplication
/// need not wait for the one before.
const CHAINS: usize = 2;
/// How many additions the second pass takes together, for the same reason.
const BLOCK: usize = 4;
/// How many pairs ahead operands are fetched.
const AHEAD: usize = 8;

/// Memory for one batch.
#[derive(Default)]
pub struct Work<F> {
    steps: Vec<Step<F>>,
    /// The additions that do not follow the formula, ascending.
    exceptions: Vec<Exception<F>>,
}

impl<F> Work<F> {
    /// The most bytes of one, exceptions apart.
    pub(super) const BYTES: usize = (BATCH + CHAINS) * size_of::<Step<F>>();
}

/// What the second pass needs of an addition, next to its operands.
#[derive(Clone, Copy)]
struct Step<F> {
    /// The product of the denominators before this one in its chain.
    before: F,
    /// `x2 - x1`, or what stands for it in an exception: a factor. It is never 0.
    denominator: F,
}

/// An addition that does not follow the formula.
struct Exception<F> {
    at: usize,
    kind: Kind<F>,
}

enum Kind<F> {
    /// Both operands are the same: the numerator is `3 x^2`.
    Doubling(F),
    /// One operand is infinity, or they cancel: the sum is known.
    Known(PortablePoint<F>),
}

/// See [`Packed::add_pairs`].
pub(super) fn add_pairs<F: BlstField>(
    tables: Tables<'_, PortablePoint<F>>,
    pairs: &[[Term; 2]],
    sums: &mut [PortablePoint<F>],
    work: &mut Work<F>,
) where
    PortablePoint<F>: Packed,
{
    let Work { steps, exceptions } = work;
    if steps.len() < pairs.len().min(BATCH) + CHAINS {
        steps.resize(pairs.len().min(BATCH) + CHAINS, Step { before: F::ONE, denominator: F::ONE });
    }
    for (pairs, sums) in pairs.chunks(BATCH).zip(sums.chunks_mut(BATCH)) {
        let steps = &mut steps[..pairs.len() + CHAINS];
        let mut products = multiply_up(tables, pairs, steps, exceptions);
        invert(&mut products);
        finish(tables, pairs, sums, &steps[..pairs.len()], exceptions, products);
    }
}

/// The first pass: the product of all denominators, chain by chain. Addition `k` is in
/// chain `k mod CHAINS`, and the last `CHAINS` steps only take the ends of these.
#[inline]
fn multiply_up<F: BlstField>(
    tables: Tables<'_, PortablePoint<F>>,
    pairs: &[[Term; 2]],
    steps: &mut [Step<F>],
    exceptions: &mut Vec<Exception<F>>,
) -> [F; CHAINS]
where
    PortablePoint<F>: Packed,
{
    for first in &mut steps[..CHAINS] {
        first.before = F::ONE;
    }
    for (k, pair) in pairs.iter().enumerate() {
        if let Some(ahead) = pairs.get(k + AHEAD) {
            ahead.iter().for_each(|term| prefetch(term.point(tables)));
        }
        let [a, b] = pair.map(|term| term.point(tables));
        let (steps, next) = steps.split_at_mut(k + CHAINS);
        let step = &mut steps[k];
        step.denominator.set_difference(&b.x, &a.x);
        let (x1, x2) = (a.x.low(), b.x.low());
        if x1 == x2 || x1 == 0 || x2 == 0 {
            except(k, pair.map(|term| resolve(tables, term)), step, exceptions);
        }
        next[0].before.set_product(&step.before, &step.denominator);
    }
    let mut products = [F::ONE; CHAINS];
    for k in pairs.len()..pairs.len() + CHAINS {
        products[k % CHAINS] = steps[k].before;
    }
    products
}

/// The second pass: the sums, given the inverses of the products of all denominators.
///
/// It goes block by block, so that the iterations of its loops are independent and
/// the CPU works on more than one.
#[inline]
fn finish<F: BlstField>(
    tables: Tables<'_, PortablePoint<F>>,
    pairs: &[[Term; 2]],
    sums: &mut [PortablePoint<F>],
    steps: &[Step<F>],
    exceptions: &mut Vec<Exception<F>>,
    mut inverses: [F; CHAINS],
) {
    let mut slopes = [F::ZERO; BLOCK];
    let mut factors = [F::ZERO; BLOCK];
    let blocks = pairs.chunks(BLOCK).zip(sums.chunks_mut(BLOCK)).zip(steps.chunks(BLOCK));
    for (block, ((pairs, sums), steps)) in blocks.enumerate().rev() {
        let first = BLOCK * block;
        let last = pairs.len() - 1;
        let operands: [_; BLOCK] = from_fn(|k| pairs[k.min(last)].map(|term| term.point(tables)));
        for (k, (step, slope)) in steps.iter().zip(&mut slopes).enumerate().rev() {
            let inverse = &mut inverses[k % CHAINS];
            slope.set_product(inverse, &step.before);
            inverse.multiply(&step.denominator);
        }
        for ((pair, [a, b]), rise) in pairs.iter().zip(&operands).zip(&mut factors) {
            rise.set_signed_difference(&b.y, &a.y, [pair[1].is_negative(), pair[0].is_negative()]);
        }
        for e in exceptions.iter().rev().take_while(|e| e.at >= first) {
            if let Kind::Doubling(numerator) = e.kind {
                factors[e.at - first] = numerator;
            }
        }
        for (rise, slope) in factors.iter().zip(&mut slopes).take(pairs.len()) {
            slope.multiply(rise);
        }
        for (sum, slope) in sums.iter_mut().zip(&slopes) {
            sum.x.set_square(slope);
        }
        for (([a, b], sum), fall) in operands.iter().zip(&mut *sums).zip(&mut factors) {
            sum.x.subtract_two(&a.x, &b.x);
            fall.set_difference(&a.x, &sum.x);
        }
        for ((sum, slope), fall) in sums.iter_mut().zip(&slopes).zip(&factors) {
            sum.y.set_product(slope, fall);
        }
        for ((pair, [a, _]), sum) in pairs.iter().zip(&operands).zip(&mut *sums) {
            sum.y.subtract_signed(&a.y, pair[0].is_negative());
        }
        while let Some(e) = exceptions.pop_if(|e| e.at >= first) {
            if let Kind::Known(sum) = e.kind {
                sums[e.at - first] = sum;
            }
        }
    }
}

/// Fetches `value` into a cache, where this CPU is told so easily.
#[inline(always)]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, about memory that a reference covers.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().add(64 * line)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Looks at the sum of `a` and `b`, and if that is exceptional gives it a
/// denominator: `2y` for a doubling, 1 where the sum is known.
#[cold]
#[inline(never)]
fn except<F: BlstField>(
    at: usize,
    [a, b]: [PortablePoint<F>; 2],
    step: &mut Step<F>,
    exceptions: &mut Vec<Exception<F>>,
) {
    let kind = if a.is_infinity() {
        Kind::Known(b)
    } else if b.is_infinity() {
        Kind::Known(a)
    } else if a.x != b.x {
        return;
    } else if a.y == b.y {
        let (mut square, mut twice, mut tripled) = (F::ZERO, F::ZERO, F::ZERO);
        square.set_square(&a.x);
        twice.set_sum(&square, &square);
        tripled.set_sum(&twice, &square);
        Kind::Doubling(tripled)
    } else {
        Kind::Known(PortablePoint::INFINITY)
    };
    match kind {
        Kind::Doubling(_) => step.denominator.set_sum(&a.y, &a.y),
        Kind::Known(_) => step.denominator = F::ONE,
    }
    exceptions.push(Exception { at, kind });
}

/// Turns each into its inverse, with one inversion.
fn invert<F: BlstField>([a, b]: &mut [F; CHAINS]) {
    let (mut inverse, mut of_a) = (F::ZERO, F::ZERO);
    inverse.set_product(a, b);
    inverse.invert();
    of_a.set_product(&inverse, b);
    b.set_product(&inverse, &*a);
    *a = of_a;
}
