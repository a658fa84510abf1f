//! Runs graphs: one thread decides, the others work.
//!
//! `schedule`, `admit`, `dispatch` and `settle` are the scheduler; `books`,
//! `job` and `residency` what it knows of memory, of runs and of values that
//! outlive them. `lanes` carries work to the threads, `work` is what they do,
//! `slots` are the values. The admission protocol has a README beside these
//! files.

mod admit;
mod books;
mod build;
mod device;
mod dispatch;
mod job;
mod lanes;
mod places;
mod quarantine;
mod residency;
mod run;
mod schedule;
mod settle;
mod slots;
mod status;
mod sweep;
mod sync;
#[cfg(test)]
#[cfg(not(loom))]
mod tests;
mod watch;
mod work;

use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use tracing::warn;

pub use books::LedgerUse;
pub use build::EngineBuilder;
pub use device::Device;
pub use residency::ResidentUse;
pub use run::Run;
pub(crate) use slots::{Inputs, Slots};
pub use status::Status;

use crate::{CancelToken, Graph, Options, RunError, Value};
use job::Submission;
use lanes::Lanes;
use schedule::Message;
use work::Task;

/// Runs graphs on places, within a budget.
///
/// Dropping an engine cancels its runs and waits, for a [grace] at the most,
/// until their stages have stopped; a stage that stops at no checkpoint is left
/// to end on its own thread.
///
/// [grace]: EngineBuilder::grace
pub struct Engine {
    messages: Sender<Message>,
    lanes: Arc<Lanes<Task>>,
    /// Disconnected once every thread has ended.
    alive: Receiver<()>,
    threads: Vec<JoinHandle<()>>,
    grace: Duration,
}

impl Engine {
    /// Starts to describe an engine.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Starts a run of `graph`, once there is memory for it, as a normal run
    /// without deadline.
    pub fn submit<I: Value, O: Value>(&self, graph: &Arc<Graph<I, O>>, input: I) -> Run<O> {
        self.submit_with(graph, input, Options::new())
    }

    /// Starts a run of `graph` as `options` say. Never waits: what the engine
    /// cannot run is refused through [`Run::wait`], at once.
    ///
    /// The bytes of `input` count from the moment at which the run becomes
    /// active; until then it is the caller's memory.
    pub fn submit_with<I: Value, O: Value>(
        &self,
        graph: &Arc<Graph<I, O>>,
        input: I,
        options: Options,
    ) -> Run<O> {
        let (reply, outcome) = bounded(1);
        let messages = self.messages.clone();
        let cancel = CancelToken::waking(move || {
            let _ = messages.send(Message::Wake);
        });
        let submission = Submission {
            dag: graph.dag.clone(),
            weight: input.footprint(),
            input: Box::new(input),
            options,
            cancel: cancel.clone(),
            reply,
            at: Instant::now(),
        };
        // A scheduler that is gone drops the reply, and the run says so.
        let _ = self.messages.send(Message::Submit(Box::new(submission)));
        Run::new(outcome, cancel)
    }

    /// What the engine holds now.
    ///
    /// # Errors
    /// [`RunError::Shutdown`] after [`shutdown`](Self::shutdown).
    pub fn status(&self) -> Result<Status, RunError> {
        let (reply, status) = bounded(1);
        self.messages.send(Message::Status(reply)).map_err(|_| RunError::Shutdown)?;
        status.recv().map_err(|_| RunError::Shutdown)
    }

    /// Lets go of the resident values that nothing needs and nothing used for
    /// `idle`.
    pub fn trim(&self, idle: Duration) {
        let _ = self.messages.send(Message::Trim(idle));
    }

    /// Cancels every run, and refuses those to come.
    pub fn shutdown(&self) {
        let _ = self.messages.send(Message::Shutdown);
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shutdown();
        // A little longer than the scheduler, which closes the lanes.
        let patience = self.grace + Duration::from_millis(200);
        if let Err(RecvTimeoutError::Disconnected) = self.alive.recv_timeout(patience) {
            self.threads.drain(..).for_each(|thread| drop(thread.join()));
        } else {
            self.lanes.close();
            warn!(grace = ?self.grace, "an engine was dropped while a stage ran on");
        }
    }
}
