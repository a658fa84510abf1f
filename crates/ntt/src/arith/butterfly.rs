//! Transforms of short rows, in cache: groups of up to six levels of butterflies.
//!
//! A butterfly makes `(a + w b, a - w b)` of `(a, b)`. With decimation in frequency
//! (DIF) a row of coefficients in natural order becomes values in bit-reversed order:
//! level `k` has `2^k` blocks, block `q` stands for a polynomial modulo `x^m - z`, and
//! one twiddle `w` with `w^2 = z^(1/2)...` splits it into the halves modulo
//! `x^(m/2) - w` and `x^(m/2) + w`. Decimation in time (DIT) turns bit-reversed
//! coefficients into values in natural order, level by level from pairs up. Position
//! `j` in a block of level `k` of DIT has the twiddle that block `rev(j)` has in level
//! `k` of DIF, so one table in bit-reversed order serves both, at every size.

use cuzk_lanes::Bounds;

use super::{Constant, Lanes, Portable};

/// The most levels of a group that starts with scalars as they come from memory.
pub(super) const FIRST_LEVELS: u32 = 5;
/// The most levels of a group that starts with products or with folded values.
pub(super) const SECOND_LEVELS: u32 = 6;

/// The growth of five levels from memory and of six from products or folded values,
/// of which the sixth folds first what it multiplies.
const fn check_bounds(bounds: Bounds) {
    let Bounds { loaded, product, folded, factor, stored } = bounds;
    // What the last level of a group, or the product after it, multiplies.
    assert!(loaded + FIRST_LEVELS * product <= factor);
    assert!(folded + (FIRST_LEVELS - 1) * product <= factor);
    assert!(product + (FIRST_LEVELS - 1) * product <= factor);
    // What is reduced at the end: products, or folded values, which are no larger.
    assert!(product + SECOND_LEVELS * product <= stored && (folded <= product || product == 0));
    // Levels whose twiddles are 1 double a bound: 1, 2, 4, 8 where the others are 1, 4, 7, 10.
}
const _: () = assert!(SECOND_LEVELS == FIRST_LEVELS + 1);
const _: () = check_bounds(Portable::BOUNDS);
#[cfg(target_arch = "x86_64")]
const _: () = check_bounds(super::Ifma::BOUNDS);

/// The twiddles of a group of levels.
pub(super) trait Twiddles<L: Lanes> {
    type Twiddle: Constant<L>;
    /// The twiddle of block `q` in level `level` of the group, as DIF counts.
    fn at(&self, level: u32, q: usize) -> &Self::Twiddle;
}

/// Twiddles that all lanes share: below block `block` of a table in bit-reversed order.
pub(super) struct Common<'a, T> {
    pub(super) table: &'a [T],
    pub(super) block: usize,
}

impl<L: Lanes, T: Constant<L>> Twiddles<L> for Common<'_, T> {
    type Twiddle = T;
    #[inline(always)]
    fn at(&self, level: u32, q: usize) -> &T {
        &self.table[(self.block << level) + q]
    }
}

/// Twiddles of a group's own, `2^level` a level, from place `2^level` on.
pub(super) struct Own<'a, T>(pub(super) &'a [T]);

impl<L: Lanes, T: Constant<L>> Twiddles<L> for Own<'_, T> {
    type Twiddle = T;
    #[inline(always)]
    fn at(&self, level: u32, q: usize) -> &T {
        &self.0[(1 << level) + q]
    }
}

/// What is known of a group where it is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first levels of a whole transform: the twiddles of block 0 are 1, 1, i.
    Unit,
    /// Any other.
    Plain,
}

/// Two levels of butterflies on four values:
/// `w[0]` joins (0, 2) and (1, 3), then `w[1]` joins (0, 1) and `w[2]` (2, 3).
#[inline(always)]
fn radix_4<L: Lanes, T: Constant<L>>(l: L, x: &mut [L::V], at: [usize; 4], w: [&T; 3], fold: bool) {
    let (y0, y2) = w[0].butterfly(l, x[at[0]], x[at[2]]);
    let (mut y1, mut y3) = w[0].butterfly(l, x[at[1]], x[at[3]]);
    if fold {
        (y1, y3) = (l.fold(y1), l.fold(y3));
    }
    (x[at[0]], x[at[1]]) = w[1].butterfly(l, y0, y1);
    (x[at[2]], x[at[3]]) = w[2].butterfly(l, y2, y3);
}

/// [`radix_4`] with `w[0] = w[1] = 1`.
#[inline(always)]
fn radix_4_unit<L: Lanes, T: Constant<L>>(l: L, x: &mut [L::V], at: [usize; 4], w: &T) {
    let (y0, y2) = l.add_sub(x[at[0]], x[at[2]]);
    let (y1, y3) = l.add_sub(x[at[1]], x[at[3]]);
    (x[at[0]], x[at[1]]) = l.add_sub(y0, y1);
    (x[at[2]], x[at[3]]) = w.butterfly(l, y2, y3);
}

/// Whether the sums have grown too large for level `level` of a group, where it is
/// the sixth: products enter at most five levels as they are.
#[inline(always)]
fn must_fold(levels: u32, level: u32) -> bool {
    levels > FIRST_LEVELS && level + 2 == levels
}

/// `levels` levels of DIF over `x`: `2^levels` values, or as many sets of several values
/// side by side.
#[inline(always)]
pub(super) fn dif<L: Lanes, W: Twiddles<L>>(l: L, x: &mut [L::V], levels: u32, w: &W, kind: Kind) {
    let mut level = levels % 2;
    if level == 1 {
        let half = x.len() / 2;
        for i in 0..half {
            (x[i], x[i + half]) = match kind {
                Kind::Unit => l.add_sub(x[i], x[i + half]),
                Kind::Plain => w.at(0, 0).butterfly(l, x[i], x[i + half]),
            };
        }
    }
    while level < levels {
        let quarter = x.len() >> (level + 2);
        let fold = must_fold(levels, level);
        for q in 0..1 << level {
            let twiddles = [w.at(level, q), w.at(level + 1, 2 * q), w.at(level + 1, 2 * q + 1)];
            let start = 4 * quarter * q;
            for i in start..start + quarter {
                let at = [i, i + quarter, i + 2 * quarter, i + 3 * quarter];
                match kind {
                    Kind::Unit if q == 0 && level <= 1 => radix_4_unit(l, x, at, twiddles[2]),
                    _ => radix_4(l, x, at, twiddles, fold),
                }
            }
        }
        level += 2;
    }
}

/// `levels` levels of DIT over each `2^levels` consecutive values of `x`.
#[inline(always)]
pub(super) fn dit<L: Lanes, W: Twiddles<L>>(l: L, x: &mut [L::V], levels: u32, w: &W, kind: Kind) {
    let mut level = levels % 2;
    if level == 1 {
        for i in (0..x.len()).step_by(2) {
            (x[i], x[i + 1]) = match kind {
                Kind::Unit => l.add_sub(x[i], x[i + 1]),
                Kind::Plain => w.at(0, 0).butterfly(l, x[i], x[i + 1]),
            };
        }
    }
    while level < levels {
        let half = 1 << level;
        let fold = must_fold(levels, level);
        for q in 0..half {
            let twiddles = [w.at(level, q), w.at(level + 1, 2 * q), w.at(level + 1, 2 * q + 1)];
            let j = super::reversed(q, level);
            for i in (j..x.len()).step_by(4 * half) {
                let at = [i, i + 2 * half, i + half, i + 3 * half];
                match kind {
                    Kind::Unit if q == 0 && level <= 1 => radix_4_unit(l, x, at, twiddles[2]),
                    _ => radix_4(l, x, at, twiddles, fold),
                }
            }
        }
        level += 2;
    }
}
