//! Rows of points, each added up to one, in rounds of pairwise additions.
//!
//! A round pairs the terms of every row, first with second, third with fourth;
//! the additions of all rows are independent and share their inversions. The sums
//! are the terms of the next round. A row of `n` terms takes `n - 1` additions in
//! `log2 n` rounds however the points coincide, so that no bucket is too hot.

use crate::arith::{Packed, Table, Tables, Term, resolve};

/// The most terms of a task: their sums fit a level 2 cache.
pub(crate) const fn task_terms<P>() -> usize {
    (2 << 20) / size_of::<P>()
}

/// Memory for the rows of one task, kept from task to task.
pub(crate) struct Rounds<P: Packed> {
    /// The rows that have more than one term.
    rows: Vec<Row>,
    /// Those that have one.
    done: Vec<(usize, Term)>,
    /// What the next round adds.
    pairs: Vec<[Term; 2]>,
    /// Sums. The last will be those of `pairs`.
    sums: Vec<P>,
    /// How many of `sums` are there, those of `pairs` included.
    used: usize,
    work: P::Work,
}

/// A row whose terms are sums of pairs, and one more where their number was odd.
struct Row {
    id: usize,
    first: usize,
    len: usize,
    extra: Option<Term>,
}

impl<P: Packed> Default for Rounds<P> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            done: Vec::new(),
            pairs: Vec::new(),
            sums: Vec::new(),
            used: 0,
            work: P::Work::default(),
        }
    }
}

impl<P: Packed> Rounds<P> {
    /// The most bytes that rows of `terms` terms in all take.
    pub(crate) const fn bytes(terms: usize) -> usize {
        // A row with work to do has two terms or more.
        let lists = size_of::<Row>() / 2 + size_of::<(usize, Term)>() + size_of::<[Term; 2]>();
        terms * (size_of::<P>() + lists) + P::WORK_BYTES
    }

    /// Appends a row, and pairs its terms. One without terms is left out.
    #[inline]
    pub(crate) fn row(&mut self, id: usize, mut terms: impl Iterator<Item = Term>) {
        let first = self.used;
        let extra = loop {
            match (terms.next(), terms.next()) {
                (Some(a), Some(b)) => {
                    self.pairs.push([a, b]);
                    self.used += 1;
                }
                (last, _) => break last,
            }
        };
        match extra {
            Some(term) if first == self.used => self.done.push((id, term)),
            None if first == self.used => {}
            _ => self.rows.push(Row { id, first, len: self.used - first, extra }),
        }
    }

    /// Adds up all rows. Their terms are of `points` and `buckets`.
    fn run(&mut self, points: &[P], buckets: &[P]) {
        while !self.pairs.is_empty() {
            self.add_pairs(points, buckets);
            self.pair_up();
        }
    }

    /// Adds the pairs.
    fn add_pairs(&mut self, points: &[P], buckets: &[P]) {
        if self.sums.len() < self.used {
            self.sums.resize(self.used, P::INFINITY);
        }
        let (sums, new) = self.sums[..self.used].split_at_mut(self.used - self.pairs.len());
        P::add_pairs([points, buckets, sums, &[]], &self.pairs, new, &mut self.work);
        self.pairs.clear();
    }

    /// Pairs the terms of every row.
    fn pair_up(&mut self) {
        let Self { rows, done, pairs, used, .. } = self;
        let sum = |i| Term::new(Table::Sums, i, false);
        rows.retain_mut(|row| {
            let Row { id, first, len, extra } = *row;
            let last = sum(first + len - 1);
            if len == 1 && extra.is_none() {
                done.push((id, last));
                return false;
            }
            let next = *used;
            pairs.extend((0..len / 2).map(|k| [sum(first + 2 * k), sum(first + 2 * k + 1)]));
            row.extra = match extra {
                Some(extra) if len % 2 == 1 => {
                    pairs.push([last, extra]);
                    None
                }
                None if len % 2 == 1 => Some(last),
                extra => extra,
            };
            row.first = next;
            row.len = usize::midpoint(len, extra.is_some().into());
            *used += row.len;
            true
        });
    }

    fn clear(&mut self) {
        self.done.clear();
        self.used = 0;
    }

    /// Adds up all rows and gives the sum of row `id` to `take`, in no order.
    pub(crate) fn finish(&mut self, points: &[P], buckets: &[P], mut take: impl FnMut(usize, P)) {
        self.run(points, buckets);
        let tables: Tables<'_, P> = [points, buckets, &self.sums, &[]];
        for (id, term) in &self.done {
            take(*id, resolve(tables, *term));
        }
        self.clear();
    }

    /// Adds up all rows of `points` and adds the sum of row `id` to `buckets[id]`.
    pub(crate) fn finish_into(&mut self, points: &[P], buckets: &mut [P]) {
        self.run(points, &[]);
        let mut done = std::mem::take(&mut self.done);
        done.retain(|(id, term)| {
            let empty = buckets[*id].is_infinity();
            if empty {
                buckets[*id] = resolve([points, &[], &self.sums, &[]], *term);
            } else {
                self.pairs.push([Term::new(Table::Buckets, *id, false), *term]);
            }
            !empty
        });
        self.used += done.len();
        self.add_pairs(points, buckets);
        for ((id, _), sum) in done.iter().zip(&self.sums[self.used - done.len()..]) {
            buckets[*id] = *sum;
        }
        self.done = done;
        self.clear();
    }
}
