//! Multiplication on a device, of full-width scalars with bases that are there.
//!
//! Signed digits of large windows, sorted by bucket; buckets summed by threads of equal
//! work, whatever the scalars are; running sums of the buckets in levels that fill the
//! card. Kernels are in `crates/gpu-backend/kernels/msm`, and their forms for the host define them.
//!
//! On a device a base is what blst keeps: its affine coordinates in Montgomery form, 96 bytes in
//! G1, infinity as (0, 0). A scalar is its 32 bytes in Montgomery form.

mod family;
mod group;
mod host;
mod plan;

use std::ops::Range;

use cuzk_gpu_backend::{Arg, Backend, Buffer, Device, Grid, Kernel, Stream};
pub use group::{DeviceCurve, base_bytes, scalar_bytes};
use plan::MERGE;
pub use plan::Plan;

use crate::MsmError;

/// A multiplication on a device: its kernels and its memory, for sums of any length.
///
/// What is queued with one of these goes to one stream at a time: its memory is reused.
#[derive(Debug)]
pub struct GpuMsm<B: Backend, C: DeviceCurve> {
    plan: Plan,
    /// The most shared memory of a block.
    shared: u32,
    kernels: Kernels<B>,
    memory: Memory<B>,
    curve: std::marker::PhantomData<C>,
}

#[derive(Debug)]
struct Kernels<B: Backend> {
    digits: B::Kernel,
    histogram: B::Kernel,
    scan: B::Kernel,
    partition: B::Kernel,
    sort: B::Kernel,
    count: B::Kernel,
    forward: B::Kernel,
    invert: B::Kernel,
    backward: B::Kernel,
    accumulate: B::Kernel,
    merge: B::Kernel,
    fold: B::Kernel,
    lines: B::Kernel,
    bits: B::Kernel,
}

/// Buffers by what they hold; all are scratch.
#[derive(Debug)]
struct Memory<B: Backend> {
    /// Digits, and then sorted entries, in turn with the other.
    entries: [B::Buffer; 2],
    counts: B::Buffer,
    offsets: B::Buffer,
    cursors: B::Buffer,
    /// What the tiles of pairs leave, and where it goes in two rounds in turn.
    left: B::Buffer,
    places: [B::Buffer; 2],
    /// Points of two rounds in turn.
    points: [B::Buffer; 2],
    /// Products before each pair, of all pairs of a thread, and before each of these.
    before: B::Buffer,
    products: [B::Buffer; 2],
    /// The sums of the buckets of all windows.
    buckets: B::Buffer,
    /// Parts of buckets, of two levels in turn.
    numbers: [B::Buffer; 2],
    parts: [B::Buffer; 2],
    /// Sums of segments of buckets, and their weighted sums.
    sums: B::Buffer,
    weighted: B::Buffer,
    /// Sums of these, and what is left in the end.
    lines: B::Buffer,
    results: B::Buffer,
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

impl<B: Backend, C: DeviceCurve> GpuMsm<B, C> {
    /// Kernels and memory for sums of up to `len` terms, of at most `limit` bytes.
    ///
    /// # Errors
    /// [`MsmError::Limit`] if no plan is that small, and what the device says.
    pub fn new(device: &B::Device, len: u64, limit: u64) -> Result<Self, MsmError> {
        let plan = Plan::new::<C>(len, limit, device.info().units)?;
        Self::with_plan(device, plan)
    }

    /// As [`new`](Self::new), with all that is chosen given.
    ///
    /// # Errors
    /// What the device says.
    pub fn with_plan(device: &B::Device, plan: Plan) -> Result<Self, MsmError> {
        let kernel = |name: &str| device.kernel(C::family(), name);
        let kernels = Kernels {
            digits: kernel("msm_digits")?,
            histogram: kernel("msm_histogram")?,
            scan: kernel("msm_scan")?,
            partition: kernel("msm_partition")?,
            sort: kernel("msm_sort")?,
            count: kernel("msm_count")?,
            forward: kernel("msm_forward")?,
            invert: kernel("msm_invert")?,
            backward: kernel("msm_backward")?,
            accumulate: kernel("msm_accumulate")?,
            merge: kernel("msm_merge")?,
            fold: kernel("msm_fold")?,
            lines: kernel("msm_lines")?,
            bits: kernel("msm_bits")?,
        };
        let sizes = plan.sizes::<C>();
        let two = |bytes: [u64; 2]| Ok::<_, MsmError>([device.buffer(bytes[0])?, device.buffer(bytes[1])?]);
        let memory = Memory {
            entries: two(sizes.entries)?,
            counts: device.buffer(sizes.counts)?,
            offsets: device.buffer(sizes.counts + 4)?,
            cursors: device.buffer(sizes.counts)?,
            left: device.buffer(sizes.left)?,
            places: two([sizes.left + 4; 2])?,
            points: two(sizes.points)?,
            before: device.buffer(sizes.before)?,
            products: two(sizes.products)?,
            buckets: device.buffer(sizes.buckets)?,
            numbers: two(sizes.numbers)?,
            parts: two(sizes.parts)?,
            sums: device.buffer(sizes.sums)?,
            weighted: device.buffer(sizes.sums)?,
            lines: device.buffer(sizes.lines)?,
            results: device.buffer(sizes.results)?,
        };
        Ok(Self { plan, shared: device.info().max_shared, kernels, memory, curve: std::marker::PhantomData })
    }

    /// What was chosen.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// `sum_i scalars_(at + i) bases_(first + i)` over `i < len`, after what is queued on `stream`.
    /// Waits for it.
    ///
    /// Scalars and bases of any kind are welcome: zeros, infinity, equal and opposite ones.
    ///
    /// # Errors
    /// [`MsmError::Lengths`] if a buffer ends before, or there are more terms than was
    /// planned for; and what the device says.
    pub fn multiply(
        &self,
        stream: &B::Stream,
        [bases, scalars]: [&B::Buffer; 2],
        [first, at]: [u64; 2],
        len: u64,
    ) -> Result<C::Projective, MsmError> {
        let Self { plan, memory, .. } = self;
        let there = |buffer: &B::Buffer, element| buffer.bytes() / element;
        let (points, terms) = (there(bases, C::AFFINE), there(scalars, 32));
        let fits = |start: u64, have| start.checked_add(len).is_some_and(|end| end <= have);
        if !fits(first, points) || !fits(at, terms) || len > plan.len || first > plan::MAX_POINTS - len {
            return Err(MsmError::Lengths {
                bases: points as usize,
                scalars: at.saturating_add(len) as usize,
            });
        }
        let mut total = C::zero();
        let mut words = vec![0_u64; (memory.results.bytes() / 8) as usize];
        for chunk in plan.chunks(len) {
            stream.zero(&memory.buckets, 0..memory.buckets.bytes())?;
            for windows in plan.groups() {
                let (at, n) = ([first + chunk.start, at + chunk.start], chunk.end - chunk.start);
                let mut sorted = self.sort(stream, [bases, scalars], at, n, &windows)?;
                for round in 0..plan.rounds {
                    sorted = self.halve(stream, &sorted, round as usize, &windows)?;
                }
                self.accumulate(stream, &sorted)?;
            }
            self.fold(stream)?;
            stream.download(&memory.results, 0, bytemuck::cast_slice_mut(&mut words))?;
            let points: Vec<_> = words.chunks_exact(C::SUM as usize / 8).map(C::sum).collect();
            total += plan.join::<C>(&points);
        }
        Ok(total)
    }

    /// Digits of some windows of `n` scalars, sorted by bucket.
    fn sort<'a>(
        &'a self,
        stream: &B::Stream,
        [bases, scalars]: [&'a B::Buffer; 2],
        [first, at]: [u64; 2],
        n: u64,
        windows: &Range<u32>,
    ) -> Result<Sorted<'a, B>, MsmError> {
        let Self { plan, kernels, memory, .. } = self;
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
            Arg::U64(at),
            Arg::U64(n),
            Arg::Read(scalars),
            Arg::Write(digits),
        ];
        stream.launch(&kernels.digits, Grid::cover(n, 256), &args)?;
        stream.zero(&memory.counts, 0..memory.counts.bytes())?;
        let items = Plan::items(self.shared);
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
            Arg::U64(first),
            Arg::U64(n),
            Arg::Read(digits),
            Arg::Write(&memory.cursors),
            Arg::Write(entries),
        ];
        let stage = tiles(&kernels.partition, 1).shared(8 * tile);
        stream.launch(&kernels.partition, stage, &args)?;
        let capacity = plan.capacity(self.shared, windows);
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
            points: bases,
            steps: [2, 1],
            totals: &memory.offsets,
            last: all,
        })
    }

    /// A round of additions of pairs.
    fn halve<'a>(
        &'a self,
        stream: &B::Stream,
        sorted: &Sorted<'a, B>,
        round: usize,
        windows: &Range<u32>,
    ) -> Result<Sorted<'a, B>, MsmError> {
        let Self { plan, kernels, memory, .. } = self;
        let Sorted { most, at, points, steps, totals, last } = *sorted;
        let tiles = most.div_ceil(plan::TILE).max(1);
        let (from, to) = (&memory.entries[at], &memory.entries[1 - at]);
        let (places, points_out) = (&memory.places[round % 2], &memory.points[round % 2]);
        let ordinate = points_out.bytes() / C::AFFINE;
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
    fn accumulate(&self, stream: &B::Stream, sorted: &Sorted<'_, B>) -> Result<(), MsmError> {
        let Self { plan, kernels, memory, .. } = self;
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
            threads = slots.div_ceil(MERGE.into());
            let args = [
                Arg::U32(MERGE),
                Arg::U64(threads),
                Arg::U64(slots),
                Arg::Read(&memory.numbers[from]),
                Arg::Read(&memory.parts[from]),
                Arg::Write(&memory.buckets),
                Arg::Write(&memory.numbers[1 - from]),
                Arg::Write(&memory.parts[1 - from]),
            ];
            stream.launch(&kernels.merge, Grid::cover(threads, 128), &args)?;
            from = 1 - from;
        }
        Ok(())
    }

    /// What is left of each window, from its buckets.
    fn fold(&self, stream: &B::Stream) -> Result<(), MsmError> {
        let Self { plan, kernels, memory, .. } = self;
        let windows = u64::from(plan.windows);
        let threads = windows << (plan.bits - 1 - plan.fold());
        let args = [
            Arg::U32(plan.fold()),
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
