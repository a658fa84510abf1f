//! What an engine promises, on real threads.

mod common;

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::*;
use cuzk_pipeline_core::*;

/// Every run ends, what is truly alive never exceeds the budget, and the books
/// balance.
#[test]
fn random_graphs_end_under_any_budget_above_their_floor() {
    for seed in 1..=200u64 {
        let mut rng = Rng::new(seed);
        let meter = Arc::new(Meter::default());
        let graphs: Vec<_> = (0..4).map(|_| Arc::new(random(&mut rng, &meter))).collect();
        let floor = graphs.iter().fold(Footprint::ZERO, |m, g| m.max(g.floor_with(Footprint::host(2))));
        let spare = Footprint { host: rng.below(40), device: rng.below(3), ..Footprint::ZERO };
        let budget = floor + spare;
        let engine = Engine::builder()
            .budget(budget)
            .topology(&Topology::fake(&[1]))
            .place(Place::Numa(0), 3)
            .place(Place::Gpu(0), 1)
            .build()
            .unwrap();
        let (tx, rx) = mpsc::channel();
        let ends = std::thread::Builder::new().spawn(move || {
            let runs: Vec<_> = (0..8).map(|i| engine.submit(&graphs[i % 4], Blob(2, None))).collect();
            let ends: Vec<_> = runs.into_iter().map(|r| r.wait().map(|b| b.0)).collect();
            books_are_empty(&engine);
            tx.send(()).unwrap();
            ends
        });
        rx.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("seed {seed} starves or died"));
        for end in ends.unwrap().join().unwrap() {
            assert_eq!(end.unwrap(), 1, "seed {seed}");
        }
        assert!(meter.peak() <= budget.host.cast_signed(), "seed {seed}: {} of {budget}", meter.peak());
        assert_eq!(meter.live(), 0, "seed {seed}");
    }
}

#[test]
fn an_error_names_its_stage_place_and_kind_and_keeps_its_cause() {
    let stage =
        stage_fn("msm.h", Cost::free().output(Footprint::host(1)), |_, _: Blob| Err::<Blob, _>(Error::No));
    let stage = stage.kind(|_| ErrorKind::Input);
    let graph = Graph::build(|g, input| Ok(g.stage(stage, input)));
    let error = engine().submit(&Arc::new(graph.unwrap()), Blob(1, None)).wait().err().unwrap();
    assert_eq!(error.to_string(), "stage `msm.h` failed on numa0");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no");
    assert_eq!(error.kind(), ErrorKind::Input);
    assert_eq!((error.stage(), error.place()), (Some("msm.h"), Some(Place::Numa(0))));
}

#[test]
fn a_panic_ends_its_run_and_not_the_engine() {
    let graph = one("odd", 1, |_, b| {
        assert!(b.0 != 3, "three");
        Ok(b)
    });
    let engine = engine();
    let end = engine.submit(&graph, Blob(3, None)).wait();
    assert!(matches!(end, Err(RunError::Panicked { message, .. }) if message == "three"));
    assert!(engine.submit(&graph, Blob(1, None)).wait().is_ok());
    books_are_empty(&engine);
}

#[test]
fn a_graph_above_the_budget_is_refused_with_both_numbers() {
    let end = engine().submit(&one("big", 11, |_, b| Ok(b)), Blob(0, None)).wait();
    assert!(
        matches!(end, Err(RunError::OverBudget { floor, budget }) if floor.host == 11 && budget.host == 10)
    );
}

#[test]
fn without_a_budget_there_is_what_the_machine_has_left() {
    let engine = Engine::builder().topology(&Topology::fake(&[1])).build().unwrap();
    assert!(engine.submit(&one("big", 1 << 20, |_, b| Ok(b)), Blob(0, None)).wait().is_ok());
    let exbibyte = one("bigger", 1 << 60, |_, b| Ok(b));
    assert!(matches!(engine.submit(&exbibyte, Blob(0, None)).wait(), Err(RunError::OverBudget { .. })));
}

#[test]
fn the_input_counts_while_it_lives() {
    let graph = one("half", 6, |_, _| Ok(Blob(6, None)));
    let end = engine().submit(&graph, Blob(5, None)).wait();
    assert!(matches!(end, Err(RunError::OverBudget { floor, .. }) if floor.host == 11));
    assert!(engine().submit(&graph, Blob(4, None)).wait().is_ok());
}

/// A stage that waits until it is told to stop.
fn patient() -> Arc<Graph<Blob, Blob>> {
    one("patient", 1, |cx, _| {
        loop {
            cx.checkpoint()?;
            std::thread::sleep(Duration::from_millis(1));
        }
    })
}

#[test]
fn a_cancelled_run_stops_at_a_checkpoint() {
    let engine = engine();
    let run = engine.submit(&patient(), Blob(1, None));
    while engine.status().unwrap().ledgers[0].used < 2 {
        std::thread::yield_now();
    }
    run.cancel_token().cancel();
    assert!(matches!(run.wait(), Err(RunError::Cancelled)));
    books_are_empty(&engine);
}

#[test]
fn a_run_that_waits_for_memory_is_cancelled_at_once() {
    let engine = engine();
    let first = engine.submit(&patient(), Blob(8, None));
    let second = engine.submit(&patient(), Blob(8, None));
    while engine.status().unwrap().queued < 1 {
        std::thread::yield_now();
    }
    second.cancel_token().cancel();
    assert!(matches!(second.wait(), Err(RunError::Cancelled)));
    drop(first);
    books_are_empty(&engine);
}

#[test]
fn a_run_that_is_not_over_is_given_back() {
    let engine = engine();
    let run = engine.submit(&patient(), Blob(1, None));
    let Err(run) = run.wait_timeout(Duration::from_millis(20)) else { panic!("it never ends") };
    run.cancel_token().cancel();
    assert!(matches!(run.wait_timeout(Duration::from_secs(10)), Ok(Err(RunError::Cancelled))));
}

#[test]
fn a_dropped_engine_ends_its_runs() {
    let engine = engine();
    let run = engine.submit(&patient(), Blob(1, None));
    let waiting = engine.submit(&patient(), Blob(9, None));
    drop(engine);
    assert!(matches!(run.wait(), Err(RunError::Shutdown)));
    assert!(matches!(waiting.wait(), Err(RunError::Shutdown)));
}

/// A stage that stops at no checkpoint keeps its thread, not its engine.
#[test]
fn a_deaf_stage_does_not_hang_a_drop() {
    let (tx, rx) = mpsc::sync_channel(0);
    let deaf = one("deaf", 1, move |_, b| {
        tx.send(()).ok();
        std::thread::sleep(Duration::from_secs(4));
        Ok(b)
    });
    let engine = Engine::builder()
        .budget(Footprint::host(9))
        .topology(&Topology::fake(&[1]))
        .grace(Duration::from_millis(50))
        .build()
        .unwrap();
    let run = engine.submit(&deaf, Blob(1, None));
    rx.recv().unwrap();
    let start = Instant::now();
    drop(engine);
    assert!(matches!(run.wait(), Err(RunError::Shutdown)));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn an_engine_that_shut_down_refuses_runs() {
    let engine = engine();
    engine.shutdown();
    let end = engine.submit(&one("id", 1, |_, b| Ok(b)), Blob(1, None)).wait();
    assert!(matches!(end, Err(RunError::Shutdown)));
    while engine.status().is_ok() {
        std::thread::yield_now();
    }
    let end = engine.submit(&one("id", 1, |_, b| Ok(b)), Blob(1, None)).wait();
    assert!(matches!(end, Err(RunError::Shutdown)));
}

#[test]
fn the_queue_has_an_end() {
    let engine = Engine::builder()
        .budget(Footprint::host(9))
        .topology(&Topology::fake(&[1]))
        .queue(1)
        .build()
        .unwrap();
    let first = engine.submit(&patient(), Blob(8, None));
    while engine.status().unwrap().active < 1 {
        std::thread::yield_now();
    }
    let second = engine.submit(&patient(), Blob(8, None));
    let third = engine.submit(&patient(), Blob(8, None)).wait();
    assert!(matches!(third, Err(RunError::QueueFull { limit: 1 })));
    drop((first, second));
}

/// The giver of an `Arc` holds the very value that stages read.
#[test]
fn an_arc_is_shared_as_it_is() {
    let given = Arc::new(Blob(3, None));
    let address = Arc::as_ptr(&given).addr();
    let read = stage_fn("read", Cost::free().output(Footprint::host(1)), move |_, b: Arc<Blob>| {
        Ok::<_, Error>(Blob(u64::from(Arc::as_ptr(&b).addr() == address), None))
    });
    let graph = Graph::<Arc<Blob>, Blob>::build(|g, input| {
        let input = g.share_arc(input);
        Ok(g.stage(read, input))
    });
    assert_eq!(engine().submit(&Arc::new(graph.unwrap()), given.clone()).wait().unwrap().0, 1);
}

#[test]
fn odd_engines_are_not_built() {
    let engine = || Engine::builder().topology(&Topology::fake(&[1, 1]));
    let error = |builder: EngineBuilder| builder.build().err().unwrap();
    assert!(matches!(
        error(engine().place(Place::Numa(0), 0)),
        EngineError::NoLanes { place: Place::Numa(0) }
    ));
    assert!(matches!(error(engine().place(Place::Gpu(3), 0)), EngineError::NoLanes { place: Place::Gpu(3) }));
    assert!(matches!(error(engine().place(Place::Numa(7), 1)), EngineError::NoNode { nodes: 2, .. }));
    assert!(matches!(error(engine().threads(0)), EngineError::NoThreads));
    let twice = engine().place(Place::Gpu(1), 1).device(Device::new(1, 9));
    assert!(matches!(error(twice), EngineError::SameDevice { device: 1 }));
}

#[test]
fn a_stage_without_a_place_is_refused() {
    let stage = stage_fn("far", Cost::free().output(Footprint::ZERO), |_, b: Blob| Ok::<_, Error>(b));
    let graph = Graph::build(|g, input| Ok(g.stage(stage.at(Placement::Gpu), input))).unwrap();
    let end = engine().submit(&Arc::new(graph), Blob(0, None)).wait();
    assert!(matches!(end, Err(RunError::NoPlace { stage }) if &*stage == "far"));
}

#[test]
fn a_device_lane_hands_its_device_to_its_stages() {
    struct Card(u32);
    let stage = stage_fn("ask", Cost::free().output(Footprint::host(7)), |cx, _: Blob| {
        let card: &Card = cx.device().ok_or(Error::No)?;
        assert_eq!(cx.place(), Place::Gpu(3));
        Ok::<_, Error>(Blob(card.0.into(), None))
    });
    let graph = Graph::build(|g, input| Ok(g.stage(stage.at(Placement::Gpu), input))).unwrap();
    let engine = Engine::builder()
        .budget(Footprint::host(9))
        .topology(&Topology::fake(&[1]))
        .device(Device::new(3, 9).handle(Arc::new(Card(7))))
        .build()
        .unwrap();
    assert_eq!(engine.submit(&Arc::new(graph), Blob(0, None)).wait().unwrap().0, 7);
}

/// A card that is in order, or not.
struct Flaky {
    broken: bool,
}

/// An engine with a broken card 0 and a card 1 that works, and a graph of a stage that fails on a
/// broken card, beside a resident value of each.
fn flaky(cards: u16) -> (Engine, Arc<Graph<Blob, Blob>>) {
    let device = |id| Device::new(id, 9).handle(Arc::new(Flaky { broken: id == 0 }));
    let builder = Engine::builder().budget(Footprint::host(9)).topology(&Topology::fake(&[1]));
    let engine = (0..cards).fold(builder, |builder, id| builder.device(device(id)));
    let engine = engine.build().expect("an engine");
    let load = stage_fn("load", Cost::free().output(Footprint::device(2)), |_, ()| Ok::<_, Error>(OnCard(2)));
    let work =
        stage_fn("work", Cost::free().output(Footprint::host(1)), |cx, (_, _): (Blob, Arc<OnCard>)| {
            let card: &Flaky = cx.device().ok_or(Error::No)?;
            if card.broken { Err(Error::No) } else { Ok(Blob(1, None)) }
        });
    let graph = Graph::build(|g, input| {
        let table = g.resident("table", load.at(Placement::Gpu));
        Ok(g.stage(work.at(Placement::Gpu).kind(|_| ErrorKind::Device), (input, table)))
    });
    (engine, Arc::new(graph.expect("a graph")))
}

/// Device memory that is none.
struct OnCard(u64);

impl Value for OnCard {
    fn footprint(&self) -> Footprint {
        Footprint::device(self.0)
    }
}

#[test]
fn a_device_that_failed_takes_no_more_work_and_another_does() {
    let (engine, graph) = flaky(2);
    let first = engine.submit(&graph, Blob(1, None)).wait();
    assert!(matches!(&first, Err(RunError::Stage { place: Place::Gpu(0), .. })), "{:?}", first.err());
    for _ in 0..3 {
        assert_eq!(engine.submit(&graph, Blob(1, None)).wait().unwrap().0, 1);
    }
    let status = engine.status().unwrap();
    assert_eq!(status.quarantined, [Place::Gpu(0)]);
    assert!(status.residents.iter().all(|r| r.device == Some(Place::Gpu(1))), "{:?}", status.residents);
}

#[test]
fn runs_that_only_a_failed_device_could_take_are_told_so() {
    let (engine, graph) = flaky(1);
    // The first fails on the device; the others are active or wait, and end too.
    let runs: Vec<_> = (0..4).map(|_| engine.submit(&graph, Blob(4, None))).collect();
    let ends: Vec<_> = runs.into_iter().map(|run| run.wait().err().unwrap()).collect();
    assert!(matches!(ends[0], RunError::Stage { .. }), "{ends:?}");
    assert!(ends.iter().all(|end| end.kind() == ErrorKind::Device), "{ends:?}");
    let late = engine.submit(&graph, Blob(1, None)).wait().err().unwrap();
    assert!(matches!(late, RunError::Quarantined { place: Place::Gpu(0) }), "{late}");
    assert_eq!(engine.status().unwrap().residents.len(), 0);
    books_are_empty(&engine);
}

/// What is heavier than declared is paid for where there is room, and is an
/// error where there is none; either way the books hold what is there.
#[test]
fn an_overweight_output_does_not_corrupt_the_books() {
    let heavy = one("heavy", 1, |_, b| Ok(Blob(b.0 + 3, None)));
    let engine = engine();
    assert_eq!(engine.submit(&heavy, Blob(1, None)).wait().unwrap().0, 4);
    books_are_empty(&engine);
    let end = engine.submit(&heavy, Blob(9, None)).wait();
    let Err(RunError::Overweight { stage, output: 0, declared, actual, .. }) = end else {
        panic!("{:?}", end.err())
    };
    assert_eq!((&*stage, declared.host, actual.host), ("heavy", 1, 12));
    books_are_empty(&engine);
}

#[test]
fn a_panicking_drop_ends_its_run_and_not_the_engine() {
    struct Bomb;
    impl Value for Bomb {
        fn footprint(&self) -> Footprint {
            Footprint::ZERO
        }
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("boom"));
        }
    }
    let graph = Graph::build(|g, input: Port<'_, Blob>| {
        let free = || Cost::free().output(Footprint::ZERO);
        let bomb = g.stage(stage_fn("bomb", free(), |_, _: Blob| Ok::<_, Error>(Bomb)), input);
        let bomb = g.share(bomb);
        Ok(g.stage(stage_fn("read", free(), |_, _: Arc<Bomb>| Ok::<_, Error>(Blob(0, None))), bomb))
    });
    let (graph, engine) = (Arc::new(graph.unwrap()), engine());
    for _ in 0..3 {
        let end = engine.submit(&graph, Blob(0, None)).wait();
        assert!(matches!(end, Err(RunError::Panicked { message, .. }) if message == "boom"));
    }
    books_are_empty(&engine);
}

/// A run's own rayon work stays on its node's pool.
#[test]
fn install_enters_a_pool_of_the_engine() {
    let graph = one("install", 8, |cx, _| {
        let name = cx.install(|| std::thread::current().name().map(String::from)).unwrap_or_default();
        assert!(name.starts_with("cuzk.numa0.p"), "{name}");
        Ok(Blob(cx.install(rayon::current_num_threads) as u64, None))
    });
    let engine = Engine::builder()
        .budget(Footprint::host(9))
        .topology(&Topology::fake(&[5]))
        .threads(3)
        .build()
        .unwrap();
    assert_eq!(engine.submit(&graph, Blob(0, None)).wait().unwrap().0, 3);
}

/// Whatever holds the ordinary lanes, a critical run has a lane and a pool.
#[test]
fn a_critical_run_does_not_wait_for_lanes() {
    let engine = two_lanes(100);
    let slow: Vec<_> = (0..3).map(|_| engine.submit(&patient(), Blob(1, None))).collect();
    while engine.status().unwrap().ledgers[0].used < 5 {
        std::thread::yield_now();
    }
    let graph = one("seal", 1, |cx, b| {
        let name = cx.install(|| std::thread::current().name().map(String::from)).unwrap_or_default();
        assert!(name.starts_with("cuzk.numa0.c"), "{name}");
        Ok(b)
    });
    let urgent = engine.submit_with(&graph, Blob(1, None), Options::new().priority(Priority::Critical));
    assert!(urgent.wait_timeout(Duration::from_secs(10)).is_ok_and(|end| end.is_ok()));
    drop(slow);
}
