//! From buckets to the sum.
//!
//! `sum_i i V_i` over `2^k` points is halved: with `i = 2^l h + j`,
//!
//! ```text
//! sum_i i V_i = sum_j j L_j + 2^l sum_h h H_h     L_j = sum_h V_(2^l h + j)    H_h = sum_j V_(2^l h + j)
//! ```
//!
//! so that two additions a point leave two problems of `2^(k/2)`, all of them rows
//! for [`Rounds`], and in the end one point for every bit of the scalars. The usual
//! running sums also take two additions a point, but one after another, so that
//! they cannot share inversions.

use rayon::prelude::*;

use crate::arith::{Packed, Table, Term};
use crate::digits::Windows;
use crate::pool::Pool;
use crate::rounds::{Rounds, task_terms};

/// `2^log` points of which number `i` counts `i 2^bit` times.
struct Weighted {
    /// Where the points are.
    first: usize,
    log: u32,
    bit: usize,
}

/// Points to be added up: `count` of them, `stride` apart.
pub(crate) struct Row {
    pub(crate) first: usize,
    pub(crate) stride: usize,
    pub(crate) count: usize,
}

/// The points `B_k` with `sum_b b V_b 2^(cw) = sum_k 2^k B_k` over all buckets `b` of
/// all windows `w` that are `used`.
pub(crate) fn fold<P: Packed>(
    windows: &Windows,
    buckets: &[P],
    used: &[bool],
    scratch: &Pool<Rounds<P>>,
) -> Vec<P> {
    let (c, size) = (windows.bits as usize, windows.buckets());
    let mut bits = vec![P::INFINITY; c * windows.count];
    let mut open = Vec::new();
    for w in (0..windows.count).filter(|w| used[*w]) {
        bits[c * w + c - 1] = buckets[size * w]; // bucket 0 has magnitude 2^(c-1)
        open.push(Weighted { first: size * w, log: windows.bits - 1, bit: c * w });
    }
    halve(buckets, open, &mut bits, scratch);
    bits
}

/// Halves the problems `open` over `points` until each is one bit's.
fn halve<P: Packed>(points: &[P], open: Vec<Weighted>, bits: &mut [P], scratch: &Pool<Rounds<P>>) {
    let (mut rows, mut halves) = (Vec::new(), Vec::new());
    for Weighted { first, log, bit } in open {
        if log == 1 {
            bits[bit] = points[first + 1];
            continue;
        }
        let low = log / 2;
        let (columns, lines) = (1 << low, 1 << (log - low));
        // Column 0 and line 0 count 0 times.
        let empty = || Row { first, stride: 1, count: 0 };
        halves.push(Weighted { first: rows.len(), log: low, bit });
        rows.push(empty());
        rows.extend((1..columns).map(|j| Row { first: first + j, stride: columns, count: lines }));
        halves.push(Weighted { first: rows.len(), log: log - low, bit: bit + low as usize });
        rows.push(empty());
        rows.extend((1..lines).map(|h| Row { first: first + columns * h, stride: 1, count: columns }));
    }
    if !rows.is_empty() {
        halve(&add_rows(points, &rows, scratch), halves, bits, scratch);
    }
}

/// The sum of each row; infinity where it has no points.
pub(crate) fn add_rows<P: Packed>(points: &[P], rows: &[Row], scratch: &Pool<Rounds<P>>) -> Vec<P> {
    let terms: usize = rows.iter().map(|row| row.count).sum();
    let longest = rows.iter().map(|row| row.count).max().unwrap_or(1).max(1);
    let task = terms.div_ceil(4 * rayon::current_num_threads()).clamp(1024, task_terms::<P>());
    let rows_a_task = (task / longest).max(1);
    let mut sums = vec![P::INFINITY; rows.len()];
    rows.par_chunks(rows_a_task).zip(sums.par_chunks_mut(rows_a_task)).for_each(|(rows, sums)| {
        scratch.with(|rounds| {
            for (id, row) in rows.iter().enumerate() {
                let places = (0..row.count).map(|k| row.first + k * row.stride);
                let present = places.filter(|i| !points[*i].is_infinity());
                rounds.row(id, present.map(|i| Term::new(Table::Points, i, false)));
            }
            rounds.finish(points, &[], |id, sum| sums[id] = sum);
        });
    });
    sums
}
