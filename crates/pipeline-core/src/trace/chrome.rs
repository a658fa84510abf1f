//! The trace as Chrome's JSON trace events, which Perfetto and `chrome://tracing` open.
//!
//! Format: "Trace Event Format" by Duca and Sinclair, Google. Times are microseconds.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Duration;

use super::{Load, MemorySample, RunSpan, Span, Trace};
use crate::{End, Footprint, Place, json};

/// The processes of the picture; places follow. Process 0 and thread 0 are the idle ones to Perfetto.
const RUNS: u32 = 1;
const MEMORY: u32 = 2;
const FIRST_NODE: u32 = 10;
const FIRST_GPU: u32 = 100_000;

impl Trace {
    /// Writes one JSON document: a process for each place with a thread for each of its lanes,
    /// one for the runs (waiting for memory, then active), and one for memory: counters of every
    /// ledger, loads and evictions of resident values.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_chrome(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
        let lanes: BTreeSet<_> = self.spans.iter().map(|span| (span.stage.place, span.stage.lane)).collect();
        let mut separator = "";
        let mut line = |event: String| {
            write!(out, "{separator}{event}")?;
            separator = ",\n";
            io::Result::Ok(())
        };
        for (pid, name) in [(RUNS, "runs"), (MEMORY, "memory")] {
            line(named("process_name", pid, 1, name))?;
        }
        for place in lanes.iter().map(|(place, _)| *place).collect::<BTreeSet<_>>() {
            line(named("process_name", pid(place), 1, &place.to_string()))?;
        }
        for &(place, lane) in &lanes {
            line(named("thread_name", pid(place), lane + 1, &format!("{place}.{lane}")))?;
        }
        self.spans.iter().map(stage).try_for_each(&mut line)?;
        self.runs.iter().flat_map(|run| run_events(run, self.now)).try_for_each(&mut line)?;
        self.loads.iter().enumerate().flat_map(load_events).try_for_each(&mut line)?;
        self.memory.iter().map(sample).try_for_each(&mut line)?;
        writeln!(out, "\n],\"otherData\":{{\"dropped\":\"{}\"}}}}", self.dropped)
    }

    /// As [`write_chrome`](Self::write_chrome), to a string.
    pub fn chrome(&self) -> String {
        let mut json = Vec::new();
        // A Vec takes everything.
        let _ = self.write_chrome(&mut json);
        String::from_utf8_lossy(&json).into_owned()
    }
}

fn pid(place: Place) -> u32 {
    match place {
        Place::Numa(node) => FIRST_NODE + u32::from(node),
        Place::Gpu(device) => FIRST_GPU + u32::from(device),
    }
}

fn named(what: &str, pid: u32, tid: usize, name: &str) -> String {
    let name = json::string(name);
    format!(r#"{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{{"name":{name}}}}}"#)
}

/// A complete event, or the beginning of one that still runs.
fn stage(span: &Span) -> String {
    let run = &*span.stage;
    let (phase, end) = match span.end {
        Some((at, end)) => {
            let (took, end) = (micros(at.saturating_sub(span.start)), name(end));
            (format!(r#""ph":"X","dur":{took}"#), end)
        }
        None => (r#""ph":"B""#.to_owned(), "running".to_owned()),
    };
    let (stage, label, place) = (json::string(&run.name), json::string(&run.label), pid(run.place));
    let (start, waited, bytes) = (micros(span.start), micros(run.waited), bytes(run.bytes));
    let part = run.part.map(|part| format!(r#""part":{part},"#)).unwrap_or_default();
    format!(
        r#"{{{phase},"name":{stage},"cat":"stage","pid":{place},"tid":{},"ts":{start},"args":{{"job":{},"label":{label},{part}"index":{},"end":"{end}","waited_us":{waited},{bytes}}}}}"#,
        run.lane + 1,
        run.job,
        run.index,
    )
}

/// A run as asynchronous slices, for runs overlap: the whole, and within it the time before its admission.
fn run_events(run: &RunSpan, now: Duration) -> Vec<String> {
    let title = if run.label.is_empty() {
        format!("run {}", run.job)
    } else {
        format!("run {}: {}", run.job, run.label)
    };
    let title = json::string(&title);
    let end = run.end.map_or(now, |(at, _)| at);
    let outcome = run.end.map_or_else(|| "running".to_owned(), |(_, end)| name(end));
    let event = |phase: &str, title: &str, at: Duration| {
        format!(
            r#"{{"ph":"{phase}","name":{title},"cat":"run","id":{},"pid":{RUNS},"tid":1,"ts":{},"args":{{"priority":"{:?}","end":"{outcome}"}}}}"#,
            run.job,
            micros(at),
            run.priority,
        )
    };
    let queued = r#""waits for memory""#;
    vec![
        event("b", &title, run.submitted),
        event("b", queued, run.submitted),
        event("e", queued, run.admitted.unwrap_or(end)),
        event("e", &title, end),
    ]
}

/// A load is an asynchronous slice, for loads overlap; an eviction is a moment.
fn load_events((id, load): (usize, &Load)) -> Vec<String> {
    let bytes = bytes(load.bytes);
    let event = |phase: &str, verb: &str, at: Duration| {
        let name = json::string(&format!("{verb} {}", load.key));
        format!(
            r#"{{{phase},"name":{name},"cat":"resident","pid":{MEMORY},"tid":1,"ts":{},"args":{{{bytes}}}}}"#,
            micros(at)
        )
    };
    let Some(took) = load.took else {
        return vec![event(r#""ph":"i","s":"p""#, "evict", load.at)];
    };
    let slice = |phase| format!(r#""ph":"{phase}","id":{id}"#);
    vec![event(&slice("b"), "load", load.at.saturating_sub(took)), event(&slice("e"), "load", load.at)]
}

fn sample(sample: &MemorySample) -> String {
    let (at, ledger, used, budget) = (micros(sample.at), sample.ledger, sample.used, sample.budget);
    format!(
        r#"{{"ph":"C","name":"{ledger} bytes","pid":{MEMORY},"tid":1,"ts":{at},"args":{{"used":{used},"budget":{budget}}}}}"#
    )
}

fn bytes(bytes: Footprint) -> String {
    let Footprint { host, pinned, device } = bytes;
    format!(r#""host_bytes":{host},"pinned_bytes":{pinned},"device_bytes":{device}"#)
}

fn name(end: End) -> String {
    match end {
        End::Done => "done".to_owned(),
        End::Cancelled => "cancelled".to_owned(),
        End::Failed(kind) => format!("failed: {kind}"),
    }
}

/// Microseconds to the nanosecond.
fn micros(time: Duration) -> String {
    let nanos = time.as_nanos();
    format!("{}.{:03}", nanos / 1000, nanos % 1000)
}
