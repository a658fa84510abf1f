//! The machine as an engine sees it: NUMA nodes, the CPUs of each that this
//! process may use, and how far the nodes are from each other.

mod pin;

pub use pin::{PinError, pin_current_thread};

/// The distance of a node from itself in ACPI's SLIT table.
const LOCAL: u32 = 10;
/// The distance between two nodes where no table says otherwise (Linux's `REMOTE_DISTANCE`).
const REMOTE: u32 = 20;

/// The NUMA nodes of a machine. There is always one node that has a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
    pins: bool,
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    id: u16,
    cpus: Vec<usize>,
    distances: Vec<u32>,
    memory: Option<u64>,
}

impl Topology {
    /// Looks at this machine. Never fails: what cannot be found out is one flat node.
    pub fn detect() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Self { nodes: vec![Node::new(0, (0..cpus).collect())], pins: false }
    }

    /// A machine that is not there, for tests: node `i` has `cpus[i]` CPUs,
    /// numbered from 0 through all nodes. Threads are not pinned on it.
    pub fn fake(cpus: &[usize]) -> Self {
        let mut next = 0;
        let nodes = cpus.iter().enumerate().map(|(i, &n)| {
            next += n;
            let distances = (0..cpus.len()).map(|j| if i == j { LOCAL } else { REMOTE }).collect();
            Node { distances, ..Node::new(i as u16, (next - n..next).collect()) }
        });
        Self { nodes: nodes.collect(), pins: false }
    }

    /// The nodes, by rising [`Node::id`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether the CPUs are this machine's, so that threads can be pinned to them.
    pub fn pins(&self) -> bool {
        self.pins
    }
}

impl Node {
    fn new(id: u16, cpus: Vec<usize>) -> Self {
        Self { id, cpus, distances: vec![LOCAL], memory: None }
    }

    /// The operating system's number of the node.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// The CPUs of the node that this process may use, rising; empty on a node that is memory alone.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// The distance to each of [`Topology::nodes`], in ACPI's units: 10 is local.
    pub fn distances(&self) -> &[u32] {
        &self.distances
    }

    /// The bytes of memory on the node, where known.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }
}
