//! What the caller may say about one run.

use std::sync::Arc;
use std::time::Instant;

/// The class of a run.
///
/// Classes, then deadlines, then age order the runs that wait and the stages
/// that are ready. None of them takes memory from a run that is already
/// active, so none of them can break the promise that every active run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Priority {
    /// Seconds decide: its stages have lanes and pools of their own.
    Critical,
    /// Before ordinary work.
    High,
    /// Ordinary work.
    #[default]
    Normal,
    /// When nothing else wants the lane.
    Low,
}

/// How to run a graph: its class, its deadline, its name.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub(crate) priority: Priority,
    pub(crate) deadline: Option<Instant>,
    pub(crate) label: Option<Arc<str>>,
}

impl Options {
    /// A normal run without deadline or name.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the class.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the moment at which the value is due. It orders runs of one class,
    /// the earliest first; a run that misses it goes on all the same. To give
    /// up on time, use [`Run::wait_timeout`](crate::Run::wait_timeout) and drop
    /// the run.
    #[must_use]
    pub fn deadline(mut self, at: Instant) -> Self {
        self.deadline = Some(at);
        self
    }

    /// Names the run in spans, events and logs.
    #[must_use]
    pub fn label(mut self, label: impl Into<Arc<str>>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// The order of runs: class, then deadline, then age. Those without a deadline
/// come after those with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) priority: Priority,
    relaxed: bool,
    deadline: Option<Instant>,
    pub(crate) job: u64,
}

impl Rank {
    pub(crate) fn new(options: &Options, job: u64) -> Self {
        let Options { priority, deadline, .. } = *options;
        Self { priority, relaxed: deadline.is_none(), deadline, job }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn class_beats_deadline_beats_age() {
        let now = Instant::now();
        let rank = |p, d: Option<u64>, job| {
            let deadline = d.map(|s| now + Duration::from_secs(s));
            Rank::new(&Options { priority: p, deadline, label: None }, job)
        };
        let mut ranks = [
            rank(Priority::Low, Some(1), 1),
            rank(Priority::Normal, None, 2),
            rank(Priority::Normal, None, 3),
            rank(Priority::Normal, Some(9), 4),
            rank(Priority::Normal, Some(8), 5),
            rank(Priority::Critical, None, 6),
        ];
        ranks.sort();
        assert_eq!(ranks.iter().map(|r| r.job).collect::<Vec<_>>(), [6, 5, 4, 2, 3, 1]);
    }
}
