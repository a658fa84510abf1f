//! Every constraint of a circuit, held against the witnesses of an input.

use std::borrow::Cow;
use std::sync::Arc;

use cuzk_groth16::Prover;
use cuzk_pipeline_core::{BuildError, Cancelled, Cost, Cx, ErrorKind, Footprint, Graph, Stage, Value};
use cuzk_synth::{Evaluator, Statement, SynthError, WitnessSize, template};
use cuzk_values::R1cs;

/// That all constraints hold.
pub(crate) struct Satisfied;

impl Value for Satisfied {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

/// The check of an input's partitions, one witness each, as a graph of its own: it
/// takes the engine's memory and threads, and the constraints that the proof takes too.
pub(crate) fn check<S: Statement>(
    prover: &Prover,
    statement: S,
    partitions: usize,
) -> Result<Graph<Arc<S::Input>, Satisfied>, BuildError> {
    Graph::build(|g, input| {
        let (input, r1cs) = (g.share_arc(input), prover.load_circuit(g));
        let mut parts = Vec::with_capacity(partitions);
        for partition in 0..partitions {
            g.part(partition as u32);
            let size = prover.sizes().witness;
            parts.push(g.stage(Check { statement, partition, size }, (input, r1cs)));
        }
        g.part(None);
        Ok(g.stage(All, parts))
    })
}

/// A partition whose constraints do not all hold, or could not be checked.
#[derive(Debug, thiserror::Error)]
#[error("partition {partition}{}", at(path.as_deref()))]
pub(crate) struct CheckError {
    partition: usize,
    /// What upstream calls the constraint.
    path: Option<String>,
    source: SynthError,
}

fn at(path: Option<&str>) -> String {
    path.map(|path| format!(", at {path}")).unwrap_or_default()
}

/// `check`: an input → nothing, if the witness of its partition satisfies the circuit.
struct Check<S> {
    statement: S,
    partition: usize,
    size: WitnessSize,
}

/// What a stage of this graph ends with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unchecked {
    #[error(transparent)]
    Partition(#[from] CheckError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl<S: Statement> Stage for Check<S> {
    type In = (Arc<S::Input>, Arc<R1cs>);
    type Out = Satisfied;
    type Error = Unchecked;

    fn name(&self) -> Cow<'static, str> {
        "synth.check".into()
    }

    fn kind(&self, error: &Unchecked) -> ErrorKind {
        match error {
            Unchecked::Partition(CheckError { source, .. }) => source.kind(),
            Unchecked::Cancelled(_) => ErrorKind::Resource,
        }
    }

    fn cost(&self) -> Cost {
        let witness = self.statement.witness_scratch() + self.size.footprint();
        Cost::free().scratch(witness + Evaluator::footprint(self.size)).output(Footprint::ZERO)
    }

    fn run(&self, cx: &Cx<'_>, (input, r1cs): Self::In) -> Result<Satisfied, Unchecked> {
        let checked = cx.install(|| {
            let witness = self.statement.witness(cx, &input, self.partition)?;
            cuzk_synth::check(cx, &r1cs, &witness)
        });
        checked.map(|()| Satisfied).map_err(|source| {
            let path = match source {
                SynthError::Unsatisfied { row, .. } => {
                    template::row_path(self.statement.into(), &r1cs, row).ok()
                }
                _ => None,
            };
            CheckError { partition: self.partition, path, source }.into()
        })
    }
}

/// `checked`: all partitions.
struct All;

impl Stage for All {
    type In = Vec<Satisfied>;
    type Out = Satisfied;
    type Error = Cancelled;

    fn name(&self) -> Cow<'static, str> {
        "checked".into()
    }

    fn cost(&self) -> Cost {
        Cost::free().output(Footprint::ZERO)
    }

    fn run(&self, _: &Cx<'_>, _: Vec<Satisfied>) -> Result<Satisfied, Cancelled> {
        Ok(Satisfied)
    }
}

#[cfg(test)]
mod tests {
    use cuzk_groth16::{Circuit, Parameters};
    use cuzk_pipeline_core::{Engine, RunError};
    use cuzk_synth::{PostCircuit, fixture};
    use cuzk_values::{Post, PostKind};

    use super::*;

    #[test]
    fn the_first_constraint_that_does_not_hold_is_named() {
        let mut post = fixture::window_post(2048, 1).unwrap();
        let statement = PostCircuit::of_size(PostKind::Window, 2048).unwrap();
        let prover = Prover::new(Circuit::filecoin(statement).unwrap(), Parameters::Absent).unwrap();
        let floor = check(&prover, statement, 1).unwrap().floor().host;
        assert!(floor >= (prover.sizes().witness.footprint() + statement.witness_scratch()).host);

        let run = |post: &Post, bytes| {
            let engine = Engine::builder().budget(Footprint::host(bytes)).threads(2).build().unwrap();
            let graph = Arc::new(check(&prover, statement, 1).unwrap());
            engine.submit(&graph, Arc::new(post.clone())).wait().map(drop)
        };
        run(&post, 1 << 30).unwrap();
        assert!(matches!(run(&post, floor / 2), Err(RunError::OverBudget { .. })));

        post.sectors[1].challenges[3].siblings[0][0] ^= 1;
        let error = run(&post, 1 << 30).unwrap_err();
        assert_eq!((error.stage(), error.kind()), (Some("synth.check"), ErrorKind::Input));
        let text = format!("{:#}", anyhow::Error::from(error));
        assert!(text.contains("/sector_1/challenge_inclusion_3/enforce root"), "{text}");
        assert!(text.contains(": partition 0, at ") && text.contains(" is not satisfied: "), "{text}");
    }
}
