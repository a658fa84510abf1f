//! The timeline's books.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::totals::Totals;
use super::{Load, MemorySample, Ring, RunSpan, Span, Trace};
use crate::{End, Event, StageRun};

#[derive(Debug)]
pub(super) struct Record {
    /// Stages that run, by job and index.
    running: HashMap<(u64, usize), (Duration, Arc<StageRun>)>,
    spans: Ring<Span>,
    /// Runs that have not ended, by job.
    active: HashMap<u64, RunSpan>,
    runs: Ring<RunSpan>,
    loads: Ring<Load>,
    memory: Ring<MemorySample>,
    peaks: Vec<MemorySample>,
    totals: Totals,
}

impl Record {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            running: HashMap::new(),
            spans: Ring::new(capacity),
            active: HashMap::new(),
            runs: Ring::new(capacity),
            loads: Ring::new(capacity),
            memory: Ring::new(capacity),
            peaks: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// Takes note of what happened at `at`. An end without a beginning says nothing.
    pub(super) fn note(&mut self, at: Duration, event: &Event) {
        match event {
            Event::Submitted { job, label, priority, .. } => {
                let (job, label, priority) = (*job, label.clone(), *priority);
                let run = RunSpan { job, label, priority, submitted: at, admitted: None, end: None };
                self.active.insert(job, run);
            }
            Event::Admitted { job, .. } => {
                if let Some(run) = self.active.get_mut(job) {
                    run.admitted = Some(at);
                }
            }
            Event::Started { stage, .. } => {
                self.running.insert((stage.job, stage.index), (at, stage.clone()));
            }
            Event::Ended { stage, end, .. } => {
                if let Some((start, stage)) = self.running.remove(&(stage.job, stage.index)) {
                    self.totals.add(&stage, at.saturating_sub(start), *end);
                    self.spans.push(Span { stage, start, end: Some((at, *end)) });
                }
            }
            Event::Finished { job, end, .. } => self.finish(at, *job, *end),
            // The span of the stage that failed says where and when.
            Event::Quarantined { .. } => {}
            Event::Memory { ledger, used, budget, .. } => {
                let sample = MemorySample { at, ledger: *ledger, used: *used, budget: *budget };
                self.memory.push(sample);
                match self.peaks.iter_mut().find(|peak| peak.ledger == *ledger) {
                    Some(peak) if peak.used >= *used => {}
                    Some(peak) => *peak = sample,
                    None => self.peaks.push(sample),
                }
            }
            Event::Loaded { key, bytes, took, .. } => {
                self.loads.push(Load { key: key.clone(), bytes: *bytes, at, took: Some(*took) });
            }
            Event::Evicted { key, bytes, .. } => {
                self.loads.push(Load { key: key.clone(), bytes: *bytes, at, took: None });
            }
        }
    }

    fn finish(&mut self, at: Duration, job: u64, end: End) {
        if let Some(run) = self.active.remove(&job) {
            self.runs.push(RunSpan { end: Some((at, end)), ..run });
        }
    }

    /// A copy in order of time: threads deliver their events as they come.
    pub(super) fn trace(&self, now: Duration) -> Trace {
        let running = self.running.values().map(|(start, stage)| Span {
            stage: stage.clone(),
            start: *start,
            end: None,
        });
        let mut spans: Vec<_> = self.spans.kept.iter().cloned().chain(running).collect();
        spans.sort_by_key(|span| (span.start, span.stage.job, span.stage.index));
        let mut runs: Vec<_> = self.runs.kept.iter().chain(self.active.values()).cloned().collect();
        runs.sort_by_key(|run| (run.submitted, run.job));
        let mut loads: Vec<_> = self.loads.kept.iter().cloned().collect();
        loads.sort_by_key(|load| load.at);
        let mut memory: Vec<_> = self.memory.kept.iter().copied().collect();
        memory.sort_by_key(|sample| sample.at);
        let mut peaks = self.peaks.clone();
        peaks.sort_by_key(|peak| peak.ledger);
        let dropped = self.spans.dropped + self.runs.dropped + self.loads.dropped + self.memory.dropped;
        Trace { now, spans, runs, loads, memory, peaks, totals: self.totals.list(), dropped }
    }
}
