//! What of the machine a command uses: threads, memory, and the engine over them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use cuzk_pipeline_core::limits::{MemoryLimits, ThreadLimits, format_bytes};
use cuzk_pipeline_core::trace::{StageTotal, Trace};
use cuzk_pipeline_core::{Engine, Event, Footprint, Observer, RunError};
use serde_json::{Value as Json, json};

use crate::args::Machine;
use crate::devices::Opened;
use crate::failure::{Class, Classify as _, Failure};
use crate::printer::Printer;
use crate::units::Memory;
use crate::usage::Usage;

/// How many threads: so many as asked for, and no more than the process may use.
pub(crate) fn threads(asked: Option<u32>) -> usize {
    let allowed = ThreadLimits::detect().threads();
    asked.map_or(allowed, |n| allowed.min(n as usize))
}

/// A pool for work outside an engine.
pub(crate) fn pool(asked: Option<u32>) -> Result<rayon::ThreadPool, Failure> {
    rayon::ThreadPoolBuilder::new().num_threads(threads(asked)).build().or_resource()
}

/// What the process takes beside the engine's ledgers: code, stacks, small blocks, drivers.
/// On two threads up to 21 MiB were seen beside 388 MiB of ledger, without drivers.
fn own_bytes(threads: usize) -> u64 {
    (26 << 20) + ((threads as u64) << 18) + DRIVERS.load(Ordering::Relaxed)
}

/// Bytes of the process that drivers of devices took when they were opened, in use or not.
static DRIVERS: AtomicU64 = AtomicU64::new(0);

/// Counts what drivers take that `open` opens.
pub(crate) fn with_drivers<T>(open: impl FnOnce() -> T) -> T {
    let before = Usage::now().rss;
    let opened = open();
    DRIVERS.fetch_add(Usage::now().rss.saturating_sub(before), Ordering::Relaxed);
    opened
}

/// The bytes that the engine may hold on `threads`. What is asked for is for the process.
pub(crate) fn budget(memory: Memory, threads: usize) -> Result<u64, Failure> {
    match memory {
        Memory::Bytes(bytes) => Ok(bytes.saturating_sub(own_bytes(threads))),
        Memory::Auto => MemoryLimits::detect().budget().ok_or_else(|| {
            let error = anyhow::anyhow!("neither /proc nor cgroups say how much memory there is");
            Failure::new(Class::Resource, error).hint("say it: --memory 14GiB")
        }),
    }
}

/// The most page-locked memory that copies to devices go through.
const PINNED: u64 = 256 << 20;

/// An engine over the whole machine, or as much of it as asked for.
pub(crate) fn engine(
    printer: Printer,
    machine: &Machine,
    devices: Option<&Opened>,
    observers: Vec<Arc<dyn Observer>>,
) -> Result<Engine, Failure> {
    let threads = threads(machine.threads);
    let budget = budget(machine.memory, threads)?;
    printer.note(&format!("budget {} beside the process itself, {threads} threads", format_bytes(budget)));
    let devices = devices.map_or(&[][..], |opened| &opened.devices);
    // What is page-locked is host memory all the same.
    let pinned = if devices.is_empty() { 0 } else { (budget / 4).min(PINNED) };
    let budget = Footprint { host: budget - pinned, pinned, device: 0 };
    let builder = Engine::builder().budget(budget).threads(threads).observer(Arc::new(All(observers)));
    devices
        .iter()
        .fold(builder, |builder, used| builder.device(used.device()))
        .build()
        .context("the engine cannot start")
        .or_resource()
}

/// Several observers as one.
struct All(Vec<Arc<dyn Observer>>);

impl Observer for All {
    fn event(&self, event: &Event) {
        self.0.iter().for_each(|observer| observer.event(event));
    }
}

/// The least `--memory` that leaves an engine so much on `threads`.
pub(crate) fn least_memory(floor: Footprint, threads: usize) -> String {
    // As `engine` shares it out.
    let least = match floor.pinned {
        0 => floor.host,
        pinned => (floor.host + PINNED).min((4 * pinned).max(floor.host.div_ceil(3) * 4)),
    };
    // Drivers do not take the same each time.
    let spare = DRIVERS.load(Ordering::Relaxed) / 8;
    format!("{}MiB", (least + own_bytes(threads) + spare).div_ceil(1 << 20))
}

/// Adds what the user can do to a run's failure.
pub(crate) fn with_hint(machine: &Machine, failure: Failure) -> Failure {
    match failure.error.downcast_ref() {
        Some(RunError::OverBudget { floor, budget }) if floor.device > budget.device => {
            // An eighth of what is given is kept from runs.
            let least = (floor.device.div_ceil(7) * 8).div_ceil(1 << 20);
            failure.hint(format!("give it more: --device-memory {least}MiB, or --backend cpu"))
        }
        Some(RunError::OverBudget { floor, .. }) => {
            let least = least_memory(*floor, threads(machine.threads));
            failure.hint(format!("give it more: --memory {least}"))
        }
        _ => failure,
    }
}

/// What each stage took, in JSON.
pub(crate) fn stage_totals(trace: &Trace) -> Vec<Json> {
    let seconds = |d: std::time::Duration| d.as_secs_f64();
    let total = |t: &StageTotal| {
        json!({
            "stage": &*t.name, "count": t.count(), "seconds": seconds(t.total),
            "max_seconds": seconds(t.max), "wait_seconds": seconds(t.waited),
        })
    };
    trace.totals().iter().map(total).collect()
}
