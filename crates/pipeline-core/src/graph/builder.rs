//! Adds stages to a graph.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;

use petgraph::graph::{DiGraph, NodeIndex};

use super::port::{AnyArc, AnyBox, Brand, Plug};
use super::{Body, Edge, Key, Made, Node, Outputs, Port, Shared, Slot};
use crate::{Footprint, Stage, Value};

/// Joins stages. It lives only inside [`Graph::build`](crate::Graph::build),
/// whose brand `'g` keeps one graph's ports out of another's.
pub struct Builder<'g> {
    nodes: DiGraph<Node, usize>,
    slots: Vec<Slot>,
    residents: HashMap<Key, usize>,
    part: Option<u32>,
    graph: Brand<'g>,
}

impl<'g> Builder<'g> {
    pub(super) fn new() -> Self {
        Self {
            nodes: DiGraph::new(),
            slots: Vec::new(),
            residents: HashMap::new(),
            part: None,
            graph: Brand::default(),
        }
    }

    pub(super) fn input<I>(&mut self) -> Port<'g, I> {
        self.slots.push(Slot { maker: None, takers: 0, bytes: Footprint::ZERO, share: None });
        Port::new(0)
    }

    pub(super) fn into_parts(self) -> (DiGraph<Node, usize>, Vec<Slot>) {
        (self.nodes, self.slots)
    }

    /// Adds a stage and plugs its inputs in.
    pub fn stage<S, E>(&mut self, stage: S, inputs: E) -> <S::Out as Outputs>::Ports<'g>
    where
        S: Stage,
        E: Edge<'g, Value = S::In>,
        S::In: 'static,
    {
        let mut plug = Plug::default();
        let take = inputs.plug(&mut plug);
        let name = stage.name().into();
        let (cost, placement) = (stage.cost(), stage.placement());
        let body: Body = Box::new(move |cx, inputs| {
            let out = stage.run(cx, take(inputs)).map_err(|e| (stage.kind(&e), e.into()))?;
            Ok(Made { weights: out.weights(), values: out.boxes() })
        });
        let first_output = self.slots.len();
        let makers = plug.inputs.iter().filter_map(|slot| self.slots[*slot].maker.map(|m| (m, *slot)));
        let makers: Vec<_> = makers.collect();
        let is_resident = |m: NodeIndex| self.nodes[m].resident.is_some();
        let mut residents: Vec<_> = makers.iter().map(|(m, _)| *m).filter(|m| is_resident(*m)).collect();
        residents.sort_unstable();
        residents.dedup();
        let own = |slot: &usize| !self.slots[*slot].maker.is_some_and(is_resident);
        let node = Node {
            name,
            part: self.part,
            placement,
            inputs: plug.inputs.iter().copied().filter(own).collect(),
            residents,
            first_output,
            resident: None,
            body,
            cost,
        };
        plug.inputs.iter().for_each(|slot| self.slots[*slot].takers += 1);
        let outputs = (0..S::Out::COUNT).map(|i| node.cost.outputs.get(i).copied().unwrap_or_default());
        let outputs: Vec<_> = outputs.collect();
        let node = self.nodes.add_node(node);
        for (maker, slot) in makers {
            self.nodes.add_edge(maker, node, slot);
        }
        let slot = |bytes| Slot { maker: Some(node), takers: 0, bytes, share: None };
        self.slots.extend(outputs.into_iter().map(slot));
        S::Out::ports(first_output)
    }

    /// Lets many stages read one value.
    #[expect(clippy::needless_pass_by_value, reason = "to share a port is to spend it")]
    pub fn share<T: Value + Sync>(&mut self, port: Port<'g, T>) -> Shared<'g, T> {
        self.slots[port.slot].share = Some(share::<T>);
        Shared::new(port.slot, false)
    }

    /// The same of a value that is an [`Arc`] already, as an input that its giver keeps.
    #[expect(clippy::needless_pass_by_value, reason = "to share a port is to spend it")]
    pub fn share_arc<T: Value + Sync>(&mut self, port: Port<'g, Arc<T>>) -> Shared<'g, T> {
        self.slots[port.slot].share = Some(share_arc::<T>);
        Shared::new(port.slot, false)
    }

    /// Declares that stages read the value that `load` makes, and that it
    /// outlives the run: under `key`, the engine keeps one for all runs of all
    /// graphs (one a device, where it lies in device memory), loads it when it is first
    /// needed, and lets it go when its memory is wanted and nothing uses it.
    ///
    /// A key stands for one value: who declares it first, loads it. Values of
    /// different types may use the same key. Declared twice in a graph it is
    /// one value, and weighs once.
    ///
    /// The weight is the cost's output. A load that fails ends the runs that
    /// wait for it; the next run tries again.
    pub fn resident<S>(&mut self, key: impl Into<Arc<str>>, load: S) -> Shared<'g, S::Out>
    where
        S: Stage<In = ()>,
        S::Out: Value + Sync,
    {
        let key = Key { of: TypeId::of::<S::Out>(), name: key.into() };
        if let Some(&slot) = self.residents.get(&key) {
            return Shared::new(slot, true);
        }
        let slot = self.slots.len();
        let part = self.part.take();
        let _ = self.stage(load, ());
        self.part = part;
        self.slots[slot].share = Some(share::<S::Out>);
        let node = NodeIndex::new(self.nodes.node_count() - 1);
        self.nodes[node].resident = Some(key.clone());
        self.residents.insert(key, slot);
        Shared::new(slot, true)
    }

    /// Says to which part of the work the stages belong that are added from
    /// now on, as the partition of a proof. It is shown beside their names.
    pub fn part(&mut self, part: impl Into<Option<u32>>) {
        self.part = part.into();
    }
}

fn share_arc<T: Value + Sync>(value: AnyBox) -> AnyArc {
    *value.downcast::<Arc<T>>().expect("a slot holds its port's type")
}

fn share<T: Value + Sync>(value: AnyBox) -> AnyArc {
    let value: Arc<T> = Arc::from(value.downcast::<T>().expect("a slot holds its port's type"));
    value
}
