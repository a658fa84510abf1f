//! The machine as an engine sees it: NUMA nodes, the CPUs of each that this
//! process may use, and how far the nodes are from each other.
//!
//! Nodes come from hwloc (feature `hwloc`), else from `/sys/devices/system/node`,
//! else there is one flat node. Odd machines are taken as they are, with a note:
//! nothing here fails or asserts.

mod assemble;
#[cfg(feature = "hwloc")]
mod hwloc;
mod pin;
mod show;
mod sysfs;

use std::path::Path;

pub use pin::{PinError, pin_current_thread};

use crate::system::Probe;

/// The distance of a node from itself in ACPI's SLIT table.
const LOCAL: u32 = 10;
/// The distance between two nodes where no table says otherwise (Linux's `REMOTE_DISTANCE`).
const REMOTE: u32 = 20;

/// The NUMA nodes of a machine. At least one of them has a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
    source: Source,
    pins: bool,
    notes: Vec<String>,
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    id: u16,
    cpus: Vec<usize>,
    by_core: Vec<usize>,
    cores: usize,
    distances: Vec<u32>,
    memory: Option<u64>,
}

/// Who described the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The hwloc library.
    Hwloc,
    /// `/sys/devices/system/node`.
    Sysfs,
    /// Nobody: all CPUs are one node.
    Flat,
    /// A test.
    Fake,
}

impl Topology {
    /// Looks at this machine and at what this process may use of it: the
    /// calling thread's affinity, its cpuset, the CPUs that are online.
    pub fn detect() -> Self {
        let mut probe = Probe::new(Path::new("/"));
        #[cfg(feature = "hwloc")]
        if let Some(found) = hwloc::look(&mut probe) {
            return found;
        }
        Self::sysfs(&mut probe)
    }

    /// Looks at a machine whose `/proc` and `/sys` are copied or made up below
    /// `root`. Threads are not pinned on it.
    pub fn detect_at(root: &Path) -> Self {
        Self::sysfs(&mut Probe::new(root))
    }

    fn sysfs(probe: &mut Probe<'_>) -> Self {
        let nodes = sysfs::nodes(probe);
        let source = if nodes.is_empty() { Source::Flat } else { Source::Sysfs };
        assemble::assemble(probe, nodes, source)
    }

    /// A machine that is not there, for tests: node `i` has `cpus[i]` CPUs,
    /// numbered from 0 through all nodes, and every other node is equally far.
    /// Threads are not pinned on it.
    pub fn fake(cpus: &[usize]) -> Self {
        let nodes = cpus.len();
        let distances = |i| (0..nodes).map(|j| if i == j { LOCAL } else { REMOTE }).collect();
        Self::fake_with(&cpus.iter().enumerate().map(|(i, &n)| (n, distances(i))).collect::<Vec<_>>())
    }

    /// As [`fake`](Self::fake), with each node's number of CPUs and its distances to all nodes;
    /// a distance that is missing is 10 to itself and 20 to others.
    pub fn fake_with(nodes: &[(usize, Vec<u32>)]) -> Self {
        let mut next = 0;
        let raw = nodes.iter().enumerate().map(|(i, (cpus, distances))| {
            next += cpus;
            assemble::RawNode {
                id: i as u16,
                cpus: (next - cpus..next).collect(),
                distances: (0..).zip(distances.iter().copied()).collect(),
                memory: None,
            }
        });
        let raw = raw.collect();
        assemble::assemble(&mut Probe::new(Path::new("/nowhere")), raw, Source::Fake)
    }

    /// The nodes, by rising [`Node::id`]; also those that are memory alone.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node with this number.
    pub fn node(&self, id: u16) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// The nodes that have a CPU, and so can run stages: at least one.
    pub fn compute_nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| !node.cpus.is_empty())
    }

    /// The other nodes that have a CPU, nearest to node `id` first; equal
    /// distances by rising number, counted on from `id`, so that thieves of
    /// several nodes do not all turn to the same one.
    pub fn nearest(&self, id: u16) -> Vec<u16> {
        let Some(home) = self.nodes.iter().position(|node| node.id == id) else { return Vec::new() };
        let count = self.nodes.len();
        let mut others: Vec<_> = (1..count)
            .map(|step| (home + step) % count)
            .filter(|&i| !self.nodes[i].cpus.is_empty())
            .collect();
        others.sort_by_key(|&i| self.nodes[home].distances[i]);
        others.into_iter().map(|i| self.nodes[i].id).collect()
    }

    /// Every CPU that this process may use, rising.
    pub fn cpus(&self) -> Vec<usize> {
        let mut cpus: Vec<_> = self.nodes.iter().flat_map(|node| &node.cpus).copied().collect();
        cpus.sort_unstable();
        cpus
    }

    /// Who described the nodes.
    pub fn source(&self) -> Source {
        self.source
    }

    /// What was odd, one line each, for people.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the CPUs are this machine's, so that threads can be pinned to them.
    pub fn pins(&self) -> bool {
        self.pins
    }
}

impl Node {
    /// The operating system's number of the node.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// The CPUs of the node that this process may use, rising; empty on a node that is memory alone.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// The same CPUs, one of each core before the second of any: who uses some of them takes these
    /// from the front.
    pub fn by_core(&self) -> &[usize] {
        &self.by_core
    }

    /// How many cores the CPUs are threads of; as many as CPUs where nothing says.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// The distance to each of [`Topology::nodes`], in ACPI's units: 10 is local.
    pub fn distances(&self) -> &[u32] {
        &self.distances
    }

    /// The bytes of memory on the node, where known; 0 where the process may not use it.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }
}

/// The guide's examples, which are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/placement.md")]
#[doc = include_str!("../../../../docs/adding-a-stage.md")]
struct Guide;
