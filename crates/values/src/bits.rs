//! A row of bits: densities, and the 0/1 part of a witness.

use cuzk_pipeline_core::{Footprint, Value};

/// A growable row of bits, 64 to a word, bit `i` in word `i / 64` at position `i % 64`.
///
/// Bits past the length are zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// An empty row.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty row with room for `bits`.
    pub fn with_capacity(bits: usize) -> Self {
        Self { words: Vec::with_capacity(bits.div_ceil(64)), len: 0 }
    }

    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// `len` ones.
    pub fn ones(len: usize) -> Self {
        let mut bits = Self { words: vec![u64::MAX; len.div_ceil(64)], len };
        bits.clear_tail();
        bits
    }

    /// Bits from words; what stands past `len` is cleared. `None` when there are too few words.
    pub fn from_words(mut words: Vec<u64>, len: usize) -> Option<Self> {
        if words.len() < len.div_ceil(64) {
            return None;
        }
        words.truncate(len.div_ceil(64));
        let mut bits = Self { words, len };
        bits.clear_tail();
        Some(bits)
    }

    fn clear_tail(&mut self) {
        if let (Some(last), rest @ 1..) = (self.words.last_mut(), self.len % 64) {
            *last &= (1 << rest) - 1;
        }
    }

    /// How many bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words, to be used again.
    pub fn into_words(self) -> Vec<u64> {
        self.words
    }

    /// Bit `i`; `false` past the end.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        i < self.len && (self.words[i / 64] >> (i % 64)) & 1 == 1
    }

    /// Sets bit `i`.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    #[inline]
    pub fn set(&mut self, i: usize) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] |= 1 << (i % 64);
    }

    /// Appends a bit.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        if bit {
            self.words[self.len / 64] |= 1 << (self.len % 64);
        }
        self.len += 1;
    }

    /// Appends the bits `from` on of `other`.
    ///
    /// # Panics
    /// If `from` exceeds the length of `other`.
    pub fn append(&mut self, other: &Self, from: usize) {
        let mut left = other.len.checked_sub(from).expect("`from` is in `other`");
        self.words.reserve((self.len + left).div_ceil(64).saturating_sub(self.words.len()));
        let mut at = from;
        while left > 0 {
            // As many bits as both words have left.
            let bits = left.min(64 - at % 64).min(64 - self.len % 64);
            let word = (other.words[at / 64] >> (at % 64)) & (u64::MAX >> (64 - bits));
            if self.len.is_multiple_of(64) {
                self.words.push(word);
            } else {
                self.words[self.len / 64] |= word << (self.len % 64);
            }
            self.len += bits;
            at += bits;
            left -= bits;
        }
    }

    /// How many bits are one.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The positions of the ones, ascending.
    pub fn iter_ones(&self) -> BitsIter<'_> {
        BitsIter { words: &self.words, word: self.words.first().copied().unwrap_or(0), at: 0 }
    }

    /// For each block of 64 bits, the ones before it: `rank(i)` is
    /// `blocks[i / 64] + (word & ((1 << i % 64) - 1)).count_ones()`.
    pub fn rank_blocks(&self) -> Vec<u32> {
        let mut before = 0;
        self.words
            .iter()
            .map(|w| {
                let here = before;
                before += w.count_ones();
                here
            })
            .collect()
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut row = Self::new();
        bits.into_iter().for_each(|b| row.push(b));
        row
    }
}

impl Value for Bits {
    fn footprint(&self) -> Footprint {
        Footprint::host(8 * self.words.capacity() as u64)
    }
}

/// The positions of the ones in [`Bits`].
#[derive(Debug, Clone)]
pub struct BitsIter<'a> {
    words: &'a [u64],
    word: u64,
    at: usize,
}

impl Iterator for BitsIter<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.at += 1;
            self.word = *self.words.get(self.at)?;
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(64 * self.at + bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_are_where_they_were_pushed() {
        for len in [0, 1, 63, 64, 65, 200] {
            let row: Bits = (0..len).map(|i| i % 3 == 1).collect();
            let want: Vec<usize> = (0..len).filter(|i| i % 3 == 1).collect();
            assert_eq!(row.iter_ones().collect::<Vec<_>>(), want);
            assert_eq!(row.count_ones(), want.len());
            assert_eq!(Bits::ones(len).count_ones(), len);
            let ranks = row.rank_blocks();
            for (rank, &i) in want.iter().enumerate() {
                let below = (row.words()[i / 64] & ((1 << (i % 64)) - 1)).count_ones();
                assert_eq!(ranks[i / 64] + below, rank as u32);
            }
        }
    }

    #[test]
    fn appended_bits_are_as_if_pushed() {
        let other: Bits = (0..200).map(|i| i % 3 == 1 || i % 7 == 2).collect();
        for len in [0, 1, 63, 64, 65] {
            for from in [0, 1, 62, 64, 130, 199, 200] {
                let mut row: Bits = (0..len).map(|i| i % 2 == 0).collect();
                let mut pushed = row.clone();
                row.append(&other, from);
                (from..200).for_each(|i| pushed.push(other.get(i)));
                assert_eq!(row, pushed, "{len} bits, then those from {from} on");
            }
        }
    }

    #[test]
    fn words_past_the_length_are_cleared() {
        let row = Bits::from_words(vec![u64::MAX; 3], 65).unwrap();
        assert_eq!((row.count_ones(), row.words().len()), (65, 2));
        assert!(Bits::from_words(vec![0], 65).is_none());
    }
}
