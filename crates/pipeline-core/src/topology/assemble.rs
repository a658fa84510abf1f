//! From what a source said to a topology that keeps its promises.

use std::collections::{BTreeMap, BTreeSet};

use super::{LOCAL, Node, REMOTE, Source, Topology};
use crate::system::{Probe, parse_list, show_list};

/// A node as a source described it.
#[derive(Debug)]
pub(super) struct RawNode {
    pub(super) id: u16,
    pub(super) cpus: Vec<usize>,
    /// To the node with this id.
    pub(super) distances: Vec<(u16, u32)>,
    pub(super) memory: Option<u64>,
}

/// Keeps what the process may use, fills in what is missing, and makes sure that there is a
/// node with a CPU and that no CPU is in two nodes.
pub(super) fn assemble(probe: &mut Probe<'_>, mut raw: Vec<RawNode>, source: Source) -> Topology {
    raw.sort_by_key(|node| node.id);
    raw.dedup_by_key(|node| node.id);
    let allowed = probe.allowed_cpus();
    let mems = probe.allowed_mems();
    keep_allowed(probe, &mut raw, allowed.as_deref());
    let mut pins = probe.is_here() && matches!(source, Source::Hwloc | Source::Sysfs);
    let mut source = source;
    if raw.iter().all(|node| node.cpus.is_empty()) {
        if !raw.is_empty() {
            probe.note("no node has a CPU that may be used: all CPUs are one node");
            source = if source == Source::Fake { source } else { Source::Flat };
        }
        pins = probe.is_here() && allowed.is_some();
        raw = vec![flat(probe, allowed)];
    }
    if let Some(mems) = mems {
        for node in raw.iter_mut().filter(|node| mems.binary_search(&usize::from(node.id)).is_err()) {
            node.memory = Some(0);
        }
    }
    let ids: Vec<u16> = raw.iter().map(|node| node.id).collect();
    let siblings = if source == Source::Fake { BTreeMap::new() } else { first_siblings(probe, &raw) };
    let nodes = raw.into_iter().map(|node| {
        let distance = |&to: &u16| {
            let told = node.distances.iter().find(|(id, _)| *id == to).map(|(_, distance)| *distance);
            told.unwrap_or(if to == node.id { LOCAL } else { REMOTE })
        };
        let distances = ids.iter().map(distance).collect();
        let (by_core, cores) = by_core(&node.cpus, &siblings);
        Node { id: node.id, cpus: node.cpus, by_core, cores, distances, memory: node.memory }
    });
    Topology { nodes: nodes.collect(), source, pins, notes: std::mem::take(&mut probe.notes) }
}

/// The lowest thread of each CPU's core, as `/sys` tells.
fn first_siblings(probe: &mut Probe<'_>, nodes: &[RawNode]) -> BTreeMap<usize, usize> {
    let cpus = nodes.iter().flat_map(|node| node.cpus.iter().copied());
    let first = |cpu| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        Some((cpu, *probe.parse(&path, parse_list)?.first()?))
    };
    cpus.filter_map(first).collect()
}

/// The CPUs in rounds, each with one thread of every core that has one left; and how many cores there are.
fn by_core(cpus: &[usize], siblings: &BTreeMap<usize, usize>) -> (Vec<usize>, usize) {
    let mut threads = BTreeMap::<usize, usize>::new();
    let mut rounds: Vec<_> = cpus
        .iter()
        .map(|&cpu| {
            let round = threads.entry(siblings.get(&cpu).copied().unwrap_or(cpu)).or_default();
            *round += 1;
            (*round, cpu)
        })
        .collect();
    rounds.sort_unstable();
    (rounds.into_iter().map(|(_, cpu)| cpu).collect(), threads.len())
}

/// Takes from every node the CPUs that may not be used or that an earlier node has. CPUs that
/// no node has go to the first node with CPUs, for they are there to be used.
fn keep_allowed(probe: &mut Probe<'_>, nodes: &mut [RawNode], allowed: Option<&[usize]>) {
    let mut seen = BTreeSet::new();
    for node in nodes.iter_mut() {
        node.cpus.sort_unstable();
        node.cpus.retain(|cpu| allowed.is_none_or(|set| set.binary_search(cpu).is_ok()));
        let had = node.cpus.len();
        node.cpus.retain(|&cpu| seen.insert(cpu));
        if node.cpus.len() < had {
            probe.note(format!("node {} names CPUs that a node before it has", node.id));
        }
    }
    let homeless: Vec<_> =
        allowed.unwrap_or_default().iter().copied().filter(|c| !seen.contains(c)).collect();
    let Some(home) = nodes.iter_mut().find(|node| !node.cpus.is_empty()) else { return };
    if !homeless.is_empty() {
        let cpus = show_list(&homeless).to_string();
        probe.note(format!("no node has CPUs {cpus}: node {} takes them", home.id));
        home.cpus.extend(homeless);
        home.cpus.sort_unstable();
    }
}

/// All CPUs and all memory as one node.
fn flat(probe: &mut Probe<'_>, allowed: Option<Vec<usize>>) -> RawNode {
    let cpus = allowed.unwrap_or_else(|| {
        let count =
            if probe.is_here() { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
        (0..count).collect()
    });
    let meminfo = probe.text("/proc/meminfo").unwrap_or_default();
    RawNode { id: 0, cpus, distances: Vec::new(), memory: Probe::kib_field(&meminfo, "MemTotal") }
}
