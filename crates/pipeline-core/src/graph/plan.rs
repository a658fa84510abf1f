//! What a run needs, worked out once: which stages share a device, and how
//! much memory the serial order holds at each step.

use std::ops::RangeInclusive;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;

use super::{Node, Slot, check};
use crate::{BuildError, Footprint};

/// Stages that must run on one device, because values in its memory join them.
pub(crate) type Group = usize;

/// See the module.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The group of each stage of a device.
    groups: Vec<Option<Group>>,
    /// The device that a group asks for by number.
    fixed: Vec<Option<u16>>,
    /// The serial order as a device sees it that no stage names, then as each
    /// device sees it that one names.
    views: Vec<View>,
}

/// The serial order as one device sees it: every group counts that may run on it.
#[derive(Debug)]
struct View {
    device: Option<u16>,
    /// What is held while each step runs, resident values included.
    peaks: Vec<Footprint>,
    /// The number of steps until the input is gone.
    with_input: usize,
    reads: Vec<Read>,
}

/// The steps at which a resident value is counted.
#[derive(Debug, Clone)]
struct Read {
    /// The stage that loads it.
    load: usize,
    steps: RangeInclusive<usize>,
    weight: Footprint,
    /// It has host bytes as well as device bytes.
    mixed: bool,
}

/// By view and by stage that loads a resident value: the steps at which the
/// floor of a run includes that value.
#[derive(Debug, Clone)]
pub(crate) struct Covers(Vec<Vec<(usize, RangeInclusive<usize>)>>);

impl Plan {
    pub(super) fn new(nodes: &DiGraph<Node, usize>, slots: &[Slot]) -> Result<Self, BuildError> {
        check::devices(nodes, slots)?;
        let (groups, fixed) = groups(nodes, slots)?;
        let mut named: Vec<_> = fixed.iter().flatten().copied().collect();
        named.sort_unstable();
        named.dedup();
        let serial = Serial { nodes, slots, groups: &groups, fixed: &fixed };
        let devices = std::iter::once(None).chain(named.into_iter().map(Some));
        let views = devices.map(|device| serial.view(device)).collect();
        Ok(Self { groups, fixed, views })
    }

    pub(crate) fn group(&self, stage: usize) -> Option<Group> {
        self.groups[stage]
    }

    /// By group: the device that it asks for by number.
    pub(crate) fn fixed(&self) -> &[Option<u16>] {
        &self.fixed
    }

    /// The floor of a run whose input weighs `input`; of several devices the largest.
    pub(crate) fn floor(&self, input: Footprint) -> Footprint {
        self.views.iter().fold(Footprint::ZERO, |floor, view| floor.max(view.floor(input)))
    }

    /// The floor of device `device`.
    pub(crate) fn floor_of(&self, device: u16) -> u64 {
        self.views[self.view(Some(device))].floor(Footprint::ZERO).device
    }

    /// Where the floor of a run with this input includes its resident values.
    pub(crate) fn covers(&self, input: Footprint) -> Covers {
        Covers(self.views.iter().map(|view| view.covers(input)).collect())
    }

    /// Whether `covers` say so of the value that stage `load` makes, in host
    /// memory or on `device`, at step `turn`.
    pub(crate) fn covered(&self, covers: &Covers, load: usize, device: Option<u16>, turn: usize) -> bool {
        let mut covers = covers.0[self.view(device)].iter();
        covers.any(|(of, steps)| *of == load && steps.contains(&turn))
    }

    fn view(&self, device: Option<u16>) -> usize {
        self.views.iter().position(|view| view.device == device).unwrap_or(0)
    }
}

impl View {
    fn floor(&self, input: Footprint) -> Footprint {
        let (with, after) = self.peaks.split_at(self.with_input);
        let peak = |steps: &[Footprint]| steps.iter().fold(Footprint::ZERO, |peak, s| peak.max(*s));
        (peak(with) + input).max(peak(after))
    }

    /// A value is covered while it is counted; and earlier and later, as far
    /// as that costs the floor nothing, so that it can be loaded ahead, and
    /// read by other runs, without waiting for its turn.
    fn covers(&self, input: Footprint) -> Vec<(usize, RangeInclusive<usize>)> {
        let floor = self.floor(input);
        let mut held = self.peaks.clone();
        held[..self.with_input].iter_mut().for_each(|step| *step += input);
        let widen = |read: &Read| {
            let (first, last) = (*read.steps.start(), *read.steps.end());
            if read.mixed {
                return (read.load, first..=last);
            }
            let fits = |step: &usize| (held[*step] + read.weight).fits(floor);
            let early = (0..first).rev().take_while(fits).count();
            let late = (last + 1..held.len()).take_while(fits).count();
            for step in (first - early..first).chain(last + 1..=last + late) {
                held[step] += read.weight;
            }
            (read.load, first - early..=last + late)
        };
        self.reads.iter().map(widen).collect()
    }
}

/// By stage its group, by group the device that it asks for.
type Groups = (Vec<Option<Group>>, Vec<Option<u16>>);

fn groups(nodes: &DiGraph<Node, usize>, slots: &[Slot]) -> Result<Groups, BuildError> {
    let mut sets = UnionFind::new(nodes.node_count());
    for edge in nodes.edge_indices() {
        let Some((from, to)) = nodes.edge_endpoints(edge) else { continue };
        // A resident value is loaded on each device that wants it.
        if slots[nodes[edge]].bytes.device > 0 && nodes[from].resident.is_none() {
            sets.union(from.index(), to.index());
        }
    }
    let (mut groups, mut fixed) = (vec![None; nodes.node_count()], Vec::new());
    let mut of_set = vec![None; nodes.node_count()];
    for (i, node) in nodes.node_weights().enumerate() {
        // What is loaded into device memory goes where its reader is.
        if !node.placement.is_device() || node.resident.is_some() && node.cost.left().device > 0 {
            continue;
        }
        let group = *of_set[sets.find(i)].get_or_insert_with(|| {
            fixed.push(None);
            fixed.len() - 1
        });
        groups[i] = Some(group);
        let loads = node.residents.iter().map(|load| &nodes[*load]);
        let loads = loads.filter(|load| load.cost.left().device > 0);
        for asked in loads.chain([node]).filter_map(|n| n.placement.device()) {
            match *fixed[group].get_or_insert(asked) {
                held if held == asked => {}
                held => return Err(BuildError::TwoDevices { stage: (*node.name).into(), asked, held }),
            }
        }
    }
    Ok((groups, fixed))
}

struct Serial<'a> {
    nodes: &'a DiGraph<Node, usize>,
    slots: &'a [Slot],
    groups: &'a [Option<Group>],
    fixed: &'a [Option<u16>],
}

impl Serial<'_> {
    fn view(&self, device: Option<u16>) -> View {
        let reads = self.reads(device);
        let mut peaks = self.peaks(device);
        for read in &reads {
            read.steps.clone().for_each(|step| peaks[step] += read.weight);
        }
        // The input lives until its last taker; as the graph's output it stays.
        let takes = |node: &Node| node.inputs.iter().filter(|slot| **slot == 0).count();
        let takes: Vec<_> = self.nodes.node_weights().map(takes).collect();
        let leaves = self.slots[0].takers > takes.iter().sum();
        let last = takes.iter().rposition(|n| *n > 0);
        let with_input = if leaves { peaks.len() } else { last.map_or(0, |last| last + 1) };
        View { device, peaks, with_input, reads }
    }

    /// Each resident value that `device` sees, from its first reader to its last.
    fn reads(&self, device: Option<u16>) -> Vec<Read> {
        let mut reads: Vec<Read> = Vec::new();
        for (step, node) in self.nodes.node_weights().enumerate() {
            for &load in &node.residents {
                let bytes = self.nodes[load].cost.left();
                if bytes.device > 0 && !self.sees(device, step) {
                    continue;
                }
                let load = load.index();
                if let Some(read) = reads.iter_mut().find(|read| read.load == load) {
                    read.steps = *read.steps.start()..=step;
                    continue;
                }
                let mixed = bytes.device > 0 && bytes.total() > bytes.device;
                reads.push(Read { load, steps: step..=step, weight: self.weight(load, device), mixed });
            }
        }
        reads
    }

    /// What a resident value weighs as `device` sees it. Its host bytes count
    /// for each device that it may be loaded on.
    fn weight(&self, load: usize, device: Option<u16>) -> Footprint {
        let bytes = self.nodes[NodeIndex::new(load)].cost.left();
        if bytes.device == 0 {
            return bytes;
        }
        let readers = self.nodes.node_weights().enumerate();
        let readers = readers.filter(|(_, n)| n.residents.iter().any(|l| l.index() == load));
        let mut groups: Vec<_> = readers.map(|(step, _)| self.groups[step]).collect();
        groups.sort_unstable();
        groups.dedup();
        let copies = groups.len() as u64;
        let seen = groups.into_iter().flatten().any(|g| self.fixed[g].is_none_or(|d| Some(d) == device));
        Footprint {
            host: bytes.host.saturating_mul(copies),
            pinned: bytes.pinned.saturating_mul(copies),
            device: if seen { bytes.device } else { 0 },
        }
    }

    /// What each step holds while its stage runs, resident values apart.
    fn peaks(&self, device: Option<u16>) -> Vec<Footprint> {
        let mut left: Vec<usize> = self.slots.iter().map(|s| s.takers).collect();
        let mut held = Footprint::ZERO;
        let step = |(step, node): (usize, &Node)| {
            if node.resident.is_some() {
                return Footprint::ZERO;
            }
            let seen = |bytes: Footprint| self.seen(device, step, bytes);
            let scratch = |load: &NodeIndex| {
                // On the device of the reader, unless the load has its own.
                let at = if self.groups[load.index()].is_some() { load.index() } else { step };
                self.seen(device, at, self.nodes[*load].cost.scratch)
            };
            let load = node.residents.iter().map(scratch).fold(Footprint::ZERO, Footprint::max);
            let peak = held + seen(node.cost.to_start()).max(load);
            held += seen(node.cost.left());
            for &slot in &node.inputs {
                left[slot] -= 1;
                if left[slot] == 0 {
                    let maker = self.slots[slot].maker.map_or(step, NodeIndex::index);
                    held -= self.seen(device, maker, self.slots[slot].bytes);
                }
            }
            peak
        };
        self.nodes.node_weights().enumerate().map(step).collect()
    }

    fn seen(&self, device: Option<u16>, stage: usize, bytes: Footprint) -> Footprint {
        if self.sees(device, stage) { bytes } else { Footprint { device: 0, ..bytes } }
    }

    fn sees(&self, device: Option<u16>, stage: usize) -> bool {
        self.groups[stage].and_then(|group| self.fixed[group]).is_none_or(|fixed| Some(fixed) == device)
    }
}
