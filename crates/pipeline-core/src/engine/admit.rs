//! Which runs become active, with which devices, and who owns which ledger.
//!
//! The rule, and why no mix of runs can starve under it, is in the README
//! beside this file.

use std::cmp::Reverse;
use std::time::Instant;

use super::books::{Charge, Coin, Purse, Purses, Sums};
use super::job::{Job, Room, Submission};
use super::residency::Entry;
use super::schedule::Scheduler;
use crate::graph::Node;
use crate::options::Rank;
use crate::{Event, Footprint, RunError};

/// The runs that may use the reserves: of each ledger, the most senior of those
/// that use it.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Of host and pinned memory. It is the most senior of all.
    pub(super) host: Option<u64>,
    pub(super) devices: Vec<Option<u64>>,
}

impl Scheduler {
    /// What a run needs, or why it can never run here.
    pub(super) fn room(&self, s: &Submission) -> Result<Room, RunError> {
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
        let stuck = plan.fixed().iter().find(|fixed| self.able(&room, **fixed).next().is_none());
        match stuck {
            None if host => return Ok(room),
            Some(fixed) if host => {
                if let Some(failed) = self.large(&room, *fixed).next() {
                    let place = self.places.place(self.places.nodes.len() + failed);
                    return Err(RunError::Quarantined { place });
                }
            }
            _ => {}
        }
        let device = (0..self.ids.len()).map(|i| budget.device(i)).max().unwrap_or(0);
        let budget = Footprint { host: budget.host(), pinned: budget.pinned(), device };
        Err(RunError::OverBudget { floor, budget })
    }

    /// The devices that are large enough for a run and that a group of it may have.
    fn large<'a>(&'a self, room: &'a Room, fixed: Option<u16>) -> impl Iterator<Item = usize> + 'a {
        let large = |i: &usize| room.floor.device(*i) <= self.books.budget.device(*i);
        (0..self.ids.len()).filter(move |i| fixed.is_none_or(|id| self.ids[*i] == id)).filter(large)
    }

    /// Those of them that have not failed.
    pub(super) fn able<'a>(&'a self, room: &'a Room, fixed: Option<u16>) -> impl Iterator<Item = usize> + 'a {
        self.large(room, fixed).filter(|i| !self.quarantined[*i])
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
    pub(super) fn admit(&mut self) {
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
        self.seniority.push(rank.job);
        self.jobs.insert(rank.job, job);
        self.find_owners();
    }

    /// Takes a run that ended off the list of seniority. If it was the first,
    /// the run that is served first may follow it: the reserve of host memory
    /// is empty now, and nobody may lose that of a device while it uses it.
    pub(super) fn retire(&mut self, id: u64) {
        let first = self.seniority.first() == Some(&id);
        self.seniority.retain(|senior| *senior != id);
        self.find_owners();
        let Some(next) = self.order.first().map(|rank| rank.job).filter(|_| first) else { return };
        let free = |device: &usize| {
            self.owners.devices[*device] == Some(next) || self.books.reserve_is_empty(*device)
        };
        if self.jobs[&next].devices.iter().all(free) {
            self.seniority.retain(|senior| *senior != next);
            self.seniority.insert(0, next);
            self.find_owners();
        }
    }

    /// Looks up who owns which ledger.
    fn find_owners(&mut self) {
        let owner =
            |uses: &dyn Fn(&Job) -> bool| self.seniority.iter().copied().find(|id| uses(&self.jobs[id]));
        let host = owner(&|_| true);
        let devices = (0..self.ids.len()).map(|device| owner(&|job| job.devices.contains(&device))).collect();
        self.owners = Owners { host, devices };
        #[cfg(test)]
        if self.books.policy == super::books::Policy::Greedy {
            self.owners = Owners { host: None, devices: vec![None; self.ids.len()] };
        }
    }
}
