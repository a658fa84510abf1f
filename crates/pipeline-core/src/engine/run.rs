//! The owner's end of a run.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};

use crate::graph::AnyBox;
use crate::{CancelToken, RunError, Value};

/// The owner's end of one run. Dropping it cancels the run.
#[must_use = "dropping a run cancels it"]
pub struct Run<O> {
    outcome: Receiver<Result<AnyBox, RunError>>,
    cancel: CancelToken,
    over: bool,
    types: PhantomData<fn() -> O>,
}

impl<O: Value> Run<O> {
    pub(super) fn new(outcome: Receiver<Result<AnyBox, RunError>>, cancel: CancelToken) -> Self {
        Self { outcome, cancel, over: false, types: PhantomData }
    }

    /// Waits for the value.
    ///
    /// # Errors
    /// The first [`RunError`] of the run, once none of its stages runs any more
    /// and its values are dropped.
    pub fn wait(mut self) -> Result<O, RunError> {
        let outcome = self.outcome.recv();
        self.value(outcome.unwrap_or(Err(RunError::Shutdown)))
    }

    /// Waits for the value for no longer than `timeout`; gives the run back if
    /// it is not over by then.
    ///
    /// # Errors
    /// The outer one is the run itself, which goes on; the inner one is its
    /// first [`RunError`].
    pub fn wait_timeout(mut self, timeout: Duration) -> Result<Result<O, RunError>, Self> {
        match self.outcome.recv_timeout(timeout) {
            Ok(outcome) => Ok(self.value(outcome)),
            Err(RecvTimeoutError::Disconnected) => Ok(self.value(Err(RunError::Shutdown))),
            Err(RecvTimeoutError::Timeout) => Err(self),
        }
    }

    /// The flag that stops the run.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    fn value(&mut self, outcome: Result<AnyBox, RunError>) -> Result<O, RunError> {
        self.over = true;
        outcome.map(|value| *value.downcast().expect("a run gives its graph's output"))
    }
}

impl<O> fmt::Debug for Run<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl<O> Drop for Run<O> {
    fn drop(&mut self) {
        if !self.over {
            self.cancel.cancel();
        }
    }
}
