//! Runs stages without an engine, to hold what they declare against what they
//! make.

use std::time::{Duration, Instant};

use crate::engine::{Inputs, Slots};
use crate::graph::{AnyArc, Node};
use crate::{BoxError, Cx, Footprint, Graph, Outputs, Stage, Value};

/// What [`weigh`] found.
#[derive(Debug)]
pub struct Weighed<O> {
    /// What the stage made.
    pub out: O,
    /// What it declares for each output.
    pub declared: Vec<Footprint>,
    /// What each output weighs.
    pub actual: Vec<Footprint>,
}

impl<O> Weighed<O> {
    /// The outputs that weigh more than was declared: index, declared, actual.
    pub fn overweight(&self) -> impl Iterator<Item = (usize, Footprint, Footprint)> {
        overweight(&self.declared, &self.actual)
    }

    /// What was declared and not used, all outputs together: bytes that the
    /// engine keeps from other stages while this one runs.
    pub fn slack(&self) -> Footprint {
        slack(&self.declared, &self.actual)
    }
}

fn overweight<'a>(
    declared: &'a [Footprint],
    actual: &'a [Footprint],
) -> impl Iterator<Item = (usize, Footprint, Footprint)> + 'a {
    let pairs = declared.iter().zip(actual).enumerate();
    pairs.filter(|(_, (declared, actual))| !actual.fits(**declared)).map(|(i, (d, a))| (i, *d, *a))
}

fn slack(declared: &[Footprint], actual: &[Footprint]) -> Footprint {
    let pairs = declared.iter().zip(actual);
    pairs.fold(Footprint::ZERO, |sum, (declared, actual)| sum + declared.beyond(*actual))
}

/// Runs a stage alone, for tests, and weighs what it makes.
///
/// ```
/// use cuzk_pipeline_core::{Cancelled, Cost, Cx, Footprint, Value, stage_fn, weigh};
///
/// struct Bytes(Vec<u8>);
/// impl Value for Bytes {
///     fn footprint(&self) -> Footprint {
///         Footprint::host(self.0.capacity() as u64)
///     }
/// }
///
/// let zeros = stage_fn("zeros", Cost::free().output(Footprint::host(64)), |_, n: usize| {
///     Ok::<_, Cancelled>(Bytes(vec![0; n]))
/// });
/// assert_eq!(weigh(&zeros, &Cx::detached(), 64)?.overweight().count(), 0);
/// assert_eq!(weigh(&zeros, &Cx::detached(), 65)?.overweight().count(), 1);
/// # Ok::<(), Cancelled>(())
/// ```
///
/// # Errors
/// The stage's own.
pub fn weigh<S: Stage>(stage: &S, cx: &Cx<'_>, input: S::In) -> Result<Weighed<S::Out>, S::Error> {
    let declared = stage.cost().outputs().to_vec();
    let out = stage.run(cx, input)?;
    let actual = out.weights();
    Ok(Weighed { out, declared, actual })
}

/// A stage of a graph that was [rehearsed](Graph::rehearse).
#[derive(Debug)]
#[non_exhaustive]
pub struct Rehearsed {
    /// Its index, in the builder's order.
    pub index: usize,
    /// Its name.
    pub name: Box<str>,
    /// What it declares for each output.
    pub declared: Vec<Footprint>,
    /// What each output weighed.
    pub actual: Vec<Footprint>,
    /// How long it took.
    pub took: Duration,
}

impl Rehearsed {
    /// As [`Weighed::overweight`].
    pub fn overweight(&self) -> impl Iterator<Item = (usize, Footprint, Footprint)> {
        overweight(&self.declared, &self.actual)
    }

    /// As [`Weighed::slack`].
    pub fn slack(&self) -> Footprint {
        slack(&self.declared, &self.actual)
    }
}

impl<I: Value, O: Value> Graph<I, O> {
    /// Runs the graph without an engine, one stage after the other in the
    /// builder's order on the caller's thread: the reference for what an engine
    /// does, a measure for [`critical_path`](Self::critical_path), and a test
    /// of what the stages declare. Resident values are loaded anew.
    ///
    /// # Errors
    /// The first error of a stage. A panic is not caught.
    pub fn rehearse(&self, cx: &Cx<'_>, input: I) -> Result<(O, Vec<Rehearsed>), BoxError> {
        let dag = &*self.dag;
        let values = Slots::of(&dag.slots);
        values.put(0, Box::new(input), dag.slots[0].share);
        let (mut residents, mut stages) = (Vec::<(usize, AnyArc)>::new(), Vec::new());
        for (index, node) in dag.nodes.node_weights().enumerate() {
            let start = Instant::now();
            let made = (node.body)(cx, &Inputs::new(&values, &residents)).map_err(|(_, error)| error)?;
            let took = start.elapsed();
            node.inputs.iter().for_each(|slot| values.release(*slot));
            for (slot, value) in (node.first_output..).zip(made.values) {
                match dag.slots[slot].share.filter(|_| node.resident.is_some()) {
                    Some(share) => residents.push((slot, share(value))),
                    None => values.put(slot, value, dag.slots[slot].share),
                }
            }
            let Node { name, cost, .. } = node;
            let declared = cost.outputs().to_vec();
            stages.push(Rehearsed { index, name: (**name).into(), declared, actual: made.weights, took });
        }
        let output = Inputs::new(&values, &residents).take(dag.output);
        Ok((output, stages))
    }
}
