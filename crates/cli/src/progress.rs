//! Progress of long work: a bar on a terminal, a line now and then elsewhere.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cuzk_pipeline_core::{End, Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer::{Printer, Progress};

/// How long plain output is silent.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// One piece of long work.
pub(crate) struct Meter {
    what: String,
    bar: ProgressBar,
    lines: Option<(Printer, Mutex<Instant>)>,
}

impl Meter {
    /// A meter of bytes.
    pub(crate) fn bytes(printer: Printer, what: &str) -> Self {
        Self::new(printer, what, "{msg} {bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  eta {eta}")
    }

    /// A meter of steps.
    pub(crate) fn steps(printer: Printer, what: &str) -> Self {
        Self::new(printer, what, "{msg} {bar:30} {pos}/{len}  {elapsed}")
    }

    fn new(printer: Printer, what: &str, template: &str) -> Self {
        let mode = printer.progress();
        let target = match mode {
            Progress::Bars => ProgressDrawTarget::stderr(),
            _ => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target).with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let lines = (mode == Progress::Lines).then(|| (printer, Mutex::new(Instant::now())));
        Self { what: what.to_owned(), bar, lines }
    }

    /// `done` of `total`.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        if let Some((printer, last)) = &self.lines
            && let Ok(mut last) = last.try_lock()
            && last.elapsed() >= LINE_EVERY
        {
            *last = Instant::now();
            printer.note(&format!("{}: {} %", self.what, 100 * done / total.max(1)));
        }
    }

    /// What is being done now.
    pub(crate) fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Counts the stages of a run as they end.
pub(crate) struct Stages {
    meter: Meter,
    done: AtomicU64,
    total: AtomicU64,
}

impl Stages {
    /// A meter of the stages of one graph.
    pub(crate) fn new(printer: Printer) -> Self {
        let meter = Meter::steps(printer, "proving");
        Self { meter, done: AtomicU64::new(0), total: AtomicU64::new(0) }
    }

    /// So many stages more are to come.
    pub(crate) fn expect(&self, stages: usize) {
        self.total.fetch_add(stages as u64, Ordering::Relaxed);
    }
}

impl Observer for Stages {
    fn event(&self, event: &Event) {
        match event {
            Event::Started { stage, .. } => self.meter.say(&stage.name),
            Event::Ended { end: End::Done, .. } => {
                let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
                self.meter.set(done, self.total.load(Ordering::Relaxed).max(done));
            }
            _ => {}
        }
    }
}
