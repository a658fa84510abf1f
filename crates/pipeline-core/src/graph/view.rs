//! A graph for the eye: its stages, its edges, its longest way, its drawing.

use std::fmt::{self, Write as _};

use petgraph::Incoming;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::{Graph, Node};
use crate::limits::format_bytes;
use crate::{Cost, Footprint, Placement};

/// A stage of a graph.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StageView<'a> {
    /// Its index, in the builder's order.
    pub index: usize,
    /// Its name.
    pub name: &'a str,
    /// The part of the work that it belongs to.
    pub part: Option<u32>,
    /// Where it wants to run.
    pub placement: Placement,
    /// What it declares.
    pub cost: &'a Cost,
    /// The key of the resident value that it loads.
    pub resident: Option<&'a str>,
}

/// A value on its way from one stage to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeView {
    /// The stage that makes it; `None` for the graph's input.
    pub from: Option<usize>,
    /// The stage that takes it; `None` for the graph's output.
    pub to: Option<usize>,
    /// What it declares to weigh; the input's weight is not declared.
    pub bytes: Footprint,
    /// Whether several stages may read it.
    pub shared: bool,
}

impl<I, O> Graph<I, O> {
    /// The stages, in the builder's order.
    pub fn stages(&self) -> impl Iterator<Item = StageView<'_>> {
        self.dag.nodes.node_weights().enumerate().map(|(index, node)| StageView {
            index,
            name: &node.name,
            part: node.part,
            placement: node.placement,
            cost: &node.cost,
            resident: node.resident.as_ref().map(|key| &*key.name),
        })
    }

    /// The edges: those of the input, those between stages, that of the output.
    pub fn edges(&self) -> impl Iterator<Item = EdgeView> {
        let dag = &*self.dag;
        let view = |from, to, slot: usize| {
            let slot = &dag.slots[slot];
            EdgeView { from, to, bytes: slot.bytes, shared: slot.share.is_some() }
        };
        let inputs = dag.nodes.node_weights().enumerate().flat_map(move |(to, node)| {
            let takes = node.inputs.iter().filter(|slot| **slot == 0);
            takes.map(move |_| view(None, Some(to), 0))
        });
        let inner = dag
            .nodes
            .edge_references()
            .map(move |e| view(Some(e.source().index()), Some(e.target().index()), *e.weight()));
        let maker = dag.slots[dag.output].maker.map(NodeIndex::index);
        inputs.chain(inner).chain(std::iter::once_with(move || view(maker, None, dag.output)))
    }

    /// The longest way through the graph, where each stage takes the time that
    /// `time` says, in whatever unit: no number of lanes makes a run shorter.
    /// Returns the stages along it, and their sum.
    pub fn critical_path(&self, time: impl Fn(StageView<'_>) -> f64) -> (Vec<StageView<'_>>, f64) {
        let stages: Vec<_> = self.stages().collect();
        let (mut sums, mut before) = (vec![0.0; stages.len()], vec![None; stages.len()]);
        // The builder's order is topological.
        for stage in &stages {
            let makers = self.dag.nodes.neighbors_directed(NodeIndex::new(stage.index), Incoming);
            let longest = makers.map(NodeIndex::index).max_by(|a, b| f64::total_cmp(&sums[*a], &sums[*b]));
            before[stage.index] = longest;
            sums[stage.index] = longest.map_or(0.0, |i| sums[i]) + time(*stage);
        }
        let last = (0..stages.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b]));
        let mut path: Vec<_> = std::iter::successors(last, |i| before[*i]).map(|i| stages[i]).collect();
        path.reverse();
        (path, last.map_or(0.0, |i| sums[i]))
    }

    /// The graph as Graphviz text: a box a stage with its name, its place and
    /// what it charges, an arrow a value with its weight. Resident values are
    /// drawn as cylinders, shared values as dashed arrows.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut dot = String::from(
            "digraph {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n  \
             edge [fontname=\"sans-serif\", fontsize=10];\n",
        );
        // Writing to a string cannot fail.
        let _ = writeln!(
            dot,
            "  in [shape=plaintext, label=\"input\"];\n  out [shape=plaintext, label=\"output\"];"
        );
        for (i, node) in self.dag.nodes.node_weights().enumerate() {
            let shape = if node.resident.is_some() { ", shape=cylinder, style=solid" } else { "" };
            let _ = writeln!(dot, "  s{i} [label=\"{}\"{shape}];", label(node));
        }
        for edge in self.edges() {
            let end = |stage: Option<usize>, outside: &str| stage.map_or(outside.into(), |i| format!("s{i}"));
            let (from, to) = (end(edge.from, "in"), end(edge.to, "out"));
            let style = if edge.shared { ", style=dashed" } else { "" };
            let bytes = edge.bytes.total();
            let bytes = if bytes == 0 { String::new() } else { format_bytes(bytes) };
            let _ = writeln!(dot, "  {from} -> {to} [label=\"{bytes}\"{style}];");
        }
        dot.push_str("}\n");
        dot
    }
}

impl<I, O> fmt::Debug for Graph<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.stages().map(|stage| stage.name)).finish()
    }
}

fn label(node: &Node) -> String {
    let name = match node.part {
        Some(part) => format!("{} [{part}]", node.name),
        None => node.name.to_string(),
    };
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    let bytes = node.cost.to_start();
    let bytes = if bytes == Footprint::ZERO { String::new() } else { format!("\\n{bytes}") };
    format!("{name}\\n{}{bytes}", node.placement)
}
