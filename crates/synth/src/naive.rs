//! The definition: every linear combination is built and evaluated as the circuit writes it.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use cuzk_values::Scalar;
use ff::Field;

use crate::SynthError;

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
    let mut system = Assignment::default();
    system.alloc_input(|| "", || Ok(Scalar::ONE))?;
    circuit.synthesize(&mut system)?;
    for i in 0..system.inputs.len() {
        let input = Variable::new_unchecked(Index::Input(i));
        system.enforce(|| "", |lc| lc + input, |lc| lc, |lc| lc);
    }
    Ok(system)
}

impl ConstraintSystem<Scalar> for Assignment {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(value()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(value()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let (inputs, aux) = (&self.inputs, &self.aux);
        self.a.push(a(LinearCombination::zero()).eval(inputs, aux));
        self.b.push(b(LinearCombination::zero()).eval(inputs, aux));
        self.c.push(c(LinearCombination::zero()).eval(inputs, aux));
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}
