//! What comes back: stages that are done, loads, runs that are over.

use std::sync::Arc;
use std::time::Instant;

use tracing::warn;

use super::books::{Charge, Coin, Purses, Sums};
use super::job::{State, Submission, take_coins};
use super::residency::{self, Entry, EntryId};
use super::schedule::{Scheduler, Swept};
use super::sweep::Sweep;
use super::work::{Done, Output};
use crate::options::Rank;
use crate::{End, Event, Footprint, RunError};

/// An output that weighs more than it was declared to.
struct Excess {
    slot: usize,
    output: usize,
    declared: Footprint,
    actual: Footprint,
}

impl Scheduler {
    /// Books what a stage gave back and what it left.
    pub(super) fn settle(&mut self, id: u64, stage: usize, done: Done) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let state = std::mem::replace(&mut job.stages[stage].state, State::Done);
        let State::Running { paid: Coin { from, charge }, seat, node, in_place } = state else {
            unreachable!("only a running stage is done")
        };
        self.flight.arrive(seat, node);
        job.running -= 1;
        let dag = job.dag.clone();
        let condemned = done.outcome.as_ref().is_err_and(RunError::condemns).then(|| seat.device()).flatten();
        let (mut owned, mut back) = (Vec::new(), Vec::new());
        for &slot in &dag.node(stage).inputs {
            let coins = job.taken(slot);
            if dag.slots[slot].share.is_none() { owned.extend(coins) } else { back.extend(coins) }
        }
        let mut paid = charge.bytes;
        let mut excesses = Vec::new();
        match done.outcome {
            Ok(Output::Weights(weights)) => {
                let node = dag.node(stage);
                let mut in_place = in_place;
                for (output, actual) in weights.into_iter().enumerate() {
                    let (slot, declared) = (node.first_output + output, node.cost.outputs[output]);
                    // What is lighter than declared gives the difference back.
                    let held = actual.min(declared);
                    let kept = std::mem::take(&mut in_place).min(held);
                    let rest = held.beyond(kept);
                    paid -= rest;
                    job.coins[slot] = take_coins(&mut owned, kept);
                    job.coins[slot].push(Coin { from, charge: Charge { bytes: rest, ..charge } });
                    job.homes[slot] = Some(self.places.node_of(done.place));
                    if !actual.fits(declared) {
                        excesses.push(Excess { slot, output, declared, actual });
                    }
                }
                job.done(stage);
            }
            Ok(Output::Resident(..)) => unreachable!("a stage of a run loads nothing"),
            Err(error) => job.fail(error),
        }
        self.release_needs(id, stage);
        back.extend(owned);
        back.push(Coin { from, charge: Charge { bytes: paid, ..charge } });
        for coin in back {
            self.books.refund(coin);
        }
        for excess in excesses {
            self.settle_excess(id, stage, done.place, &excess);
        }
        if let Some(device) = condemned {
            self.quarantine(device);
        }
    }

    /// What `stage` read is in use by one stage less.
    fn release_needs(&mut self, id: u64, stage: usize) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let needs: Vec<_> = job.needs_of(stage).collect();
        for need in needs {
            let need = &mut job.needs[need];
            need.left -= 1;
            self.residency.get_mut(need.entry).readers -= 1;
            self.residency.touch(need.entry);
            if need.left == 0 {
                self.residency.unwant(need.entry);
            }
        }
    }

    /// Pays for what an output weighs beyond its declaration, or ends the run
    /// where there is no room for it: the books hold what is there.
    fn settle_excess(&mut self, id: u64, stage: usize, place: usize, excess: &Excess) {
        let Excess { slot, output, declared, actual } = *excess;
        let coin = self.excess(place, declared, actual);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let name = &job.dag.node(stage).name;
        warn!(stage = %name, output, %declared, %actual, "an output outweighs its declared cost");
        if let Some(coin) = coin {
            job.coins[slot].push(coin);
            return;
        }
        let place = self.places.place(place);
        job.fail(RunError::Overweight { stage: (**name).into(), place, output, declared, actual });
    }

    /// Takes what `actual` has beyond `declared` from the surplus, if it is there.
    fn excess(&mut self, place: usize, declared: Footprint, actual: Footprint) -> Option<Coin> {
        let bytes = actual.beyond(declared);
        let device = place.checked_sub(self.places.nodes.len());
        if bytes.device > 0 && device.is_none() {
            return None;
        }
        let charge = Charge::new(bytes, device);
        let asked = self.sums(charge);
        let room =
            self.books.surplus_has(&asked, &self.held(Entry::held)) && self.books.lacking(&asked).is_none();
        let coin = Coin { from: Purses::SURPLUS, charge };
        room.then(|| self.books.pay(coin)).map(|()| coin)
    }

    /// Books a resident value at what it weighs; whether there is room for it.
    fn reweigh(&mut self, place: usize, declared: Footprint, actual: Footprint) -> bool {
        let Some(excess) = self.excess(place, declared, actual) else { return false };
        // It was paid as a run's is; now it is the value's own.
        self.books.refund(excess);
        self.books.settle_in(excess.charge);
        let device = place.checked_sub(self.places.nodes.len());
        self.books.move_out(Charge::new(declared.beyond(actual), device));
        true
    }

    /// Books a load.
    pub(super) fn settle_load(&mut self, id: EntryId, done: Done) {
        let entry = self.residency.get_mut(id);
        let state = std::mem::replace(&mut entry.state, residency::State::Leaving);
        let residency::State::Loading { cancel, scratch, seat, node } = state else {
            unreachable!("only what is loading is loaded")
        };
        let declared = entry.declared.bytes;
        self.flight.arrive(seat, node);
        self.books.refund(scratch);
        match done.outcome {
            Ok(Output::Resident(value, actual)) if self.reweigh(done.place, declared, actual) => {
                let entry = self.residency.get_mut(id);
                entry.charge = Charge::new(actual, entry.device);
                let key = entry.key.name.clone();
                self.residency.arrived(id, value, done.took, self.places.node_of(done.place));
                let (at, took) = (Instant::now(), done.took);
                self.watch.tell(&Event::Loaded { at, key, bytes: actual, took });
            }
            Ok(Output::Resident(value, actual)) => {
                let place = self.places.place(done.place);
                let stage = self.load_name(id);
                self.fail_needs(id, &RunError::Overweight { stage, place, output: 0, declared, actual });
                let then = Some(Swept::Resident(id));
                let _ = self.sweeper.send(Sweep { what: Box::new(value), then });
            }
            Ok(Output::Weights(_)) => unreachable!("a load makes a resident value"),
            Err(error) => {
                // A load that was stopped failed nobody: who came since tries again.
                if !cancel.is_cancelled() {
                    self.fail_needs(id, &error);
                }
                let charge = self.residency.gone(id);
                self.books.move_out(charge);
                if let Some(device) = seat.device().filter(|_| error.condemns()) {
                    self.quarantine(device);
                }
            }
        }
    }

    /// The stage that loads a value, or its key once no run needs it.
    fn load_name(&self, id: EntryId) -> Box<str> {
        let needs = self.jobs.values().flat_map(|job| job.needs.iter().map(move |need| (job, need)));
        let mut loads = needs.filter(|(_, need)| need.entry == id).map(|(job, need)| job.dag.node(need.load));
        let name = loads.next().map_or(&self.residency.get(id).key.name, |node| &node.name);
        (**name).into()
    }

    /// Ends the runs that wait for a value that could not be loaded.
    fn fail_needs(&mut self, id: EntryId, error: &RunError) {
        for job in self.jobs.values_mut() {
            if job.needs.iter().any(|need| need.entry == id && need.left > 0) {
                job.fail(error.clone());
            }
        }
    }

    /// Ends the runs that are over: their values are dropped, or handed out.
    pub(super) fn reap(&mut self) {
        let over =
            |job: &&super::job::Job| job.running == 0 && !job.sweeping && (job.stops() || job.left == 0);
        let over: Vec<_> = self.jobs.values().filter(over).map(|job| job.rank.job).collect();
        for id in over {
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            if job.left == 0 && job.error.is_none() {
                self.finish(id);
            } else {
                job.sweeping = true;
                let what = Box::new((std::mem::take(&mut job.values), job.dag.clone()));
                let _ = self.sweeper.send(Sweep { what, then: Some(Swept::Job(id)) });
            }
        }
    }

    /// Hands the value of a run to its owner.
    fn finish(&mut self, id: u64) {
        let Some(job) = self.remove(id) else { return };
        let Some(value) = job.values.take(job.dag.output) else { unreachable!("the last stage made it") };
        self.watch.tell(&Event::Finished { at: Instant::now(), job: id, end: End::Done });
        let unwanted = job.reply.send(Ok(value)).err();
        // The last reference to a graph is not dropped here either.
        if unwanted.is_some() || Arc::strong_count(&job.dag) == 1 {
            let what = Box::new((unwanted.map(|e| e.0.ok()), job.dag));
            let _ = self.sweeper.send(Sweep { what, then: None });
        }
    }

    /// Ends a run whose values have been dropped.
    pub(super) fn bury(&mut self, id: u64) {
        let Some(mut job) = self.remove(id) else { return };
        let error = job.error.take().unwrap_or(RunError::Cancelled);
        self.watch.tell(&Event::Finished { at: Instant::now(), job: id, end: error.end() });
        let _ = job.reply.send(Err(error));
    }

    /// Takes a run out, with all that it paid and needs.
    fn remove(&mut self, id: u64) -> Option<super::job::Job> {
        let job = self.jobs.remove(&id)?;
        self.order.remove(&job.rank);
        job.coins.iter().flatten().for_each(|coin| self.books.refund(*coin));
        let needs = job.needs.iter().filter(|need| need.left > 0);
        needs.for_each(|need| self.residency.unwant(need.entry));
        let mut need = Sums::zero(self.places.devices.len());
        self.jobs.values().for_each(|job| need.max(&job.room.floor));
        self.books.need = need;
        self.retire(id);
        Some(job)
    }

    /// Sends a run away that never became active.
    pub(super) fn refuse(&mut self, rank: Rank, submission: Submission, error: RunError) {
        self.watch.tell(&Event::Finished { at: Instant::now(), job: rank.job, end: error.end() });
        let Submission { dag, input, reply, .. } = submission;
        let _ = reply.send(Err(error));
        let _ = self.sweeper.send(Sweep { what: Box::new((input, dag)), then: None });
    }

    /// Sends away the waiting runs whose owners have gone.
    pub(super) fn drop_cancelled(&mut self) {
        let gone = |(rank, (s, _)): (&Rank, &(Submission, _))| s.cancel.is_cancelled().then_some(*rank);
        let gone: Vec<_> = self.queue.iter().filter_map(gone).collect();
        for rank in gone {
            if let Some((submission, _)) = self.queue.remove(&rank) {
                self.refuse(rank, submission, RunError::Cancelled);
            }
        }
    }

    /// Begins to let go of a resident value.
    pub(super) fn evict(&mut self, id: EntryId) {
        let Some(value) = self.residency.evict(id) else { return };
        let entry = self.residency.get(id);
        let (key, bytes) = (entry.key.name.clone(), entry.charge.bytes);
        let _ = self.sweeper.send(Sweep { what: Box::new(value), then: Some(Swept::Resident(id)) });
        self.watch.tell(&Event::Evicted { at: Instant::now(), key, bytes });
    }

    /// Why a stage that nothing runs beside can still not start.
    pub(super) fn kept(&self, stage: &str, needed: Footprint) -> RunError {
        let ready = self.residency.iter().filter(|(_, entry)| entry.ready().is_some());
        let kept = ready.fold(Footprint::ZERO, |sum, (_, entry)| sum + entry.charge.bytes);
        RunError::Kept { stage: stage.into(), needed, kept }
    }
}

impl RunError {
    /// What an observer is told.
    pub(super) fn end(&self) -> End {
        match self {
            Self::Cancelled | Self::Shutdown => End::Cancelled,
            error => End::Failed(error.kind()),
        }
    }
}
