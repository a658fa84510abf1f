//! Tells observers, and survives them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tracing::error;

use crate::{Event, Observer};

/// The observers of an engine.
#[derive(Clone, Default)]
pub(crate) struct Watch(Arc<[Arc<dyn Observer>]>);

impl Watch {
    pub(crate) fn new(observers: &[Arc<dyn Observer>]) -> Self {
        Self(observers.into())
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.0.is_empty()
    }

    /// Tells them all; a panic is noted and goes no further.
    pub(crate) fn tell(&self, event: &Event) {
        for observer in &*self.0 {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| observer.event(event))) {
                error!(message = super::work::message(panic), "an observer panicked");
            }
        }
    }
}
