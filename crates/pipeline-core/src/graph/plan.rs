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
    /// The peak while the input lives, and after.
    with_input: Footprint,
    after: Footprint,
    /// By stage that loads a resident value: the steps at which the floor
    /// includes that value.
    covers: Vec<Option<RangeInclusive<usize>>>,
}

impl Plan {
    pub(super) fn new(nodes: &DiGraph<Node, usize>, slots: &[Slot]) -> Result<Self, BuildError> {
        check::devices(nodes, slots)?;
        let (groups, fixed) = groups(nodes, slots)?;
        let mut named: Vec<_> = fixed.iter().flatten().copied().collect();
        named.sort_unstable();
        named.dedup();
        let serial = Serial { nodes, slots, groups: &groups, fixed: &fixed };
        let views = std::iter::once(None)
            .chain(named.into_iter().map(Some))
            .map(|device| serial.view(device))
            .collect();
        Ok(Self { groups, fixed, views })
    }

    pub(crate) fn group(&self, stage: usize) -> Option<Group> {
        self.groups[stage]
    }

    pub(crate) fn groups(&self) -> usize {
        self.fixed.len()
    }

    /// The device that `group` asks for by number.
    pub(crate) fn fixed(&self, group: Group) -> Option<u16> {
        self.fixed[group]
    }

    /// The floor of a run whose input weighs `input`; of several devices the largest.
    pub(crate) fn floor(&self, input: Footprint) -> Footprint {
        self.views.iter().fold(Footprint::ZERO, |floor, view| floor.max(view.floor(input)))
    }

    /// The floor of device `device`.
    pub(crate) fn floor_of(&self, device: u16) -> u64 {
        self.view(Some(device)).floor(Footprint::ZERO).device
    }

    /// Whether the floor includes, at step `turn`, the resident value that
    /// stage `load` makes, in host memory or on `device`.
    pub(crate) fn covers(&self, load: usize, device: Option<u16>, turn: usize) -> bool {
        self.view(device).covers[load].as_ref().is_some_and(|steps| steps.contains(&turn))
    }

    fn view(&self, device: Option<u16>) -> &View {
        self.views[1..].iter().find(|view| view.device == device).unwrap_or(&self.views[0])
    }
}

impl View {
    fn floor(&self, input: Footprint) -> Footprint {
        (self.with_input + input).max(self.after)
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
        if !node.placement.is_device() || node.resident.is_some() {
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
        let mut covers = self.reads(device);
        let mut peaks = self.peaks(device);
        for (load, steps) in covers.iter().enumerate() {
            let weight = self.weight(load, device);
            steps.iter().cloned().flatten().for_each(|step| peaks[step] += weight);
        }
        // The input lives until its last taker; as the graph's output it stays.
        let takes = |node: &Node| node.inputs.iter().filter(|slot| **slot == 0).count();
        let takes: Vec<_> = self.nodes.node_weights().map(takes).collect();
        let leaves = self.slots[0].takers > takes.iter().sum();
        let last = takes.iter().rposition(|n| *n > 0);
        let split = if leaves { peaks.len() } else { last.map_or(0, |last| last + 1) };
        let peak = |steps: &[Footprint]| steps.iter().fold(Footprint::ZERO, |peak, s| peak.max(*s));
        let (with_input, after) = (peak(&peaks[..split]), peak(&peaks[split..]));
        // A value that costs the floor nothing is covered early and late, so
        // that a run that shares it need not wait for the owner's turn.
        let bound = |step| if step < split { with_input } else { with_input.max(after) };
        for (load, steps) in covers.iter_mut().enumerate() {
            let bytes = self.nodes[NodeIndex::new(load)].cost.left();
            let mixed = bytes.device > 0 && bytes.total() > bytes.device;
            let Some(range) = steps.as_mut().filter(|_| !mixed) else { continue };
            let weight = self.weight(load, device);
            let fits = |step: &usize, peaks: &[Footprint]| (peaks[*step] + weight).fits(bound(*step));
            let (first, last) = (*range.start(), *range.end());
            let early = (0..first).rev().take_while(|s| fits(s, &peaks)).count();
            let late = (last + 1..peaks.len()).take_while(|s| fits(s, &peaks)).count();
            *range = first - early..=last + late;
            (first - early..first).chain(last + 1..=last + late).for_each(|step| peaks[step] += weight);
        }
        View { device, with_input, after, covers }
    }

    /// By stage that loads: from its first reader to its last.
    fn reads(&self, device: Option<u16>) -> Vec<Option<RangeInclusive<usize>>> {
        let mut reads: Vec<Option<RangeInclusive<usize>>> = vec![None; self.nodes.node_count()];
        for (step, node) in self.nodes.node_weights().enumerate() {
            for &load in &node.residents {
                let on_device = self.slots[self.nodes[load].first_output].bytes.device > 0;
                if on_device && !self.sees(device, step) {
                    continue;
                }
                let range = reads[load.index()].get_or_insert(step..=step);
                *range = *range.start()..=step;
            }
        }
        reads
    }

    /// What a resident value weighs as `device` sees it. Its host bytes count
    /// for each device that it may be loaded on.
    fn weight(&self, load: usize, device: Option<u16>) -> Footprint {
        let node = &self.nodes[NodeIndex::new(load)];
        let bytes = node.cost.left();
        if node.resident.is_none() || bytes.device == 0 {
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
            let loads = node.residents.iter().map(|load| self.nodes[*load].cost.scratch);
            let load = loads.fold(Footprint::ZERO, Footprint::max);
            let peak = held + seen(node.cost.to_start()).max(seen(load));
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
