//! Who goes first, and that this never takes away what the owner was promised.

use std::time::{Duration, Instant};

use super::sim::{Blob, Error, Machine, Rng, Sim, chain};
use crate::{Cost, Footprint, Graph, Options, Priority, RunError, stage_fn};

/// The order in which one lane runs runs of one stage each, that were
/// submitted while the lane was busy.
fn served(submitted: &[(&str, Options)]) -> Vec<String> {
    let mut sim = Sim::new(&Machine::host(100, 1));
    let busy = chain(&[("busy", 1)]);
    let _busy = sim.submit(&busy, 1);
    let graphs: Vec<_> = submitted.iter().map(|(name, _)| chain(&[(*name, 1)])).collect();
    let runs: Vec<_> =
        graphs.iter().zip(submitted).map(|(g, (_, o))| sim.submit_with(g, 1, o.clone())).collect();
    let mut served = Vec::new();
    while !sim.begun.is_empty() {
        served.append(&mut sim.names());
        sim.end(0);
    }
    assert!(runs.iter().all(|run| run.end().is_some_and(|end| end.is_ok())));
    served
}

#[test]
fn class_then_deadline_then_age() {
    let now = Instant::now();
    let due = |s| Options::new().deadline(now + Duration::from_secs(s));
    let order = served(&[
        ("low", Options::new().priority(Priority::Low)),
        ("normal", Options::new()),
        ("late", due(9)),
        ("soon", due(1)),
        ("normal2", Options::new()),
        ("critical", Options::new().priority(Priority::Critical)),
        ("high", Options::new().priority(Priority::High)),
    ]);
    assert_eq!(order, ["busy", "critical", "high", "soon", "late", "normal", "normal2", "low"]);
}

/// Within a run, stages start in the builder's order.
#[test]
fn stages_of_a_run_start_in_the_builders_order() {
    let graph = Graph::<Blob, Blob>::build(|g, input| {
        let two = Cost::free().output(Footprint::ZERO).output(Footprint::ZERO);
        let split = stage_fn("split", two, |_, _: Blob| Ok::<_, Error>((Blob::host(0), Blob::host(0))));
        let (a, b) = g.stage(split, input);
        let late = g.stage(super::sim::step("a", 0), b);
        let early = g.stage(super::sim::step("b", 0), a);
        let join = stage_fn("join", Cost::free().output(Footprint::ZERO), |_, _: (Blob, Blob)| {
            Ok::<_, Error>(Blob::host(0))
        });
        Ok(g.stage(join, (late, early)))
    });
    let graph = graph.unwrap();
    let mut sim = Sim::new(&Machine::host(9, 1));
    let _run = sim.submit(&graph, 0);
    for name in ["split", "a", "b", "join"] {
        assert_eq!(sim.names(), [name]);
        sim.end(0);
    }
}

/// When a class finds no memory, lower ones leave the surplus to it.
#[test]
fn low_runs_leave_memory_to_high_ones() {
    let big = chain(&[("start", 1), ("big", 50)]);
    let small = chain(&[("small1", 20), ("small2", 20), ("small3", 20)]);
    let mut sim = Sim::new(&Machine::host(110, 4));
    let low = Options::new().priority(Priority::Low);
    let owner = sim.submit_with(&chain(&[("owner", 50)]), 0, low.clone());
    let others: Vec<_> = (0..2).map(|_| sim.submit_with(&small, 0, low.clone())).collect();
    let high = sim.submit_with(&big, 0, Options::new().priority(Priority::High));
    assert_eq!(sim.names(), ["owner", "small1", "small1", "start"]);
    sim.end_stage("start");
    // 40 of the surplus of 60 are taken: `big` waits, and no `small2` starts
    // with what comes back, until there is enough.
    sim.end_stage("small1");
    assert_eq!(sim.names(), ["owner", "small1"]);
    sim.end_stage("owner");
    assert!(owner.end().is_some());
    sim.play(&mut Rng::new(1));
    assert!(high.end().is_some_and(|end| end.is_ok()));
    assert!(others.iter().all(|run| run.end().is_some_and(|end| end.is_ok())));
    assert!(sim.balanced());
}

/// When the most senior run ends, the reserve goes to the run of the highest
/// class, though others were active before.
#[test]
fn the_reserve_passes_to_the_highest_class() {
    let big = chain(&[("first", 1), ("big", 60)]);
    let mut sim = Sim::new(&Machine::host(70, 8));
    let low = || Options::new().priority(Priority::Low);
    let _runs: Vec<_> = (0..3).map(|_| sim.submit_with(&big, 0, low())).collect();
    let urgent = chain(&[("urgent.first", 1), ("urgent.big", 60)]);
    let urgent = sim.submit_with(&urgent, 0, Options::new().priority(Priority::Critical));
    for _ in 0..3 {
        sim.end_stage("first");
    }
    sim.end_stage("urgent.first");
    assert_eq!(sim.names(), ["big"], "the surplus has no room for another");
    sim.end_stage("big");
    assert_eq!(sim.names(), ["urgent.big"]);
    sim.play(&mut Rng::new(1));
    assert!(urgent.end().is_some_and(|end| end.is_ok()));
    assert!(sim.balanced());
}

/// A stage that only the reserve can pay for does not keep lower classes from
/// the surplus.
#[test]
fn what_the_surplus_can_never_hold_blocks_nobody() {
    let big = chain(&[("first", 1), ("big", 60)]);
    let small = chain(&[("small1", 2), ("small2", 2)]);
    let mut sim = Sim::new(&Machine::host(70, 8));
    let _owner = sim.submit(&big, 0);
    let _high = sim.submit_with(&big, 0, Options::new().priority(Priority::High));
    let _small = sim.submit_with(&small, 0, Options::new().priority(Priority::Low));
    sim.end_stage("first");
    sim.end_stage("first");
    sim.end_stage("small1");
    assert_eq!(sim.names(), ["big", "small2"]);
}

/// However many critical runs come, the run that is active longest goes on:
/// its turn may use the reserve.
#[test]
fn the_owner_is_never_starved_of_memory() {
    let owner = chain(&[("one", 10), ("two", 10), ("three", 10)]);
    let other = chain(&[("other1", 9), ("other2", 9)]);
    let mut sim = Sim::new(&Machine::host(22, 8));
    let run = sim.submit_with(&owner, 0, Options::new().priority(Priority::Low));
    let critical = || Options::new().priority(Priority::Critical);
    let mut runs: Vec<_> = (0..4).map(|_| sim.submit_with(&other, 0, critical())).collect();
    for name in ["one", "two", "three"] {
        assert!(sim.names().contains(&name.to_string()), "{:?}", sim.names());
        runs.push(sim.submit_with(&other, 0, critical()));
        sim.end_stage(name);
    }
    assert!(run.end().is_some_and(|end| end.is_ok()));
    sim.play(&mut Rng::new(1));
    assert!(runs.iter().all(|run| run.end().is_some_and(|end| end.is_ok())));
}

/// Two runs under a budget just over one floor: both end, one after the other
/// as memory allows.
#[test]
fn two_runs_end_just_over_one_floor() {
    let graph = chain(&[("a", 30), ("b", 30), ("c", 5)]);
    let floor = graph.floor_with(Footprint::host(2)).host;
    assert_eq!(floor, 60);
    for seed in 0..50 {
        let mut sim = Sim::new(&Machine::host(floor + 2, 2));
        let runs = [sim.submit(&graph, 2), sim.submit(&graph, 2)];
        sim.play(&mut Rng::new(seed));
        assert!(runs.iter().all(|run| run.end().is_some_and(|end| end.is_ok())), "seed {seed}");
    }
    let mut sim = Sim::new(&Machine::host(floor - 1, 2));
    let refused = sim.submit(&graph, 2).end();
    assert!(
        matches!(refused, Some(Err(RunError::OverBudget { floor, budget })) if floor.host == 60 && budget.host == 59)
    );
}

/// A declaration of absurd size is refused like any other, without overflow.
#[test]
fn absurd_declarations_are_refused() {
    let graph = chain(&[("huge", u64::MAX), ("huger", u64::MAX)]);
    let mut sim = Sim::new(&Machine::host(u64::MAX - 1, 1));
    assert!(matches!(sim.submit(&graph, 2).end(), Some(Err(RunError::OverBudget { .. }))));
    assert!(matches!(
        sim.submit(&chain(&[("a", 1)]), u64::MAX).end(),
        Some(Err(RunError::OverBudget { .. }))
    ));
}
