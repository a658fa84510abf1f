//! The stages of synthesis.

use std::borrow::Cow;
use std::sync::Arc;

use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Stage};
use cuzk_values::{Evals, Poly, R1cs, Witness};

use crate::{Evaluator, Statement, SynthError, WitnessSize, eval_ab};

/// `synth.witness`: a partition of an input → its witness, whose public inputs are
/// those of the statement.
#[derive(Debug, Clone)]
pub struct WitnessStage<S> {
    statement: S,
    partition: usize,
}

impl<S: Statement> WitnessStage<S> {
    /// The stage of one partition, counted from 0.
    pub fn new(statement: S, partition: usize) -> Self {
        Self { statement, partition }
    }
}

impl<S: Statement> Stage for WitnessStage<S> {
    type In = Arc<S::Input>;
    type Out = Witness;
    type Error = SynthError;

    fn name(&self) -> Cow<'static, str> {
        "synth.witness".into()
    }

    fn kind(&self, error: &SynthError) -> ErrorKind {
        error.kind()
    }

    fn cost(&self) -> Cost {
        let size = self.statement.witness_size();
        Cost::free().scratch(self.statement.witness_scratch()).output(size.footprint())
    }

    fn run(&self, cx: &Cx<'_>, input: Arc<S::Input>) -> Result<Witness, SynthError> {
        cx.install(|| self.statement.witness(cx, &input, self.partition))
    }
}

/// `eval.ab`: a witness and its circuit's constraints → the
/// evaluations of A and B ([`eval_ab`]).
#[derive(Debug, Clone)]
pub struct EvalStage {
    size: WitnessSize,
    log_domain: u32,
}

impl EvalStage {
    /// The stage of a circuit with witnesses of this size and a domain of
    /// `2^log_domain` points.
    pub fn new(size: WitnessSize, log_domain: u32) -> Self {
        Self { size, log_domain }
    }
}

impl Stage for EvalStage {
    type In = (Arc<Witness>, Arc<R1cs>);
    type Out = (Poly<Evals>, Poly<Evals>);
    type Error = SynthError;

    fn name(&self) -> Cow<'static, str> {
        "eval.ab".into()
    }

    fn kind(&self, error: &SynthError) -> ErrorKind {
        error.kind()
    }

    fn cost(&self) -> Cost {
        let evals = Footprint::host(32 << self.log_domain);
        Cost::free().scratch(Evaluator::footprint(self.size)).output(evals).output(evals)
    }

    fn run(&self, cx: &Cx<'_>, (witness, r1cs): Self::In) -> Result<Self::Out, SynthError> {
        for (what, found, expected) in [
            ("inputs", r1cs.inputs, self.size.inputs),
            ("auxiliary variables", r1cs.aux, self.size.aux),
            ("points of the domain", 1 << r1cs.log_domain(), 1 << self.log_domain),
        ] {
            if found != expected {
                return Err(SynthError::Foreign { what, found, expected });
            }
        }
        cx.install(|| eval_ab(cx, &r1cs, &witness))
    }
}
