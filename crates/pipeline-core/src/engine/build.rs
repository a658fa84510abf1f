//! Describes an engine and starts its threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded, unbounded};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tracing::warn;

use super::Engine;
use super::books::{Books, Sums};
use super::device::Device;
use super::lanes::Lanes;
use super::places::{Class, DevicePlace, NodePlace, Places};
use super::schedule::Scheduler;
use super::sweep;
use super::watch::Watch;
use super::work::{Lane, Pools};
use crate::limits::MemoryLimits;
use crate::{EngineError, Footprint, Node, Observer, Place, Topology, pin_current_thread};

/// Describes an [`Engine`].
///
/// Without [`place`](Self::place) the engine runs on all NUMA nodes of its
/// topology, with two lanes each, or one where a node has one thread: one
/// stage's serial end overlaps the next.
pub struct EngineBuilder {
    budget: Option<Footprint>,
    topology: Option<Topology>,
    lanes: BTreeMap<u16, usize>,
    devices: Vec<Device>,
    plain_devices: BTreeMap<u16, usize>,
    threads: Option<usize>,
    reserved: Option<usize>,
    queue: usize,
    grace: Duration,
    observers: Vec<Arc<dyn Observer>>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            budget: None,
            topology: None,
            lanes: BTreeMap::new(),
            devices: Vec::new(),
            plain_devices: BTreeMap::new(),
            threads: None,
            reserved: None,
            queue: 1024,
            grace: Duration::from_secs(1),
            observers: Vec::new(),
        }
    }
}

impl EngineBuilder {
    /// The bytes that runs and resident values may hold together. The device
    /// part is the budget of each device that [`place`](Self::place) adds. Without it,
    /// the host memory that [`MemoryLimits`] finds, and none of any device.
    #[must_use]
    pub fn budget(mut self, budget: Footprint) -> Self {
        self.budget = Some(budget);
        self
    }

    /// The machine to run on; without it, the one that is there.
    #[must_use]
    pub fn topology(mut self, topology: &Topology) -> Self {
        self.topology = Some(topology.clone());
        self
    }

    /// A place, and how many stages it runs at once. Once a NUMA node is
    /// named, those that are not stay unused.
    #[must_use]
    pub fn place(mut self, place: Place, lanes: usize) -> Self {
        match place {
            Place::Numa(id) => self.lanes.insert(id, lanes),
            Place::Gpu(id) => self.plain_devices.insert(id, lanes),
        };
        self
    }

    /// A device with a budget and a handle of its own.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.devices.push(device);
        self
    }

    /// The most threads that work inside stages, over all nodes; without it,
    /// one for each CPU. Nodes are filled one after the other, so that data
    /// stays together.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The threads of each node's pool for critical runs; without it, as many
    /// as the node's other pool has. They share its cores and sleep while no
    /// critical stage runs. Every place also has a lane for critical runs.
    /// With 0 there is neither, and critical runs only go first.
    #[must_use]
    pub fn reserved(mut self, threads: usize) -> Self {
        self.reserved = Some(threads);
        self
    }

    /// The most runs that may wait to become active; without it, 1024.
    #[must_use]
    pub fn queue(mut self, runs: usize) -> Self {
        self.queue = runs;
        self
    }

    /// How long a dropped engine waits for stages to stop; without it, a second.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// One more who is told what happens.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// [`EngineError`] for a place that runs nothing, is not there or was
    /// named twice, and for a thread that the operating system does not give.
    pub fn build(self) -> Result<Engine, EngineError> {
        let topology = self.topology.clone().unwrap_or_else(Topology::detect);
        let nodes = self.nodes(&topology)?;
        let devices = self.all_devices()?;
        let near = |device: &Device| device.near.and_then(|id| nodes.iter().position(|n| n.place.id == id));
        let places = Arc::new(Places {
            nodes: nodes.iter().map(|node| node.place.clone()).collect(),
            devices: devices
                .iter()
                .map(|d| DevicePlace { id: d.id, lanes: d.lanes, near: near(d).unwrap_or(0) })
                .collect(),
            reserved: usize::from(self.reserved != Some(0)),
        });
        let Footprint { host, pinned, .. } = self.total();
        let budget = Sums::new(host, pinned, devices.iter().map(|device| device.bytes));
        let pools = nodes.iter().map(|node| self.pools(node, &topology)).collect::<Result<Vec<_>, _>>()?;

        #[expect(clippy::disallowed_methods, reason = "at most one message for each stage under way and run")]
        let (messages, inbox) = unbounded();
        #[expect(clippy::disallowed_methods, reason = "at most one item for each run and resident value")]
        let (sweeper, rubbish) = unbounded();
        let (living, alive) = bounded(0);
        let lanes = Arc::new(Lanes::new(&places.berths(&topology)));
        let watch = Watch::new(&self.observers);
        let mut engine = Engine {
            messages: messages.clone(),
            lanes: lanes.clone(),
            alive,
            threads: Vec::new(),
            grace: self.grace,
        };
        let books = Books::new(budget);
        let scheduler =
            Scheduler::new(books, places.clone(), lanes.clone(), sweeper, watch.clone(), self.queue);
        let grace = self.grace;
        engine.spawn("cuzk.schedule", &living, move || scheduler.serve(&inbox, grace))?;
        engine.spawn("cuzk.sweep", &living, {
            let messages = messages.clone();
            move || sweep::serve(&rubbish, &messages)
        })?;
        for place in 0..places.count() {
            let device = place.checked_sub(nodes.len()).and_then(|d| devices[d].handle.clone());
            let node = places.node_of(place);
            for (class, index) in lanes_of(&places, place) {
                let lane = Lane {
                    berth: Places::berth(place, class),
                    index,
                    place: places.place(place),
                    place_index: place,
                    class,
                    device: device.clone(),
                    pools: pools[node].clone(),
                    lanes: lanes.clone(),
                    messages: messages.clone(),
                    watch: watch.clone(),
                };
                let cpus = if topology.pins() { nodes[node].cpus.clone() } else { Vec::new() };
                let name = format!("cuzk.{}.{index}", lane.place);
                engine.spawn(&name, &living, move || {
                    pin(&cpus);
                    lane.serve();
                })?;
            }
        }
        Ok(engine)
    }

    fn nodes(&self, topology: &Topology) -> Result<Vec<UsedNode>, EngineError> {
        let there: Vec<&Node> = topology.compute_nodes().collect();
        if let Some((id, _)) = self.lanes.iter().find(|(id, _)| there.iter().all(|node| node.id() != **id)) {
            return Err(EngineError::NoNode { place: Place::Numa(*id), nodes: there.len() });
        }
        if self.threads == Some(0) {
            return Err(EngineError::NoThreads);
        }
        let mut left = self.threads.unwrap_or(usize::MAX);
        let mut nodes = Vec::new();
        for node in there {
            let named = self.lanes.get(&node.id()).copied();
            let wanted = named.is_some() || self.lanes.is_empty();
            // A node that is named works, on one thread if no more are left.
            let threads = node.cpus().len().min(left.max(usize::from(named.is_some())));
            if !wanted || threads == 0 {
                continue;
            }
            left = left.saturating_sub(threads);
            let place = NodePlace { id: node.id(), lanes: named.unwrap_or(threads.min(2)) };
            if place.lanes == 0 {
                return Err(EngineError::NoLanes { place: Place::Numa(place.id) });
            }
            nodes.push(UsedNode { place, cpus: node.cpus()[..threads].to_vec() });
        }
        Ok(nodes)
    }

    /// The budget, or what there is.
    fn total(&self) -> Footprint {
        self.budget.unwrap_or_else(|| {
            let host = MemoryLimits::detect().budget();
            Footprint::host(host.unwrap_or_default())
        })
    }

    fn all_devices(&self) -> Result<Vec<Device>, EngineError> {
        let plain = self.plain_devices.iter();
        let plain = plain.map(|(id, lanes)| Device::new(*id, self.total().device).lanes(*lanes));
        let mut devices: Vec<_> = self.devices.iter().cloned().chain(plain).collect();
        devices.sort_by_key(|device| device.id);
        if let Some(pair) = devices.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(EngineError::SameDevice { device: pair[0].id });
        }
        if let Some(device) = devices.iter().find(|device| device.lanes == 0) {
            return Err(EngineError::NoLanes { place: Place::Gpu(device.id) });
        }
        Ok(devices)
    }

    fn pools(&self, node: &UsedNode, topology: &Topology) -> Result<Arc<Pools>, EngineError> {
        let place = Place::Numa(node.place.id);
        let pool = |threads: usize, what: &'static str| -> Result<ThreadPool, EngineError> {
            let cpus = if topology.pins() { node.cpus.clone() } else { Vec::new() };
            let builder = ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(move |i| format!("cuzk.{place}.{what}{i}"))
                .start_handler(move |i| {
                    pin(cpus.get(i % cpus.len().max(1)).map_or(&[], std::slice::from_ref));
                });
            builder.build().map_err(|source| EngineError::Pool { place, threads, source })
        };
        let all = pool(node.cpus.len(), "p")?;
        let critical = match self.reserved.unwrap_or(node.cpus.len()) {
            0 => None,
            threads => Some(pool(threads, "c")?),
        };
        Ok(Arc::new(Pools { all, critical }))
    }
}

/// A node and the CPUs of it that are used.
struct UsedNode {
    place: NodePlace,
    cpus: Vec<usize>,
}

/// The lanes of a place, numbered through both classes.
fn lanes_of(places: &Places, place: usize) -> impl Iterator<Item = (Class, usize)> {
    let (all, critical) = (places.lanes(place, Class::All), places.lanes(place, Class::Critical));
    (0..all).map(|i| (Class::All, i)).chain((all..all + critical).map(|i| (Class::Critical, i)))
}

/// Keeps the thread on `cpus`, if there are any. A thread that cannot be kept
/// is slower and does the same.
fn pin(cpus: &[usize]) {
    if cpus.is_empty() {
        return;
    }
    if let Err(error) = pin_current_thread(cpus) {
        warn!(%error, "a thread stays unpinned");
    }
}

impl Engine {
    /// Starts a thread that keeps `living` as long as it lives.
    fn spawn(
        &mut self,
        name: &str,
        living: &Sender<()>,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), EngineError> {
        let living = living.clone();
        let body = move || {
            body();
            drop(living);
        };
        let thread: JoinHandle<()> = thread::Builder::new()
            .name(name.into())
            .spawn(body)
            .map_err(|source| EngineError::Thread { name: name.into(), source })?;
        self.threads.push(thread);
        Ok(())
    }
}
