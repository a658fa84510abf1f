//! Plays the lanes and the sweeper of a scheduler.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use crossbeam_channel::{Receiver, bounded, unbounded};
use rayon::ThreadPoolBuilder;

use crate::engine::books::{Books, Policy, Sums};
use crate::engine::job::Submission;
use crate::engine::lanes::Lanes;
use crate::engine::places::{Class, DevicePlace, NodePlace, Places};
use crate::engine::schedule::{Message, Scheduler};
use crate::engine::sweep::Sweep;
use crate::engine::watch::Watch;
use crate::engine::work::{Lane, Pools, Task};
use crate::graph::AnyBox;
use crate::{
    CancelToken, Cancelled, Cost, Cx, Footprint, Graph, Ledger, Options, Place, RunError, Topology, Value,
};
use crate::{Stage, stage_fn};

/// Xorshift: G. Marsaglia, "Xorshift RNGs", 2003.
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Bytes that are alive, by ledger, and the most that ever were.
#[derive(Default)]
pub(super) struct Meter(Mutex<HashMap<Ledger, (i64, i64)>>);

impl Meter {
    pub(super) fn add(&self, at: Place, bytes: Footprint, sign: i64) {
        let device = match at {
            Place::Gpu(id) => Ledger::Device(id),
            Place::Numa(_) => Ledger::Device(u16::MAX),
        };
        let columns = [(Ledger::Host, bytes.host), (Ledger::Pinned, bytes.pinned), (device, bytes.device)];
        let mut meter = self.0.lock().unwrap();
        for (ledger, bytes) in columns {
            let (live, peak) = meter.entry(ledger).or_default();
            *live += sign * bytes.cast_signed();
            *peak = (*peak).max(*live);
        }
    }

    pub(super) fn peak(&self, ledger: Ledger) -> u64 {
        self.0.lock().unwrap().get(&ledger).map_or(0, |(_, peak)| peak.cast_unsigned())
    }

    pub(super) fn live_on(&self, ledger: Ledger) -> i64 {
        self.0.lock().unwrap().get(&ledger).map_or(0, |(live, _)| *live)
    }
}

/// A value that is metered while it lives.
pub(super) struct Blob {
    pub(super) bytes: Footprint,
    at: Place,
    meter: Option<Arc<Meter>>,
}

impl Blob {
    /// An unmetered one of the host.
    pub(super) fn host(bytes: u64) -> Self {
        Self { bytes: Footprint::host(bytes), at: Place::Numa(0), meter: None }
    }

    pub(super) fn new(cx: &Cx<'_>, bytes: Footprint, meter: &Arc<Meter>) -> Self {
        meter.add(cx.place(), bytes, 1);
        Self { bytes, at: cx.place(), meter: Some(meter.clone()) }
    }
}

impl Value for Blob {
    fn footprint(&self) -> Footprint {
        self.bytes
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        if let Some(meter) = &self.meter {
            meter.add(self.at, self.bytes, -1);
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error("no")]
    No,
}

/// A stage from one value to another of `bytes` host bytes.
pub(super) fn step(name: &str, bytes: u64) -> impl Stage<In = Blob, Out = Blob> {
    let cost = Cost::free().output(Footprint::host(bytes));
    stage_fn(name.to_owned(), cost, move |_, _: Blob| Ok::<_, Error>(Blob::host(bytes)))
}

/// A graph of one such stage after the other.
pub(super) fn chain(steps: &[(&str, u64)]) -> Graph<Blob, Blob> {
    let made = Graph::build(|g, input| {
        Ok(steps.iter().fold(input, |port, (n, bytes)| g.stage(step(n, *bytes), port)))
    });
    made.expect("it is well formed")
}

/// The owner's end of a simulated run.
pub(super) struct Handle {
    reply: Receiver<Result<AnyBox, RunError>>,
    pub(super) cancel: CancelToken,
}

impl Handle {
    /// How it ended, if it did.
    pub(super) fn end(&self) -> Option<Result<Blob, RunError>> {
        self.reply.try_recv().ok().map(|end| end.map(|value| *value.downcast().unwrap()))
    }
}

/// A machine to play.
#[derive(Clone)]
pub(super) struct Machine {
    pub(super) host: u64,
    pub(super) pinned: u64,
    /// Lanes of each node.
    pub(super) nodes: Vec<usize>,
    /// Bytes and lanes of each device.
    pub(super) devices: Vec<(u64, usize)>,
    pub(super) reserved: usize,
}

impl Machine {
    pub(super) fn host(bytes: u64, lanes: usize) -> Self {
        Self { host: bytes, pinned: 0, nodes: vec![lanes], devices: Vec::new(), reserved: 0 }
    }
}

/// A scheduler, the tasks that its lanes have begun, and what waits to be dropped.
pub(super) struct Sim {
    pub(super) scheduler: Scheduler,
    lanes: Vec<Lane>,
    queues: Arc<Lanes<Task>>,
    idle: Vec<usize>,
    pub(super) begun: Vec<(usize, Task)>,
    rubbish: Receiver<Sweep>,
    wakes: Receiver<()>,
    wake: crossbeam_channel::Sender<()>,
    pub(super) meter: Arc<Meter>,
    /// No stage makes more than it declared.
    pub(super) honest: bool,
}

impl Sim {
    pub(super) fn new(machine: &Machine) -> Self {
        let node = |(id, lanes): (usize, &usize)| NodePlace { id: id as u16, lanes: *lanes };
        let device = |(id, (_, lanes)): (usize, &(u64, usize))| {
            let near = id % machine.nodes.len();
            DevicePlace { id: id as u16, lanes: *lanes, near }
        };
        let places = Arc::new(Places {
            nodes: machine.nodes.iter().enumerate().map(node).collect(),
            devices: machine.devices.iter().enumerate().map(device).collect(),
            reserved: machine.reserved,
        });
        let topology = Topology::fake(&machine.nodes);
        let queues = Arc::new(Lanes::new(&places.berths(&topology)));
        let (sweeper, rubbish) = unbounded_for_tests();
        let (messages, _) = unbounded_for_tests();
        let budget = Sums::new(machine.host, machine.pinned, machine.devices.iter().map(|(bytes, _)| *bytes));
        let scheduler = Scheduler::new(
            Books::new(budget),
            places.clone(),
            queues.clone(),
            sweeper,
            Watch::default(),
            1000,
        );
        let berths = (0..places.count()).flat_map(|p| [(p, Class::All), (p, Class::Critical)]);
        let lanes: Vec<_> = berths
            .map(|(place, class)| Lane {
                berth: Places::berth(place, class),
                index: 0,
                place: places.place(place),
                place_index: place,
                class,
                device: None,
                pools: pools(),
                lanes: queues.clone(),
                messages: messages.clone(),
                watch: Watch::default(),
            })
            .collect();
        let idle = lanes.iter().map(|lane| places.lanes(lane.place_index, lane.class)).collect();
        let (wake, wakes) = bounded(1);
        let meter = Arc::default();
        Self { scheduler, lanes, queues, idle, begun: Vec::new(), rubbish, wakes, wake, meter, honest: true }
    }

    /// The mutant: whatever fits starts.
    pub(super) fn greedy(mut self) -> Self {
        self.scheduler.books.policy = Policy::Greedy;
        self
    }

    pub(super) fn submit(&mut self, graph: &Graph<Blob, Blob>, input: u64) -> Handle {
        self.submit_with(graph, input, Options::new())
    }

    pub(super) fn submit_with(&mut self, graph: &Graph<Blob, Blob>, input: u64, options: Options) -> Handle {
        self.send(graph, Blob::host(input), options)
    }

    /// A run whose input weighs something else than host bytes.
    pub(super) fn submit_footprint(&mut self, graph: &Graph<Blob, Blob>, bytes: Footprint) -> Handle {
        let mut input = Blob::host(0);
        input.bytes = bytes;
        self.send(graph, input, Options::new())
    }

    /// The place of a berth.
    pub(super) fn place(&self, berth: usize) -> Place {
        self.lanes[berth].place
    }

    fn send(&mut self, graph: &Graph<Blob, Blob>, input: Blob, options: Options) -> Handle {
        let (tx, reply) = bounded(1);
        let wake = self.wake.clone();
        let cancel = CancelToken::waking(move || {
            let _ = wake.try_send(());
        });
        self.scheduler.handle(Message::Submit(Box::new(Submission {
            dag: graph.dag.clone(),
            weight: input.bytes,
            input: Box::new(input),
            options,
            cancel: cancel.clone(),
            reply: tx,
            at: std::time::Instant::now(),
        })));
        self.settle();
        Handle { reply, cancel }
    }

    /// Lets the scheduler decide and idle lanes begin what they find.
    pub(super) fn settle(&mut self) {
        if self.wakes.try_recv().is_ok() {
            self.scheduler.handle(Message::Wake);
        }
        self.scheduler.advance();
        for berth in 0..self.lanes.len() {
            while self.idle[berth] > 0 {
                let Some(task) = self.queues.try_next(berth) else { break };
                self.idle[berth] -= 1;
                // While a stage runs it may hold all that it was charged.
                self.meter.add(self.lanes[berth].place, task.bytes, 1);
                self.begun.push((berth, task));
            }
        }
        let held = self.scheduler.books.ledgers(&[]).next().map_or(0, |host| host.used);
        let live = self.meter.live_on(Ledger::Host);
        assert!(!self.honest || live <= held.cast_signed(), "{live} bytes live, {held} in the books");
    }

    /// Ends one task that has begun.
    pub(super) fn end(&mut self, i: usize) {
        let (berth, task) = self.begun.swap_remove(i);
        let lane = &self.lanes[berth];
        self.meter.add(lane.place, task.bytes, -1);
        let done = lane.run(&task);
        drop(task);
        self.queues.finished(berth);
        self.idle[berth] += 1;
        self.scheduler.handle(Message::Done(done));
        self.settle();
    }

    /// Ends the task of the stage with this name; where it ran.
    pub(super) fn end_stage(&mut self, name: &str) -> Place {
        let is = |(_, task): &(usize, Task)| &*task.dag.node(task.stage).name == name;
        let Some(i) = self.begun.iter().position(is) else {
            panic!("`{name}` has not begun: {:?}", self.names())
        };
        let place = self.lanes[self.begun[i].0].place;
        self.end(i);
        place
    }

    /// The stages that have begun, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |(_, task): &(usize, Task)| task.dag.node(task.stage).name.to_string();
        let mut names: Vec<_> = self.begun.iter().map(name).collect();
        names.sort();
        names
    }

    /// Drops one piece of what runs left; whether there was some.
    pub(super) fn sweep(&mut self) -> bool {
        let Ok(Sweep { what, then }) = self.rubbish.try_recv() else { return false };
        drop(what);
        if let Some(swept) = then {
            self.scheduler.handle(Message::Swept(swept));
        }
        self.settle();
        true
    }

    /// Ends tasks and sweeps in an order of chance, until nothing is left to
    /// do. What then has not ended starves.
    pub(super) fn play(&mut self, rng: &mut Rng) {
        // Far more than any test has stages and loads: values that come and go
        // for ever are no progress.
        for step in 0.. {
            assert!(
                step < 20_000,
                "{} {:?}",
                self.names().join(" "),
                self.scheduler.kept("", Footprint::ZERO)
            );
            self.settle();
            let choices = self.begun.len() + self.rubbish.len().min(1);
            if choices == 0 {
                return;
            }
            let choice = rng.below(choices);
            if choice < self.begun.len() {
                self.end(choice);
            } else {
                self.sweep();
            }
        }
    }

    /// What is paid for runs, which must be nothing in the end.
    pub(super) fn balanced(&self) -> bool {
        self.scheduler.books.balanced() && self.scheduler.jobs.is_empty()
    }
}

#[expect(clippy::disallowed_methods, reason = "a test sends no more than it takes")]
fn unbounded_for_tests<T>() -> (crossbeam_channel::Sender<T>, Receiver<T>) {
    unbounded()
}

fn pools() -> Arc<Pools> {
    static POOLS: OnceLock<Arc<Pools>> = OnceLock::new();
    let pool = || ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    POOLS.get_or_init(|| Arc::new(Pools { all: pool(), critical: None })).clone()
}
