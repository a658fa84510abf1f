//! How a long check runs in parallel, is watched and stopped.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use cuzk_pipeline_core::Cancelled;
use rayon::prelude::*;

use super::error::{Fault, InputError};
use super::layers::Layers;

/// How far a check has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Challenges that have been checked.
    pub done: u64,
    /// Challenges that there are.
    pub total: u64,
}

/// Called after each challenge (of a PoSt: each sector), on the thread that has
/// checked it. `Break` stops the check, which then ends with
/// [`InputError::Cancelled`].
pub type Watch<'a> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'a;

/// A [`Watch`] that looks away.
pub fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Checks all items in parallel. Of several faults the one of the first item is reported.
pub(crate) fn each<I: IndexedParallelIterator>(
    items: I,
    check: impl Fn(I::Item) -> Result<(), Fault> + Sync + Send,
) -> Result<(), Fault> {
    items.map(check).find_map_first(Result::err).map_or(Ok(()), Err)
}

/// As [`each`], of items with so many challenges each, under watch.
pub(crate) fn each_watched<I: IndexedParallelIterator>(
    watch: &Watch<'_>,
    challenges: u64,
    items: I,
    check: impl Fn(I::Item) -> Result<(), Fault> + Sync + Send,
) -> Result<(), InputError> {
    let (done, total) = (AtomicU64::new(0), challenges * items.len() as u64);
    let check = |item| {
        check(item).map_err(|fault| fault.error(&Layers::default()))?;
        let done = challenges + done.fetch_add(challenges, Ordering::Relaxed);
        match watch(Progress { done, total }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(InputError::Cancelled(Cancelled)),
        }
    };
    items.map(check).find_map_first(Result::err).map_or(Ok(()), Err)
}
