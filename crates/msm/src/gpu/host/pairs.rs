//! Buckets halved: pairs of one bucket added in affine coordinates (`pairs.cuh`).

use bytemuck::{cast_slice, cast_slice_mut};
use cuzk_gpu_backend::Grid;
use cuzk_gpu_backend::host::HostArg;

use super::{Points, field};
use crate::arith::BlstField;
use crate::gpu::DeviceCurve;
use crate::gpu::group::{Element, Group};

/// Pairs of a thread, and entries of a tile: 32 threads (pairs.cuh).
const PAIRS: usize = 32;
const TILE: usize = 2 * 32 * PAIRS;

fn bucket_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

/// How many of the first `totals[last]` entries each tile leaves, where pairs of one bucket become one.
pub(in crate::gpu) fn count(_: Grid, args: &mut [HostArg<'_>]) {
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

/// Whether two entries are of one bucket.
fn is_one(pair: &[u64]) -> bool {
    pair.len() == 2 && bucket_of(pair[0]) == bucket_of(pair[1])
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
pub(in crate::gpu) fn forward<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
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
pub(in crate::gpu) fn invert<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
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
pub(in crate::gpu) fn backward<C: DeviceCurve>(_: Grid, args: &mut [HostArg<'_>]) {
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
