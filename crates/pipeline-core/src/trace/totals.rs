//! Sums by stage.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Trace;
use super::gantt::{fit, format_duration};
use crate::limits::format_bytes;
use crate::{End, StageRun};

/// Names beyond this many are summed as one, for names may be made up at run time.
const NAMES: usize = 512;

/// All ended runs of one stage.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StageTotal {
    /// The stage's name; `(others)` where there were too many names.
    pub name: Arc<str>,
    /// How often it ran to its end.
    pub done: u64,
    /// How often it failed.
    pub failed: u64,
    /// How often it was cancelled.
    pub cancelled: u64,
    /// The time that it ran in all.
    pub total: Duration,
    /// The longest run.
    pub max: Duration,
    /// The time in all from inputs being there to the start: lanes and memory being waited for.
    pub waited: Duration,
}

impl StageTotal {
    /// How often it ran, ends of every kind counted.
    pub fn count(&self) -> u64 {
        self.done + self.failed + self.cancelled
    }

    /// The time of a run in the mean.
    pub fn mean(&self) -> Duration {
        let nanos = self.total.as_nanos() / u128::from(self.count().max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[derive(Debug, Default)]
pub(super) struct Totals {
    places: HashMap<Arc<str>, usize>,
    list: Vec<StageTotal>,
}

impl Totals {
    pub(super) fn add(&mut self, stage: &StageRun, took: Duration, end: End) {
        let known = self.places.contains_key(&stage.name);
        let name = if known || self.list.len() < NAMES { stage.name.clone() } else { "(others)".into() };
        let at = *self.places.entry(name.clone()).or_insert_with(|| {
            let (total, max, waited) = Default::default();
            self.list.push(StageTotal { name, done: 0, failed: 0, cancelled: 0, total, max, waited });
            self.list.len() - 1
        });
        let sum = &mut self.list[at];
        *match end {
            End::Done => &mut sum.done,
            End::Cancelled => &mut sum.cancelled,
            End::Failed(_) => &mut sum.failed,
        } += 1;
        sum.total += took;
        sum.max = sum.max.max(took);
        sum.waited += stage.waited;
    }

    pub(super) fn list(&self) -> Vec<StageTotal> {
        self.list.clone()
    }
}

impl Trace {
    /// A table of the [totals](Self::totals), and a line with the peak of each ledger.
    pub fn table(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(move |f| {
            writeln!(
                f,
                "{} {:>7} {:>9} {:>9} {:>9} {:>9}",
                fit("stage", 24),
                "runs",
                "total",
                "mean",
                "max",
                "waited"
            )?;
            for sum in &self.totals {
                write!(
                    f,
                    "{} {:>7} {:>9} {:>9} {:>9} {:>9}",
                    fit(&sum.name, 24),
                    sum.count(),
                    format_duration(sum.total),
                    format_duration(sum.mean()),
                    format_duration(sum.max),
                    format_duration(sum.waited)
                )?;
                for (count, what) in [(sum.failed, "failed"), (sum.cancelled, "cancelled")] {
                    if count > 0 {
                        write!(f, "  {count} {what}")?;
                    }
                }
                writeln!(f)?;
            }
            for peak in self.peaks.iter().filter(|peak| peak.used > 0 || peak.budget > 0) {
                let (used, budget) = (format_bytes(peak.used), format_bytes(peak.budget));
                writeln!(f, "peak of {}: {used} of {budget}", peak.ledger)?;
            }
            if self.dropped > 0 {
                writeln!(f, "{} older records were let go", self.dropped)?;
            }
            Ok(())
        })
    }
}
