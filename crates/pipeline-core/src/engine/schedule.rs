//! The scheduler: one thread owns every book, hears what happens, and decides
//! what starts.
//!
//! It is a state machine: [`Scheduler::handle`] takes one message,
//! [`Scheduler::advance`] starts what may start. Work leaves through the
//! lanes' queues, what is to be dropped through the sweeper.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use super::admit::{Books, Charge, Coin, LedgerUse, Purse, Purses, Sums};
use super::job::{Job, Room, Submission};
use super::lanes::Lanes;
use super::places::{Flight, Places};
use super::residency::{Entry, EntryId, Residency};
use super::status::Status;
use super::sweep::Sweep;
use super::watch::Watch;
use super::work::{Done, Task, TaskId};
use crate::graph::Node;
use crate::options::Rank;
use crate::{Event, Footprint, RunError};

/// What the scheduler hears.
pub(crate) enum Message {
    Submit(Box<Submission>),
    Done(Done),
    Swept(Swept),
    /// A flag was set somewhere.
    Wake,
    Status(Sender<Status>),
    /// Let go of what nobody used for so long.
    Trim(Duration),
    Shutdown,
}

/// What was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swept {
    Job(u64),
    Resident(EntryId),
}

/// The runs that may use the reserves: of each ledger, the one that has been
/// active longest of those that use it.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Of host and pinned memory. It has been active longest of all.
    pub(super) host: Option<u64>,
    pub(super) devices: Vec<Option<u64>>,
}

/// See the module.
pub(crate) struct Scheduler {
    pub(super) books: Books,
    pub(super) places: Arc<Places>,
    pub(super) flight: Flight,
    pub(super) residency: Residency,
    pub(super) lanes: Arc<Lanes<Task>>,
    pub(super) sweeper: Sender<Sweep>,
    pub(super) watch: Watch,
    pub(super) queue: BTreeMap<Rank, (Submission, Room)>,
    pub(super) jobs: BTreeMap<u64, Job>,
    /// The active runs, in the order in which they are served.
    pub(super) order: BTreeSet<Rank>,
    /// The active runs, in the order in which they became active.
    pub(super) ages: Vec<u64>,
    pub(super) owners: Owners,
    /// The owners whose turn found no memory: they are asked first.
    pub(super) waiting: Vec<u64>,
    queue_limit: usize,
    submitted: u64,
    ids: Vec<u16>,
    seen: Vec<LedgerUse>,
    closing: bool,
}

/// Where the watch and the status look.
impl Scheduler {
    fn status(&self) -> Status {
        let devices = self.places.nodes.len()..;
        Status {
            queued: self.queue.len(),
            active: self.jobs.len(),
            ledgers: self.books.ledgers(&self.ids).collect(),
            residents: self.residency.views(|device| self.places.place(devices.start + device)),
        }
    }

    fn tell_memory(&mut self) {
        let at = Instant::now();
        let now: Vec<_> = self.books.ledgers(&self.ids).collect();
        for (i, entry) in now.iter().enumerate() {
            if self.seen.get(i) != Some(entry) {
                let LedgerUse { ledger, used, budget, .. } = *entry;
                self.watch.tell(&Event::Memory { at, ledger, used, budget });
            }
        }
        self.seen = now;
    }
}

impl Scheduler {
    pub(crate) fn new(
        books: Books,
        places: Arc<Places>,
        lanes: Arc<Lanes<Task>>,
        sweeper: Sender<Sweep>,
        watch: Watch,
        queue_limit: usize,
    ) -> Self {
        let owners = Owners { host: None, devices: vec![None; places.devices.len()] };
        Self {
            flight: Flight::new(&places),
            ids: places.devices.iter().map(|device| device.id).collect(),
            books,
            places,
            residency: Residency::default(),
            lanes,
            sweeper,
            watch,
            queue: BTreeMap::new(),
            jobs: BTreeMap::new(),
            order: BTreeSet::new(),
            ages: Vec::new(),
            owners,
            waiting: Vec::new(),
            queue_limit,
            submitted: 0,
            seen: Vec::new(),
            closing: false,
        }
    }

    /// Serves until it is told to shut down, and then for no longer than
    /// `grace`: what still runs by then is left to itself.
    pub(crate) fn serve(mut self, inbox: &Receiver<Message>, grace: Duration) {
        let mut deadline = None;
        loop {
            let message = match deadline {
                Some(deadline) => inbox.recv_deadline(deadline).ok(),
                None => inbox.recv().ok(),
            };
            let Some(message) = message else { break };
            self.handle(message);
            inbox.try_iter().for_each(|message| self.handle(message));
            self.advance();
            if self.closing {
                deadline.get_or_insert_with(|| Instant::now() + grace);
                if self.jobs.is_empty() {
                    break;
                }
            }
        }
        self.lanes.close();
        // Whoever waits for a run hears of the end when its reply is dropped.
        let _ =
            self.sweeper.send(Sweep { what: Box::new((self.queue, self.jobs, self.residency)), then: None });
    }

    /// Takes note of one message.
    pub(crate) fn handle(&mut self, message: Message) {
        match message {
            Message::Submit(submission) => self.submit(*submission),
            Message::Done(done) => match done.id {
                TaskId::Stage { job, stage } => self.settle(job, stage, done),
                TaskId::Load(entry) => self.settle_load(entry, done),
            },
            Message::Swept(Swept::Job(job)) => self.bury(job),
            Message::Swept(Swept::Resident(entry)) => {
                let charge = self.residency.gone(entry);
                self.books.move_out(charge);
            }
            Message::Wake => self.drop_cancelled(),
            Message::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Message::Trim(idle) => {
                for entry in self.residency.unused_for(idle) {
                    self.evict(entry);
                }
            }
            Message::Shutdown => {
                self.closing = true;
                for (rank, (submission, _)) in std::mem::take(&mut self.queue) {
                    self.refuse(rank, submission, RunError::Shutdown);
                }
                for job in self.jobs.values_mut() {
                    job.fail(RunError::Shutdown);
                }
            }
        }
    }

    /// Ends what is over and starts what may start.
    pub(crate) fn advance(&mut self) {
        self.reap();
        self.admit();
        self.dispatch();
        // A run that can never start fails in `dispatch`, and makes way.
        if self.jobs.values().any(|job| job.stops() && job.running == 0 && !job.sweeping) {
            self.reap();
        }
        debug_assert!(self.books.within_budget(), "{:?}", self.books);
        // A load may outlive the runs that wanted it.
        let idle = self.jobs.is_empty() && self.flight.is_empty();
        debug_assert!(!idle || self.books.balanced(), "{:?}", self.books);
        if self.watch.is_on() {
            self.tell_memory();
        }
    }

    fn submit(&mut self, submission: Submission) {
        self.submitted += 1;
        let rank = Rank::new(&submission.options, self.submitted);
        self.watch.tell(&Event::Submitted {
            at: submission.at,
            job: rank.job,
            label: submission.options.label.clone().unwrap_or_default(),
            priority: rank.priority,
        });
        match self.room(&submission) {
            Ok(room) => drop(self.queue.insert(rank, (submission, room))),
            Err(error) => self.refuse(rank, submission, error),
        }
    }

    /// What a run needs, or why it can never run.
    fn room(&self, s: &Submission) -> Result<Room, RunError> {
        if self.closing {
            return Err(RunError::Shutdown);
        }
        if s.cancel.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        if self.queue.len() >= self.queue_limit {
            return Err(RunError::QueueFull { limit: self.queue_limit });
        }
        if s.weight.device > 0 {
            return Err(RunError::InputOnDevice { bytes: s.weight });
        }
        let takes = |placement| self.places.take(placement);
        if let Some(node) = s.dag.nodes.node_weights().find(|node| !takes(node.placement)) {
            return Err(RunError::NoPlace { stage: (*node.name).into() });
        }
        let plan = &s.dag.plan;
        let floor = plan.floor(s.weight);
        let devices = self.ids.iter().map(|id| plan.floor_of(*id));
        let floors = Sums::new(floor.host, floor.pinned, devices);
        let room = Room { floor: floors, covers: plan.covers(s.weight) };
        let budget = &self.books.budget;
        let host = floor.host <= budget.host() && floor.pinned <= budget.pinned();
        if host && plan.fixed().iter().all(|fixed| self.able(&room, *fixed).next().is_some()) {
            return Ok(room);
        }
        let device = (0..self.ids.len()).map(|i| budget.device(i)).max().unwrap_or(0);
        let budget = Footprint { host: budget.host(), pinned: budget.pinned(), device };
        Err(RunError::OverBudget { floor, budget })
    }

    /// The devices that are large enough for a run and that a group of it may have.
    fn able<'a>(&'a self, room: &'a Room, fixed: Option<u16>) -> impl Iterator<Item = usize> + 'a {
        let large = |i: &usize| room.floor.device(*i) <= self.books.budget.device(*i);
        (0..self.ids.len()).filter(move |i| fixed.is_none_or(|id| self.ids[*i] == id)).filter(large)
    }

    /// A device for each group of a run: the one that fewest groups have, of
    /// these one that holds what the group reads, of these one with most room.
    fn assign(&self, submission: &Submission, room: &Room) -> Vec<usize> {
        let mut groups = vec![0usize; self.ids.len()];
        self.jobs.values().flat_map(|job| &job.devices).for_each(|device| groups[*device] += 1);
        let dag = &submission.dag;
        let resident = |group: usize, device: usize| -> u64 {
            let readers = dag.nodes.node_weights().enumerate();
            let readers = readers.filter(|(stage, _)| dag.plan.group(*stage) == Some(group));
            let loads = readers.flat_map(|(_, node)| &node.residents);
            let keys = loads.filter_map(|load| dag.nodes[*load].resident.as_ref());
            let entries = keys.filter_map(|key| self.residency.find(key, Some(device)));
            entries.filter(|e| e.ready().is_some()).map(|e| e.charge.bytes.device).sum()
        };
        let give = |(group, fixed): (usize, &Option<u16>)| {
            let rank = |device: &usize| {
                let room = self.books.free_on(*device);
                (groups[*device], Reverse(resident(group, *device)), Reverse(room))
            };
            let device = self.able(room, *fixed).min_by_key(rank).unwrap_or(0);
            groups[device] += 1;
            device
        };
        dag.plan.fixed().iter().enumerate().map(give).collect()
    }

    /// Activates waiting runs, in their order, while the surplus allows.
    fn admit(&mut self) {
        while let Some((rank, (submission, room))) = self.queue.first_key_value() {
            let rank = *rank;
            let charge = Charge::new(submission.weight, None);
            let first = self.jobs.is_empty();
            let devices = self.assign(submission, room);
            let mut floor = room.floor.clone();
            floor.keep_devices(&devices);
            let mut need = self.books.need.clone();
            need.max(&floor);
            let asked = self.sums(charge);
            // The only run pays its input from the reserve.
            if !first && !self.books.room_for(&asked, &self.held(Entry::held), &need) {
                return;
            }
            if let Some(lacking) = self.books.lacking(&asked) {
                if self.make_room(&lacking, Purses::SURPLUS) || !first || !self.at_rest() {
                    return;
                }
                let error = self.kept("the input", charge.bytes);
                if let Some((submission, _)) = self.queue.remove(&rank) {
                    self.refuse(rank, submission, error);
                }
                continue;
            }
            let Some((submission, room)) = self.queue.remove(&rank) else { return };
            let host = if first { Purse::Reserve } else { Purse::Surplus };
            let paid = Coin { from: Purses { host, ..Purses::SURPLUS }, charge };
            self.books.pay(paid);
            self.books.need = need;
            self.activate(submission, rank, Room { floor, ..room }, devices, paid);
        }
    }

    fn activate(&mut self, s: Submission, rank: Rank, room: Room, devices: Vec<usize>, paid: Coin) {
        let runs = |node: usize| self.jobs.values().filter(|job| job.home == node).count();
        let home = (0..self.places.nodes.len()).min_by_key(|node| (runs(*node), self.flight.sent(*node)));
        let want = |load: &Node, device| self.residency.want(load, device);
        let job = Job::new(s, (rank, room, home.unwrap_or(0), devices), paid, want);
        self.watch.tell(&Event::Admitted { at: Instant::now(), job: rank.job });
        self.order.insert(rank);
        self.ages.push(rank.job);
        self.jobs.insert(rank.job, job);
        self.find_owners();
    }

    /// Looks up who owns which ledger, after runs came or went. A run comes as
    /// the youngest, so nobody loses a ledger before it ends.
    pub(super) fn find_owners(&mut self) {
        let owner = |uses: &dyn Fn(&Job) -> bool| self.ages.iter().copied().find(|id| uses(&self.jobs[id]));
        let host = owner(&|_| true);
        let devices = (0..self.ids.len()).map(|device| owner(&|job| job.devices.contains(&device))).collect();
        self.owners = Owners { host, devices };
        #[cfg(test)]
        if self.books.policy == super::admit::Policy::Greedy {
            self.owners = Owners { host: None, devices: vec![None; self.ids.len()] };
        }
    }
}
