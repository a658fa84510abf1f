//! How a long piece of work is watched and stopped.

use std::ops::ControlFlow;

use crate::SrsError;

/// How far the work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, as `h` or `b_g2`.
    pub part: &'static str,
    /// Bytes of the file that are done.
    pub done: u64,
    /// Bytes of the file.
    pub total: u64,
}

/// Called between blocks of work, on the thread that asked for it. `Break` stops
/// the work, which then ends with [`SrsError::Cancelled`].
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// A [`Watch`] that looks away.
pub fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(crate) fn report(
    watch: &mut Watch<'_>,
    part: &'static str,
    done: u64,
    total: u64,
) -> Result<(), SrsError> {
    match watch(Progress { part, done, total }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(SrsError::Cancelled),
    }
}
