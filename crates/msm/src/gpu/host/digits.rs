//! Scalars as signed digits, and their sorting by bucket (`digits.cuh`).

use blst::blst_fr;
use bytemuck::{cast_slice, cast_slice_mut};
use cuzk_gpu_backend::Grid;
use cuzk_gpu_backend::host::HostArg;
use cuzk_values::Scalar;

use crate::digits::magnitude;

/// `digits[w n + i]`, for each of `count` windows from `first` on: `magnitude << 1 | negative` of the
/// digit of `scalars[start + i]`, where `offset` turns signed digits into plain bits. The first `wide` of
/// all windows have `bits`, the others one less. If they are `picked`, then of the scalar that `picks[i]`
/// names, and of 0 from `terms[0]` on.
pub(in crate::gpu) fn digits(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(bits),
        HostArg::U32(wide),
        HostArg::U32(windows),
        HostArg::U32(first),
        HostArg::U32(count),
        HostArg::Value(offset),
        HostArg::U64(start),
        HostArg::U64(n),
        HostArg::U32(picked),
        HostArg::U64(inputs),
        HostArg::Read(picks),
        HostArg::Read(terms),
        HostArg::Read(of_inputs),
        HostArg::Read(scalars),
        HostArg::Write(digits),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (start, n) = (*start as usize, *n as usize);
    let (of_inputs, scalars): (&[[u64; 4]], &[[u64; 4]]) = (cast_slice(of_inputs), cast_slice(scalars));
    let (picks, terms, digits): (&[u64], &[u32], &mut [u32]) =
        (cast_slice(picks), cast_slice(terms), cast_slice_mut(digits));
    let offset: [u64; 4] = bytemuck::pod_read_unaligned(offset);
    let scalar = |i: usize| match *picked {
        0 => scalars[start + i],
        _ if i >= terms[0] as usize => [0; 4],
        _ => {
            let which = picks[i] >> 32;
            let of_wide = which.checked_sub(*inputs);
            of_wide.map_or_else(|| of_inputs[which as usize], |wide| scalars[wide as usize])
        }
    };
    for i in 0..n {
        let (minus, magnitude) = magnitude(&Scalar::from(blst_fr { l: scalar(i) }));
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
pub(in crate::gpu) fn histogram(grid: Grid, args: &mut [HostArg<'_>]) {
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
pub(in crate::gpu) fn scan(_: Grid, args: &mut [HostArg<'_>]) {
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
pub(in crate::gpu) fn partition(grid: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(_),
        HostArg::U32(low),
        HostArg::U32(partitions),
        HostArg::U64(first),
        HostArg::U64(n),
        HostArg::U32(picked),
        HostArg::Read(picks),
        HostArg::Read(digits),
        HostArg::Write(cursors),
        HostArg::Write(entries),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (n, picks, digits): (_, &[u64], &[u32]) = (*n as usize, cast_slice(picks), cast_slice(digits));
    let (cursors, entries): (&mut [u32], &mut [u64]) = (cast_slice_mut(cursors), cast_slice_mut(entries));
    for w in 0..grid.blocks[1] as usize {
        for (i, digit) in digits[w * n..(w + 1) * n].iter().enumerate().filter(|(_, digit)| **digit > 0) {
            let bucket = (digit >> 1) - 1;
            let cursor = &mut cursors[w * *partitions as usize + (bucket >> *low) as usize];
            let point = if *picked == 0 { *first + i as u64 } else { picks[i] & u64::from(u32::MAX) };
            entries[*cursor as usize] = u64::from(bucket) << 32 | point << 1 | u64::from(digit & 1);
            *cursor += 1;
        }
    }
}

/// Sorts each partition by bucket, and gives entries their bucket's number within all windows.
pub(in crate::gpu) fn sort(_: Grid, args: &mut [HostArg<'_>]) {
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
