//! The definition: every linear combination is built and evaluated as the circuit writes it.

use bellpepper_core::{Circuit, Index, SynthesisError, Variable};
use cuzk_values::Scalar;
use ff::Field;

use crate::SynthError;
use crate::system::{Name, Product, System, Value, synthesize};

/// A circuit's variables, and the evaluations of its constraints.
#[derive(Debug, Clone, Default)]
pub struct Assignment {
    /// The public inputs, ONE first.
    pub inputs: Vec<Scalar>,
    /// The auxiliary variables.
    pub aux: Vec<Scalar>,
    /// The value of each row of A, then of the rows `input_i · 0 = 0`.
    pub a: Vec<Scalar>,
    /// The value of each row of B.
    pub b: Vec<Scalar>,
    /// The value of each row of C.
    pub c: Vec<Scalar>,
}

/// Synthesises `circuit` and evaluates each of its linear combinations.
///
/// # Errors
/// [`SynthError::Synthesis`] where the circuit refuses.
pub fn assign(circuit: impl Circuit<Scalar>) -> Result<Assignment, SynthError> {
    let mut assignment = Assignment { inputs: vec![Scalar::ONE], ..Assignment::default() };
    synthesize(circuit, &mut assignment)?;
    let Assignment { inputs, a, b, c, .. } = &mut assignment;
    a.extend_from_slice(inputs);
    b.resize(a.len(), Scalar::ZERO);
    c.resize(a.len(), Scalar::ZERO);
    Ok(assignment)
}

impl System for Assignment {
    fn alloc(&mut self, _: Name<'_>, value: Value<'_>) -> Result<Variable, SynthesisError> {
        self.aux.push(value.get()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input(&mut self, _: Name<'_>, value: Value<'_>) -> Result<Variable, SynthesisError> {
        self.inputs.push(value.get()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce(&mut self, _: Name<'_>, product: Product<'_>) {
        for (row, lc) in [&mut self.a, &mut self.b, &mut self.c].into_iter().zip(product.get()) {
            row.push(lc.eval(&self.inputs, &self.aux));
        }
    }
}
