//! `WindowPoSt` and `WinningPoSt`.

use std::num::NonZeroUsize;
use std::ops::Range;

use cuzk_pipeline_core::{Cx, Footprint};
use cuzk_values::{MerkleProof, Post, PostSector, Scalar, Witness};
use ff::Field;

use super::{Statement, fit, scratch, stating};
use crate::writer::{self, Blocks, Memory, assemble, size};
use crate::{PostCircuit, PostShape, SynthError, WitnessSize};

/// Paths that are hashed together, so that nearly all lanes of a vector have one.
const PATHS: usize = 40;

impl Statement for PostCircuit {
    type Input = Post;

    fn partitions(_: &Post) -> usize {
        1
    }

    /// The circuit states `comm_r` of each sector, and the challenges
    /// (storage-proofs-post 19.1.0, `FallbackPoStCompound::generate_public_inputs`);
    /// the last sector over and over where there are fewer than it has room for.
    /// A verifier derives the challenges from the randomness; here they are the
    /// input's, which [`decode`](crate::post::decode) has held against it.
    fn public_inputs(&self, post: &Post, partition: usize) -> Result<Vec<Scalar>, SynthError> {
        let shape = self.post_shape();
        fit::post(shape, post, partition)?;
        let mut inputs = Vec::with_capacity(self.witness_size().inputs);
        inputs.push(Scalar::ONE);
        for i in 0..shape.circuit_sectors() {
            let (sector, challenges) = sector(shape, post, i);
            inputs.push(fit::scalar(&sector.comm_r, &"comm_r")?);
            inputs.extend(challenges.iter().map(|path| Scalar::from(u64::from(path.node))));
        }
        Ok(inputs)
    }

    fn witness(&self, cx: &Cx<'_>, post: &Post, partition: usize) -> Result<Witness, SynthError> {
        let statement = self.public_inputs(post, partition)?;
        let all = 0..self.sectors();
        stating(write(cx, Memory::default(), *self, post, all, size::POST_HEADER)?, &statement)
    }

    fn witness_size(&self) -> WitnessSize {
        blocks(*self, size::POST_HEADER, self.sectors()).size()
    }

    fn witness_scratch(&self) -> Footprint {
        let blocks = blocks(*self, size::POST_HEADER, self.sectors());
        let paths = blocks.group * self.challenges();
        let commitments = blocks.group * size::poseidon(2).wide;
        scratch(blocks, commitments + paths * size::hashes_of_path(self.post_shape().sector.tree_c()))
    }
}

impl PostCircuit {
    /// The part of a witness that some of the circuit's sectors have: what
    /// [`witness`](Statement::witness) has of them, without ONE. A partition of
    /// 32 GiB weighs 4 GB, and need not be held whole.
    ///
    /// # Errors
    /// As [`witness`](Statement::witness).
    ///
    /// # Panics
    /// If the circuit has not so many sectors.
    pub fn witness_of_sectors(
        &self,
        cx: &Cx<'_>,
        post: &Post,
        sectors: Range<usize>,
    ) -> Result<Witness, SynthError> {
        assert!(sectors.end <= self.sectors(), "the circuit has sectors {sectors:?}");
        fit::post(self.post_shape(), post, 0)?;
        write(cx, Memory::default(), *self, post, sectors, WitnessSize::NONE)
    }

    /// The whole witness in parts of at most so many sectors, as
    /// [`witness_of_sectors`](Self::witness_of_sectors) gives them, one after the
    /// other in the same memory: each is shown to `part`, which may end it.
    ///
    /// # Errors
    /// As [`witness`](Statement::witness), and what `part` says.
    pub fn witness_in_parts(
        &self,
        cx: &Cx<'_>,
        post: &Post,
        sectors: NonZeroUsize,
        mut part: impl FnMut(Range<usize>, &Witness) -> Result<(), SynthError>,
    ) -> Result<(), SynthError> {
        fit::post(self.post_shape(), post, 0)?;
        let mut memory = Memory::default();
        for first in (0..self.sectors()).step_by(sectors.get()) {
            let some = first..self.sectors().min(first + sectors.get());
            let witness = write(cx, memory, *self, post, some.clone(), WitnessSize::NONE)?;
            part(some, &witness)?;
            memory = Memory::of(witness);
        }
        Ok(())
    }
}

fn write(
    cx: &Cx<'_>,
    memory: Memory,
    circuit: PostCircuit,
    post: &Post,
    sectors: Range<usize>,
    header: WitnessSize,
) -> Result<Witness, SynthError> {
    let shape = circuit.post_shape();
    assemble(
        cx,
        memory,
        blocks(circuit, header, sectors.len()),
        |part| {
            if header.inputs > 0 {
                part.input(Scalar::ONE);
            }
        },
        |first, parts| {
            let group = (0..parts.len()).map(|i| sector(shape, post, sectors.start + first + i));
            writer::post::sectors(parts, &group.collect::<Vec<_>>());
        },
    )
}

fn blocks(circuit: PostCircuit, header: WitnessSize, count: usize) -> Blocks {
    let challenges = circuit.challenges();
    let block = size::post_sector(circuit.shape().tree_c(), challenges);
    Blocks { header, block, count, group: PATHS / challenges }
}

/// What the circuit has for its sector `i`: a sector and its challenges, or one of
/// the challenges of a `WinningPoSt`'s.
fn sector(shape: PostShape, post: &Post, i: usize) -> (&PostSector, &[MerkleProof]) {
    let (at, challenge) = if shape.circuit_challenges() == shape.challenges { (i, 0) } else { (0, i) };
    let sector = &post.sectors[at.min(post.sectors.len() - 1)];
    (sector, &sector.challenges[challenge..challenge + shape.circuit_challenges()])
}
