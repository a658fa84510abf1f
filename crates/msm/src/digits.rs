//! Scalars as signed digits, window by window.
//!
//! A scalar `k` of the upper half of the field stands for `-(r - k)`, so that 254
//! bits remain. With windows of `c` bits, `k = sum d_w 2^(cw)` with digits
//! `-2^(c-1) <= d_w < 2^(c-1)`: adding `2^(c-1)` in every window but the last
//! turns them into plain bits, and every window can be read without its neighbours'
//! carries. `W = ceil(255 / c)` windows suffice; the last digit is not negative and
//! at most `2^(c-1)`.

use std::ops::Range;

use cuzk_values::Scalar;
use rayon::prelude::*;

/// The bits that windows cover: a magnitude of 254 and one for the carry.
const BITS: u32 = 255;
/// The most bits of a window.
pub(crate) const MAX_WINDOW: u32 = 17;
/// How many scalars share a [height](Digits::heights).
const BLOCK: usize = 256;

/// `r`, least significant word first.
const ORDER: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// How scalars are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Bits of each, from 2 to [`MAX_WINDOW`].
    pub(crate) bits: u32,
    /// How many.
    pub(crate) count: usize,
    /// `2^(c-1)` in every window but the last.
    offset: [u64; 4],
}

/// A digit that is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digit {
    /// The magnitude modulo `2^(c-1)`: bucket 0 holds magnitude `2^(c-1)`.
    pub(crate) bucket: usize,
    /// Whether it is below 0.
    pub(crate) negative: bool,
}

impl Windows {
    /// Windows of `bits`, from 2 to [`MAX_WINDOW`].
    pub(crate) fn new(bits: u32) -> Self {
        let count = BITS.div_ceil(bits);
        let mut offset = [0; 4];
        for w in 0..count - 1 {
            let bit = bits * w + bits - 1;
            offset[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        Self { bits, count: count as usize, offset }
    }

    /// The windows that take the fewest additions for `scalars` of full width:
    /// one for each digit, two for each bucket.
    pub(crate) fn for_scalars(scalars: usize) -> Self {
        let additions = |windows: &Self| windows.count * (scalars + 2 * windows.buckets());
        let all = (2..=MAX_WINDOW).map(Self::new);
        all.min_by_key(additions).unwrap_or_else(|| Self::new(2))
    }

    /// Buckets of one window.
    pub(crate) fn buckets(&self) -> usize {
        1 << (self.bits - 1)
    }
}

/// Scalars in windows, a column for each 64 bits.
#[derive(Default)]
pub(crate) struct Digits {
    columns: [Vec<u64>; 4],
    negative: Vec<bool>,
    /// For each block of scalars, the windows in which any of them has a digit.
    heights: Vec<usize>,
}

impl Digits {
    /// The bytes for `scalars`.
    pub(crate) const fn bytes(scalars: usize) -> usize {
        scalars * (4 * size_of::<u64>() + size_of::<bool>()) + scalars.div_ceil(BLOCK) * size_of::<usize>()
    }

    /// Takes the scalars; those that `skip` become 0.
    pub(crate) fn recode(
        &mut self,
        windows: &Windows,
        scalars: &[Scalar],
        skip: impl Fn(usize) -> bool + Sync,
    ) {
        for column in &mut self.columns {
            column.resize(scalars.len(), 0);
        }
        self.negative.resize(scalars.len(), false);
        self.heights.resize(scalars.len().div_ceil(BLOCK), 0);
        let [c0, c1, c2, c3] = &mut self.columns;
        let low = c0.par_chunks_mut(BLOCK).zip(c1.par_chunks_mut(BLOCK));
        let high = c2.par_chunks_mut(BLOCK).zip(c3.par_chunks_mut(BLOCK));
        let signs = self.negative.par_chunks_mut(BLOCK).zip(&mut self.heights);
        let blocks = low.zip(high).zip(signs).zip(scalars.par_chunks(BLOCK)).enumerate().with_min_len(16);
        blocks.for_each(|(block, ((((c0, c1), (c2, c3)), (negative, height)), scalars))| {
            let mut any = [0; 4];
            for (i, scalar) in scalars.iter().enumerate() {
                let (minus, k) = if skip(block * BLOCK + i) { (false, [0; 4]) } else { magnitude(scalar) };
                any = std::array::from_fn(|word| any[word] | k[word]);
                negative[i] = minus;
                [c0[i], c1[i], c2[i], c3[i]] = add(&k, &windows.offset);
            }
            // w windows reach (2^(c-1) - 1) / (2^c - 1) 2^(cw) > 2^(cw) / 4.
            let highest = (0..4).rev().find(|word| any[*word] != 0);
            let bits = highest.map_or(0, |word| 64 * word + 66 - any[word].leading_zeros() as usize);
            *height = bits.div_ceil(windows.bits as usize).min(windows.count);
        });
    }

    /// Gives every digit of window `w` among `scalars` that is not 0 to `take`.
    #[inline]
    pub(crate) fn for_each(
        &self,
        windows: &Windows,
        w: usize,
        scalars: Range<usize>,
        mut take: impl FnMut(usize, Digit),
    ) {
        let bit = w * windows.bits as usize;
        let (word, shift) = (bit / 64, bit % 64);
        let buckets = windows.buckets();
        let mask = 2 * buckets as u64 - 1;
        let half = if w + 1 == windows.count { 0 } else { buckets as i64 };
        // What the next word adds, where a window lies in two.
        let (next, next_mask) =
            if shift + windows.bits as usize > 64 && word < 3 { (word + 1, mask) } else { (word, 0) };
        let mut at = scalars.start;
        while at < scalars.end {
            let end = scalars.end.min((at / BLOCK + 1) * BLOCK);
            if w < self.heights[at / BLOCK] {
                let low = &self.columns[word][at..end];
                let high = &self.columns[next][at..end];
                for (i, ((low, high), negative)) in
                    low.iter().zip(high).zip(&self.negative[at..end]).enumerate()
                {
                    let digit = (low >> shift | (high << 1 << (63 - shift)) & next_mask) & mask;
                    let digit = digit.cast_signed() - half;
                    if digit != 0 {
                        let bucket = digit.unsigned_abs() as usize & (buckets - 1);
                        take(at + i, Digit { bucket, negative: (digit < 0) != *negative });
                    }
                }
            }
            at = end;
        }
    }
}

/// The number from 0 to `(r - 1) / 2` of which `scalar` is the negative or itself.
pub(crate) fn magnitude(scalar: &Scalar) -> (bool, [u64; 4]) {
    let bytes = scalar.to_bytes_le();
    let mut k = [0; 4];
    for (word, bytes) in k.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let negated = subtract(&ORDER, &k);
    if k.iter().rev().gt(negated.iter().rev()) { (true, negated) } else { (false, k) }
}

pub(crate) fn add(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut carry = false;
    std::array::from_fn(|i| {
        let sum;
        (sum, carry) = a[i].carrying_add(b[i], carry);
        sum
    })
}

fn subtract(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    std::array::from_fn(|i| {
        let difference;
        (difference, borrow) = a[i].borrowing_sub(b[i], borrow);
        difference
    })
}
