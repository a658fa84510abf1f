//! What may start: for each run in its order, the stages that are ready, then
//! the resident values that it will read.

use std::sync::Arc;
use std::time::Instant;

use super::books::{Charge, Coin, Purse, Purses, Sums};
use super::job::State;
use super::places::{At, Places, Seat};
use super::residency::{self, Entry, EntryId};
use super::schedule::Scheduler;
use super::work::{Task, TaskId};
use crate::{CancelToken, Footprint, Priority};

/// A stage that wants to start.
#[derive(Clone, Copy)]
struct Bid {
    job: u64,
    stage: usize,
    /// It is the run's next stage in serial order, or loads what that reads.
    turn: bool,
}

/// What a stage asks for.
struct Ask {
    /// Bytes that it takes.
    bytes: Sums,
    /// Bytes that the surplus must have room for, if it pays.
    surplus: Sums,
    /// Resident values that the surplus holds already.
    held: Sums,
}

/// The class of the first run that found no memory: those of lower classes
/// leave the surplus to it.
type Short = Option<Priority>;

impl Scheduler {
    pub(super) fn dispatch(&mut self) {
        if self.flight.full(&self.places) {
            return;
        }
        let mut short = None;
        for id in std::mem::take(&mut self.waiting) {
            self.offer_turn(id, &mut short);
        }
        let runs: Vec<_> = self.order.iter().map(|rank| rank.job).collect();
        for id in runs {
            let Some(job) = self.jobs.get(&id).filter(|job| !job.stops()) else { continue };
            let turn = job.turn;
            let ready: Vec<_> = job.ready.iter().copied().collect();
            for stage in ready {
                if self.flight.full(&self.places) {
                    return;
                }
                self.offer(Bid { job: id, stage, turn: turn == stage }, &mut short);
            }
            self.offer_loads(id, &mut short);
        }
    }

    /// Offers a run's turn alone, before others take what it waits for.
    fn offer_turn(&mut self, id: u64, short: &mut Short) {
        let Some(job) = self.jobs.get(&id).filter(|job| !job.stops()) else { return };
        if job.ready.contains(&job.turn) {
            self.offer(Bid { job: id, stage: job.turn, turn: true }, short);
        }
    }

    /// Starts a ready stage if its resident values are there, a lane is free
    /// and the budget allows.
    fn offer(&mut self, bid: Bid, short: &mut Short) {
        let Some(seat) = self.seat(bid) else { return };
        let job = &self.jobs[&bid.job];
        let needs: Vec<_> = job.needs_of(bid.stage).collect();
        let entries: Vec<_> = needs.iter().map(|need| job.needs[*need].entry).collect();
        if entries.iter().any(|entry| self.residency.get(*entry).ready().is_none()) {
            for need in needs {
                self.load(bid.job, need, bid.turn, short);
            }
            return;
        }
        let node = job.dag.node(bid.stage);
        let in_place = job.in_place(node);
        let bytes = (node.cost.scratch + node.cost.left()).beyond(in_place);
        let charge = Charge::new(bytes, seat.device());
        let asked = self.sums(charge);
        // To read a value that no stage reads yet, and that no owner's floor
        // includes, is to hold its bytes.
        let mut surplus = asked.clone();
        for entry in entries {
            if !self.residency.get(entry).held() && !self.covered(entry) {
                surplus.add(self.residency.get(entry).charge);
            }
        }
        let ask = Ask { bytes: asked, surplus, held: self.held(Entry::held) };
        if let Some(from) = self.afford(bid, seat, ask, short) {
            self.start(bid, Coin { from, charge }, seat, in_place);
        }
    }

    /// Loads ahead what a run will read, while the budget allows.
    fn offer_loads(&mut self, id: u64, short: &mut Short) {
        for need in 0..self.jobs[&id].needs.len() {
            let job = &self.jobs[&id];
            if job.needs[need].left > 0 && !job.stops() {
                self.load(id, need, false, short);
            }
        }
    }

    /// Starts to load what a run needs, if it is not there.
    fn load(&mut self, id: u64, need: usize, turn: bool, short: &mut Short) {
        let job = &self.jobs[&id];
        let (need, bid) = (job.needs[need], Bid { job: id, stage: job.needs[need].load, turn });
        let entry = self.residency.get(need.entry);
        if !matches!(entry.state, residency::State::Absent) {
            return;
        }
        let weight = entry.declared;
        let seat = match job.device_of(&need) {
            Some(device) => self.flight.seat(&self.places, At::Device(device), job.is_critical()),
            None => self.seat(bid),
        };
        let Some(seat) = seat else { return };
        let scratch = Charge::new(job.dag.node(bid.stage).cost.scratch, seat.device());
        let mut bytes = self.sums(scratch);
        bytes.add(weight);
        // What an owner's floor includes is its own to load ahead.
        let mine = self.covers(id, need.entry);
        let ask = Ask {
            surplus: if mine { self.sums(scratch) } else { bytes.clone() },
            bytes,
            // What runs need stays: the surplus must have room for all of it.
            held: self.held(|entry| entry.held() || entry.wanted > 0 && entry.ready().is_some()),
        };
        let Some(from) = self.afford(bid, seat, ask, short) else { return };
        let scratch = Coin { from, charge: scratch };
        self.books.pay(scratch);
        self.books.settle_in(weight);
        let home = self.home(bid, seat);
        let job = &self.jobs[&id];
        let cancel = CancelToken::new();
        let task = Task {
            id: TaskId::Load(need.entry),
            job: id,
            label: job.label.clone(),
            dag: job.dag.clone(),
            stage: bid.stage,
            // It takes none, and must not keep those of a run alive that ends.
            values: Arc::default(),
            residents: Vec::new(),
            cancel: cancel.clone(),
            ready: Instant::now(),
            bytes: weight.bytes + scratch.charge.bytes,
            critical: job.is_critical(),
        };
        let loading = residency::State::Loading { cancel, scratch, seat, node: home };
        self.residency.get_mut(need.entry).state = loading;
        self.send(task, seat, home);
    }

    /// Who pays for a start, if it may be paid: the reserve for the turn of an
    /// owner, else the surplus.
    fn afford(&mut self, bid: Bid, seat: Seat, ask: Ask, short: &mut Short) -> Option<Purses> {
        let class = self.jobs[&bid.job].rank.priority;
        let from = self.purses(bid, seat);
        let surplus = ask.surplus.surplus_part(from);
        if !surplus.is_zero() {
            if short.is_some_and(|short| short < class) {
                return None;
            }
            if !self.books.surplus_has(&surplus, &ask.held) {
                // What only the reserve can pay for gains nothing if others wait.
                if self.books.surplus_could_have(&surplus) {
                    short.get_or_insert(class);
                }
                return None;
            }
        }
        let Some(lacking) = self.books.lacking(&ask.bytes) else { return Some(from) };
        short.get_or_insert(class);
        if from != Purses::SURPLUS {
            self.waiting.push(bid.job);
        }
        let leaving = self.make_room(&lacking, from);
        if !leaving && bid.turn && self.owners.host == Some(bid.job) && self.at_rest() {
            let job = &self.jobs[&bid.job];
            let node = job.dag.node(bid.stage);
            let error = self.kept(&node.name, node.cost.to_start());
            self.jobs.get_mut(&bid.job)?.fail(error);
        }
        None
    }

    /// The reserve of each ledger pays for the turn of its owner.
    fn purses(&self, bid: Bid, seat: Seat) -> Purses {
        let owns = |owner: Option<u64>| bid.turn && owner == Some(bid.job);
        let purse = |owns| if owns { Purse::Reserve } else { Purse::Surplus };
        let device = seat.device().is_some_and(|device| owns(self.owners.devices[device]));
        Purses { host: purse(owns(self.owners.host)), device: purse(device) }
    }

    /// Lets go of idle resident values until `lacking` is there; where the
    /// reserve pays, even of those that runs need later. Whether some are on
    /// their way out.
    pub(super) fn make_room(&mut self, lacking: &Sums, from: Purses) -> bool {
        let needed = |id| {
            let entry = self.residency.get(id);
            let purse = if entry.device.is_some() { from.device } else { from.host };
            purse == Purse::Reserve && !self.covered(id)
        };
        for entry in self.residency.victims(lacking, needed) {
            self.evict(entry);
        }
        self.residency.leaving()
    }

    /// Whether nothing is under way that could give memory back.
    pub(super) fn at_rest(&self) -> bool {
        self.flight.is_empty() && !self.residency.leaving() && self.jobs.values().all(|job| !job.sweeping)
    }

    /// Whether the floor of the owner of its ledgers includes a resident value
    /// at the owner's turn.
    fn covered(&self, id: EntryId) -> bool {
        let entry = self.residency.get(id);
        let device = entry.device.map(|device| self.owners.devices[device]);
        let bytes = entry.declared.bytes;
        let owner = match device {
            // A value of both kinds has one owner or none.
            Some(owner) if bytes.device == bytes.total() || owner == self.owners.host => owner,
            Some(_) => None,
            None => self.owners.host,
        };
        owner.is_some_and(|owner| self.covers_at_turn(owner, id))
    }

    /// Whether `job` is the owner by whom a value is covered.
    fn covers(&self, job: u64, id: EntryId) -> bool {
        let entry = self.residency.get(id);
        let owner = entry.device.map_or(self.owners.host, |device| self.owners.devices[device]);
        owner == Some(job) && self.covered(id)
    }

    fn covers_at_turn(&self, job: u64, id: EntryId) -> bool {
        let Some(job) = self.jobs.get(&job) else { return false };
        job.needs.iter().filter(|need| need.entry == id).any(|need| {
            let device = job.device_of(need).map(|device| self.places.devices[device].id);
            job.dag.plan.covered(&job.room.covers, need.load, device, job.turn)
        })
    }

    /// The resident values that `are` held and that no owner's floor includes.
    pub(super) fn held(&self, are: impl Fn(&Entry) -> bool) -> Sums {
        let mut held = Sums::zero(self.places.devices.len());
        for (id, entry) in self.residency.iter() {
            if !self.covered(id) {
                if are(entry) {
                    held.add(entry.charge);
                }
            } else if entry.ready().is_some() {
                // The floor includes what was declared, and no more.
                held.add(entry.excess());
            }
        }
        held
    }

    pub(super) fn sums(&self, charge: Charge) -> Sums {
        let mut sums = Sums::zero(self.places.devices.len());
        sums.add(charge);
        sums
    }

    /// A free lane for a stage.
    fn seat(&self, bid: Bid) -> Option<Seat> {
        let job = &self.jobs[&bid.job];
        let placement = job.dag.node(bid.stage).placement;
        let at = match (job.dag.plan.group(bid.stage), placement.node()) {
            (Some(group), _) => At::Device(job.devices[group]),
            (None, Some(id)) => At::Node(self.places.node(id)?),
            (None, None) => At::AnyNode,
        };
        self.flight.seat(&self.places, at, job.is_critical())
    }

    /// The node that holds most of what a stage takes, and so runs it best.
    fn home(&self, bid: Bid, seat: Seat) -> usize {
        let nodes = &self.places.nodes;
        match seat.at {
            At::Device(device) => return self.places.node_of(nodes.len() + device),
            At::Node(node) => return node,
            At::AnyNode => {}
        }
        let job = &self.jobs[&bid.job];
        let mut bytes = vec![0u64; nodes.len()];
        for &slot in &job.dag.node(bid.stage).inputs {
            if let Some(home) = job.homes[slot] {
                bytes[home] += job.coins[slot].iter().map(|coin| coin.charge.bytes.total()).sum::<u64>();
            }
        }
        for need in job.needs_of(bid.stage) {
            let entry = self.residency.get(job.needs[need].entry);
            if let Some(home) = entry.home {
                bytes[home] += entry.charge.bytes.total();
            }
        }
        let most = bytes.iter().copied().max().filter(|most| *most > 0);
        most.and_then(|most| bytes.iter().position(|b| *b == most)).unwrap_or(job.home)
    }

    /// Pays for a stage and sends it to a lane.
    fn start(&mut self, bid: Bid, paid: Coin, seat: Seat, in_place: Footprint) {
        self.books.pay(paid);
        let node = self.home(bid, seat);
        let Some(job) = self.jobs.get_mut(&bid.job) else { return };
        let mut residents = Vec::new();
        let needs: Vec<_> = job.needs_of(bid.stage).collect();
        for need in needs.into_iter().map(|need| job.needs[need]) {
            let entry = self.residency.get_mut(need.entry);
            entry.readers += 1;
            residents.extend(entry.ready().map(|v| (job.dag.node(need.load).first_output, v.clone())));
        }
        let stage = &mut job.stages[bid.stage];
        stage.state = State::Running { paid, seat, node, in_place };
        let ready = stage.ready;
        job.ready.remove(&bid.stage);
        job.running += 1;
        let task = Task {
            id: TaskId::Stage { job: bid.job, stage: bid.stage },
            job: bid.job,
            label: job.label.clone(),
            dag: job.dag.clone(),
            stage: bid.stage,
            values: job.values.clone(),
            residents,
            cancel: job.cancel.clone(),
            ready,
            bytes: paid.charge.bytes,
            critical: job.is_critical(),
        };
        self.send(task, seat, node);
    }

    fn send(&mut self, task: Task, seat: Seat, node: usize) {
        self.flight.depart(seat, node);
        let berth = |place| Places::berth(place, seat.class);
        match seat.at {
            At::AnyNode => self.lanes.push(berth(node), task),
            At::Node(own) => self.lanes.push_own(berth(own), task),
            At::Device(device) => self.lanes.push(berth(self.places.nodes.len() + device), task),
        }
    }
}
