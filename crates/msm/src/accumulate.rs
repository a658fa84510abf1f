//! A multiplication that takes its bases chunk by chunk.

use cuzk_values::Scalar;
use group::Group;
use rayon::prelude::*;

use crate::Curve;
use crate::arith::Packed;
use crate::bucket::Buckets;
use crate::digits::{Digits, Windows};
use crate::fold::fold;
use crate::ones::Ones;
use crate::pool::Pool;
use crate::rounds::{Rounds, task_terms};
use crate::select::Selection;

/// How many wide scalars are sorted into buckets at once.
///
/// Their bases are then read in random order: 8 MiB of them fit a level 3 cache and the
/// translation caches. But every batch also passes over all buckets, which with large
/// windows costs more, unless a bucket gets four terms on the way.
fn batch_len<P>(windows: &Windows) -> usize {
    let points = |bytes: usize| bytes / size_of::<P>();
    (4 * windows.buckets()).clamp(points(8 << 20), points(32 << 20))
}

/// The sum so far: bases with scalar 1 in partial sums, the others in buckets or waiting.
pub(crate) struct Accumulator<P: Packed> {
    windows: Windows,
    batch: usize,
    /// Made with the first full batch.
    buckets: Option<Buckets<P>>,
    /// Bases that wait for a full batch, and their scalars.
    points: Vec<P>,
    scalars: Vec<Scalar>,
    digits: Digits,
    ones: Ones<P>,
    scratch: Pool<Rounds<P>>,
}

impl<P: Packed> Accumulator<P> {
    /// The most bytes of a multiplication with up to `wide` wide scalars, in chunks
    /// of `chunk` bases, on `threads`.
    pub(crate) fn bytes(wide: usize, chunk: usize, threads: usize) -> usize {
        let windows = Windows::for_scalars(wide);
        let batch = wide.min(batch_len::<P>(&windows));
        let waiting = batch * (size_of::<P>() + size_of::<Scalar>());
        let tasks = threads * Rounds::<P>::bytes(task_terms::<P>());
        let ones = Ones::<P>::bytes(chunk, threads);
        Buckets::<P>::bytes(&windows, batch, threads) + Digits::bytes(batch) + waiting + tasks + ones
    }

    /// Nothing yet, and windows that suit `wide` wide scalars.
    pub(crate) fn new(wide: usize) -> Self {
        let windows = Windows::for_scalars(wide);
        Self {
            windows,
            batch: wide.clamp(1, batch_len::<P>(&windows)),
            buckets: None,
            points: Vec::new(),
            scalars: Vec::new(),
            digits: Digits::default(),
            ones: Ones::default(),
            scratch: Pool::default(),
        }
    }

    /// Adds what is selected of `points`.
    pub(crate) fn add(&mut self, points: &[P::Affine], selection: &Selection) {
        self.ones.add(points, &selection.ones, &self.scratch);
        let (mut at, mut wide) = (&selection.wide_at[..], &selection.wide[..]);
        while !at.is_empty() {
            let room = at.len().min(self.batch - self.points.len());
            self.wait(points, &at[..room], &wide[..room]);
            (at, wide) = (&at[room..], &wide[room..]);
            if self.points.len() == self.batch {
                self.flush();
            }
        }
    }

    fn wait(&mut self, points: &[P::Affine], at: &[u32], wide: &[Scalar]) {
        /// Bases that are packed in one go.
        const PACK: usize = 2048;
        let waiting = self.points.len();
        self.points.reserve_exact(self.batch - waiting);
        self.points.resize(waiting + at.len(), P::INFINITY);
        let packed = self.points[waiting..].par_chunks_mut(PACK);
        packed.zip(at.par_chunks(PACK)).for_each(|(packed, at)| P::pack(points, at, packed));
        self.scalars.reserve_exact(self.batch - waiting);
        self.scalars.extend_from_slice(wide);
    }

    fn flush(&mut self) {
        let points = &self.points;
        self.digits.recode(&self.windows, &self.scalars, |i| points[i].is_infinity());
        let buckets = self.buckets.get_or_insert_with(|| Buckets::new(self.windows));
        buckets.add(points, &self.digits, &self.scratch);
        self.points.clear();
        self.scalars.clear();
    }

    /// The sum.
    pub(crate) fn finish<C: Curve<Affine = P::Affine>>(mut self) -> C::Projective {
        if !self.points.is_empty() {
            self.flush();
        }
        let mut sum = C::Projective::identity();
        if let Some(buckets) = &self.buckets {
            let bits = fold(&self.windows, buckets.points(), buckets.used(), &self.scratch);
            let highest = bits.iter().rposition(|point| !point.is_infinity());
            for point in bits[..highest.map_or(0, |bit| bit + 1)].iter().rev() {
                sum = sum.double();
                sum += &point.unpack();
            }
        }
        sum += &self.ones.finish(&self.scratch).unpack();
        sum
    }
}
