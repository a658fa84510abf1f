//! Points in the streams of the host.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::HostDevice;
use crate::{Error, Event};

/// The point itself, which a stream passes once.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) stream: u64,
    pub(super) passed: OnceLock<Instant>,
}

impl Point {
    pub(super) fn happened(&self) -> bool {
        self.passed.get().is_some()
    }
}

/// A point in a [`HostStream`](super::HostStream).
#[derive(Debug, Clone)]
pub struct HostEvent {
    pub(super) point: Arc<Point>,
    pub(super) device: HostDevice,
}

impl HostEvent {
    pub(super) fn happened(&self) -> bool {
        self.point.happened()
    }
}

impl Event for HostEvent {
    /// Lets one piece of the work before the event happen, so that who asks often enough gets there.
    fn is_done(&self) -> Result<bool, Error> {
        self.device.queues().advance(&self.point);
        self.device.alive()?;
        Ok(self.happened())
    }

    fn sync(&self) -> Result<(), Error> {
        self.device.queues().reach(&self.point);
        self.device.alive()
    }

    fn since(&self, earlier: &Self) -> Result<Duration, Error> {
        self.sync()?;
        earlier.sync()?;
        let times = self.point.passed.get().zip(earlier.point.passed.get());
        Ok(times.map_or(Duration::ZERO, |(late, early)| late.saturating_duration_since(*early)))
    }
}
