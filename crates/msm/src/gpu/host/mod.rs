//! What the kernels do, in Rust: the definition of those in `crates/gpu-backend/kernels/msm`.
//!
//! Numbers and entries are theirs. Sums are equal as points: their coordinates may differ
//! by a common factor, and so does the order of entries within a bucket.

mod digits;
mod pairs;
mod sums;
mod witness;

use std::ops::Range;

pub(super) use digits::{digits, histogram, partition, scan, sort};
pub(super) use pairs::{backward, count, forward, invert};
pub(super) use sums::{accumulate, bits, fold, lines, merge};
pub(super) use witness::{ones, ones_count, picks};

use super::group::{Element, Group};

/// The words of the `i`-th element.
fn field<C: Group>(i: usize) -> Range<usize> {
    C::Field::WORDS * i..C::Field::WORDS * (i + 1)
}

/// Points: abscissas `step` coordinates apart, each ordinate `ordinate` after its abscissa.
#[derive(Clone, Copy)]
struct Points<'a> {
    words: &'a [u64],
    step: usize,
    ordinate: usize,
}

impl Points<'_> {
    /// The point of an entry.
    fn of<C: Group>(&self, entry: u64) -> C::Affine {
        let at = (entry as u32 >> 1) as usize * self.step;
        let point = [at, at + self.ordinate].map(|i| C::Field::from_words(&self.words[field::<C>(i)]));
        let point = C::from_coordinates(point);
        if entry & 1 == 1 { -point } else { point }
    }
}
