//! What the kernels do, in Rust: the definition of those in `crates/gpu-backend/kernels/msm`.
//!
//! Numbers and entries are theirs. Sums are equal as points: their coordinates may differ
//! by a common factor, and so does the order of entries within a bucket.

use std::ops::Range;

use blst::blst_fr;
use bytemuck::{cast_slice, cast_slice_mut};
use cuzk_gpu_backend::Grid;
use cuzk_gpu_backend::host::HostArg;
use cuzk_values::Scalar;

use super::DeviceCurve;
use super::group::{Element, Group};
use crate::arith::BlstField;
use crate::digits::magnitude;

/// No bucket.
const NONE: u32 = u32::MAX;

/// `digits[w n + i]`, for each of `count` windows from `first` on: `magnitude << 1 | negative` of the
/// digit of `scalars[start + i]`, where `offset` turns signed digits into plain bits. The first `wide` of
/// all windows have `bits`, the others one less.
pub(super) fn digits(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(bits),
        HostArg::U32(wide),
        HostArg::U32(windows),
        HostArg::U32(first),
        HostArg::U32(count),
        HostArg::Value(offset),
        HostArg::U64(start),
        HostArg::U64(n),
        HostArg::Read(scalars),
        HostArg::Write(digits),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (start, n) = (*start as usize, *n as usize);
    let (scalars, digits): (&[[u64; 4]], &mut [u32]) = (cast_slice(scalars), cast_slice_mut(digits));
    let offset: [u64; 4] = bytemuck::pod_read_unaligned(offset);
    for (i, words) in scalars[start..start + n].iter().enumerate() {
        let (minus, magnitude) = magnitude(&Scalar::from(blst_fr { l: *words }));
        let sum = crate::digits::add(&magnitude, &offset);
        for w in 0..*count {
            let at = *first + w;
            let bit = (at * (*bits - 1) + at.min(*wide)) as usize;
            let half = 1_i64 << (*bits - if at < *wide { 1 } else { 2 });
            let word = |k: usize| u128::from(sum.get(bit / 64 + k).copied().unwrap_or(0));
            let plain = ((word(0) | word(1) << 64) >> (bit % 64)) as i64 & (2 * half - 1);
            let digit = plain - if at + 1 < *windows { half } else { 0 };
            let code = (digit.unsigned_abs() as u32) << 1 | u32::from((digit < 0) != minus);
            digits[w as usize * n + i] = if digit == 0 { 0 } else { code };
        }
    }
}

/// `counts[w partitions + p]` counts the digits of window `w` in partition `p`.
pub(super) fn histogram(grid: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(low),
        HostArg::U32(partitions),
        HostArg::U64(n),
        HostArg::Read(digits),
        HostArg::Write(counts),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (n, digits, counts): (_, &[u32], &mut [u32]) =
        (*n as usize, cast_slice(digits), cast_slice_mut(counts));
    for w in 0..grid.blocks[1] as usize {
        for digit in digits[w * n..(w + 1) * n].iter().filter(|digit| **digit > 0) {
            counts[w * *partitions as usize + (((digit >> 1) - 1) >> *low) as usize] += 1;
        }
    }
}

/// `sums[i]` is the sum of the counts before `i`, for `i` up to `n`.
pub(super) fn scan(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::U64(n), HostArg::Read(counts), HostArg::Write(sums)] = args else {
        unreachable!("the signature")
    };
    let (counts, sums): (&[u32], &mut [u32]) = (cast_slice(counts), cast_slice_mut(sums));
    let mut sum = 0;
    for (i, count) in counts[..*n as usize].iter().enumerate() {
        sums[i] = sum;
        sum += count;
    }
    sums[*n as usize] = sum;
}

/// Puts each digit's entry where the cursor of its partition is.
pub(super) fn partition(grid: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(_),
        HostArg::U32(low),
        HostArg::U32(partitions),
        HostArg::U64(first),
        HostArg::U64(n),
        HostArg::Read(digits),
        HostArg::Write(cursors),
        HostArg::Write(entries),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (n, digits): (_, &[u32]) = (*n as usize, cast_slice(digits));
    let (cursors, entries): (&mut [u32], &mut [u64]) = (cast_slice_mut(cursors), cast_slice_mut(entries));
    for w in 0..grid.blocks[1] as usize {
        for (i, digit) in digits[w * n..(w + 1) * n].iter().enumerate().filter(|(_, digit)| **digit > 0) {
            let bucket = (digit >> 1) - 1;
            let cursor = &mut cursors[w * *partitions as usize + (bucket >> *low) as usize];
            entries[*cursor as usize] =
                u64::from(bucket) << 32 | (*first + i as u64) << 1 | u64::from(digit & 1);
            *cursor += 1;
        }
    }
}

/// Sorts each partition by bucket, and gives entries their bucket's number within all windows.
pub(super) fn sort(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(low),
        HostArg::U32(partitions),
        HostArg::U64(base),
        HostArg::U32(_),
        HostArg::Read(offsets),
        HostArg::Read(entries),
        HostArg::Write(sorted),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (offsets, entries, sorted): (&[u32], &[u64], &mut [u64]) =
        (cast_slice(offsets), cast_slice(entries), cast_slice_mut(sorted));
    for (p, bounds) in offsets[..=*partitions as usize].windows(2).enumerate() {
        let range = bounds[0] as usize..bounds[1] as usize;
        for i in range.clone() {
            let bucket = (entries[i] >> 32) & ((1 << *low) - 1);
            sorted[i] = ((*base + p as u64) << *low | bucket) << 32 | entries[i] & u64::from(u32::MAX);
        }
        sorted[range].sort_by_key(|entry| entry >> 32);
    }
}

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
pub(super) fn accumulate<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
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

/// Thread `t` adds up the parts in slots `t chunk` to `(t + 1) chunk` of `slots`.
pub(super) fn merge<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(chunk),
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
        let begin = slots.min(t * *chunk as usize);
        let end = slots.min(begin + *chunk as usize);
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
pub(super) fn fold<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
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
pub(super) fn lines<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
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
pub(super) fn bits<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
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

/// Pairs of a thread, and entries of a tile: 32 threads (pairs.cuh).
const PAIRS: usize = 32;
const TILE: usize = 2 * 32 * PAIRS;

fn bucket_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

/// How many of the first `totals[last]` entries each tile leaves, where pairs of one bucket become one.
pub(super) fn count(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U64(tiles),
        HostArg::U64(last),
        HostArg::Read(entries),
        HostArg::Read(totals),
        HostArg::Write(counts),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (entries, totals, counts): (&[u64], &[u32], &mut [u32]) =
        (cast_slice(entries), cast_slice(totals), cast_slice_mut(counts));
    counts[..*tiles as usize].fill(0);
    for (count, tile) in counts.iter_mut().zip(entries[..totals[*last as usize] as usize].chunks(TILE)) {
        *count = tile.chunks(2).map(|pair| if is_one(pair) { 1 } else { pair.len() as u32 }).sum();
    }
}

/// The words of the `i`-th element.
fn field<C: Group>(i: usize) -> Range<usize> {
    C::Field::WORDS * i..C::Field::WORDS * (i + 1)
}

/// Whether two entries are of one bucket.
fn is_one(pair: &[u64]) -> bool {
    pair.len() == 2 && bucket_of(pair[0]) == bucket_of(pair[1])
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

/// The denominator of a sum in affine coordinates, where it has one.
fn denominator<C: Group>(bases: Points<'_>, pair: &[u64]) -> Option<C::Field> {
    if !is_one(pair) {
        return None;
    }
    let [a, b] = [0, 1].map(|i| C::coordinates(&bases.of::<C>(pair[i])));
    let is_zero = |x: &C::Field| *x == C::Field::ZERO;
    if [&a, &b].iter().any(|point| point.iter().all(is_zero)) {
        return None;
    }
    let [mut x, mut y] = [b[0], a[1]];
    x.subtract_signed(&a[0], false);
    y.set_sum(&a[1], &a[1]);
    match (is_zero(&x), a[1] == b[1]) {
        (false, _) => Some(x),
        (true, true) => Some(y),
        (true, false) => None,
    }
}

/// Thread `32 t + l` multiplies the denominators of pairs `32 k + l` of tile `t`, and keeps what it
/// had before each.
pub(super) fn forward<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U64(tiles),
        HostArg::U64(last),
        HostArg::U32(step),
        HostArg::U64(ordinate),
        HostArg::Read(bases),
        HostArg::Read(entries),
        HostArg::Read(totals),
        HostArg::Write(before),
        HostArg::Write(products),
    ] = args
    else {
        unreachable!("the signature")
    };
    let bases = Points { words: cast_slice(bases), step: *step as usize, ordinate: *ordinate as usize };
    let (entries, totals): (&[u64], &[u32]) = (cast_slice(entries), cast_slice(totals));
    let (before, products): (&mut [u64], &mut [u64]) = (cast_slice_mut(before), cast_slice_mut(products));
    let entries = &entries[..totals[*last as usize] as usize];
    let mut running = vec![C::Field::ONE; 32 * *tiles as usize];
    for (i, pair) in entries.chunks(2).enumerate() {
        if let Some(denominator) = denominator::<C>(bases, pair) {
            let product = &mut running[i / (32 * PAIRS) * 32 + i % 32];
            product.set_words(&mut before[field::<C>(i)]);
            let factor = *product;
            product.set_product(&factor, &denominator);
        }
    }
    for (i, product) in running.iter().enumerate() {
        product.set_words(&mut products[field::<C>(i)]);
    }
}

/// Inverts the first `n` of the products.
pub(super) fn invert<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::U64(_), HostArg::U64(n), HostArg::Write(products), HostArg::Write(_)] = args else {
        unreachable!("the signature")
    };
    let products: &mut [u64] = cast_slice_mut(products);
    for i in 0..*n as usize {
        let mut product = C::Field::from_words(&products[field::<C>(i)]);
        product.invert();
        product.set_words(&mut products[field::<C>(i)]);
    }
}

/// Writes what the pairs leave: sums of those of one bucket, from `offsets[tile]` on.
pub(super) fn backward<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U64(tiles),
        HostArg::U64(last),
        HostArg::U64(ordinate_out),
        HostArg::U32(step),
        HostArg::U64(ordinate),
        HostArg::Read(bases),
        HostArg::Read(entries),
        HostArg::Read(totals),
        HostArg::Read(before),
        HostArg::Read(inverses),
        HostArg::Read(offsets),
        HostArg::Write(entries_out),
        HostArg::Write(bases_out),
    ] = args
    else {
        unreachable!("the signature")
    };
    let bases = Points { words: cast_slice(bases), step: *step as usize, ordinate: *ordinate as usize };
    let (entries, totals, offsets): (&[u64], &[u32], &[u32]) =
        (cast_slice(entries), cast_slice(totals), cast_slice(offsets));
    let (before, inverses): (&[u64], &[u64]) = (cast_slice(before), cast_slice(inverses));
    let (entries_out, bases_out): (&mut [u64], &mut [u64]) =
        (cast_slice_mut(entries_out), cast_slice_mut(bases_out));
    let entries = &entries[..totals[*last as usize] as usize];
    let mut running: Vec<C::Field> =
        (0..32 * *tiles as usize).map(|i| C::Field::from_words(&inverses[field::<C>(i)])).collect();
    let mut quotients = vec![C::Field::ZERO; entries.len().div_ceil(2)];
    for (i, pair) in entries.chunks(2).enumerate().rev() {
        if let Some(denominator) = denominator::<C>(bases, pair) {
            let inverse = &mut running[i / (32 * PAIRS) * 32 + i % 32];
            quotients[i].set_product(inverse, &C::Field::from_words(&before[field::<C>(i)]));
            inverse.multiply(&denominator);
        }
    }
    let mut write = |at: &mut usize, entry: u64, base: &C::Affine| {
        entries_out[*at] = entry >> 32 << 32 | (*at as u64) << 1;
        let [x, y] = C::coordinates(base);
        x.set_words(&mut bases_out[field::<C>(*at)]);
        y.set_words(&mut bases_out[field::<C>(*at + *ordinate_out as usize)]);
        *at += 1;
    };
    for (tile, entries) in entries.chunks(TILE).enumerate() {
        let mut at = offsets[tile] as usize;
        for (i, pair) in entries.chunks(2).enumerate() {
            let quotient = &quotients[tile * (TILE / 2) + i];
            match pair {
                [a, b] if is_one(pair) => {
                    let [p, q] = [a, b].map(|entry| bases.of::<C>(*entry));
                    let sum = match denominator::<C>(bases, pair) {
                        Some(_) => chord::<C>(&C::coordinates(&p), &C::coordinates(&q), quotient),
                        None => C::affine(&(Into::<C::Projective>::into(p) + Into::<C::Projective>::into(q))),
                    };
                    write(&mut at, *a, &sum);
                }
                pair => pair.iter().for_each(|entry| write(&mut at, *entry, &bases.of::<C>(*entry))),
            }
        }
    }
}

/// The sum of two points, equal or of different x, by the inverse of its denominator.
fn chord<C: Group>(a: &[C::Field; 2], b: &[C::Field; 2], quotient: &C::Field) -> C::Affine {
    let [mut slope, mut x, mut y, mut t] = [C::Field::ZERO; 4];
    if a[0] == b[0] {
        t.set_square(&a[0]);
        slope.set_sum(&t, &t);
        let twice = slope;
        slope.set_sum(&twice, &t);
    } else {
        slope = b[1];
        slope.subtract_signed(&a[1], false);
    }
    slope.multiply(quotient);
    x.set_square(&slope);
    x.subtract_two(&a[0], &b[0]);
    t = a[0];
    t.subtract_signed(&x, false);
    y.set_product(&slope, &t);
    y.subtract_signed(&a[1], false);
    C::from_coordinates([x, y])
}
