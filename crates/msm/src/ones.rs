//! Sums of bases alone: the part of a multiplication whose scalars are 1.

use rayon::prelude::*;

use crate::arith::{Packed, Table, Term};
use crate::fold::{Row, add_rows};
use crate::pool::Pool;
use crate::rounds::{Rounds, task_terms};

/// How many bases make one partial sum.
const ROW: usize = 256;
/// Partial sums that are kept apart.
const PARTIALS: usize = 1 << 14;

/// A sum in parts.
pub(crate) struct Ones<P: Packed> {
    partials: Vec<P>,
    packed: Pool<Vec<P>>,
}

impl<P: Packed> Default for Ones<P> {
    fn default() -> Self {
        Self { partials: Vec::new(), packed: Pool::default() }
    }
}

impl<P: Packed> Ones<P> {
    /// The most bytes on `threads`, with chunks of `chunk` bases.
    pub(crate) const fn bytes(chunk: usize, threads: usize) -> usize {
        // A vector that grows may have twice the room it needs, while the old one still lives.
        (3 * (PARTIALS + chunk.div_ceil(ROW)) + threads * task_terms::<P>() / 2) * size_of::<P>()
    }

    /// Adds `points[at[k]]` for every `k`.
    pub(crate) fn add(&mut self, points: &[P::Affine], at: &[u32], scratch: &Pool<Rounds<P>>) {
        let task = at.len().div_ceil(4 * rayon::current_num_threads()).clamp(2 * ROW, task_terms::<P>() / 2);
        let sums = at.par_chunks(task).flat_map_iter(|at| {
            let mut sums = vec![P::INFINITY; at.len().div_ceil(ROW)];
            self.packed.with(|packed| {
                packed.resize(packed.len().max(at.len()), P::INFINITY);
                let packed = &mut packed[..at.len()];
                P::pack(points, at, packed);
                scratch.with(|rounds| {
                    for (id, row) in packed.chunks(ROW).enumerate() {
                        let present = row.iter().enumerate().filter(|(_, point)| !point.is_infinity());
                        rounds.row(id, present.map(|(k, _)| Term::new(Table::Points, ROW * id + k, false)));
                    }
                    rounds.finish(packed, &[], |id, sum| sums[id] = sum);
                });
            });
            sums
        });
        let sums: Vec<P> = sums.collect();
        self.partials.extend(sums);
        if self.partials.len() > PARTIALS {
            self.shorten(scratch);
        }
    }

    fn shorten(&mut self, scratch: &Pool<Rounds<P>>) {
        let len = self.partials.len();
        let rows = (0..len).step_by(ROW).map(|first| Row { first, stride: 1, count: ROW.min(len - first) });
        self.partials = add_rows(&self.partials, &rows.collect::<Vec<_>>(), scratch);
    }

    /// The sum of all.
    pub(crate) fn finish(mut self, scratch: &Pool<Rounds<P>>) -> P {
        while self.partials.len() > 1 {
            self.shorten(scratch);
        }
        self.partials.pop().unwrap_or(P::INFINITY)
    }
}
