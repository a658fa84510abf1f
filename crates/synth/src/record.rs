//! The recorder: a circuit's constraints, once for all its witnesses.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use cuzk_values::{Bits, Coefficients, Densities, MatrixBuilder, R1cs, R1csError, Repeat, Scalar};
use ff::Field;

use crate::{SynthError, WitnessSize};

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
/// where it is too large for indices of 32 bits.
pub fn record(circuit: impl Circuit<Scalar>) -> Result<Recording, SynthError> {
    let recorder = Recorder::run(circuit)?;
    let end = recorder.mark();
    recorder.finish(end, 1)
}

/// Records a circuit that is a `header` and then `count` equal sub-circuits,
/// from `first`: the header and one of them.
///
/// The sub-circuits may share the header's variables, and must have none of
/// each other's. What they repeat is stored once ([`Repeat`]).
///
/// # Errors
/// As [`record`].
pub fn record_repeating(
    header: impl Circuit<Scalar>,
    first: impl Circuit<Scalar>,
    count: u32,
) -> Result<Recording, SynthError> {
    let header = Recorder::run(header)?.mark();
    Recorder::run(first)?.finish(header, count)
}

/// Marks an auxiliary variable's column while the number of inputs, which come
/// before, is not known.
const AUX: u32 = 1 << 31;

/// The annotations under which bellpepper's gadgets allocate variables that can
/// only be 0 or 1 (bellpepper-core 0.2.1, `gadgets/boolean.rs`).
const BIT_NAMES: [&str; 7] =
    ["boolean", "xor result", "and result", "and not result", "nor result", "ch", "maj"];

#[derive(Default)]
struct Recorder {
    inputs: u32,
    aux: u32,
    wide: u32,
    coefficients: Coefficients,
    a: MatrixBuilder,
    b: MatrixBuilder,
    c: MatrixBuilder,
    densities: Densities,
    too_many: Option<R1csError>,
}

/// How far a recorder is.
#[derive(Debug, Clone, Copy)]
struct Mark {
    inputs: u32,
    aux: u32,
    wide: u32,
    rows: u32,
}

impl Recorder {
    fn run(circuit: impl Circuit<Scalar>) -> Result<Self, SynthError> {
        let mut recorder = Self::default();
        recorder.alloc_input(|| "", || Ok(Scalar::ONE))?;
        circuit.synthesize(&mut recorder)?;
        match recorder.too_many.take() {
            Some(error) => Err(error.into()),
            None => Ok(recorder),
        }
    }

    fn mark(&self) -> Mark {
        Mark { inputs: self.inputs, aux: self.aux, wide: self.wide, rows: self.a.rows() as u32 }
    }

    /// The constraints in which what came after `from` stands `count` times.
    fn finish(mut self, from: Mark, count: u32) -> Result<Recording, SynthError> {
        let end = self.mark();
        let times = |start: u32, end: u32| u64::from(start) + u64::from(end - start) * u64::from(count);
        let inputs = within("inputs", times(from.inputs, end.inputs), AUX)?;
        let aux = within("auxiliary variables", times(from.aux, end.aux), AUX)?;
        within("constraints", times(from.rows, end.rows) + u64::from(inputs), u32::MAX)?;

        for matrix in [&mut self.a, &mut self.b, &mut self.c] {
            for column in matrix.columns_mut() {
                if *column >= AUX {
                    *column = inputs + (*column - AUX);
                }
            }
        }
        let one = self.coefficients.intern(Scalar::ONE);
        for input in 0..inputs {
            self.a.entry(input, one);
            self.a.end_row();
            self.b.end_row();
            self.c.end_row();
        }
        let repeat = Repeat {
            count,
            rows: from.rows..end.rows,
            inputs: from.inputs..end.inputs,
            aux: inputs + from.aux..inputs + end.aux,
        };
        let again = |bits: Bits, from: u32| {
            let mut all =
                Bits::with_capacity(bits.len() + (bits.len() - from as usize) * (count as usize - 1));
            all.append(&bits, 0);
            (1..count).for_each(|_| all.append(&bits, from as usize));
            all
        };
        let r1cs = R1cs {
            inputs: inputs as usize,
            aux: aux as usize,
            coefficients: self.coefficients,
            a: self.a.build_repeating(repeat.clone()),
            b: self.b.build_repeating(repeat.clone()),
            c: self.c.build_repeating(repeat),
            densities: Densities {
                a_aux: again(self.densities.a_aux, from.aux),
                b_inputs: again(self.densities.b_inputs, from.inputs),
                b_aux: again(self.densities.b_aux, from.aux),
            },
        };
        let wide = times(from.wide, end.wide) as usize;
        Ok(Recording { size: WitnessSize { inputs: r1cs.inputs, aux: r1cs.aux, wide }, r1cs })
    }

    /// Whether the rows of one more constraint find room.
    fn has_room(&mut self, lcs: [&LinearCombination<Scalar>; 3]) -> bool {
        if self.too_many.is_none() {
            let matrices = [&self.a, &self.b, &self.c];
            let entries = matrices.iter().zip(lcs).map(|(matrix, lc)| matrix.entries() + lc.len()).max();
            let entries = entries.unwrap_or_default() as u64;
            let rows = self.a.rows() as u64 + 1;
            self.too_many = within("entries", entries, u32::MAX)
                .and_then(|_| within("constraints", rows, u32::MAX))
                .err();
        }
        self.too_many.is_none()
    }
}

fn within(what: &'static str, count: u64, limit: u32) -> Result<u32, R1csError> {
    match u32::try_from(count) {
        Ok(fits) if fits <= limit => Ok(fits),
        _ => Err(R1csError::TooMany { what, count, limit: limit.into() }),
    }
}

/// Adds a row, and sets the bits of the variables that occur in it.
fn add_row(
    matrix: &mut MatrixBuilder,
    coefficients: &mut Coefficients,
    lc: &LinearCombination<Scalar>,
    inputs: Option<&mut Bits>,
    aux: Option<&mut Bits>,
) {
    add_terms(matrix, coefficients, 0, lc.iter_inputs(), inputs);
    add_terms(matrix, coefficients, AUX, lc.iter_aux(), aux);
    matrix.end_row();
}

fn add_terms<'a>(
    matrix: &mut MatrixBuilder,
    coefficients: &mut Coefficients,
    first: u32,
    terms: impl Iterator<Item = (&'a usize, &'a Scalar)>,
    mut occurs: Option<&mut Bits>,
) {
    for (index, coefficient) in terms.filter(|(_, coefficient)| !coefficient.is_zero_vartime()) {
        matrix.entry(first + *index as u32, coefficients.intern(*coefficient));
        if let Some(bits) = &mut occurs {
            bits.set(*index);
        }
    }
}

impl ConstraintSystem<Scalar> for Recorder {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, annotation: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let index = self.aux;
        if index == AUX {
            return Err(SynthesisError::PolynomialDegreeTooLarge);
        }
        self.aux += 1;
        self.wide += u32::from(!BIT_NAMES.contains(&annotation().into().as_str()));
        self.densities.a_aux.push(false);
        self.densities.b_aux.push(false);
        Ok(Variable::new_unchecked(Index::Aux(index as usize)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let index = self.inputs;
        if index == AUX {
            return Err(SynthesisError::PolynomialDegreeTooLarge);
        }
        self.inputs += 1;
        self.densities.b_inputs.push(false);
        Ok(Variable::new_unchecked(Index::Input(index as usize)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let a = a(LinearCombination::zero());
        let b = b(LinearCombination::zero());
        let c = c(LinearCombination::zero());
        if self.has_room([&a, &b, &c]) {
            let Densities { a_aux, b_inputs, b_aux } = &mut self.densities;
            add_row(&mut self.a, &mut self.coefficients, &a, None, Some(a_aux));
            add_row(&mut self.b, &mut self.coefficients, &b, Some(b_inputs), Some(b_aux));
            add_row(&mut self.c, &mut self.coefficients, &c, None, None);
        }
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}
