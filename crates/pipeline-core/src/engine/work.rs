//! What a lane does: fetch a stage, run it, let go of its inputs, report.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::Sender;
use rayon::ThreadPool;
use tracing::info_span;

use super::lanes::Lanes;
use super::places::Class;
use super::residency::EntryId;
use super::schedule::Message;
use super::slots::{Inputs, Slots};
use super::watch::Watch;
use crate::graph::{AnyArc, Dag, Made, Node};
use crate::{CancelToken, Cx, End, Event, Footprint, Place, RunError, StageRun};

/// A stage that is paid for.
pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) job: u64,
    pub(crate) label: Arc<str>,
    pub(crate) dag: Arc<Dag>,
    pub(crate) stage: usize,
    pub(crate) values: Arc<Slots>,
    /// By slot.
    pub(crate) residents: Vec<(usize, AnyArc)>,
    pub(crate) cancel: CancelToken,
    /// When its inputs were there.
    pub(crate) ready: Instant,
    pub(crate) bytes: Footprint,
    pub(crate) critical: bool,
}

/// What a task is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskId {
    /// A stage of a run.
    Stage { job: u64, stage: usize },
    /// The load of a resident value.
    Load(EntryId),
}

/// A task, done.
pub(crate) struct Done {
    pub(crate) id: TaskId,
    /// The index of the place where it ran.
    pub(crate) place: usize,
    pub(crate) took: std::time::Duration,
    pub(crate) outcome: Result<Output, RunError>,
}

/// What a task made. A stage's values lie in their slots already.
pub(crate) enum Output {
    Weights(Vec<Footprint>),
    Resident(AnyArc, Footprint),
}

/// One thread that runs stages.
pub(crate) struct Lane {
    pub(crate) berth: usize,
    pub(crate) index: usize,
    pub(crate) place: Place,
    pub(crate) place_index: usize,
    pub(crate) class: Class,
    pub(crate) device: Option<Arc<dyn Any + Send + Sync>>,
    pub(crate) pools: Arc<Pools>,
    pub(crate) lanes: Arc<Lanes<Task>>,
    pub(crate) messages: Sender<Message>,
    pub(crate) watch: Watch,
}

/// The rayon pools of a node.
pub(crate) struct Pools {
    pub(crate) all: ThreadPool,
    /// For critical runs, which never queue behind the work of others.
    pub(crate) critical: Option<ThreadPool>,
}

impl Lane {
    /// Runs stages until the lanes are closed.
    pub(crate) fn serve(&self) {
        while let Some(task) = self.lanes.next(self.berth) {
            let done = self.run(&task);
            drop(task);
            self.lanes.finished(self.berth);
            if self.messages.send(Message::Done(done)).is_err() {
                return;
            }
        }
    }

    /// Runs one stage. Whatever it does, the outcome is reported, and by then
    /// its owned inputs are gone.
    pub(crate) fn run(&self, task: &Task) -> Done {
        let node = task.dag.node(task.stage);
        let (name, part, place) = (&*node.name, node.part, self.place);
        let span = info_span!("stage", name, job = task.job, label = &*task.label, part, %place, bytes = %task.bytes);
        let _in = span.enter();
        let start = Instant::now();
        let run = self.watch.is_on().then(|| Arc::new(self.describe(task, node, start)));
        if let Some(stage) = &run {
            self.watch.tell(&Event::Started { at: start, stage: stage.clone() });
        }
        let outcome = self.outcome(task, node);
        let took = start.elapsed();
        if let Some(stage) = run {
            let end = outcome.as_ref().map_or_else(RunError::end, |_| End::Done);
            self.watch.tell(&Event::Ended { at: start + took, stage, end });
        }
        Done { id: task.id, place: self.place_index, took, outcome }
    }

    fn describe(&self, task: &Task, node: &Node, start: Instant) -> StageRun {
        StageRun {
            job: task.job,
            label: task.label.clone(),
            name: node.name.clone(),
            part: node.part,
            index: task.stage,
            place: self.place,
            lane: self.index,
            waited: start.saturating_duration_since(task.ready),
            bytes: task.bytes,
        }
    }

    fn outcome(&self, task: &Task, node: &Node) -> Result<Output, RunError> {
        let pool = Some(&self.pools.all);
        let pool = if task.critical || self.class == Class::Critical {
            self.pools.critical.as_ref().or(pool)
        } else {
            pool
        };
        let cx = Cx { cancel: task.cancel.clone(), place: self.place, pool, device: self.device.as_deref() };
        let inputs = Inputs::new(&task.values, &task.residents);
        let made = self.guard(node, || (node.body)(&cx, &inputs)).and_then(|made| {
            made.map_err(|(kind, source)| {
                if task.cancel.is_cancelled() {
                    return RunError::Cancelled;
                }
                RunError::Stage { stage: (*node.name).into(), place: self.place, kind, source: source.into() }
            })
        });
        // A drop may panic as well as the stage itself.
        let released = node.inputs.iter().map(|slot| self.guard(node, || task.values.release(*slot)));
        let released = released.fold(Ok(()), Result::and);
        let made = released.and(made)?;
        self.guard(node, || keep(task, node, made))
    }

    /// Runs `f`; a panic becomes an error.
    fn guard<R>(&self, node: &Node, f: impl FnOnce() -> R) -> Result<R, RunError> {
        catch_unwind(AssertUnwindSafe(f)).map_err(|panic| RunError::Panicked {
            stage: (*node.name).into(),
            place: self.place,
            message: message(panic),
        })
    }
}

fn keep(task: &Task, node: &Node, made: Made) -> Output {
    let slots = node.first_output..;
    if let TaskId::Load(_) = task.id {
        let value = made.values.into_iter().next().expect("a load has one output");
        let share = task.dag.slots[node.first_output].share.expect("a resident value is shared");
        return Output::Resident(share(value), made.weights[0]);
    }
    for (slot, value) in slots.zip(made.values) {
        task.values.put(slot, value, task.dag.slots[slot].share);
    }
    Output::Weights(made.weights)
}

/// The text of a panic. Its payload is dropped here, which may panic again.
pub(crate) fn message(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref().cloned()).unwrap_or_else(|| "no message".into());
    let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
    text
}
