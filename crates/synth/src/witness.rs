//! The witness pass: a circuit's variables, straight into their compact form.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use cuzk_pipeline_core::{Cx, Footprint};
use cuzk_values::{CompactScalarsBuilder, Scalar, Witness};
use ff::Field;

use crate::SynthError;

/// How large a circuit's witness is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessSize {
    /// Public inputs, ONE included.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
    /// The most of these that can be neither 0 nor 1.
    pub wide: usize,
    /// How many places of those are stored: what repeats is stored once.
    pub places: usize,
}

impl WitnessSize {
    /// Nothing.
    pub const NONE: Self = Self { inputs: 0, aux: 0, wide: 0, places: 0 };

    /// The bytes of a witness of this size.
    pub fn footprint(&self) -> Footprint {
        let bits = 8 * self.aux.div_ceil(64);
        Footprint::host((32 * self.inputs + bits + 32 * self.wide + 4 * self.places) as u64)
    }

    pub(crate) fn builder(&self) -> CompactScalarsBuilder {
        CompactScalarsBuilder::with_capacity(self.aux, self.wide)
    }
}

/// Synthesises `circuit` for the values of its variables alone.
///
/// No constraint is looked at, and linear combinations that the circuit's
/// gadgets build along the way cost next to nothing, because they never have
/// more than two terms: every variable is handed out under the same index. That
/// is sound for circuits whose values do not depend on the indices of
/// variables, as bellpepper asks of all of them ([`Variable::get_unchecked`]).
///
/// # Errors
/// [`SynthError::Synthesis`] where the circuit refuses, as for want of a value;
/// [`SynthError::Cancelled`].
pub fn witness(
    cx: &Cx<'_>,
    circuit: impl Circuit<Scalar>,
    size: &WitnessSize,
) -> Result<Witness, SynthError> {
    let mut pass = WitnessPass { cx, inputs: Vec::with_capacity(size.inputs), aux: size.builder() };
    pass.inputs.push(Scalar::ONE);
    let synthesized = circuit.synthesize(&mut pass);
    cx.checkpoint()?;
    synthesized?;
    Ok(Witness { inputs: pass.inputs, aux: pass.aux.build() })
}

/// Variables between two looks at the cancel flag.
const CHUNK: usize = 1 << 14;

struct WitnessPass<'a> {
    cx: &'a Cx<'a>,
    inputs: Vec<Scalar>,
    aux: CompactScalarsBuilder,
}

impl ConstraintSystem<Scalar> for WitnessPass<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        if self.aux.len().is_multiple_of(CHUNK) && self.cx.checkpoint().is_err() {
            // Any error ends the synthesis; the caller looks at the flag again.
            return Err(SynthesisError::AssignmentMissing);
        }
        self.aux.push(value()?);
        Ok(Variable::new_unchecked(Index::Aux(0)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(value()?);
        Ok(Variable::new_unchecked(Index::Aux(0)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}
