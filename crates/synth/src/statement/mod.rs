//! What is proved: from an input to public inputs and witnesses.

mod fit;
mod porep;
mod post;
mod snap;

use std::fmt;
use std::thread::available_parallelism;

use cuzk_pipeline_core::{Cx, Footprint, Value};
use cuzk_values::{Scalar, Witness};

use crate::writer::Blocks;
use crate::{FilecoinCircuit, SynthError, WitnessSize};

/// A circuit, and what is proved with it: its input says how many proofs that
/// takes, what each of them states, and why it is true.
pub trait Statement: fmt::Debug + Copy + Into<FilecoinCircuit> + Send + Sync + 'static {
    /// The vanilla proofs of all partitions.
    type Input: Value + fmt::Debug + Send + Sync;

    /// How many partitions an input has, each of which takes a proof.
    fn partitions(input: &Self::Input) -> usize;

    /// The public inputs of a partition, ONE first: the statement that its proof proves.
    ///
    /// # Errors
    /// [`SynthError::SectorSize`], [`SynthError::Kind`], [`SynthError::Partition`],
    /// [`SynthError::Count`], [`SynthError::NotCanonical`] for an input that does
    /// not fit the circuit.
    fn public_inputs(&self, input: &Self::Input, partition: usize) -> Result<Vec<Scalar>, SynthError>;

    /// The witness of a partition, whose public inputs are
    /// [`public_inputs`](Self::public_inputs). The circuit's sub-circuits are
    /// written in parallel, on the caller's pool.
    ///
    /// That the constraints are satisfied is not checked: see [`check`](crate::check).
    ///
    /// # Errors
    /// As [`public_inputs`](Self::public_inputs); [`SynthError::PublicInput`],
    /// [`SynthError::Memory`], [`SynthError::Cancelled`].
    fn witness(&self, cx: &Cx<'_>, input: &Self::Input, partition: usize) -> Result<Witness, SynthError>;

    /// The size of the circuit's witnesses, known without recording.
    fn witness_size(&self) -> WitnessSize;

    /// The most that [`witness`](Self::witness) holds besides the witness, on as
    /// many threads as the machine has.
    fn witness_scratch(&self) -> Footprint;
}

/// The most that groups of blocks hold that are written at once: hashes of so
/// many scalars each, and in all the places of a block's full-width variables.
fn scratch(blocks: Blocks, hashes: usize) -> Footprint {
    let threads = available_parallelism().map_or(1, usize::from);
    let groups = threads.min(blocks.count.div_ceil(blocks.group));
    let inputs = 2 * blocks.size().inputs;
    Footprint::host((groups * 32 * hashes + 8 * blocks.block.wide + 32 * inputs) as u64)
}

/// The witness, if it states what it is to state.
fn stating(witness: Witness, statement: &[Scalar]) -> Result<Witness, SynthError> {
    match witness.inputs.iter().zip(statement).position(|(circuit, stated)| circuit != stated) {
        None => Ok(witness),
        Some(index) => Err(SynthError::PublicInput {
            index,
            circuit: witness.inputs[index],
            statement: statement[index],
        }),
    }
}
