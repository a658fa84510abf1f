//! Buckets: where the bases of equal digits are added up, for all windows at once.
//!
//! The digits of a batch are sorted into rows, one a bucket, all windows one after
//! another; equal pieces of that list are the tasks. What remains in the end is
//! `sum_b b B_b` for every window (see [`fold`](crate::fold)).

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::arith::{Packed, Table, Term};
use crate::digits::{Digits, Windows};
use crate::pool::Pool;
use crate::rounds::{Rounds, task_terms};

/// The buckets of all windows, and memory to sort a batch of digits.
pub(crate) struct Buckets<P: Packed> {
    windows: Windows,
    /// Those of window `w` from `w * windows.buckets()` on.
    points: Vec<P>,
    /// How many digits each bucket has from each block of scalars; then where they go.
    counts: Vec<u32>,
    /// Where each bucket's terms begin, and the end of all.
    starts: Vec<u32>,
    /// Terms by bucket.
    terms: Vec<AtomicU32>,
    /// Whether any base is in a window.
    used: Vec<bool>,
}

/// The sum of a task's first terms, which belong to a bucket of the task before.
struct Orphan<P> {
    bucket: usize,
    sum: P,
}

impl<P: Packed> Buckets<P> {
    /// The bytes of these buckets and of sorting batches of up to `batch` scalars on `threads`.
    pub(crate) fn bytes(windows: &Windows, batch: usize, threads: usize) -> usize {
        let buckets = windows.count * windows.buckets();
        let counters = buckets * (1 + blocks(windows, batch, threads));
        buckets * size_of::<P>() + (counters + windows.count * batch) * size_of::<u32>()
    }

    /// Empty buckets.
    pub(crate) fn new(windows: Windows) -> Self {
        Self {
            windows,
            points: vec![P::INFINITY; windows.count * windows.buckets()],
            counts: Vec::new(),
            starts: Vec::new(),
            terms: Vec::new(),
            used: vec![false; windows.count],
        }
    }

    /// All buckets.
    pub(crate) fn points(&self) -> &[P] {
        &self.points
    }

    /// For each window, whether any base is in it.
    pub(crate) fn used(&self) -> &[bool] {
        &self.used
    }

    /// Adds each of `points` to the buckets of its scalar's digits.
    pub(crate) fn add(&mut self, points: &[P], digits: &Digits, scratch: &Pool<Rounds<P>>) {
        self.sort(digits, points.len());
        let (starts, terms) = (&self.starts, &self.terms);
        let total = starts.last().map_or(0, |end| *end as usize);
        let size = total.div_ceil(8 * rayon::current_num_threads()).clamp(1024, task_terms::<P>());

        // A task has `size` terms, and owns the buckets that begin among them.
        let mut tasks = Vec::with_capacity(total.div_ceil(size));
        let (mut first, mut rest) = (0, &mut self.points[..]);
        for from in (0..total).step_by(size) {
            let to = total.min(from + size);
            let next = starts[..starts.len() - 1].partition_point(|start| (*start as usize) < to);
            let (owned, after) = rest.split_at_mut(next - first);
            tasks.push((from..to, first, owned));
            (first, rest) = (next, after);
        }
        let orphans = tasks.into_par_iter().filter_map(|(range, first, owned)| {
            scratch.with(|rounds| {
                let row = |from: usize, to: usize| {
                    terms[from..to].iter().map(|t| Term::from_bits(t.load(Ordering::Relaxed)))
                };
                for b in 0..owned.len() {
                    let (from, to) = (starts[first + b] as usize, starts[first + b + 1] as usize);
                    rounds.row(b, row(from, to.min(range.end)));
                }
                rounds.finish_into(points, owned);
                let begin = (starts[first] as usize).min(range.end);
                let mut orphan = None;
                if range.start < begin {
                    rounds.row(first - 1, row(range.start, begin));
                    rounds.finish(points, &[], |bucket, sum| orphan = Some(Orphan { bucket, sum }));
                }
                orphan
            })
        });
        let orphans: Vec<_> = orphans.collect();
        let sums: Vec<_> = orphans.iter().map(|orphan| orphan.sum).collect();
        scratch.with(|rounds| {
            let mut k = 0;
            for same in orphans.chunk_by(|a, b| a.bucket == b.bucket) {
                rounds.row(same[0].bucket, (k..k + same.len()).map(|k| Term::new(Table::Points, k, false)));
                k += same.len();
            }
            rounds.finish_into(&sums, &mut self.points);
        });
    }

    /// Counting sort of the digits of scalars `0..len` that are not 0.
    fn sort(&mut self, digits: &Digits, len: usize) {
        let Self { windows, counts, starts, terms, used, .. } = self;
        let buckets = windows.buckets();
        let blocks = blocks(windows, len, rayon::current_num_threads());
        let block = |i: usize| (i % blocks) * len / blocks..(i % blocks + 1) * len / blocks;

        counts.clear();
        counts.resize(windows.count * blocks * buckets, 0);
        counts.par_chunks_mut(buckets).enumerate().for_each(|(i, counts)| {
            digits.for_each(windows, i / blocks, block(i), |_, digit| counts[digit.bucket] += 1);
        });

        let mut window_starts = Vec::with_capacity(windows.count);
        let totals = counts.par_chunks(blocks * buckets).map(|counts| counts.iter().sum::<u32>());
        let totals: Vec<u32> = totals.collect();
        let mut total = 0;
        for (count, used) in totals.iter().zip(used) {
            window_starts.push(total);
            total += count;
            *used |= *count > 0;
        }

        starts.resize(windows.count * buckets + 1, 0);
        starts[windows.count * buckets] = total;
        let each_window = counts.par_chunks_mut(blocks * buckets).zip(starts.par_chunks_mut(buckets));
        each_window.zip(window_starts).for_each(|((counts, starts), mut next)| {
            for (bucket, start) in starts.iter_mut().enumerate() {
                *start = next;
                for block in 0..blocks {
                    let count = &mut counts[block * buckets + bucket];
                    (*count, next) = (next, next + *count);
                }
            }
        });

        if terms.len() < total as usize {
            terms.resize_with(total as usize, AtomicU32::default);
        }
        counts.par_chunks_mut(buckets).enumerate().for_each(|(i, next)| {
            digits.for_each(windows, i / blocks, block(i), |scalar, digit| {
                let at = &mut next[digit.bucket];
                let term = Term::new(Table::Points, scalar, digit.negative);
                terms[*at as usize].store(term.to_bits(), Ordering::Relaxed);
                *at += 1;
            });
        });
    }
}

/// Into how many blocks scalars are cut, so that windows times blocks occupy all threads.
fn blocks(windows: &Windows, scalars: usize, threads: usize) -> usize {
    (2 * threads / windows.count).clamp(1, scalars.div_ceil(4096).max(1))
}
