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

/// Called whenever some challenges have been checked, on the thread that has checked
/// them. `Break` stops the check, which then ends with
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

/// As [`each`], under watch, of items with `total` challenges in all. `check` is
/// given the item's index too, and gives how many challenges the item has.
pub(crate) fn each_watched<I: IndexedParallelIterator>(
    watch: &Watch<'_>,
    total: usize,
    items: I,
    check: impl Fn(usize, I::Item) -> Result<usize, Fault> + Sync + Send,
) -> Result<(), InputError> {
    let done = AtomicU64::new(0);
    let check = |(i, item)| {
        let more = check(i, item).map_err(|fault| fault.error(&Layers::default()))? as u64;
        let done = more + done.fetch_add(more, Ordering::Relaxed);
        match watch(Progress { done, total: total as u64 }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(InputError::Cancelled(Cancelled)),
        }
    };
    items.enumerate().map(check).find_map_first(Result::err).map_or(Ok(()), Err)
}
