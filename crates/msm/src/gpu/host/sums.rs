//! Sums of buckets, and of a window's buckets by their magnitudes (`sums.cuh`).

use bytemuck::{cast_slice, cast_slice_mut};
use cuzk_gpu_backend::Grid;
use cuzk_gpu_backend::host::HostArg;

use super::Points;
use crate::gpu::DeviceCurve;
use crate::gpu::group::Group;
use crate::gpu::plan::MERGE;

/// No bucket.
const NONE: u32 = u32::MAX;

/// Points in the order of their buckets, of which some are parts of a bucket.
struct Sums<'a, C: Group> {
    buckets: &'a mut [u64],
    numbers: &'a mut [u32],
    parts: &'a mut [u64],
    group: std::marker::PhantomData<C>,
}

const fn words<C: Group>() -> usize {
    C::SUM as usize / 8
}

impl<C: DeviceCurve> Sums<'_, C> {
    /// What thread `t` does with its points, in their order. What it has of a bucket goes to the
    /// bucket if that is all; else to a part: of the bucket that it shares with the thread before
    /// to `2 t + 1`, with the one after to `2 t + 2`, and if it shares it with both, to
    /// the first, with infinity in the second.
    fn thread(
        &mut self,
        t: usize,
        before: Option<u32>,
        points: impl Iterator<Item = (u32, C::Projective)>,
        after: Option<u32>,
    ) {
        self.numbers[0] = NONE;
        self.numbers[2 * t + 1..2 * t + 3].fill(NONE);
        let mut sums: Vec<(u32, C::Projective)> = Vec::new();
        for (bucket, point) in points {
            match sums.last_mut() {
                Some((last, sum)) if *last == bucket => *sum += point,
                _ => sums.push((bucket, point)),
            }
        }
        let last = sums.len().wrapping_sub(1);
        for (i, (bucket, sum)) in sums.into_iter().enumerate() {
            let (head, tail) = (i == 0 && before == Some(bucket), i == last && after == Some(bucket));
            if head {
                self.part(2 * t + 1, bucket, &sum);
            }
            if tail {
                self.part(2 * t + 2, bucket, &if head { C::zero() } else { sum });
            }
            if !head && !tail {
                let at = bucket as usize * words::<C>();
                C::sum_words(&sum, &mut self.buckets[at..at + words::<C>()]);
            }
        }
    }

    fn part(&mut self, slot: usize, bucket: u32, sum: &C::Projective) {
        self.numbers[slot] = bucket;
        C::sum_words(sum, &mut self.parts[slot * words::<C>()..(slot + 1) * words::<C>()]);
    }
}

/// Thread `t` adds up the bases of entries `t chunk` to `(t + 1) chunk`.
pub(in crate::gpu) fn accumulate<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(chunk),
        HostArg::U64(threads),
        HostArg::U64(last),
        HostArg::U32(step),
        HostArg::U64(ordinate),
        HostArg::Read(bases),
        HostArg::Read(sorted),
        HostArg::Read(totals),
        HostArg::Write(buckets),
        HostArg::Write(numbers),
        HostArg::Write(parts),
    ] = args
    else {
        unreachable!("the signature")
    };
    let bases = Points { words: cast_slice(bases), step: *step as usize, ordinate: *ordinate as usize };
    let (sorted, totals): (&[u64], &[u32]) = (cast_slice(sorted), cast_slice(totals));
    let mut out = Sums::<C> {
        buckets: cast_slice_mut(buckets),
        numbers: cast_slice_mut(numbers),
        parts: cast_slice_mut(parts),
        group: std::marker::PhantomData,
    };
    let sorted = &sorted[..totals[*last as usize] as usize];
    let bucket = |entry: &u64| (entry >> 32) as u32;
    for t in 0..*threads as usize {
        let begin = sorted.len().min(t * *chunk as usize);
        let end = sorted.len().min(begin + *chunk as usize);
        let points = sorted[begin..end].iter().map(|entry| (bucket(entry), bases.of::<C>(*entry).into()));
        let before = begin.checked_sub(1).map(|i| bucket(&sorted[i]));
        out.thread(t, before, points, sorted.get(end).map(bucket));
    }
}

/// Warp `t` adds up the parts in slots `64 t` to `64 (t + 1)` of `slots`.
pub(in crate::gpu) fn merge<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U64(threads),
        HostArg::U64(slots),
        HostArg::Read(numbers),
        HostArg::Read(parts),
        HostArg::Write(buckets),
        HostArg::Write(numbers_out),
        HostArg::Write(parts_out),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (numbers, parts): (&[u32], &[u64]) = (cast_slice(numbers), cast_slice(parts));
    let mut out = Sums::<C> {
        buckets: cast_slice_mut(buckets),
        numbers: cast_slice_mut(numbers_out),
        parts: cast_slice_mut(parts_out),
        group: std::marker::PhantomData,
    };
    let slots = *slots as usize;
    for t in 0..*threads as usize {
        let begin = slots.min(t * MERGE as usize);
        let end = slots.min(begin + MERGE as usize);
        let points = (begin..end)
            .filter(|i| numbers[*i] != NONE)
            .map(|i| (numbers[i], C::sum(&parts[i * words::<C>()..(i + 1) * words::<C>()])));
        // Parts of a bucket have no gaps between them.
        let before = begin.checked_sub(1).map(|i| numbers[i]).filter(|n| numbers.get(begin) == Some(n));
        let after = (end < slots).then(|| numbers[end]).filter(|n| numbers[end - 1] == *n);
        out.thread(t, before, points, after);
    }
}

fn read<C: Group>(points: &[u64], i: usize) -> C::Projective {
    C::sum(&points[i * words::<C>()..(i + 1) * words::<C>()])
}

fn write<C: Group>(sum: &C::Projective, points: &mut [u64], i: usize) {
    C::sum_words(sum, &mut points[i * words::<C>()..(i + 1) * words::<C>()]);
}

/// Thread `t` takes the buckets from `t 2^log` to `(t + 1) 2^log`: writes their sum, and the sum of
/// `j + 1` times the `j`-th of them.
pub(in crate::gpu) fn fold<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(log),
        HostArg::U64(threads),
        HostArg::Read(buckets),
        HostArg::Write(sums),
        HostArg::Write(weighted),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (buckets, sums, weighted): (&[u64], &mut [u64], &mut [u64]) =
        (cast_slice(buckets), cast_slice_mut(sums), cast_slice_mut(weighted));
    for t in 0..*threads as usize {
        let (mut sum, mut total) = (C::zero(), C::zero());
        for j in (0..1 << *log).rev() {
            sum += read::<C>(buckets, (t << *log) + j);
            total += sum;
        }
        write::<C>(&sum, sums, t);
        write::<C>(&total, weighted, t);
    }
}

/// Of each window, with point `(h, l)` at `2^columns h + l`: the sums of rows `h`, of columns `l`, and
/// of the rows of the weighted points.
pub(in crate::gpu) fn lines<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(rows),
        HostArg::U32(columns),
        HostArg::U64(n),
        HostArg::Read(sums),
        HostArg::Read(weighted),
        HostArg::Write(lines),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (sums, weighted, lines): (&[u64], &[u64], &mut [u64]) =
        (cast_slice(sums), cast_slice(weighted), cast_slice_mut(lines));
    let (height, width) = (1 << *rows, 1 << *columns);
    for line in 0..*n as usize {
        let (window, k) = (line / (2 * height + width), line % (2 * height + width));
        let first = window * height * width;
        let sum = |points: &[u64], first, count, stride| {
            (0..count).fold(C::zero(), |sum, i| sum + read::<C>(points, first + i * stride))
        };
        let sum = if k < height {
            sum(sums, first + k * width, width, 1)
        } else if k < height + width {
            sum(sums, first + k - height, height, width)
        } else {
            sum(weighted, first + (k - height - width) * width, width, 1)
        };
        write::<C>(&sum, lines, line);
    }
}

/// Of each window: the sum of the weighted rows; for each bit of `l` the sum of the columns that
/// have it, and for each bit of `h` of the rows.
pub(in crate::gpu) fn bits<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(rows),
        HostArg::U32(columns),
        HostArg::U64(n),
        HostArg::Read(lines),
        HostArg::Write(points),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (lines, points): (&[u64], &mut [u64]) = (cast_slice(lines), cast_slice_mut(points));
    let (height, width) = (1 << *rows, 1 << *columns);
    for at in 0..*n as usize {
        let of_window = 1 + *rows + *columns;
        let (window, k) = (at / of_window as usize, (at % of_window as usize) as u32);
        let (first, count, mask) = match k {
            0 => (height + width, height, 0),
            k if k <= *columns => (height, width, 1 << (k - 1)),
            k => (0, height, 1 << (k - 1 - *columns)),
        };
        let first = window * (2 * height + width) + first;
        let chosen = (0..count).filter(|i| i & mask == mask);
        let sum = chosen.fold(C::zero(), |sum, i| sum + read::<C>(lines, first + i));
        write::<C>(&sum, points, at);
    }
}
