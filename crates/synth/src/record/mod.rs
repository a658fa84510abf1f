//! The recorder: a circuit's constraints, once for all its witnesses.

mod blocks;
mod recorder;

use bellpepper_core::Circuit;
use cuzk_values::{MatrixBuilder, R1cs, Repeat, Scalar};
use ff::Field;

use crate::{SynthError, WitnessSize};
use blocks::Argument;
use recorder::{AUX, Mark, Recorder, within};

pub use blocks::record_blocks;
pub(crate) use recorder::is_wide;

/// A circuit's constraints, and the size of its witnesses.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The constraints.
    pub r1cs: R1cs,
    /// The size of each witness.
    pub size: WitnessSize,
}

/// Records the constraints of `circuit`, whose values may all be missing.
///
/// Rows hold what bellperson's prover and generator evaluate: the terms of
/// bellpepper's linear combinations, in which a variable stands once, without
/// those whose coefficient is zero. One row `input_i · 0 = 0` for each input,
/// ONE first, is appended as they append it (bellperson 0.27,
/// `groth16/generator.rs` and `prover/native.rs`).
///
/// # Errors
/// [`SynthError::Synthesis`] where the circuit refuses, [`SynthError::R1cs`]
/// where it is too large for indices of 31 bits.
pub fn record(circuit: impl Circuit<Scalar>) -> Result<Recording, SynthError> {
    let recorder = Recorder::run(circuit)?;
    let end = recorder.mark();
    finish(recorder, [end; 2], 1, &[])
}

/// Records a circuit that is a `header` and then `count` equal sub-circuits,
/// from `first`: the header and one of them.
///
/// The sub-circuits may share the header's variables, all of them in the same
/// way, and must have none of each other's. What they repeat is stored once
/// ([`Repeat`]).
///
/// # Errors
/// As [`record`].
pub fn record_repeating(
    header: impl Circuit<Scalar>,
    first: impl Circuit<Scalar>,
    count: u32,
) -> Result<Recording, SynthError> {
    let header = Recorder::run(header)?.mark();
    let recorder = Recorder::run(first)?;
    let end = recorder.mark();
    finish(recorder, [header, end], count, &[])
}

/// The constraints in which what a recorder has between two marks stands `count` times.
fn finish(
    mut recorder: Recorder,
    [from, end]: [Mark; 2],
    count: u32,
    arguments: &[Argument],
) -> Result<Recording, SynthError> {
    let times = |start: u32, end: u32| u64::from(start) + u64::from(end - start) * u64::from(count);
    let variables = times(from.inputs, end.inputs) + times(from.aux, end.aux);
    within("variables", variables, Repeat::BOUND)?;
    let [inputs, aux] = [times(from.inputs, end.inputs), times(from.aux, end.aux)].map(|n| n as u32);
    within("constraints", times(from.rows, end.rows) + u64::from(inputs), u32::MAX)?;

    let column = |recorded: u32| if recorded >= AUX { inputs + (recorded - AUX) } else { recorded };
    for matrix in recorder.matrices() {
        let block = matrix.entries_of(from.rows as usize..end.rows as usize);
        for (entry, recorded) in (0..).zip(matrix.columns_mut()) {
            let argument = || arguments.binary_search_by_key(recorded, |argument| argument.first);
            *recorded = match block.contains(&entry).then(argument) {
                Some(Ok(argument)) => Repeat::BOUND + argument as u32,
                _ => column(*recorded),
            };
        }
    }
    let one = recorder.coefficients.intern(Scalar::ONE);
    for input in 0..inputs {
        recorder.a.entry(input, one);
        recorder.matrices().into_iter().for_each(MatrixBuilder::end_row);
    }
    let repeat = Repeat {
        count,
        rows: from.rows..end.rows,
        inputs: from.inputs..end.inputs,
        aux: inputs + from.aux..inputs + end.aux,
        bound: (0..count as usize)
            .flat_map(|copy| arguments.iter().map(move |argument| argument.columns[copy]))
            .map(column)
            .collect(),
    };
    let matrices = [recorder.a, recorder.b, recorder.c].map(|matrix| matrix.build_repeating(repeat.clone()));
    let r1cs = R1cs::new(inputs as usize, aux as usize, recorder.coefficients, matrices);
    let wide = times(from.wide, end.wide) as usize;
    let size = WitnessSize { inputs: r1cs.inputs, aux: r1cs.aux, wide, places: end.wide as usize };
    Ok(Recording { r1cs, size })
}
