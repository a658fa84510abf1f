//! A device, as its owner describes it to an engine.

use std::any::Any;
use std::sync::Arc;

/// A device that an engine's lanes own.
#[derive(Clone)]
pub struct Device {
    pub(super) id: u16,
    pub(super) bytes: u64,
    pub(super) lanes: usize,
    pub(super) near: Option<u16>,
    pub(super) handle: Option<Arc<dyn Any + Send + Sync>>,
}

impl Device {
    /// Device number `id`, of whose memory runs may hold `bytes`, with one lane.
    #[must_use]
    pub fn new(id: u16, bytes: u64) -> Self {
        Self { id, bytes, lanes: 1, near: None, handle: None }
    }

    /// How many stages it runs at once.
    #[must_use]
    pub fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = lanes;
        self
    }

    /// The NUMA node that it is attached to: its lanes are pinned there, and
    /// [`Cx::install`](crate::Cx::install) enters that node's pool.
    #[must_use]
    pub fn near(mut self, node: u16) -> Self {
        self.near = Some(node);
        self
    }

    /// What its stages get from [`Cx::device`](crate::Cx::device).
    #[must_use]
    pub fn handle(mut self, handle: Arc<dyn Any + Send + Sync>) -> Self {
        self.handle = Some(handle);
        self
    }
}
