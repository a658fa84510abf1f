//! What of a witness a sum is over (`witness.cuh`).

use bytemuck::{cast_slice, cast_slice_mut};
use cuzk_gpu_backend::Grid;
use cuzk_gpu_backend::host::HostArg;

/// Which variables have one of some bases.
struct Query<'a> {
    density: &'a [u64],
    ranks: &'a [u32],
    /// The base that comes first on the device, the first that is meant from there, and how many.
    origin: u64,
    first: u64,
    len: u64,
}

impl Query<'_> {
    /// The base of the variable of bit `v`, if it has one of these.
    fn point(&self, v: u64) -> Option<u64> {
        let (word, bit) = (self.density[v as usize / 64], v % 64);
        let rank = u64::from(self.ranks[v as usize / 64] + (word & ((1 << bit) - 1)).count_ones());
        let point = rank.wrapping_sub(self.origin);
        (word >> bit & 1 == 1 && point.wrapping_sub(self.first) < self.len).then_some(point)
    }

    /// The bases of the ones among so many words' bits, whose density starts with word `skip`.
    fn ones<'a>(&'a self, ones: &'a [u64], skip: u64) -> impl Iterator<Item = u64> + 'a {
        let bits = (0..64 * ones.len() as u64).filter(|i| ones[*i as usize / 64] >> (i % 64) & 1 == 1);
        bits.filter_map(move |i| self.point(64 * skip + i))
    }
}

/// `scalar << 32 | point` for each of the inputs and wide variables, `terms` together, that has a point, and
/// how many these are.
pub(in crate::gpu) fn picks(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U64(inputs),
        HostArg::U64(terms),
        HostArg::U64(origin),
        HostArg::U64(first),
        HostArg::U64(len),
        HostArg::Read(density),
        HostArg::Read(ranks),
        HostArg::Read(wide_at),
        HostArg::Write(picks),
        HostArg::Write(count),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (density, ranks, wide_at): (&[u64], &[u32], &[u32]) =
        (cast_slice(density), cast_slice(ranks), cast_slice(wide_at));
    let (picks, count): (&mut [u64], &mut [u32]) = (cast_slice_mut(picks), cast_slice_mut(count));
    let query = Query { density, ranks, origin: *origin, first: *first, len: *len };
    let auxiliary = |i: u64| inputs.next_multiple_of(64) + u64::from(wide_at[(i - *inputs) as usize]);
    for i in 0..*terms {
        if let Some(point) = query.point(if i < *inputs { i } else { auxiliary(i) }) {
            picks[count[0] as usize] = i << 32 | point;
            count[0] += 1;
        }
    }
}

/// `counts[0]` is `totals[last]`, and `counts[1 + s]` how many ones of words `s span` to `(s + 1) span` have a
/// point.
pub(in crate::gpu) fn ones_count(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U64(spans),
        HostArg::U64(span),
        HostArg::U64(words),
        HostArg::U64(skip),
        HostArg::U64(origin),
        HostArg::U64(first),
        HostArg::U64(len),
        HostArg::U64(last),
        HostArg::Read(ones),
        HostArg::Read(density),
        HostArg::Read(ranks),
        HostArg::Read(totals),
        HostArg::Write(counts),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (ones, density): (&[u64], &[u64]) = (cast_slice(ones), cast_slice(density));
    let (ranks, totals, counts): (&[u32], &[u32], &mut [u32]) =
        (cast_slice(ranks), cast_slice(totals), cast_slice_mut(counts));
    let query = Query { density, ranks, origin: *origin, first: *first, len: *len };
    counts[0] = totals[*last as usize];
    counts[1..=*spans as usize].fill(0);
    for (s, ones) in ones[..*words as usize].chunks(*span as usize).enumerate() {
        counts[1 + s] = query.ones(ones, *skip + s as u64 * *span).count() as u32;
    }
}

/// Entries, of one bucket, of the ones of words `s span` to `(s + 1) span` from `places[1 + s]` on.
pub(in crate::gpu) fn ones(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(bucket),
        HostArg::U64(_),
        HostArg::U64(span),
        HostArg::U64(words),
        HostArg::U64(skip),
        HostArg::U64(origin),
        HostArg::U64(first),
        HostArg::U64(len),
        HostArg::Read(ones),
        HostArg::Read(density),
        HostArg::Read(ranks),
        HostArg::Read(places),
        HostArg::Write(entries),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (ones, density): (&[u64], &[u64]) = (cast_slice(ones), cast_slice(density));
    let (ranks, places, entries): (&[u32], &[u32], &mut [u64]) =
        (cast_slice(ranks), cast_slice(places), cast_slice_mut(entries));
    let query = Query { density, ranks, origin: *origin, first: *first, len: *len };
    for (s, ones) in ones[..*words as usize].chunks(*span as usize).enumerate() {
        let at = places[1 + s] as usize;
        for (k, point) in query.ones(ones, *skip + s as u64 * *span).enumerate() {
            entries[at + k] = u64::from(*bucket) << 32 | point << 1;
        }
    }
}
