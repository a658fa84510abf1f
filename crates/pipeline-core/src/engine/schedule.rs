//! The scheduler: one thread owns every book, hears what happens, and decides
//! what starts.
//!
//! It is a state machine: [`Scheduler::handle`] takes one message,
//! [`Scheduler::advance`] starts what may start. Work leaves through the
//! lanes' queues, what is to be dropped through the sweeper.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use super::admit::Owners;
use super::books::{Books, LedgerUse};
use super::job::{Job, Room, Submission};
use super::lanes::Lanes;
use super::places::{Flight, Places};
use super::residency::{EntryId, Residency};
use super::status::Status;
use super::sweep::Sweep;
use super::watch::Watch;
use super::work::{Done, Task, TaskId};
use crate::options::Rank;
use crate::{Event, RunError};

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
    /// The active runs by seniority: as they became active, but for those
    /// that were promoted.
    pub(super) seniority: Vec<u64>,
    pub(super) owners: Owners,
    /// The devices that failed, by index.
    pub(super) quarantined: Vec<bool>,
    /// The owners whose turn found no memory: they are asked first.
    pub(super) waiting: Vec<u64>,
    queue_limit: usize,
    submitted: u64,
    /// The numbers of the devices.
    pub(super) ids: Vec<u16>,
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
            quarantined: devices
                .zip(&self.quarantined)
                .filter(|(_, q)| **q)
                .map(|(p, _)| self.places.place(p))
                .collect(),
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
        let quarantined = vec![false; places.devices.len()];
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
            seniority: Vec::new(),
            owners,
            quarantined,
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
        self.clear_quarantined();
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
        match self.welcome(&submission).and_then(|()| self.room(&submission)) {
            Ok(room) => drop(self.queue.insert(rank, (submission, room))),
            Err(error) => self.refuse(rank, submission, error),
        }
    }

    /// Whether one more run may wait.
    fn welcome(&self, s: &Submission) -> Result<(), RunError> {
        if self.closing {
            return Err(RunError::Shutdown);
        }
        if s.cancel.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        if self.queue.len() >= self.queue_limit {
            return Err(RunError::QueueFull { limit: self.queue_limit });
        }
        Ok(())
    }
}
