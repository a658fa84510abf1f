//! Devices that failed take no more work.

use std::time::{Duration, Instant};

use super::job::{Job, State};
use super::schedule::Scheduler;
use crate::{ErrorKind, Event, RunError};

impl RunError {
    /// Whether the place where it happened is to be trusted no more.
    pub(super) fn condemns(&self) -> bool {
        matches!(self, Self::Stage { kind: ErrorKind::Device, .. })
    }
}

impl Scheduler {
    /// Takes a device, by index, out of use. Active runs that still need it end, and so do waiting
    /// ones that no other device could take; what they were given is theirs to submit
    /// again, to go elsewhere.
    pub(super) fn quarantine(&mut self, device: usize) {
        if std::mem::replace(&mut self.quarantined[device], true) {
            return;
        }
        let place = self.places.place(self.places.nodes.len() + device);
        self.watch.tell(&Event::Quarantined { at: Instant::now(), place });
        let failed = || RunError::Quarantined { place };
        for job in self.jobs.values_mut().filter(|job| needs(job, device)) {
            job.fail(failed());
        }
        let stranded = self.queue.iter().filter(|(_, (s, room))| {
            s.dag.plan.fixed().iter().any(|fixed| self.able(room, *fixed).next().is_none())
        });
        let stranded: Vec<_> = stranded.map(|(rank, _)| *rank).collect();
        for rank in stranded {
            if let Some((submission, _)) = self.queue.remove(&rank) {
                self.refuse(rank, submission, failed());
            }
        }
        self.clear_quarantined();
    }

    /// Lets go of what lies on devices in quarantine and is not in use any more.
    pub(super) fn clear_quarantined(&mut self) {
        if !self.quarantined.contains(&true) {
            return;
        }
        let there = |id: &_| self.residency.get(*id).device.is_some_and(|device| self.quarantined[device]);
        let idle: Vec<_> = self.residency.unused_for(Duration::ZERO).into_iter().filter(there).collect();
        idle.into_iter().for_each(|id| self.evict(id));
    }
}

/// Whether a stage of the run that is not done was to run on the device.
fn needs(job: &Job, device: usize) -> bool {
    let stages = job.stages.iter().enumerate();
    let mut left = stages.filter(|(_, stage)| stage.state != State::Done).map(|(i, _)| i);
    left.any(|stage| job.dag.plan.group(stage).is_some_and(|group| job.devices[group] == device))
}
