//! Stages joined by ports.
//!
//! Types are checked where stages are joined and erased once, in
//! [`Builder::stage`]; beyond it the graph is `petgraph` and boxes.

mod builder;
mod check;
mod plan;
mod port;
mod view;

use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

use petgraph::graph::{DiGraph, NodeIndex};

pub use builder::Builder;
pub(crate) use plan::{Covers, Plan};
pub(crate) use port::{AnyArc, AnyBox};
pub use port::{Edge, Outputs, Port, Shared};
pub use view::{EdgeView, StageView};

use crate::engine::Inputs;
use crate::{BoxError, BuildError, Cost, Cx, ErrorKind, Footprint, Placement, Value};

/// What a stage made, and what each value weighs.
pub(crate) struct Made {
    pub(crate) values: Vec<AnyBox>,
    pub(crate) weights: Vec<Footprint>,
}

/// A stage without its types.
pub(crate) type Body = Box<dyn Fn(&Cx<'_>, &Inputs<'_>) -> Result<Made, (ErrorKind, BoxError)> + Send + Sync>;

pub(crate) type Share = fn(AnyBox) -> AnyArc;

/// One stage.
pub(crate) struct Node {
    pub(crate) name: Arc<str>,
    pub(crate) part: Option<u32>,
    pub(crate) cost: Cost,
    pub(crate) placement: Placement,
    /// The slots that it takes from or reads, but for resident values.
    pub(crate) inputs: Vec<usize>,
    /// The stages that load the resident values that it reads.
    pub(crate) residents: Vec<NodeIndex>,
    pub(crate) first_output: usize,
    /// Under which key its output outlives the run.
    pub(crate) resident: Option<Key>,
    pub(crate) body: Body,
}

/// The name of a resident value. Values of two types never meet under one name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) of: TypeId,
    pub(crate) name: Arc<str>,
}

/// One value of a run.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) maker: Option<NodeIndex>,
    pub(crate) takers: usize,
    pub(crate) bytes: Footprint,
    pub(crate) share: Option<Share>,
}

/// The stages and values of a graph, without the types of its ends.
///
/// Indices are the builder's order, which is also the serial order: the one in
/// which a run goes on when memory is short.
pub(crate) struct Dag {
    pub(crate) nodes: DiGraph<Node, usize>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) output: usize,
    pub(crate) plan: Plan,
}

impl Dag {
    pub(crate) fn node(&self, stage: usize) -> &Node {
        &self.nodes[NodeIndex::new(stage)]
    }
}

/// A pipeline from an `I` to an `O`: built once, run many times.
pub struct Graph<I, O> {
    pub(crate) dag: Arc<Dag>,
    types: PhantomData<fn(I) -> O>,
}

impl<I: Value, O: Value> Graph<I, O> {
    /// Builds a graph. Stages run, when memory is short, in the order in which
    /// this closure adds them; that order is topological, since a port must
    /// exist before it is plugged in. A cycle cannot be written.
    ///
    /// # Errors
    /// What the closure returns, and [`BuildError`] for a value that nothing
    /// takes, a cost that does not match its stage, or device memory that no
    /// single device can hold.
    pub fn build<F>(f: F) -> Result<Self, BuildError>
    where
        F: for<'g> FnOnce(&mut Builder<'g>, Port<'g, I>) -> Result<Port<'g, O>, BuildError>,
    {
        let mut builder = Builder::new();
        let input = builder.input();
        let output = f(&mut builder, input)?.slot;
        let (nodes, mut slots) = builder.into_parts();
        slots[output].takers += 1;
        check::values(&nodes, &slots)?;
        let plan = Plan::new(&nodes, &slots)?;
        debug_assert!(
            petgraph::algo::toposort(&nodes, None).is_ok(),
            "ports exist before they are plugged in"
        );
        Ok(Self { dag: Arc::new(Dag { nodes, slots, output, plan }), types: PhantomData })
    }
}

impl<I, O> Graph<I, O> {
    /// The least memory that finishes a run, one stage at a time in the order
    /// of the builder, its resident values included; the input's own weight
    /// comes on top while the input lives. Of several devices that the stages
    /// name, the one that needs most.
    #[must_use]
    pub fn floor(&self) -> Footprint {
        self.dag.plan.floor(Footprint::ZERO)
    }

    /// The least memory that finishes a run whose input weighs `input`.
    #[must_use]
    pub fn floor_with(&self, input: Footprint) -> Footprint {
        self.dag.plan.floor(input)
    }
}
