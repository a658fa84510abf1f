//! What an engine tells those who watch it.
//!
//! Stage events come from the lane that runs the stage, run and memory events
//! from the scheduler; so an [`Observer`] is called from several threads at
//! once, and events of different threads may arrive out of the order of their
//! [times](Event::at).

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::{ErrorKind, Footprint, Ledger, Place, Priority};

/// Watches an engine. The engine waits for it, so an observer that is slow
/// hands its work to a thread of its own.
pub trait Observer: Send + Sync + 'static {
    /// Takes note of one event.
    fn event(&self, event: &Event);
}

/// One thing that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A run was submitted and waits until the budget has room for it.
    Submitted {
        /// When.
        at: Instant,
        /// The run's number, unique in its engine.
        job: u64,
        /// The caller's name for the run; empty if it gave none.
        label: Arc<str>,
        /// The run's class.
        priority: Priority,
    },
    /// A run became active: its stages may start.
    Admitted {
        /// When.
        at: Instant,
        /// The run.
        job: u64,
    },
    /// A stage starts.
    Started {
        /// When.
        at: Instant,
        /// Which stage of which run, and where.
        stage: Arc<StageRun>,
    },
    /// The same stage, ended.
    Ended {
        /// When.
        at: Instant,
        /// The value that [`Event::Started`] carried.
        stage: Arc<StageRun>,
        /// How.
        end: End,
    },
    /// A run is over and its owner has been told.
    Finished {
        /// When.
        at: Instant,
        /// The run.
        job: u64,
        /// How.
        end: End,
    },
    /// One ledger of the budget changed.
    Memory {
        /// When.
        at: Instant,
        /// Which.
        ledger: Ledger,
        /// Bytes in use, paid or resident.
        used: u64,
        /// Bytes of the budget.
        budget: u64,
    },
    /// A resident value was loaded.
    Loaded {
        /// When the load ended.
        at: Instant,
        /// The value's key.
        key: Arc<str>,
        /// What it weighs.
        bytes: Footprint,
        /// How long the load took.
        took: Duration,
    },
    /// A device failed a stage, and takes no more work.
    Quarantined {
        /// When.
        at: Instant,
        /// Which device.
        place: Place,
    },
    /// A resident value was let go to make room.
    Evicted {
        /// When.
        at: Instant,
        /// The value's key.
        key: Arc<str>,
        /// What it gave back.
        bytes: Footprint,
    },
}

/// One stage of one run, from its start on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StageRun {
    /// The run's number.
    pub job: u64,
    /// The caller's name for the run; empty if it gave none.
    pub label: Arc<str>,
    /// The stage's name.
    pub name: Arc<str>,
    /// The part of the work that it belongs to, as a proof's partition.
    pub part: Option<u32>,
    /// The stage's index in its graph, in the builder's order.
    pub index: usize,
    /// Where it runs.
    pub place: Place,
    /// Which of the place's lanes, from 0.
    pub lane: usize,
    /// From the moment its inputs were there until its start.
    pub waited: Duration,
    /// What it was charged: scratch and outputs, less what it makes in place.
    pub bytes: Footprint,
}

/// How a stage or a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With its value.
    Done,
    /// It was told to stop.
    Cancelled,
    /// With an error of this kind.
    Failed(ErrorKind),
}

impl Event {
    /// When it happened.
    #[must_use]
    pub fn at(&self) -> Instant {
        match self {
            Self::Submitted { at, .. }
            | Self::Admitted { at, .. }
            | Self::Started { at, .. }
            | Self::Ended { at, .. }
            | Self::Finished { at, .. }
            | Self::Memory { at, .. }
            | Self::Quarantined { at, .. }
            | Self::Loaded { at, .. }
            | Self::Evicted { at, .. } => *at,
        }
    }
}
