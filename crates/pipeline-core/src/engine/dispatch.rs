//! What may start: for each run in its order, the stages that are ready, then
//! the resident values that it will read.

use std::sync::Arc;
use std::time::Instant;

use super::admit::{Charge, Coin, Purse, Sums};
use super::job::State;
use super::places::{At, Places, Seat};
use super::residency::{self, Entry, EntryId};
use super::schedule::Scheduler;
use super::work::{Task, TaskId};
use crate::{CancelToken, Footprint, Placement, Priority};

/// One look at all runs.
struct Pass {
    /// The run that has been active longest. It alone may use the reserve.
    owner: Option<u64>,
    /// The class of the first run that found no memory: those of lower classes
    /// leave the surplus to it.
    short: Option<Priority>,
}

/// A stage that wants to start.
struct Bid {
    job: u64,
    stage: usize,
    /// It is the owner's next stage in serial order.
    turn: bool,
}

impl Scheduler {
    pub(super) fn dispatch(&mut self) {
        if self.flight.full(&self.places) {
            return;
        }
        let mut pass = Pass { owner: self.owner(), short: None };
        if std::mem::take(&mut self.owner_waits) {
            self.offer_turn(&mut pass);
        }
        let runs: Vec<_> = self.order.iter().map(|rank| rank.job).collect();
        for id in runs {
            let Some(job) = self.jobs.get(&id).filter(|job| !job.stops()) else { continue };
            let turn = (pass.owner == Some(id)).then_some(job.turn);
            let ready: Vec<_> = job.ready.iter().copied().collect();
            for stage in ready {
                self.offer(&Bid { job: id, stage, turn: turn == Some(stage) }, &mut pass);
            }
            self.offer_loads(id, &mut pass);
        }
    }

    /// Offers the owner's turn alone, before others take what it waits for.
    fn offer_turn(&mut self, pass: &mut Pass) {
        let Some(job) = pass.owner.and_then(|id| self.jobs.get(&id)) else { return };
        if !job.stops() && job.ready.contains(&job.turn) {
            self.offer(&Bid { job: job.rank.job, stage: job.turn, turn: true }, pass);
        }
    }

    /// The run that has been active longest.
    fn owner(&self) -> Option<u64> {
        #[cfg(test)]
        if self.books.policy == super::admit::Policy::Greedy {
            return None;
        }
        self.ages.front().copied()
    }

    /// Starts a ready stage if its resident values are there, a lane is free
    /// and the budget allows.
    fn offer(&mut self, bid: &Bid, pass: &mut Pass) {
        let Some(job) = self.jobs.get(&bid.job) else { return };
        let node = job.dag.node(bid.stage);
        let Some((device, seat)) = self.seat(bid.job, bid.stage, node.placement) else { return };
        if let (Some(device), Some(group)) = (device, job.dag.plan.group(bid.stage)) {
            self.bind(bid.job, group, device);
        }
        let Some(job) = self.jobs.get(&bid.job) else { return };
        let needs: Vec<_> = job.needs_of(bid.stage).collect();
        let mut there = true;
        for need in &needs {
            let entry = self.jobs[&bid.job].needs[*need].entry;
            let state = entry.map(|entry| &self.residency.get(entry).state);
            match state {
                Some(residency::State::Ready(_)) => {}
                Some(residency::State::Absent) => {
                    there = false;
                    self.load(bid, *need, pass);
                }
                _ => there = false,
            }
        }
        if !there {
            return;
        }
        let job = &self.jobs[&bid.job];
        let in_place = job.in_place(job.dag.node(bid.stage));
        let cost = &job.dag.node(bid.stage).cost;
        let charge = Charge::new((cost.scratch + cost.left()).beyond(in_place), device);
        let asked = self.sums(charge);
        // To read a value that no stage reads yet, and that the floor of the
        // owner does not include, is to hold its bytes.
        let mut held = asked.clone();
        for need in needs {
            let Some(entry) = self.jobs[&bid.job].needs[need].entry else { continue };
            if !self.residency.get(entry).held() && !self.covered(entry) {
                held.add(self.residency.get(entry).charge);
            }
        }
        let in_use = self.held(Entry::held);
        if let Some(purse) = self.afford(bid, &asked, &held, &in_use, pass) {
            self.start(bid, Coin { purse, charge }, seat, in_place);
        }
    }

    /// Loads ahead what a run will read, while the budget allows.
    fn offer_loads(&mut self, id: u64, pass: &mut Pass) {
        for need in 0..self.jobs[&id].needs.len() {
            let (job, plan) = (&self.jobs[&id], &self.jobs[&id].needs[need]);
            if plan.left == 0 || job.stops() {
                continue;
            }
            let absent =
                plan.entry.is_none_or(|e| matches!(self.residency.get(e).state, residency::State::Absent));
            if absent {
                self.load(&Bid { job: id, stage: plan.load, turn: false }, need, pass);
            }
        }
    }

    /// Starts to load what `need` names.
    fn load(&mut self, bid: &Bid, need: usize, pass: &mut Pass) {
        let job = &self.jobs[&bid.job];
        let (load, group) = (job.needs[need].load, job.needs[need].group);
        let node = job.dag.node(load);
        let seat = match group {
            Some(group) => self.device_seat(bid.job, Some(group), None),
            None => self.seat(bid.job, load, node.placement),
        };
        let Some((device, seat)) = seat else { return };
        if let (Some(group), Some(device)) = (group, device) {
            self.bind(bid.job, group, device);
        }
        let job = &self.jobs[&bid.job];
        let node = job.dag.node(load);
        let Some(entry) = job.needs[need].entry else { return };
        // Another need may have met this one just now.
        if !matches!(self.residency.get(entry).state, residency::State::Absent) {
            return;
        }
        let weight = self.residency.get(entry).declared;
        let scratch = Charge::new(node.cost.scratch, device);
        let (mut asked, mut held) = (self.sums(scratch), self.sums(scratch));
        asked.add(weight);
        if !(pass.owner == Some(bid.job) && self.covered(entry)) {
            held.add(weight);
        }
        // What runs need stays: the surplus must have room for all of it.
        let needed = self.held(|entry| entry.held() || entry.wanted > 0 && entry.ready().is_some());
        let Some(purse) = self.afford(bid, &asked, &held, &needed, pass) else { return };
        let scratch = Coin { purse, charge: scratch };
        self.books.pay(scratch);
        self.books.settle_in(weight);
        let job = &self.jobs[&bid.job];
        let home = self.home(bid.job, load, device);
        let cancel = CancelToken::new();
        let task = Task {
            id: TaskId::Load(entry),
            job: bid.job,
            label: job.label.clone(),
            dag: job.dag.clone(),
            stage: load,
            // It takes none, and must not keep those of a run alive that ends.
            values: Arc::default(),
            residents: Vec::new(),
            cancel: cancel.clone(),
            ready: Instant::now(),
            bytes: weight.bytes + scratch.charge.bytes,
            critical: job.rank.priority == Priority::Critical,
        };
        self.residency.get_mut(entry).state = residency::State::Loading { cancel, scratch, seat, node: home };
        self.send(task, seat, home);
    }

    /// Who pays for a start, if it may be paid: the reserve for the owner's
    /// turn, else the surplus. `asked` is what will be taken, `more` what the
    /// surplus must have for it beside what it has paid and the `held`
    /// resident values.
    fn afford(
        &mut self,
        bid: &Bid,
        asked: &Sums,
        more: &Sums,
        held: &Sums,
        pass: &mut Pass,
    ) -> Option<Purse> {
        let class = self.jobs[&bid.job].rank.priority;
        if !bid.turn && !more.is_zero() {
            if pass.short.is_some_and(|short| short < class) {
                return None;
            }
            if !self.books.surplus_has(more, held) {
                pass.short.get_or_insert(class);
                return None;
            }
        }
        let Some(lacking) = self.books.lacking(asked) else {
            return Some(if bid.turn { Purse::Reserve } else { Purse::Surplus });
        };
        pass.short.get_or_insert(class);
        self.owner_waits |= bid.turn;
        if !self.make_room(&lacking, bid.turn) && bid.turn && self.at_rest() {
            let job = &self.jobs[&bid.job];
            let node = job.dag.node(bid.stage);
            let error = self.kept(&node.name, node.cost.to_start());
            self.jobs.get_mut(&bid.job)?.fail(error);
        }
        None
    }

    /// Lets go of idle resident values until `lacking` is there; in the
    /// owner's turn even of those that runs need later. Whether some are on
    /// their way out.
    pub(super) fn make_room(&mut self, lacking: &Sums, turn: bool) -> bool {
        let victims = self.residency.victims(lacking, |entry| turn && !self.covered(entry));
        for entry in victims {
            self.evict(entry);
        }
        self.residency.leaving()
    }

    /// Whether nothing is under way that could give memory back.
    pub(super) fn at_rest(&self) -> bool {
        self.flight.is_empty() && !self.residency.leaving() && self.jobs.values().all(|job| !job.sweeping)
    }

    /// Whether the owner's floor includes a resident value at its turn.
    pub(super) fn covered(&self, entry: EntryId) -> bool {
        let Some(owner) = self.owner().and_then(|id| self.jobs.get(&id)) else { return false };
        owner.needs.iter().filter(|need| need.entry == Some(entry)).any(|need| {
            let device = owner.device_of(need).map(|device| self.places.devices[device].id);
            owner.dag.plan.covers(need.load, device, owner.turn)
        })
    }

    /// The resident values that `are` held and that the owner's floor does not include.
    pub(super) fn held(&self, are: impl Fn(&Entry) -> bool) -> Sums {
        let mut held = Sums::zero(self.places.devices.len());
        for (id, entry) in self.residency.iter() {
            if are(entry) && !self.covered(id) {
                held.add(entry.charge);
            }
        }
        held
    }

    pub(super) fn sums(&self, charge: Charge) -> Sums {
        let mut sums = Sums::zero(self.places.devices.len());
        sums.add(charge);
        sums
    }

    /// A free lane for `stage`, and the device if it is one's.
    fn seat(&self, job: u64, stage: usize, placement: Placement) -> Option<(Option<usize>, Seat)> {
        let run = &self.jobs[&job];
        let critical = run.rank.priority == Priority::Critical;
        if placement.is_device() {
            return self.device_seat(job, run.dag.plan.group(stage), placement.device());
        }
        let at = match placement.node() {
            Some(id) => At::Node(self.places.node(id)?),
            None => At::AnyNode,
        };
        Some((None, self.flight.seat(&self.places, at, critical)?))
    }

    /// A free lane of the device that `group` has, or else of the best that it
    /// may have: one that holds what it reads, then the one with most room.
    fn device_seat(
        &self,
        job: u64,
        group: Option<usize>,
        asked: Option<u16>,
    ) -> Option<(Option<usize>, Seat)> {
        let run = &self.jobs[&job];
        let critical = run.rank.priority == Priority::Critical;
        let seat = |device| self.flight.seat(&self.places, At::Device(device), critical);
        if let Some(device) = group.and_then(|group| run.devices[group]) {
            return Some((Some(device), seat(device)?));
        }
        let fixed = asked.or_else(|| group.and_then(|group| run.dag.plan.fixed(group)));
        let may = |device: &usize| {
            run.room.able[*device] && fixed.is_none_or(|id| self.places.devices[*device].id == id)
        };
        let resident = |device: usize| -> u64 {
            let needs = run.needs.iter().filter(|need| need.group.is_some() && need.group == group);
            let keys = needs.filter_map(|need| run.dag.node(need.load).resident.as_ref());
            let entries = keys.filter_map(|key| self.residency.find(key, Some(device)));
            entries.filter(|entry| entry.ready().is_some()).map(|entry| entry.charge.bytes.device).sum()
        };
        let free = |device: usize| self.books.free_on(device);
        let devices = (0..self.places.devices.len()).filter(may);
        let seats = devices.filter_map(|device| Some((device, seat(device)?)));
        let best = seats.max_by_key(|(d, _)| (resident(*d), free(*d), std::cmp::Reverse(*d)));
        best.map(|(device, seat)| (Some(device), seat))
    }

    /// Gives a group its device, for the rest of the run.
    fn bind(&mut self, job: u64, group: usize, device: usize) {
        let Some(job) = self.jobs.get_mut(&job) else { return };
        if job.devices[group].replace(device).is_some() {
            return;
        }
        for need in job.needs.iter_mut().filter(|need| need.group == Some(group)) {
            need.entry = Some(self.residency.want(job.dag.node(need.load), Some(device)));
        }
    }

    /// The node that holds most of what `stage` takes, and so runs it best.
    fn home(&self, job: u64, stage: usize, device: Option<usize>) -> usize {
        let nodes = &self.places.nodes;
        if let Some(device) = device {
            return self.places.node_of(nodes.len() + device);
        }
        let run = &self.jobs[&job];
        let node = run.dag.node(stage);
        if let Some(node) = node.placement.node().and_then(|id| self.places.node(id)) {
            return node;
        }
        let mut bytes = vec![0u64; nodes.len()];
        for &slot in &node.inputs {
            if let Some(home) = run.homes[slot] {
                bytes[home] += run.coins[slot].iter().map(|coin| coin.charge.bytes.total()).sum::<u64>();
            }
        }
        for entry in run.needs_of(stage).filter_map(|need| run.needs[need].entry) {
            let entry = self.residency.get(entry);
            if let Some(home) = entry.home {
                bytes[home] += entry.charge.bytes.total();
            }
        }
        let most = bytes.iter().copied().max().unwrap_or(0);
        if most == 0 {
            return run.home;
        }
        bytes.iter().position(|b| *b == most).unwrap_or(run.home)
    }

    /// Pays for a stage and sends it to a lane.
    fn start(&mut self, bid: &Bid, coin: Coin, seat: Seat, in_place: Footprint) {
        self.books.pay(coin);
        let device = match seat.at {
            At::Device(device) => Some(device),
            _ => None,
        };
        let node = self.home(bid.job, bid.stage, device);
        let Some(job) = self.jobs.get_mut(&bid.job) else { return };
        let mut residents = Vec::new();
        let needs: Vec<_> = job.needs_of(bid.stage).collect();
        for need in needs.into_iter().map(|need| job.needs[need]) {
            let Some(entry) = need.entry else { continue };
            let entry = self.residency.get_mut(entry);
            entry.readers += 1;
            residents.extend(entry.ready().map(|v| (job.dag.node(need.load).first_output, v.clone())));
        }
        let Coin { purse, charge } = coin;
        let stage = &mut job.stages[bid.stage];
        stage.state = State::Running { purse, seat, node, charge, in_place };
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
            bytes: charge.bytes,
            critical: job.rank.priority == Priority::Critical,
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
