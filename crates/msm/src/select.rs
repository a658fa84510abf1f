//! Which bases of a chunk count, and how: the walk over scalars and density maps.

use std::ops::Range;

use cuzk_values::{Bits, CompactScalars, Scalar};
use ff::Field;
use rayon::prelude::*;

/// The bases of one chunk that count, by index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Bases with scalar 1.
    pub(crate) ones: Vec<u32>,
    /// Bases with another scalar than 0 and 1.
    pub(crate) wide_at: Vec<u32>,
    /// Their scalars.
    pub(crate) wide: Vec<Scalar>,
}

impl Selection {
    /// Whether no base counts.
    pub(crate) fn is_empty(&self) -> bool {
        self.ones.is_empty() && self.wide.is_empty()
    }

    fn push(&mut self, base: u32, scalar: Scalar) {
        if scalar == Scalar::ONE {
            self.ones.push(base);
        } else if scalar != Scalar::ZERO {
            self.wide_at.push(base);
            self.wide.push(scalar);
        }
    }

    /// All of `parts`, one after another.
    fn join(parts: &[Self]) -> Self {
        Self {
            ones: parts.iter().flat_map(|part| &part.ones).copied().collect(),
            wide_at: parts.iter().flat_map(|part| &part.wide_at).copied().collect(),
            wide: parts.iter().flat_map(|part| &part.wide).copied().collect(),
        }
    }

    /// Base `i` with `scalars[i]`.
    pub(crate) fn of_scalars(scalars: &[Scalar]) -> Self {
        const PART: usize = 8192;
        let parts = scalars.par_chunks(PART).enumerate().map(|(part, scalars)| {
            let mut selection = Self::default();
            for (i, scalar) in scalars.iter().enumerate() {
                selection.push((part * PART + i) as u32, *scalar);
            }
            selection
        });
        Self::join(&parts.collect::<Vec<_>>())
    }
}

/// The scalars that are neither 0 nor 1.
pub(crate) fn count_wide(scalars: &[Scalar]) -> usize {
    scalars.par_iter().with_min_len(4096).filter(|s| **s != Scalar::ZERO && **s != Scalar::ONE).count()
}

/// Words of a density map that are looked at together.
const BLOCK: usize = 64;

/// Auxiliary variables and the bases of those that have one, in the same order.
pub(crate) struct Walk<'a> {
    aux: &'a CompactScalars,
    density: Option<&'a Bits>,
    /// The bases before each block of [`BLOCK`] words, and all.
    ranks: Vec<usize>,
}

impl<'a> Walk<'a> {
    /// All variables, or those whose bit is set; as many bits as variables.
    pub(crate) fn new(aux: &'a CompactScalars, density: Option<&'a Bits>) -> Self {
        let blocks = aux.ones().words().len().div_ceil(BLOCK);
        let mut walk = Self { aux, density, ranks: Vec::with_capacity(blocks + 1) };
        let sizes = (0..blocks)
            .into_par_iter()
            .map(|block| walk.words(block).map(|word| walk.density(word).count_ones() as usize).sum());
        let sizes: Vec<usize> = sizes.collect();
        walk.ranks.push(0);
        walk.ranks.extend(sizes.iter().scan(0, |rank, size| {
            *rank += size;
            Some(*rank)
        }));
        walk
    }

    /// How many bases the variables have.
    pub(crate) fn bases(&self) -> usize {
        self.ranks.last().copied().unwrap_or(0)
    }

    /// How many wide variables have a base.
    pub(crate) fn count_wide(&self) -> usize {
        let Some(density) = self.density else { return self.aux.wide().len() };
        let in_block = |block: usize| {
            let variables = 64 * BLOCK * block..64 * BLOCK * (block + 1);
            self.aux.wide_at().iter_in(variables).filter(|at| density.get(*at)).count()
        };
        let blocks = self.ranks.len() - 1;
        (0..blocks).into_par_iter().with_min_len(16).map(in_block).sum()
    }

    /// The words of a block.
    fn words(&self, block: usize) -> Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.aux.ones().words().len())
    }

    /// Which of the 64 variables of a word have a base.
    fn density(&self, word: usize) -> u64 {
        match self.density {
            Some(bits) => bits.words()[word],
            None if 64 * (word + 1) <= self.aux.len() => u64::MAX,
            None => (1 << (self.aux.len() % 64)) - 1,
        }
    }

    /// What the variables of a block select among the bases from `first` on.
    fn select(&self, block: usize, first: usize) -> Selection {
        let mut selection = Selection::default();
        let words = self.words(block);
        let (wide_at, wide) = (self.aux.wide_at(), self.aux.wide());
        let next = wide_at.rank(64 * words.start);
        let mut wide = wide_at.iter_from(next).zip(&wide[next..]).peekable();
        let mut rank = (self.ranks[block] - first) as u32;
        for word in words {
            let density = self.density(word);
            let base_of = |bit: u64| rank + (density & (bit - 1)).count_ones();
            let mut ones = self.aux.ones().words()[word] & density;
            while ones != 0 {
                let bit = ones & ones.wrapping_neg();
                selection.ones.push(if density == u64::MAX {
                    rank + ones.trailing_zeros()
                } else {
                    base_of(bit)
                });
                ones ^= bit;
            }
            while let Some((at, scalar)) = wide.next_if(|(at, _)| *at as usize / 64 == word) {
                let bit = 1 << (at % 64);
                if density & bit != 0 {
                    selection.push(base_of(bit), *scalar);
                }
            }
            rank += density.count_ones();
        }
        selection
    }

    /// Chunks of at most `chunk` bases (or of one block), and what is selected of each.
    pub(crate) fn chunks(&self, chunk: usize) -> impl Iterator<Item = (Range<usize>, Selection)> {
        let mut block = 0;
        std::iter::from_fn(move || {
            let first = *self.ranks.get(block)?;
            let within = self.ranks[block + 1..].partition_point(|rank| *rank <= first + chunk);
            let blocks = block..(block + within.max(1)).min(self.ranks.len() - 1);
            if blocks.is_empty() {
                return None;
            }
            block = blocks.end;
            let parts = blocks.clone().into_par_iter().map(|block| self.select(block, first));
            Some((first..self.ranks[blocks.end], Selection::join(&parts.collect::<Vec<_>>())))
        })
    }
}
