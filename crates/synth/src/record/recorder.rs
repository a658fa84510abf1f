//! A constraint system that keeps the constraints.

use bellpepper_core::{Circuit, Index, LinearCombination, SynthesisError, Variable};
use cuzk_values::{Coefficients, MatrixBuilder, R1csError, Scalar};
use ff::Field;

use crate::SynthError;
use crate::system::{Name, Product, System, Value, synthesize};

/// Marks an auxiliary variable's column while the number of inputs, which come
/// before, is not known.
pub(super) const AUX: u32 = 1 << 31;

/// The annotations under which bellpepper's gadgets allocate variables that can
/// only be 0 or 1 (bellpepper-core 0.2.1, `gadgets/boolean.rs`).
const BIT_NAMES: [&str; 7] =
    ["boolean", "xor result", "and result", "and not result", "nor result", "ch", "maj"];

/// Whether a variable of this annotation can be neither 0 nor 1.
pub(crate) fn is_wide(annotation: &str) -> bool {
    !BIT_NAMES.contains(&annotation)
}

#[derive(Default)]
pub(super) struct Recorder {
    inputs: u32,
    aux: u32,
    wide: u32,
    pub(super) coefficients: Coefficients,
    pub(super) a: MatrixBuilder,
    pub(super) b: MatrixBuilder,
    pub(super) c: MatrixBuilder,
    too_many: Option<R1csError>,
}

/// How far a recorder is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) inputs: u32,
    pub(super) aux: u32,
    pub(super) wide: u32,
    pub(super) rows: u32,
}

impl Recorder {
    /// A recorder with the input ONE.
    pub(super) fn start() -> Self {
        Self { inputs: 1, ..Self::default() }
    }

    pub(super) fn run(circuit: impl Circuit<Scalar>) -> Result<Self, SynthError> {
        let mut recorder = Self::start();
        synthesize(circuit, &mut recorder)?;
        recorder.fits()?;
        Ok(recorder)
    }

    /// Whether all constraints found room.
    pub(super) fn fits(&mut self) -> Result<(), R1csError> {
        self.too_many.take().map_or(Ok(()), Err)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { inputs: self.inputs, aux: self.aux, wide: self.wide, rows: self.a.rows() as u32 }
    }

    pub(super) fn matrices(&mut self) -> [&mut MatrixBuilder; 3] {
        [&mut self.a, &mut self.b, &mut self.c]
    }

    /// Whether the rows of one more constraint find room.
    fn has_room(&mut self, lcs: &[LinearCombination<Scalar>; 3]) -> bool {
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

pub(super) fn within(what: &'static str, count: u64, limit: u32) -> Result<u32, R1csError> {
    match u32::try_from(count) {
        Ok(fits) if fits <= limit => Ok(fits),
        _ => Err(R1csError::TooMany { what, count, limit: limit.into() }),
    }
}

/// A linear combination's terms, as columns and coefficients, without those that are zero.
pub(super) fn terms(lc: &LinearCombination<Scalar>) -> impl Iterator<Item = (u32, &Scalar)> {
    let inputs = lc.iter_inputs().map(|(index, coefficient)| (*index as u32, coefficient));
    let aux = lc.iter_aux().map(|(index, coefficient)| (AUX + *index as u32, coefficient));
    inputs.chain(aux).filter(|(_, coefficient)| !coefficient.is_zero_vartime())
}

impl System for Recorder {
    fn alloc(&mut self, name: Name<'_>, _: Value<'_>) -> Result<Variable, SynthesisError> {
        let index = self.aux;
        if index == AUX {
            return Err(SynthesisError::PolynomialDegreeTooLarge);
        }
        self.aux += 1;
        self.wide += u32::from(is_wide(&name.get()));
        Ok(Variable::new_unchecked(Index::Aux(index as usize)))
    }

    fn alloc_input(&mut self, _: Name<'_>, _: Value<'_>) -> Result<Variable, SynthesisError> {
        let index = self.inputs;
        if index == AUX {
            return Err(SynthesisError::PolynomialDegreeTooLarge);
        }
        self.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(index as usize)))
    }

    fn enforce(&mut self, _: Name<'_>, product: Product<'_>) {
        let lcs = product.get();
        if self.has_room(&lcs) {
            for (matrix, lc) in [&mut self.a, &mut self.b, &mut self.c].into_iter().zip(&lcs) {
                for (column, coefficient) in terms(lc) {
                    matrix.entry(column, self.coefficients.intern(*coefficient));
                }
                matrix.end_row();
            }
        }
    }
}
