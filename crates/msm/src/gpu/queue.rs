//! What a sum queues, one launch after the other.

use std::ops::Range;

use cuzk_gpu_backend::{Arg, Backend, Device, Grid, Kernel, Stream};

use super::DeviceCurve;
use super::plan::{self, MERGE, Plan};
use super::scratch::{Roles, Sizes};
use crate::MsmError;

/// The kernels of a group.
#[derive(Debug)]
pub struct Kernels<B: Backend> {
    pub(super) picks: B::Kernel,
    digits: B::Kernel,
    histogram: B::Kernel,
    scan: B::Kernel,
    partition: B::Kernel,
    sort: B::Kernel,
    ones_count: B::Kernel,
    ones: B::Kernel,
    count: B::Kernel,
    forward: B::Kernel,
    invert: B::Kernel,
    backward: B::Kernel,
    accumulate: B::Kernel,
    merge: B::Kernel,
    fold: B::Kernel,
    lines: B::Kernel,
    bits: B::Kernel,
    /// The most shared memory of a block.
    shared: u32,
}

impl<B: Backend> Kernels<B> {
    pub(super) fn new<C: DeviceCurve>(device: &B::Device) -> Result<Self, MsmError> {
        let kernel = |name: &str| device.kernel(C::family(), name);
        Ok(Self {
            picks: kernel("msm_picks")?,
            digits: kernel("msm_digits")?,
            histogram: kernel("msm_histogram")?,
            scan: kernel("msm_scan")?,
            partition: kernel("msm_partition")?,
            sort: kernel("msm_sort")?,
            ones_count: kernel("msm_ones_count")?,
            ones: kernel("msm_ones")?,
            count: kernel("msm_count")?,
            forward: kernel("msm_forward")?,
            invert: kernel("msm_invert")?,
            backward: kernel("msm_backward")?,
            accumulate: kernel("msm_accumulate")?,
            merge: kernel("msm_merge")?,
            fold: kernel("msm_fold")?,
            lines: kernel("msm_lines")?,
            bits: kernel("msm_bits")?,
            shared: device.info().max_shared,
        })
    }
}

/// Terms of a sum that are on the device.
pub(super) struct Terms<'a, B: Backend> {
    pub(super) bases: &'a B::Buffer,
    /// Scalars of inputs, and the others.
    pub(super) scalars: [&'a B::Buffer; 2],
    /// How many are inputs.
    pub(super) inputs: u64,
    /// Whether the picks say which terms there are. If not, they are bases from `first` on with
    /// scalars from `at` on.
    pub(super) picked: bool,
    pub(super) first: u64,
    pub(super) at: u64,
    /// How many there are, or may be.
    pub(super) len: u64,
}

/// Variables that are 1, of which some have a base.
pub(super) struct Ones<'a, B: Backend> {
    pub(super) bits: &'a B::Buffer,
    pub(super) density: &'a B::Buffer,
    pub(super) ranks: &'a B::Buffer,
    /// Words of bits, and those of the others before them.
    pub(super) words: u64,
    pub(super) skip: u64,
    /// The base that comes first on the device; and those that are meant, from there.
    pub(super) origin: u64,
    pub(super) bases: Range<u64>,
}

/// Entries sorted by bucket, on the device, of up to `most` points.
struct Sorted<'a, B: Backend> {
    most: u64,
    /// Which of the two buffers of entries.
    at: usize,
    points: &'a B::Buffer,
    /// How many coordinates the next abscissa is away, and the ordinate.
    steps: [u64; 2],
    /// How many there are is here, at `last`.
    totals: &'a B::Buffer,
    last: u64,
}

/// What a sum is queued with.
pub(super) struct Queue<'a, B: Backend, C> {
    pub(super) plan: &'a Plan,
    /// Bytes that the plan uses of the memory.
    pub(super) sizes: Sizes,
    pub(super) kernels: &'a Kernels<B>,
    pub(super) memory: &'a Roles<B::Buffer>,
    pub(super) stream: &'a B::Stream,
    pub(super) curve: std::marker::PhantomData<C>,
}

impl<'a, B: Backend, C: DeviceCurve> Queue<'a, B, C> {
    /// All that is done on the device for some terms, and for ones beside them.
    pub(super) fn sum(&self, terms: &Terms<'a, B>, ones: Option<&Ones<'a, B>>) -> Result<(), MsmError> {
        let Self { plan, sizes, memory, stream, .. } = self;
        stream.zero(&memory.buckets, 0..sizes.buckets)?;
        for windows in plan.groups() {
            let mut sorted = self.sort(terms, &windows)?;
            if let Some(ones) = ones.filter(|_| windows.end == plan.windows) {
                sorted = self.append(&sorted, ones)?;
            }
            for round in 0..plan.rounds {
                sorted = self.halve(&sorted, round as usize, &windows)?;
            }
            self.accumulate(&sorted)?;
        }
        self.fold()?;
        if plan.ones > 0 {
            // The bucket beside those of all windows, after what is left of these.
            let [from, to] = [plan.beside(), plan.points() as u64 - 1].map(|point| point * C::SUM);
            stream.copy(&memory.buckets, from..from + C::SUM, &memory.results, to)?;
        }
        Ok(())
    }

    /// Bytes of what is left.
    pub(super) fn left(&self) -> u64 {
        self.plan.points() as u64 * C::SUM
    }

    /// Digits of some windows of all terms, sorted by bucket.
    fn sort(&self, terms: &Terms<'a, B>, windows: &Range<u32>) -> Result<Sorted<'a, B>, MsmError> {
        let Self { plan, kernels, memory, stream, .. } = self;
        let n = terms.len;
        let count = windows.end - windows.start;
        let (low, partitions) = (plan.low(), plan.partitions());
        let offset = plan.offset();
        let [digits, entries] = &memory.entries;
        let args = [
            Arg::U32(plan.bits),
            Arg::U32(plan.wide),
            Arg::U32(plan.windows),
            Arg::U32(windows.start),
            Arg::U32(count),
            Arg::Value(bytemuck::cast_slice(&offset)),
            Arg::U64(terms.at),
            Arg::U64(n),
            Arg::U32(terms.picked.into()),
            Arg::U64(terms.inputs),
            Arg::Read(&memory.picks),
            Arg::Read(&memory.terms),
            Arg::Read(terms.scalars[0]),
            Arg::Read(terms.scalars[1]),
            Arg::Write(digits),
        ];
        stream.launch(&kernels.digits, Grid::cover(n, 256), &args)?;
        stream.zero(&memory.counts, 0..self.sizes.counts)?;
        let items = Plan::items(kernels.shared);
        let tile = items * plan::PARTITION_THREADS;
        let tiles = |kernel, tiles: u32| Grid {
            blocks: [n.div_ceil(u64::from(tiles * tile)).clamp(1, 1 << 20) as u32, count, 1],
            ..block(kernel, plan::PARTITION_THREADS)
        };
        let args =
            [Arg::U32(low), Arg::U32(partitions), Arg::U64(n), Arg::Read(digits), Arg::Write(&memory.counts)];
        stream.launch(&kernels.histogram, tiles(&kernels.histogram, 8), &args)?;
        let all = u64::from(count * partitions);
        let args = [Arg::U64(all), Arg::Read(&memory.counts), Arg::Write(&memory.offsets)];
        stream.launch(&kernels.scan, block(&kernels.scan, 1024), &args)?;
        stream.copy(&memory.offsets, 0..4 * all, &memory.cursors, 0)?;
        let args = [
            Arg::U32(items),
            Arg::U32(low),
            Arg::U32(partitions),
            Arg::U64(terms.first),
            Arg::U64(n),
            Arg::U32(terms.picked.into()),
            Arg::Read(&memory.picks),
            Arg::Read(digits),
            Arg::Write(&memory.cursors),
            Arg::Write(entries),
        ];
        let stage = tiles(&kernels.partition, 1).shared(8 * tile);
        stream.launch(&kernels.partition, stage, &args)?;
        let capacity = plan.capacity(kernels.shared, windows);
        let args = [
            Arg::U32(low),
            Arg::U32(count * partitions),
            Arg::U64(u64::from(windows.start * partitions)),
            Arg::U32(capacity),
            Arg::Read(&memory.offsets),
            Arg::Read(entries),
            Arg::Write(digits),
        ];
        let blocks = Grid {
            blocks: [count * partitions, 1, 1],
            ..block(&kernels.sort, plan::SORT_THREADS).shared(plan::STAGED * capacity)
        };
        stream.launch(&kernels.sort, blocks, &args)?;
        Ok(Sorted {
            most: n * u64::from(count),
            at: 0,
            points: terms.bases,
            steps: [2, 1],
            totals: &memory.offsets,
            last: all,
        })
    }

    /// Entries of ones, of the bucket beside those of all windows, after the sorted ones.
    fn append(&self, sorted: &Sorted<'a, B>, of: &Ones<'a, B>) -> Result<Sorted<'a, B>, MsmError> {
        let Self { plan, kernels, memory, stream, .. } = self;
        let [spans, span] = Plan::spans(of.words);
        let numbers =
            [spans, span, of.words, of.skip, of.origin, of.bases.start, of.bases.end - of.bases.start];
        let bits = [Arg::Read(of.bits), Arg::Read(of.density), Arg::Read(of.ranks)];
        let grid = Grid::cover(32 * spans, 128);
        let places = &memory.places[1];
        let args = numbers.into_iter().map(Arg::U64).chain([Arg::U64(sorted.last)]);
        let args = args.chain(bits).chain([Arg::Read(sorted.totals), Arg::Write(&memory.left)]);
        stream.launch(&kernels.ones_count, grid, &args.collect::<Vec<_>>())?;
        let args = [Arg::U64(1 + spans), Arg::Read(&memory.left), Arg::Write(places)];
        stream.launch(&kernels.scan, block(&kernels.scan, 1024), &args)?;
        let bits = [Arg::Read(of.bits), Arg::Read(of.density), Arg::Read(of.ranks)];
        let args = [Arg::U32(plan.beside() as u32)].into_iter().chain(numbers.into_iter().map(Arg::U64));
        let args = args.chain(bits).chain([Arg::Read(places), Arg::Write(&memory.entries[sorted.at])]);
        stream.launch(&kernels.ones, grid, &args.collect::<Vec<_>>())?;
        let most = sorted.most + of.bases.end - of.bases.start;
        Ok(Sorted { most, totals: places, last: 1 + spans, ..*sorted })
    }

    /// A round of additions of pairs.
    fn halve(
        &self,
        sorted: &Sorted<'a, B>,
        round: usize,
        windows: &Range<u32>,
    ) -> Result<Sorted<'a, B>, MsmError> {
        let Self { plan, kernels, memory, stream, .. } = self;
        let Sorted { most, at, points, steps, totals, last } = *sorted;
        let tiles = most.div_ceil(plan::TILE).max(1);
        let (from, to) = (&memory.entries[at], &memory.entries[1 - at]);
        let (places, points_out) = (&memory.places[round % 2], &memory.points[round % 2]);
        let ordinate = self.sizes.points[round % 2] / C::AFFINE;
        let grid = Grid::cover(32 * tiles, 128);
        let args =
            [Arg::U64(tiles), Arg::U64(last), Arg::Read(from), Arg::Read(totals), Arg::Write(&memory.left)];
        stream.launch(&kernels.count, grid, &args)?;
        let args = [Arg::U64(tiles), Arg::Read(&memory.left), Arg::Write(places)];
        stream.launch(&kernels.scan, block(&kernels.scan, 1024), &args)?;
        let [products, scratch] = &memory.products;
        let args = [
            Arg::U64(tiles),
            Arg::U64(last),
            Arg::U32(steps[0] as u32),
            Arg::U64(steps[1]),
            Arg::Read(points),
            Arg::Read(from),
            Arg::Read(totals),
            Arg::Write(&memory.before),
            Arg::Write(products),
        ];
        stream.launch(&kernels.forward, grid, &args)?;
        let threads = (32 * tiles).div_ceil(plan::INVERT);
        let args = [Arg::U64(threads), Arg::U64(32 * tiles), Arg::Write(products), Arg::Write(scratch)];
        stream.launch(&kernels.invert, Grid::cover(threads, 128), &args)?;
        let args = [
            Arg::U64(tiles),
            Arg::U64(last),
            Arg::U64(ordinate),
            Arg::U32(steps[0] as u32),
            Arg::U64(steps[1]),
            Arg::Read(points),
            Arg::Read(from),
            Arg::Read(totals),
            Arg::Read(&memory.before),
            Arg::Read(products),
            Arg::Read(places),
            Arg::Write(to),
            Arg::Write(points_out),
        ];
        stream.launch(&kernels.backward, grid, &args)?;
        let most = plan.halved(most, windows.end - windows.start);
        Ok(Sorted { most, at: 1 - at, points: points_out, steps: [1, ordinate], totals: places, last: tiles })
    }

    /// The sum of each bucket.
    fn accumulate(&self, sorted: &Sorted<'a, B>) -> Result<(), MsmError> {
        let Self { plan, kernels, memory, stream, .. } = self;
        let mut threads = sorted.most.div_ceil(plan.chunk.into()).max(1);
        let args = [
            Arg::U32(plan.chunk),
            Arg::U64(threads),
            Arg::U64(sorted.last),
            Arg::U32(sorted.steps[0] as u32),
            Arg::U64(sorted.steps[1]),
            Arg::Read(sorted.points),
            Arg::Read(&memory.entries[sorted.at]),
            Arg::Read(sorted.totals),
            Arg::Write(&memory.buckets),
            Arg::Write(&memory.numbers[0]),
            Arg::Write(&memory.parts[0]),
        ];
        stream.launch(&kernels.accumulate, Grid::cover(threads, 128), &args)?;
        let mut from = 0;
        while threads > 1 {
            let slots = 2 * threads + 1;
            threads = slots.div_ceil(MERGE);
            let args = [
                Arg::U64(threads),
                Arg::U64(slots),
                Arg::Read(&memory.numbers[from]),
                Arg::Read(&memory.parts[from]),
                Arg::Write(&memory.buckets),
                Arg::Write(&memory.numbers[1 - from]),
                Arg::Write(&memory.parts[1 - from]),
            ];
            stream.launch(&kernels.merge, Grid::cover(32 * threads, 128), &args)?;
            from = 1 - from;
        }
        Ok(())
    }

    /// What is left of each window, from its buckets.
    fn fold(&self) -> Result<(), MsmError> {
        let Self { plan, kernels, memory, stream, .. } = self;
        let windows = u64::from(plan.windows);
        let threads = windows << (plan.bits - 1 - plan.fold);
        let args = [
            Arg::U32(plan.fold),
            Arg::U64(threads),
            Arg::Read(&memory.buckets),
            Arg::Write(&memory.sums),
            Arg::Write(&memory.weighted),
        ];
        stream.launch(&kernels.fold, Grid::cover(threads, 128), &args)?;
        let [rows, columns] = plan.lines_of();
        let lines = windows * plan.lines();
        let args = [
            Arg::U32(rows),
            Arg::U32(columns),
            Arg::U64(lines),
            Arg::Read(&memory.sums),
            Arg::Read(&memory.weighted),
            Arg::Write(&memory.lines),
        ];
        stream.launch(&kernels.lines, Grid::cover(plan::LINE_LANES * lines, 128), &args)?;
        let results = windows * u64::from(plan.results());
        let args = [
            Arg::U32(rows),
            Arg::U32(columns),
            Arg::U64(results),
            Arg::Read(&memory.lines),
            Arg::Write(&memory.results),
        ];
        stream.launch(&kernels.bits, Grid::cover(32 * results, 128), &args)?;
        Ok(())
    }
}

/// One block of so many threads, or of as many as it may have: where these are fewer, the kernel runs with any.
fn block<K: Kernel>(kernel: &K, threads: u32) -> Grid {
    Grid::new(1, threads.min(kernel.max_threads()))
}
