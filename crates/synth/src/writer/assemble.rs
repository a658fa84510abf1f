//! Parts of a witness, written side by side.

use std::ops::Range;

use cuzk_pipeline_core::Cx;
use cuzk_values::{Bits, CompactScalars, Places, Scalar, Witness};
use ff::Field;
use rayon::prelude::*;

use super::Part;
use super::part::Written;
use crate::zeroed::zeroed_scalars;
use crate::{SynthError, WitnessSize};

/// What a witness is made of: a header, and blocks of one size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks {
    /// The header, ONE among its inputs.
    pub(crate) header: WitnessSize,
    /// Each block.
    pub(crate) block: WitnessSize,
    /// How many blocks.
    pub(crate) count: usize,
    /// How many are written together.
    pub(crate) group: usize,
}

impl Blocks {
    /// The whole witness.
    pub(crate) const fn size(self) -> WitnessSize {
        let size = self.header.plus(self.block.times(self.count));
        WitnessSize { places: self.header.places + self.block.places, ..size }
    }
}

/// Memory that a witness is written to: that of another one, which is written over.
#[derive(Default)]
pub(crate) struct Memory {
    inputs: Vec<Scalar>,
    wide: Vec<Scalar>,
    words: Vec<u64>,
}

impl Memory {
    /// That of a witness that is not wanted any more.
    pub(crate) fn of(witness: Witness) -> Self {
        let (ones, wide) = witness.aux.into_bits_and_wide();
        Self { inputs: witness.inputs, wide, words: ones.into_words() }
    }
}

/// Writes a witness: the header, and groups of blocks from the first of each on, in
/// parallel on the caller's pool.
///
/// # Errors
/// [`SynthError::Memory`], [`SynthError::Cancelled`].
pub(crate) fn assemble(
    cx: &Cx<'_>,
    memory: Memory,
    blocks: Blocks,
    header: impl FnOnce(&mut Part<'_>),
    group: impl Fn(usize, &mut [Part<'_>]) + Sync,
) -> Result<Witness, SynthError> {
    let size = blocks.size();
    let Memory { mut inputs, mut wide, mut words } = memory;
    inputs.resize(size.inputs, Scalar::ZERO);
    words.resize(size.aux.div_ceil(64), 0);
    if wide.capacity() < size.wide {
        wide = zeroed_scalars(size.wide)?;
    }
    wide.resize(size.wide, Scalar::ZERO);

    let mut rest = Rest { bit: 0, inputs: &mut inputs, wide: &mut wide, words: &mut words };
    let mut part = rest.part(blocks.header, true);
    header(&mut part);
    let first = part.finish();
    let mut parts: Vec<_> = (0..blocks.count).map(|i| rest.part(blocks.block, i == 0)).collect();
    parts.par_chunks_mut(blocks.group).enumerate().try_for_each(|(i, parts)| {
        cx.checkpoint()?;
        group(i * blocks.group, parts);
        Ok::<_, SynthError>(())
    })?;
    let written: Vec<Written> = parts.into_iter().map(Part::finish).collect();

    let Blocks { header, block, count, .. } = blocks;
    for (i, part) in written.iter().enumerate() {
        let bit = header.aux + i * block.aux;
        if !bit.is_multiple_of(64) {
            words[bit / 64] |= part.head;
        }
    }
    let run = written.into_iter().next().and_then(|part| part.places);
    let places = Places::repeating(
        first.places.unwrap_or_default(),
        run.unwrap_or_default(),
        header.aux as u32,
        block.aux as u32,
        count as u32,
    );
    let ones = Bits::from_words(words, size.aux).expect("as many words as bits");
    Ok(Witness { inputs, aux: CompactScalars::new(ones, places, wide) })
}

/// What no part has taken.
struct Rest<'a> {
    bit: usize,
    inputs: &'a mut [Scalar],
    wide: &'a mut [Scalar],
    words: &'a mut [u64],
}

impl<'a> Rest<'a> {
    fn part(&mut self, size: WitnessSize, note_places: bool) -> Part<'a> {
        let bits = self.bit..self.bit + size.aux;
        self.bit = bits.end;
        let inputs = self.inputs.split_off_mut(..size.inputs);
        let wide = self.wide.split_off_mut(..size.wide);
        let words = self.words.split_off_mut(..words_from(&bits));
        let parts = inputs.zip(wide).zip(words);
        let ((inputs, wide), words) = parts.expect("a witness has room for its parts");
        Part::new(bits.start, inputs, wide, words, note_places)
    }
}

/// How many words start in a range of bits.
fn words_from(bits: &Range<usize>) -> usize {
    bits.end.div_ceil(64) - bits.start.div_ceil(64)
}
