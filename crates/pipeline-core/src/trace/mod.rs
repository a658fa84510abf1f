//! What an engine did, for the eye: a timeline that records its events and
//! shows them as Chrome trace JSON (opens in [Perfetto](https://ui.perfetto.dev))
//! and as text.

mod chrome;
mod gantt;
mod record;
#[cfg(test)]
mod tests;
mod totals;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use gantt::format_duration;
pub use totals::StageTotal;

use crate::{End, Event, Footprint, Ledger, Observer, Priority, StageRun};
use record::Record;

/// Records an engine's events, in bounded memory.
///
/// It keeps the newest stages, runs, loads and memory changes, up to a
/// [capacity](Self::with_capacity) of each, and counts what it let go. The
/// totals by stage and the peaks of memory cover everything since the start.
///
/// ```
/// use std::sync::Arc;
/// use cuzk_pipeline_core::trace::Timeline;
///
/// let timeline = Arc::new(Timeline::new());
/// // Give a clone of it to the engine as its observer, run graphs, then:
/// println!("{}", timeline.trace().gantt(100));
/// ```
#[derive(Debug)]
pub struct Timeline {
    start: Instant,
    record: Mutex<Record>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Timeline {
    /// Stages that [`new`](Self::new) keeps: about 6 MiB when full.
    pub const CAPACITY: usize = 1 << 15;

    /// A timeline that starts now.
    pub fn new() -> Self {
        Self::with_capacity(Self::CAPACITY)
    }

    /// A timeline that keeps `capacity` stages, and as many runs, loads and memory changes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { start: Instant::now(), record: Mutex::new(Record::new(capacity.max(1))) }
    }

    /// A copy of what was recorded until now, to be shown while the engine goes on.
    pub fn trace(&self) -> Trace {
        let now = self.start.elapsed();
        self.record.lock().unwrap_or_else(PoisonError::into_inner).trace(now)
    }
}

impl Observer for Timeline {
    fn event(&self, event: &Event) {
        let at = event.at().saturating_duration_since(self.start);
        self.record.lock().unwrap_or_else(PoisonError::into_inner).note(at, event);
    }
}

/// What a [`Timeline`] had recorded at one moment. Times count from its start.
#[derive(Debug, Clone)]
pub struct Trace {
    now: Duration,
    spans: Vec<Span>,
    runs: Vec<RunSpan>,
    loads: Vec<Load>,
    memory: Vec<MemorySample>,
    peaks: Vec<MemorySample>,
    totals: Vec<StageTotal>,
    dropped: u64,
}

/// One stage of one run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Span {
    /// What ran, and where.
    pub stage: Arc<StageRun>,
    /// When it started.
    pub start: Duration,
    /// When and how it ended; `None` while it runs.
    pub end: Option<(Duration, End)>,
}

/// One run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunSpan {
    /// The run's number.
    pub job: u64,
    /// The caller's name for it.
    pub label: Arc<str>,
    /// Its class.
    pub priority: Priority,
    /// When it was submitted.
    pub submitted: Duration,
    /// When its stages could start; `None` if they never could.
    pub admitted: Option<Duration>,
    /// When and how it ended; `None` while it runs.
    pub end: Option<(Duration, End)>,
}

/// A resident value that came or went.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Load {
    /// The value's key.
    pub key: Arc<str>,
    /// What it weighs.
    pub bytes: Footprint,
    /// When it was there, or gone.
    pub at: Duration,
    /// How long the load took; `None` when the value was let go.
    pub took: Option<Duration>,
}

/// What one ledger held.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MemorySample {
    /// When.
    pub at: Duration,
    /// Which.
    pub ledger: Ledger,
    /// Bytes in use.
    pub used: u64,
    /// Bytes of the budget.
    pub budget: u64,
}

impl Trace {
    /// The stages, by the time of their start.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The runs, by the time of their submission.
    pub fn runs(&self) -> &[RunSpan] {
        &self.runs
    }

    /// The resident values that came and went, in order.
    pub fn loads(&self) -> &[Load] {
        &self.loads
    }

    /// The changes of memory, in order.
    pub fn memory(&self) -> &[MemorySample] {
        &self.memory
    }

    /// The most that each ledger held since the start.
    pub fn peaks(&self) -> &[MemorySample] {
        &self.peaks
    }

    /// Sums over every stage that ended since the start, by the time of the first one's end.
    pub fn totals(&self) -> &[StageTotal] {
        &self.totals
    }

    /// How many records were let go because there were too many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Keeps the newest `capacity` of what is pushed, and counts the others.
#[derive(Debug)]
struct Ring<T> {
    kept: VecDeque<T>,
    capacity: usize,
    dropped: u64,
}

impl<T> Ring<T> {
    fn new(capacity: usize) -> Self {
        Self { kept: VecDeque::new(), capacity, dropped: 0 }
    }

    fn push(&mut self, item: T) {
        if self.kept.len() == self.capacity {
            self.kept.pop_front();
            self.dropped += 1;
        }
        self.kept.push_back(item);
    }
}
