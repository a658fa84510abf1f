//! A compact witness as the columns of a matrix see it.

use cuzk_values::{Bits, R1cs, Scalar, Witness};
use ff::Field;

use crate::{SynthError, WitnessSize};

/// The value of each column, found in constant time.
///
/// A column's two bits say whether its value is 1, or neither 0 nor 1. Where it
/// is neither, the number of such columns before it, which is kept for every
/// 64th, is its place in the list of values: the rank of a bitmap.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    blocks: Vec<Block>,
    ranks: Vec<u32>,
    inputs: Vec<Scalar>,
    aux: &'a [Scalar],
}

/// The bits of 64 columns, which are mostly wanted together.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    ones: u64,
    wide: u64,
}

/// What a column holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    /// 0 or 1: the bit, as a mask.
    Bit(i64),
    /// Any other value.
    Wide(&'a Scalar),
}

impl<'a> Lookup<'a> {
    /// # Errors
    /// [`SynthError::Foreign`] unless the witness has as many variables as the constraints.
    pub(crate) fn new(r1cs: &R1cs, witness: &'a Witness) -> Result<Self, SynthError> {
        let same = |what, found, expected| {
            if found == expected { Ok(()) } else { Err(SynthError::Foreign { what, found, expected }) }
        };
        same("inputs", witness.inputs.len(), r1cs.inputs)?;
        same("auxiliary variables", witness.aux.len(), r1cs.aux)?;

        let columns = r1cs.inputs + r1cs.aux;
        let mut ones: Bits = witness.inputs.iter().map(|input| *input == Scalar::ONE).collect();
        ones.append(witness.aux.ones(), 0);
        let mut blocks: Vec<Block> = ones.words().iter().map(|word| Block { ones: *word, wide: 0 }).collect();
        debug_assert_eq!(blocks.len(), columns.div_ceil(64));

        let is_wide = |input: &&Scalar| **input != Scalar::ONE && **input != Scalar::ZERO;
        let at = (0..).zip(&witness.inputs).filter(|(_, input)| is_wide(input)).map(|(at, _)| at);
        let aux_at = witness.aux.wide_at().iter().map(|at| r1cs.inputs + at as usize);
        for column in at.chain(aux_at) {
            blocks[column / 64].wide |= 1 << (column % 64);
        }
        let mut before = 0;
        let ranks = blocks.iter().map(|block| {
            let here = before;
            before += block.wide.count_ones();
            here
        });
        Ok(Self {
            ranks: ranks.collect(),
            blocks,
            inputs: witness.inputs.iter().filter(is_wide).copied().collect(),
            aux: witness.aux.wide(),
        })
    }

    /// The bytes that the lookup of a witness of this size takes, and what it is made of.
    pub(crate) fn bytes(size: WitnessSize) -> usize {
        let blocks = (size.inputs + size.aux).div_ceil(64);
        blocks * (size_of::<u64>() + size_of::<Block>() + size_of::<u32>()) + 32 * size.inputs
    }

    #[inline]
    pub(crate) fn get(&self, column: u32) -> Cell<'_> {
        let (word, bit) = (column as usize / 64, column % 64);
        let block = self.blocks[word];
        if (block.wide >> bit) & 1 == 0 {
            let one = (block.ones >> bit) & 1;
            return Cell::Bit(0_u64.wrapping_sub(one).cast_signed());
        }
        let before = (block.wide & ((1 << bit) - 1)).count_ones();
        let rank = (self.ranks[word] + before) as usize;
        Cell::Wide(match rank.checked_sub(self.inputs.len()) {
            Some(rank) => &self.aux[rank],
            None => &self.inputs[rank],
        })
    }
}
