//! The stages of synthesis.

use std::borrow::Cow;
use std::sync::Arc;

use cuzk_pipeline_core::{Cost, Cx, Footprint, Stage};
use cuzk_values::{C1, Evals, Poly, R1cs, Witness};

use crate::lookup::Lookup;
use crate::{PorepCircuit, SynthError, eval_ab};

/// `synth.witness.{partition}`: a C1's partition → its witness, whose public
/// inputs are those of the statement.
#[derive(Debug, Clone)]
pub struct WitnessStage {
    circuit: PorepCircuit,
    partition: usize,
}

impl WitnessStage {
    /// The stage of one partition, counted from 0.
    pub fn new(circuit: PorepCircuit, partition: usize) -> Self {
        Self { circuit, partition }
    }
}

impl Stage for WitnessStage {
    type In = Arc<C1>;
    type Out = Witness;
    type Error = SynthError;

    fn name(&self) -> Cow<'static, str> {
        format!("synth.witness.{}", self.partition).into()
    }

    fn cost(&self) -> Cost {
        Cost::free()
            .scratch(self.circuit.witness_scratch())
            .output(self.circuit.witness_size().footprint())
    }

    fn run(&self, cx: &Cx<'_>, c1: Arc<C1>) -> Result<Witness, SynthError> {
        cx.install(|| self.circuit.witness(cx, &c1, self.partition))
    }
}

/// `eval.ab.{partition}`: a witness and its circuit's constraints → the
/// evaluations of A and B ([`eval_ab`]).
#[derive(Debug, Clone)]
pub struct EvalStage {
    partition: usize,
    inputs: usize,
    aux: usize,
    log_domain: u32,
}

impl EvalStage {
    /// The stage of one partition, counted from 0, of a circuit with these constraints.
    pub fn new(r1cs: &R1cs, partition: usize) -> Self {
        Self { partition, inputs: r1cs.inputs, aux: r1cs.aux, log_domain: r1cs.log_domain() }
    }
}

impl Stage for EvalStage {
    type In = (Arc<Witness>, Arc<R1cs>);
    type Out = (Poly<Evals>, Poly<Evals>);
    type Error = SynthError;

    fn name(&self) -> Cow<'static, str> {
        format!("eval.ab.{}", self.partition).into()
    }

    fn cost(&self) -> Cost {
        let evals = Footprint::host(32 << self.log_domain);
        let lookup = Footprint::host(Lookup::bytes(self.inputs, self.aux) as u64);
        Cost::free().scratch(lookup).output(evals).output(evals)
    }

    fn run(&self, cx: &Cx<'_>, (witness, r1cs): Self::In) -> Result<Self::Out, SynthError> {
        cx.install(|| eval_ab(cx, &r1cs, &witness))
    }
}
