//! Values that outlive runs: loaded once, shared, let go in time, never in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use super::sim::{Blob, Error, Machine, Rng, Sim};
use crate::{Cost, Footprint, Graph, RunError, stage_fn};

/// A graph of one stage `read` that reads the value `key` of so many bytes,
/// with so much scratch memory.
fn reader(key: &'static str, bytes: u64, scratch: u64, loads: &Arc<AtomicUsize>) -> Graph<Blob, Blob> {
    reader_of(key, bytes, scratch, move |loads| Ok(loads.fetch_add(1, SeqCst)), loads)
}

fn reader_of(
    key: &'static str,
    bytes: u64,
    scratch: u64,
    load: impl Fn(&AtomicUsize) -> Result<usize, Error> + Send + Sync + 'static,
    loads: &Arc<AtomicUsize>,
) -> Graph<Blob, Blob> {
    let loads = loads.clone();
    let load = stage_fn(format!("load.{key}"), Cost::free().output(Footprint::host(bytes)), move |_, ()| {
        load(&loads)?;
        Ok::<_, Error>(Blob::host(bytes))
    });
    let cost = Cost::free().scratch(Footprint::host(scratch)).output(Footprint::ZERO);
    let read = stage_fn("read", cost, move |_, (_, table): (Blob, Arc<Blob>)| {
        assert_eq!(table.bytes.host, bytes);
        Ok::<_, Error>(Blob::host(0))
    });
    let made = Graph::build(|g, input| {
        let table = g.resident(key, load);
        Ok(g.stage(read, (input, table)))
    });
    made.unwrap()
}

fn loads() -> Arc<AtomicUsize> {
    Arc::default()
}

fn keys(sim: &Sim) -> Vec<String> {
    let ready = sim.scheduler.residency.iter().filter(|(_, entry)| entry.ready().is_some());
    ready.map(|(_, entry)| entry.key.name.to_string()).collect()
}

#[test]
fn one_load_serves_all() {
    let loads = loads();
    let graph = reader("srs", 50, 1, &loads);
    assert_eq!(graph.floor().host, 51);
    let mut sim = Sim::new(&Machine::host(60, 4));
    let runs: Vec<_> = (0..5).map(|_| sim.submit(&graph, 1)).collect();
    assert_eq!(sim.names(), ["load.srs"]);
    sim.end_stage("load.srs");
    assert_eq!(sim.names(), ["read"; 4], "they share it, and its bytes count once");
    sim.play(&mut Rng::new(1));
    assert!(runs.iter().all(|run| run.end().is_some_and(|end| end.is_ok())));
    let late = sim.submit(&reader("srs", 50, 1, &loads), 1);
    sim.play(&mut Rng::new(1));
    assert!(late.end().is_some());
    assert_eq!(loads.load(SeqCst), 1);
}

/// The value loads while the run's first stage works: it is needed later, and
/// the floor has room for it already.
#[test]
fn what_is_needed_later_is_loaded_ahead() {
    let loads = loads();
    let graph = Graph::build(|g, input| {
        let first = g.stage(super::sim::step("first", 10), input);
        let load = stage_fn("load", Cost::free().output(Footprint::host(30)), {
            let loads = loads.clone();
            move |_, ()| {
                loads.fetch_add(1, SeqCst);
                Ok::<_, Error>(Blob::host(30))
            }
        });
        let table = g.resident("t", load);
        let read = stage_fn("read", Cost::free().output(Footprint::ZERO), |_, _: (Blob, Arc<Blob>)| {
            Ok::<_, Error>(Blob::host(0))
        });
        Ok(g.stage(read, (first, table)))
    });
    let graph = graph.unwrap();
    assert_eq!(graph.floor().host, 40);
    let mut sim = Sim::new(&Machine::host(40, 2));
    let _run = sim.submit(&graph, 0);
    assert_eq!(sim.names(), ["first", "load"], "even under the smallest budget");
}

#[test]
fn a_failed_load_ends_those_who_wait_and_is_tried_again() {
    let loads = loads();
    let load = |loads: &AtomicUsize| if loads.fetch_add(1, SeqCst) == 0 { Err(Error::No) } else { Ok(0) };
    let graph = reader_of("srs", 50, 1, load, &loads);
    let mut sim = Sim::new(&Machine::host(160, 4));
    let runs: Vec<_> = (0..3).map(|_| sim.submit(&graph, 1)).collect();
    let other = sim.submit(&reader("other", 50, 1, &loads), 1);
    sim.end_stage("load.srs");
    sim.play(&mut Rng::new(1));
    for run in runs {
        let Some(Err(error)) = run.end() else { panic!("it waited for the load") };
        assert_eq!(error.stage(), Some("load.srs"));
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no");
    }
    assert!(other.end().is_some_and(|end| end.is_ok()), "it waited for another");
    let next = sim.submit(&graph, 1);
    sim.play(&mut Rng::new(1));
    assert!(next.end().is_some_and(|end| end.is_ok()));
    assert!(sim.balanced());
}

/// Of idle values the one that loads fast for its size goes first.
#[test]
fn eviction_weighs_cost_and_use() {
    let loads = loads();
    let mut sim = Sim::new(&Machine::host(100, 1));
    let run = |sim: &mut Sim, key, bytes| {
        let run = sim.submit(&reader(key, bytes, 1, &loads), 1);
        sim.play(&mut Rng::new(1));
        assert!(run.end().is_some_and(|end| end.is_ok()), "{key}");
    };
    run(&mut sim, "slow", 40);
    run(&mut sim, "fast", 40);
    for (key, seconds) in [("slow", 60), ("fast", 1)] {
        sim.scheduler.residency.set_cost(key, Duration::from_secs(seconds));
    }
    run(&mut sim, "third", 40);
    assert_eq!(keys(&sim), ["slow", "third"], "what loads fast goes first");
    // The clock has advanced to the worth of what went; by use and by size
    // the slow one ages behind those that are used.
    for (key, seconds) in [("slow", 60), ("third", 59)] {
        sim.scheduler.residency.set_cost(key, Duration::from_secs(seconds));
    }
    for i in 0..3 {
        run(&mut sim, if i % 2 == 0 { "fourth" } else { "fifth" }, 40);
        sim.scheduler
            .residency
            .set_cost(if i % 2 == 0 { "fourth" } else { "fifth" }, Duration::from_secs(61));
    }
    assert!(!keys(&sim).contains(&"slow".to_string()), "{:?}", keys(&sim));
}

/// Two runs read two values that do not fit together: the second waits until
/// the first is done, and nothing that is read is let go.
#[test]
fn nothing_in_use_is_let_go() {
    let loads = loads();
    let mut sim = Sim::new(&Machine::host(100, 4));
    let (a, b) = (reader("a", 70, 5, &loads), reader("b", 70, 5, &loads));
    let first = sim.submit(&a, 1);
    sim.end_stage("load.a");
    let second = sim.submit(&b, 1);
    assert_eq!(sim.names(), ["read"]);
    sim.end_stage("read");
    assert!(first.end().is_some());
    assert!(sim.sweep(), "now `a` is let go");
    sim.play(&mut Rng::new(1));
    assert!(second.end().is_some_and(|end| end.is_ok()));
    assert_eq!(keys(&sim), ["b"]);
}

/// An `Arc` that outlives its stage keeps the value, and who needs its room is
/// told so instead of waiting for ever.
#[test]
fn a_value_that_is_kept_outside_is_an_error_for_those_who_need_its_room() {
    let kept: Arc<std::sync::Mutex<Option<Arc<Blob>>>> = Arc::default();
    let graph = Graph::build(|g, input| {
        let cost = Cost::free().output(Footprint::host(70));
        let table = g.resident("kept", stage_fn("load", cost, |_, ()| Ok::<_, Error>(Blob::host(70))));
        let kept = kept.clone();
        let read =
            stage_fn("read", Cost::free().output(Footprint::ZERO), move |_, (b, t): (Blob, Arc<Blob>)| {
                *kept.lock().unwrap() = Some(t);
                Ok::<_, Error>(b)
            });
        Ok(g.stage(read, (input, table)))
    });
    let mut sim = Sim::new(&Machine::host(100, 2));
    let run = sim.submit(&graph.unwrap(), 0);
    sim.play(&mut Rng::new(1));
    assert!(run.end().is_some_and(|end| end.is_ok()));
    let needs = reader("other", 70, 5, &loads());
    let run = sim.submit(&needs, 1);
    sim.play(&mut Rng::new(1));
    assert!(
        matches!(run.end(), Some(Err(RunError::Kept { stage, kept, .. })) if &*stage == "load.other" && kept.host == 70)
    );
    kept.lock().unwrap().take();
    let run = sim.submit(&needs, 1);
    sim.play(&mut Rng::new(1));
    assert!(run.end().is_some_and(|end| end.is_ok()));
}

/// A run that is cancelled while its value loads: the load is told to stop,
/// unless another run waits for it, and nothing stays paid.
#[test]
fn a_cancelled_run_stops_its_load() {
    let loads = loads();
    let graph = reader("srs", 50, 1, &loads);
    for other in [false, true] {
        let mut sim = Sim::new(&Machine::host(60, 2));
        let run = sim.submit(&graph, 1);
        let other = other.then(|| sim.submit(&graph, 1));
        assert_eq!(sim.names(), ["load.srs"]);
        run.cancel.cancel();
        sim.settle();
        while sim.sweep() {}
        assert!(matches!(run.end(), Some(Err(RunError::Cancelled))));
        assert_eq!(sim.begun[0].1.cancel.is_cancelled(), other.is_none());
        sim.play(&mut Rng::new(1));
        assert!(other.is_none_or(|run| run.end().is_some_and(|end| end.is_ok())));
        assert!(sim.balanced());
    }
}

/// Values of two types may share a key.
#[test]
fn a_key_belongs_to_a_type() {
    struct Other;
    impl crate::Value for Other {
        fn footprint(&self) -> Footprint {
            Footprint::host(3)
        }
    }
    let graph = Graph::build(|g, input| {
        let blob =
            stage_fn("b", Cost::free().output(Footprint::host(2)), |_, ()| Ok::<_, Error>(Blob::host(2)));
        let other = || stage_fn("o", Cost::free().output(Footprint::host(3)), |_, ()| Ok::<_, Error>(Other));
        let (blob, first) = (g.resident("key", blob), g.resident("key", other()));
        let again = g.resident("key", other());
        let read = stage_fn(
            "read",
            Cost::free().output(Footprint::ZERO),
            |_, (_, _, a, b): (Blob, Arc<Blob>, Arc<Other>, Arc<Other>)| {
                assert!(Arc::ptr_eq(&a, &b));
                Ok::<_, Error>(Blob::host(0))
            },
        );
        Ok(g.stage(read, (input, blob, first, again)))
    });
    let graph = graph.unwrap();
    assert_eq!(graph.floor().host, 5);
    let mut sim = Sim::new(&Machine::host(6, 1));
    let run = sim.submit(&graph, 1);
    sim.play(&mut Rng::new(1));
    assert!(run.end().is_some_and(|end| end.is_ok()));
}

#[test]
fn what_is_unused_is_trimmed_on_demand() {
    let mut sim = Sim::new(&Machine::host(60, 1));
    let _run = sim.submit(&reader("srs", 50, 1, &loads()), 1);
    sim.play(&mut Rng::new(1));
    let trim = |sim: &mut Sim, idle| {
        sim.scheduler.handle(crate::engine::schedule::Message::Trim(idle));
        while sim.sweep() {}
    };
    trim(&mut sim, Duration::from_hours(1));
    assert_eq!(keys(&sim), ["srs"]);
    trim(&mut sim, Duration::ZERO);
    assert!(keys(&sim).is_empty());
}
