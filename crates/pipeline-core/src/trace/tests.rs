//! Events as an engine sends them, and what the timeline makes of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Timeline, Trace};
use crate::{End, ErrorKind, Event, Footprint, Ledger, Observer, Place, Priority, StageRun};

const MS: Duration = Duration::from_millis(1);

/// A timeline whose clock the test turns.
struct Clock {
    timeline: Timeline,
    start: Instant,
}

impl Clock {
    fn new(capacity: usize) -> Self {
        let timeline = Timeline::with_capacity(capacity);
        Self { start: timeline.start, timeline }
    }

    fn at(&self, ms: u32) -> Instant {
        self.start + MS * ms
    }

    /// A stage from `from` to `to` milliseconds, left running when `to` is `None`.
    fn stage(
        &self,
        job: u64,
        index: usize,
        name: &str,
        (place, lane): (Place, usize),
        from: u32,
        to: Option<(u32, End)>,
    ) {
        let stage = Arc::new(StageRun {
            job,
            label: "a \"label\"\\\n".into(),
            name: name.into(),
            part: None,
            index,
            place,
            lane,
            waited: MS * 2,
            bytes: Footprint { host: 7, pinned: 8, device: 9 },
        });
        self.timeline.event(&Event::Started { at: self.at(from), stage: stage.clone() });
        if let Some((to, end)) = to {
            self.timeline.event(&Event::Ended { at: self.at(to), stage, end });
        }
    }
}

const NODE0: (Place, usize) = (Place::Numa(0), 0);
const NODE1: (Place, usize) = (Place::Numa(1), 3);
const GPU: (Place, usize) = (Place::Gpu(0), 0);

/// Two stages side by side, one after them that fails, one that still runs.
fn example() -> Clock {
    let clock = Clock::new(100);
    let label: Arc<str> = "seal 1".into();
    clock.timeline.event(&Event::Submitted { at: clock.at(0), job: 1, label, priority: Priority::High });
    clock.timeline.event(&Event::Admitted { at: clock.at(1), job: 1 });
    clock.stage(1, 0, "synth.witness", NODE0, 10, Some((60, End::Done)));
    clock.stage(1, 1, "ntt.quotient", NODE1, 10, Some((110, End::Done)));
    clock.stage(1, 2, "msm.h\u{7}\"", GPU, 60, Some((85, End::Failed(ErrorKind::Device))));
    clock.stage(1, 3, "ntt.quotient", NODE0, 90, Some((110, End::Cancelled)));
    clock.timeline.event(&Event::Finished { at: clock.at(111), job: 1, end: End::Failed(ErrorKind::Device) });
    for (ms, used) in [(5, 1 << 30), (20, 3 << 30), (100, 0)] {
        let (ledger, budget) = (Ledger::Host, 4 << 30);
        clock.timeline.event(&Event::Memory { at: clock.at(ms), ledger, used, budget });
    }
    let (key, bytes): (Arc<str>, _) = ("srs".into(), Footprint::host(5));
    clock.timeline.event(&Event::Loaded { at: clock.at(9), key: key.clone(), bytes, took: MS * 4 });
    clock.timeline.event(&Event::Evicted { at: clock.at(50), key, bytes });
    clock
}

fn events(trace: &Trace) -> Vec<Value> {
    let json: Value = serde_json::from_str(&trace.chrome()).expect("valid JSON");
    json["traceEvents"].as_array().expect("an array").clone()
}

#[test]
fn chrome_events_are_complete_and_named() {
    let events = events(&example().timeline.trace());
    let named = |name: &str| events.iter().filter(|e| e["name"] == name).collect::<Vec<_>>();

    let [witness] = named("synth.witness")[..] else { panic!("{events:?}") };
    assert_eq!((&witness["ph"], &witness["cat"]), (&"X".into(), &"stage".into()));
    assert_eq!((witness["ts"].as_f64(), witness["dur"].as_f64()), (Some(10_000.0), Some(50_000.0)));
    let args = &witness["args"];
    assert_eq!((&args["job"], &args["index"]), (&1.into(), &0.into()));
    assert_eq!(args["label"], "a \"label\"\\\n");
    assert_eq!(args["waited_us"].as_f64(), Some(2000.0));
    assert_eq!(
        (&args["host_bytes"], &args["pinned_bytes"], &args["device_bytes"]),
        (&7.into(), &8.into(), &9.into())
    );

    let [msm] = named("msm.h\u{7}\"")[..] else { panic!("the name is escaped, not lost") };
    assert_eq!(msm["args"]["end"], "failed: device");

    // Every place is a process, and every lane a thread of it, by the same numbers as its stages.
    let names: HashMap<_, _> = events
        .iter()
        .filter(|e| e["ph"] == "M")
        .map(|e| {
            ((e["name"].to_string(), e["pid"].to_string(), e["tid"].to_string()), e["args"]["name"].clone())
        })
        .collect();
    for (stage, lane) in [(witness, "numa0.0"), (named("ntt.quotient")[0], "numa1.3"), (msm, "gpu0.0")] {
        let (pid, tid) = (stage["pid"].to_string(), stage["tid"].to_string());
        assert_eq!(names[&("\"thread_name\"".to_owned(), pid.clone(), tid)], lane);
        assert_eq!(
            names[&("\"process_name\"".to_owned(), pid, "1".to_owned())],
            lane.split('.').next().unwrap()
        );
        assert!(stage["pid"].as_u64() > Some(2) && stage["tid"].as_u64() > Some(0));
    }

    let run: Vec<_> =
        named("run 1: seal 1").iter().map(|e| (e["ph"].clone(), e["ts"].as_f64().unwrap())).collect();
    assert_eq!(run, [("b".into(), 0.0), ("e".into(), 111_000.0)]);
    let wait: Vec<_> = named("waits for memory").iter().map(|e| e["ts"].as_f64().unwrap()).collect();
    assert_eq!(wait, [0.0, 1000.0]);
    let used: Vec<_> = named("host bytes").iter().map(|e| e["args"]["used"].as_u64().unwrap()).collect();
    assert_eq!(used, [1 << 30, 3 << 30, 0]);
    let load: Vec<_> = named("load srs").iter().map(|e| e["ts"].as_f64().unwrap()).collect();
    assert_eq!((load, named("evict srs").len()), (vec![5000.0, 9000.0], 1));
}

#[test]
fn what_still_runs_begins_and_does_not_end() {
    let clock = Clock::new(10);
    clock.timeline.event(&Event::Submitted {
        at: clock.at(0),
        job: 4,
        label: "".into(),
        priority: Priority::Low,
    });
    clock.stage(4, 0, "slow", NODE0, 0, None);
    let trace = clock.timeline.trace();
    let events = events(&trace);
    let slow = events.iter().find(|e| e["name"] == "slow").unwrap();
    assert_eq!((&slow["ph"], &slow["args"]["end"]), (&"B".into(), &"running".into()));
    assert!(events.iter().any(|e| e["name"] == "run 4" && e["ph"] == "e"), "an open slice is closed now");
    assert!(trace.spans()[0].end.is_none() && trace.runs()[0].end.is_none());
    assert!(trace.totals().is_empty(), "only what ended is summed");
    assert!(trace.gantt(60).to_string().contains("slow"));
}

#[test]
fn totals_sum_every_end() {
    let trace = example().timeline.trace();
    let [witness, ntt, msm] = trace.totals() else { panic!("{:?}", trace.totals()) };
    assert_eq!(
        (&*witness.name, witness.count(), witness.total, witness.waited),
        ("synth.witness", 1, MS * 50, MS * 2)
    );
    assert_eq!((msm.done, msm.failed, msm.max), (0, 1, MS * 25));
    assert_eq!((ntt.done, ntt.cancelled, ntt.count()), (1, 1, 2));
    assert_eq!((ntt.total, ntt.mean(), ntt.max, ntt.waited), (MS * 120, MS * 60, MS * 100, MS * 4));
    assert_eq!(trace.peaks().iter().map(|peak| peak.used).collect::<Vec<_>>(), [3 << 30]);
}

#[test]
fn the_chart_is_drawn_to_scale() {
    let shown = example().timeline.trace().gantt(NAME_AND_BORDERS + 20).to_string();
    let expected = "\
stage                    |0             100 ms|
synth.witness            |██████████          |
ntt.quotient             |████████████████████|
msm.h\\u{7}\"              |          █████     |
lane                     |                    | busy
numa0.0                  |██████████      ████|  70 %
numa1.3                  |████████████████████| 100 %
gpu0.0                   |          █████     |  25 %

stage                       runs     total      mean       max    waited
synth.witness                  1   50.0 ms   50.0 ms   50.0 ms   2.00 ms
ntt.quotient                   2    120 ms   60.0 ms    100 ms   4.00 ms  1 cancelled
msm.h\\u{7}\"                    1   25.0 ms   25.0 ms   25.0 ms   2.00 ms  1 failed
peak of host: 3 GiB of 4 GiB
";
    // Both run in the last fifth.
    let expected = expected.replacen("|████████████████████|\nmsm", "|████████████████2222|\nmsm", 1);
    assert_eq!(shown, expected, "\n{shown}");
    let width = |line: &str| line.chars().count();
    assert!(shown.lines().take(8).all(|line| width(line) <= NAME_AND_BORDERS + 20), "{shown}");
}

/// A name, a blank, two borders and the share.
const NAME_AND_BORDERS: usize = 33;

#[test]
fn marks_shade_and_count() {
    let clock = Clock::new(1000);
    // Twelve at once in the first half, then a tenth of a column now and then.
    for i in 0..12 {
        clock.stage(0, i, "many", (Place::Numa(0), i), 0, Some((500, End::Done)));
    }
    clock.stage(0, 20, "blink", NODE1, 500, Some((500, End::Done)));
    clock.stage(0, 21, "blink", NODE1, 950, Some((965, End::Done)));
    clock.stage(0, 22, "blink", NODE1, 999, Some((1000, End::Done)));
    let shown = clock.timeline.trace().gantt(NAME_AND_BORDERS + 20).to_string();
    let row = |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(row("many").ends_with("|++++++++++          |"), "{shown}");
    assert!(row("blink").ends_with("|          ░        ▒|"), "{shown}");
}

#[test]
fn memory_is_bounded_and_the_newest_stay() {
    let clock = Clock::new(4);
    for job in 0..10_u64 {
        let ms = job as u32;
        clock.timeline.event(&Event::Submitted {
            at: clock.at(ms),
            job,
            label: "".into(),
            priority: Priority::Normal,
        });
        clock.stage(job, 0, &format!("made up {job}"), NODE0, ms, Some((ms + 1, End::Done)));
        clock.timeline.event(&Event::Finished { at: clock.at(ms + 1), job, end: End::Done });
    }
    let trace = clock.timeline.trace();
    assert_eq!(trace.spans().iter().map(|span| span.stage.job).collect::<Vec<_>>(), [6, 7, 8, 9]);
    assert_eq!((trace.runs().len(), trace.dropped()), (4, 12));
    assert_eq!(trace.totals().len(), 10, "totals forget nothing");
    assert!(trace.table().to_string().contains("12 older records were let go"));

    for job in 0..2000_u64 {
        clock.stage(job, 0, &format!("name {job}"), NODE0, 0, Some((1, End::Done)));
    }
    let trace = clock.timeline.trace();
    assert_eq!(trace.totals().len(), 513, "512 names and the others");
    assert_eq!(trace.totals().iter().map(super::StageTotal::count).sum::<u64>(), 2010);
    assert_eq!(&*trace.totals()[512].name, "(others)");
}

#[test]
fn odd_events_are_taken_as_they_are() {
    let clock = Clock::new(10);
    // Ends without beginnings, an end before its beginning, times before the start.
    clock.timeline.event(&Event::Finished { at: clock.at(1), job: 9, end: End::Done });
    clock.timeline.event(&Event::Admitted { at: clock.at(1), job: 9 });
    clock.stage(1, 0, "backwards", NODE0, 50, Some((40, End::Done)));
    let before = clock.start.checked_sub(MS).unwrap_or(clock.start);
    clock.timeline.event(&Event::Submitted {
        at: before,
        job: 2,
        label: "x".into(),
        priority: Priority::Normal,
    });
    let trace = clock.timeline.trace();
    assert_eq!(trace.totals()[0].total, Duration::ZERO);
    assert_eq!(trace.runs()[0].submitted, Duration::ZERO);
    assert!(!events(&trace).is_empty());
    assert!(trace.gantt(0).to_string().lines().all(|line| line.chars().count() <= 80));

    let empty = Timeline::new().trace();
    assert_eq!(events(&empty).len(), 2);
    assert!(empty.gantt(80).to_string().contains("lane"));
}

#[test]
fn durations_and_names_fit_their_columns() {
    use super::gantt::{fit, format_duration};
    let shown = [
        (0, "0.00 µs"),
        (999, "1.00 µs"),
        (12_345, "12.3 µs"),
        (999_600, "1.00 ms"),
        (450_000_000, "450 ms"),
        (999_600_000, "1.00 s"),
        (86_400_000_000_000, "86.4 ks"),
    ];
    for (nanos, text) in shown {
        assert_eq!(format_duration(Duration::from_nanos(nanos)), text);
    }
    assert_eq!(format_duration(Duration::from_secs(1234)), "1234 s");
    assert_eq!(fit("abc", 5), "abc  ");
    assert_eq!(fit("abcdef", 5), "abcd…");
    assert_eq!(fit("a\u{1b}[2Jb", 12).trim_end(), "a\\u{1b}[2Jb", "no escape sequence reaches a terminal");
}
