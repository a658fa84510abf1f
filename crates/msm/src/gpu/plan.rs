//! How a multiplication is cut: windows, groups of windows, chunks of terms.

use std::ops::Range;

use group::Group as _;

use super::DeviceCurve;
use super::scratch::Sizes;
use crate::MsmError;

/// The bits that windows cover: a magnitude of 254 and one for the carry.
const BITS: u32 = 255;
/// Points that an entry can name, with a bit for the sign.
pub(super) const MAX_POINTS: u64 = 1 << 31;
/// Entries of a group, whose places are 32 bits.
const MAX_ENTRIES: u64 = 1 << 31;
/// Threads of a block of `msm_histogram` and `msm_partition` (digits.cuh).
pub(super) const PARTITION_THREADS: u32 = 512;
/// The most digits that a thread of `msm_partition` takes at once (digits.cuh).
const PARTITION_ITEMS: u32 = 16;
/// Shared memory that sorting kernels declare, at most (digits.cuh).
const DECLARED: u32 = 33 << 10;
/// Threads of a block of `msm_sort` (digits.cuh).
pub(super) const SORT_THREADS: u32 = 1024;
/// Entries of a tile of pairs (pairs.cuh).
pub(super) const TILE: u64 = 2048;
/// Products that a thread of `msm_invert` inverts.
pub(super) const INVERT: u64 = 32;
/// The most bits of a partition, and of a bucket within it (digits.cuh).
const MOST_BITS: [u32; 2] = [12, 11];
/// Bytes of shared memory of an entry in `msm_sort`.
pub(super) const STAGED: u32 = 6;
/// Entries that blocks of `msm_sort` sort in shared memory where two of them fit a multiprocessor; and
/// where one does.
const SORT_CAPACITY: [u64; 2] = [16_384 + 1024, 32_768 + 2048];
/// The most bits of a window.
const MAX_WINDOW: u32 = MOST_BITS[0] + MOST_BITS[1] + 1;
/// The most rounds.
const MAX_ROUNDS: u32 = 8;
/// Slots that a warp of a merging level takes (sums.cuh).
pub(super) const MERGE: u64 = 64;
/// The most buckets that a thread folds, as a logarithm.
const MOST_FOLD: u32 = 5;
/// Threads that a multiprocessor has at once, of kernels that add points.
const RESIDENT: u64 = 384;
/// Threads of a block of `msm_picks` (witness.cuh).
pub(super) const PICK_THREADS: u32 = 256;
/// Words of bits that a warp takes at once (witness.cuh).
const WARP_WORDS: u64 = 32;
/// The most spans of words, each of which a warp takes.
const MOST_SPANS: u64 = 1 << 15;
/// Threads that sum a line (sums.cuh).
pub(super) const LINE_LANES: u64 = 16;

/// How a multiplication is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The most terms.
    pub len: u64,
    /// Terms at once.
    pub terms: u64,
    /// Bits of the widest windows, from 2 to 23.
    pub bits: u32,
    /// Windows of so many bits; the others, above them, have one less.
    pub wide: u32,
    /// Windows of a scalar.
    pub windows: u32,
    /// Windows at once.
    pub group: u32,
    /// How often pairs of entries are added before a thread adds up the rest.
    pub rounds: u32,
    /// Entries that a thread adds up.
    pub chunk: u32,
    /// Buckets that a thread folds, as a logarithm.
    pub fold: u32,
    /// Bases at once whose variables may be 1, and are added up beside the terms.
    pub ones: u64,
}

/// What a sum is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Load {
    /// The most terms.
    pub(super) terms: u64,
    /// The bases of which they are, if those of variables that are 1 are added up as well; or 0.
    pub(super) bases: u64,
}

/// What a multiplication is made of, in picoseconds on an H200: what was measured at 2^22 and 2^24
/// terms, over how many there were. Only what they are to each other matters.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// Sorting an entry.
    pub(super) entry: u64,
    /// The sum of a pair.
    pub(super) pair: u64,
    /// The addition of an entry to a bucket.
    pub(super) single: u64,
    /// Folding a bucket.
    pub(super) bucket: u64,
    /// What a round takes however few entries there are.
    pub(super) round: u64,
}

impl Plan {
    /// The plan for up to `len` terms that takes the least time of those within `limit` bytes, on a
    /// card of `units` multiprocessors.
    ///
    /// # Errors
    /// [`MsmError::Limit`] if there is none.
    pub fn new<C: DeviceCurve>(len: u64, limit: u64, units: u32) -> Result<Self, MsmError> {
        Self::within::<C>(Load { terms: len, bases: 0 }, limit, units)
    }

    /// The same for a sum over a witness with a base for so many variables, of which so many may be neither
    /// 0 nor 1.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn witness<C: DeviceCurve>(wide: u64, bases: u64, limit: u64, units: u32) -> Result<Self, MsmError> {
        Self::within::<C>(Load { terms: wide.min(bases), bases }, limit, units)
    }

    fn within<C: DeviceCurve>(load: Load, limit: u64, units: u32) -> Result<Self, MsmError> {
        let mut least = u64::MAX;
        let fits = |sizes: &Sizes| {
            least = least.min(sizes.bytes());
            sizes.bytes() <= limit
        };
        Self::best::<C>(load, fits, units).ok_or(MsmError::Limit { limit, least })
    }

    /// The plan for a load that takes the least time of those whose memory `fits`.
    pub(super) fn best<C: DeviceCurve>(
        load: Load,
        mut fits: impl FnMut(&Sizes) -> bool,
        units: u32,
    ) -> Option<Self> {
        let mut best: Option<(u64, Self)> = None;
        for (bits, rounds) in
            (2..=MAX_WINDOW).flat_map(|bits| (0..=MAX_ROUNDS).map(move |rounds| (bits, rounds)))
        {
            let Some(plan) = Self::largest::<C>(load, [bits, rounds], &mut fits, units) else { continue };
            let cost = plan.cost(&C::COSTS, load);
            if best.as_ref().is_none_or(|(best, _)| cost < *best) {
                best = Some((cost, plan));
            }
        }
        best.map(|(_, plan)| plan)
    }

    /// Windows of up to `bits`, `rounds` of pairs, and as many terms and windows at once as given.
    pub fn of(len: u64, [bits, rounds]: [u32; 2], terms: u64, group: u32, units: u32) -> Self {
        let windows = BITS.div_ceil(bits.clamp(2, MAX_WINDOW));
        // As equal as can be: a small window's few buckets are large, and slow to sort.
        let bits = BITS.div_ceil(windows);
        let wide = BITS - windows * (bits - 1);
        let (terms, group) = (terms.clamp(1, len.max(1)), group.clamp(1, windows));
        // Threads for half of what the card holds, if each has four buckets or more.
        let buckets = (u64::from(windows) << (bits - 1)) / (u64::from(units) * RESIDENT / 2).max(1);
        let fold = buckets.max(1).ilog2().clamp(2, MOST_FOLD).min(bits - 1);
        Self { len, terms, bits, wide, windows, group, rounds, chunk: 1, fold, ones: 0 }.chunked(units)
    }

    /// The same for sums over a witness, of so many bases at once.
    #[must_use]
    pub fn with_ones(self, ones: u64, units: u32) -> Self {
        Self { ones, ..self }.chunked(units)
    }

    /// Chunks for eight waves of the threads that the card holds, so that the last one costs little; of 32
    /// entries, which leave fewer parts to be merged, if that is still one wave.
    fn chunked(self, units: u32) -> Self {
        let wave = self.most(self.rounds) / (u64::from(units) * RESIDENT);
        Self { chunk: (wave / 8).max(wave.min(32)).clamp(16, 256) as u32, ..self }
    }

    /// The most entries of a group after some rounds.
    fn most(&self, rounds: u32) -> u64 {
        let entries = self.terms * u64::from(self.group) + self.ones;
        (0..rounds).fold(entries, |most, _| self.halved(most, self.group))
    }

    /// The most entries that a round leaves of up to `entries` of some windows: one for each pair,
    /// and one for each pair of two buckets, of which there is one less than there are buckets.
    pub(super) fn halved(&self, entries: u64, windows: u32) -> u64 {
        let pairs = entries.div_ceil(2);
        pairs + (entries / 2).min(u64::from(windows) << (self.bits - 1))
    }

    /// The most at once, and then the fewest groups of windows, that fit.
    fn largest<C: DeviceCurve>(
        load: Load,
        shape: [u32; 2],
        fits: &mut impl FnMut(&Sizes) -> bool,
        units: u32,
    ) -> Option<Self> {
        let plan = |most: u64, group| match load.bases {
            0 => Self::of(load.terms, shape, most, group, units),
            _ => Self::of(load.terms, shape, load.terms.min(most), group, units).with_ones(most, units),
        };
        let mut fits = |plan: &Self| plan.most(0) <= MAX_ENTRIES && fits(&plan.sizes::<C>());
        let mut most = load.terms.max(load.bases).max(1);
        while !fits(&plan(most, 1)) {
            if most == 1 {
                return None;
            }
            most = most.div_ceil(2);
        }
        let windows = plan(most, 1).windows;
        (1..=windows).map(|groups| plan(most, windows.div_ceil(groups))).find(fits)
    }

    /// Time in picoseconds.
    fn cost(&self, costs: &Costs, load: Load) -> u64 {
        // Buckets that may have entries; there is place for 2^(bits - 1) in every window.
        let buckets = u64::from(self.windows + self.wide) << (self.bits - 1) >> 1;
        let entries = u64::from(self.windows) * self.terms;
        let (mut left, mut time) = (entries, costs.entry * entries);
        // Half of the variables may be 1.
        let mut ones = self.ones / 2;
        for _ in 0..self.rounds {
            // A pair at the end of a bucket is of two buckets every other time.
            let next = left / 2 + buckets.min(left) / 2;
            time += costs.pair * (left - next + ones / 2);
            (left, ones) = (next, ones / 2);
        }
        time += costs.single * (left + ones) + costs.bucket * (u64::from(self.windows) << (self.bits - 1));
        let groups = self.groups().count() as u64;
        let chunks = load.bases.checked_div(self.ones).unwrap_or(0).max(self.len.div_ceil(self.terms)).max(1);
        chunks * (time + groups * (1 + u64::from(self.rounds)) * costs.round)
    }

    /// All memory beside bases and scalars.
    pub fn bytes<C: DeviceCurve>(&self) -> u64 {
        self.sizes::<C>().bytes()
    }

    pub(super) fn sizes<C: DeviceCurve>(&self) -> Sizes {
        let group = u64::from(self.group);
        let entries = self.most(0);
        let slots = 2 * self.most(self.rounds).div_ceil(self.chunk.into()).max(1) + 1;
        let merged = 2 * slots.div_ceil(MERGE) + 1;
        let windows = u64::from(self.windows);
        let buckets = windows << (self.bits - 1);
        // Nothing that rounds or ones need, where there are none.
        let with = |rounds: u32, bytes: u64| if self.rounds >= rounds { bytes } else { 0 };
        let of_ones = |bytes: u64| if self.ones > 0 { bytes } else { 0 };
        let tiles = entries.div_ceil(TILE).max(1);
        let left = with(1, 4 * tiles).max(of_ones(4 * (1 + MOST_SPANS)));
        let products = 32 * tiles * C::COORDINATE;
        let counts = 4 * group * u64::from(self.partitions());
        let sums = (buckets >> self.fold) * C::SUM;
        let sizes = Sizes {
            picks: of_ones(8 * self.terms),
            terms: of_ones(4),
            entries: [8 * entries.next_multiple_of(2); 2],
            counts,
            offsets: counts + 4,
            cursors: counts,
            left,
            places: [left + 4; 2],
            points: [1, 2].map(|round| with(round, C::AFFINE * self.most(round))),
            before: with(1, entries.div_ceil(2) * C::COORDINATE),
            products: [with(1, products); 2],
            buckets: buckets * C::SUM + of_ones(C::SUM),
            numbers: [4 * slots, 4 * merged],
            parts: [C::SUM * slots, C::SUM * merged],
            sums,
            weighted: sums,
            lines: windows * self.lines() * C::SUM,
            results: self.points() as u64 * C::SUM,
        };
        sizes.rounded()
    }

    /// Bits of a bucket's number within its partition.
    pub(super) fn low(&self) -> u32 {
        // As few partitions as can be sorted in shared memory: few make long runs.
        let bits = self.bits - 1;
        let partitions = (self.terms >> 14).max(1).ilog2().min(MOST_BITS[0]);
        bits.saturating_sub(partitions).min(MOST_BITS[1])
    }

    /// Into how many spans of how many words so many words of bits are cut.
    pub(super) fn spans(words: u64) -> [u64; 2] {
        let span = words.div_ceil(MOST_SPANS).next_multiple_of(WARP_WORDS).max(WARP_WORDS);
        [words.div_ceil(span).max(1), span]
    }

    /// Digits that a thread of `msm_partition` takes at once, where a block may have `shared` bytes of
    /// shared memory.
    pub(super) fn items(shared: u32) -> u32 {
        let fit = shared.saturating_sub(DECLARED) / (8 * PARTITION_THREADS);
        fit.clamp(1, PARTITION_ITEMS)
    }

    /// Entries that a block sorts in shared memory, of some windows.
    pub(super) fn capacity(&self, shared: u32, windows: &Range<u32>) -> u32 {
        let [most, more] = SORT_CAPACITY;
        // A window of a bit less has half as many partitions.
        let narrow = u32::from(windows.end > self.wide);
        let usual = self.terms >> (self.bits - 1 - self.low()).saturating_sub(narrow);
        let wanted = if usual * 17 / 16 <= most { most } else { more };
        (wanted as u32).min(shared.saturating_sub(DECLARED) / STAGED) / 2 * 2
    }

    /// Partitions of a window.
    pub(super) fn partitions(&self) -> u32 {
        1 << (self.bits - 1 - self.low())
    }

    /// Windows that are done at once, one group after another.
    pub(super) fn groups(&self) -> impl Iterator<Item = Range<u32>> + use<> {
        let Self { windows, group, .. } = *self;
        (0..windows).step_by(group as usize).map(move |start| start..windows.min(start + group))
    }

    /// Terms that are taken at once, one chunk after another; one of none if there are none.
    pub(super) fn chunks(&self, len: u64) -> Vec<Range<u64>> {
        let chunks = len.div_ceil(self.terms);
        (0..chunks).map(|i| i * self.terms..len.min((i + 1) * self.terms)).collect()
    }

    /// Where a window begins.
    fn position(&self, window: u32) -> u32 {
        window * (self.bits - 1) + window.min(self.wide)
    }

    /// What is added to a scalar to make its digits plain bits: the highest bit of every window
    /// but the last. The sum stays below 2^256: it ends below the last window, which begins
    /// below bit 255, and a magnitude is below 2^254.
    pub(super) fn offset(&self) -> [u64; 4] {
        let mut offset = [0; 4];
        for w in 1..self.windows {
            let bit = self.position(w) - 1;
            offset[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        offset
    }

    /// Bits of the rows and of the columns of what the buckets of a window are folded to.
    pub(super) fn lines_of(&self) -> [u32; 2] {
        let bits = self.bits - 1 - self.fold;
        [bits / 2, bits - bits / 2]
    }

    /// Lines of a window (sums.cuh).
    pub(super) fn lines(&self) -> u64 {
        let [rows, columns] = self.lines_of();
        (2 << rows) + (1 << columns)
    }

    /// Points that are left of a window: a sum, and one for each bit of the rest.
    pub(super) fn results(&self) -> u32 {
        self.bits - self.fold
    }

    /// The bucket beside those of all windows.
    pub(super) fn beside(&self) -> u64 {
        u64::from(self.windows) << (self.bits - 1)
    }

    /// Points that are left in the end: those of all windows, and the sum beside them.
    pub(super) fn points(&self) -> usize {
        (self.windows * self.results()) as usize + usize::from(self.ones > 0)
    }

    /// The sum of all, of the [points](Self::points) that are left.
    pub(super) fn join<C: DeviceCurve>(&self, points: &[C::Projective]) -> C::Projective {
        let times = |sum: C::Projective, bits| (0..bits).fold(sum, |sum, _| sum.double());
        let windows = points.chunks_exact(self.results() as usize).zip(0..self.windows);
        let total = windows.rev().fold(C::zero(), |total, (points, w)| {
            let bits = points[1..].iter().rev().fold(C::zero(), |sum, point| times(sum, 1) + point);
            let window = times(bits, self.fold) + points[0];
            times(total, self.position(w + 1) - self.position(w)) + window
        });
        points.get((self.windows * self.results()) as usize).map_or(total, |ones| total + *ones)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{G1, G2};

    /// Windows that were measured best on an H200 (132 multiprocessors) within 20 GiB.
    #[test]
    fn what_measured_best_is_chosen() {
        let bits = |log, g2| {
            let (len, limit) = (1_u64 << log, 20 << 30);
            let plan = if g2 { Plan::new::<G2>(len, limit, 132) } else { Plan::new::<G1>(len, limit, 132) };
            plan.map(|plan| (plan.bits, plan.rounds))
        };
        for (log, g2, want) in [
            (22, false, (17, 4..=5)),
            (24, false, (19, 4..=6)),
            (26, false, (20, 5..=6)),
            (22, true, (17, 5..=6)),
            (24, true, (19, 5..=6)),
        ] {
            let (bits, rounds) = bits(log, g2).expect("a plan");
            assert!(bits == want.0 && want.1.contains(&rounds), "{log} {g2}: {bits} bits, {rounds} rounds");
        }
    }

    /// No sum of a magnitude and the offset leaves 256 bits, and windows cover 255.
    #[test]
    fn windows_cover_a_scalar() {
        for bits in 2..=MAX_WINDOW {
            let plan = Plan::of(1, [bits, 0], 1, 1, 1);
            assert_eq!(plan.position(plan.windows), BITS);
            assert!(plan.wide > 0 && plan.wide <= plan.windows && plan.bits <= bits, "{plan:?}");
            let offset = plan.offset();
            assert_eq!(offset.iter().map(|word| word.count_ones()).sum::<u32>(), plan.windows - 1);
            assert!(offset[3].leading_zeros() > 0, "below 2^255, and a magnitude below 2^254");
            let sizes = plan.sizes::<G1>();
            assert!(plan.partitions() <= 1 << MOST_BITS[0] && plan.low() <= MOST_BITS[1], "{plan:?}");
            assert!(sizes.results >= 4 * 48 * plan.points() as u64);
        }
    }
}
