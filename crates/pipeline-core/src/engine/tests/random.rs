//! Random graphs on random machines, ended in random orders, with and without
//! faults: every run ends, what is alive never exceeds the budget, and the
//! books go back to zero.

use std::sync::Arc;

use super::sim::{Blob, Error, Handle, Machine, Meter, Rng, Sim};
use crate::{
    BuildError, Builder, Cost, Footprint, Graph, Ledger, Options, Place, Placement, Port, Priority, RunError,
    Shared, stage_fn,
};

/// How a stage ends.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Fine,
    Fails,
    Panics,
}

/// What graphs are made of.
#[derive(Clone, Copy)]
struct Makeup {
    devices: usize,
    /// Out of how many stages one fails, and one panics; 0: none.
    faults: usize,
    /// Out of how many outputs one is heavier than declared; 0: none.
    overweight: usize,
}

impl Makeup {
    fn fate(&self, rng: &mut Rng) -> Fate {
        if self.faults == 0 {
            return Fate::Fine;
        }
        match rng.below(self.faults) {
            0 => Fate::Fails,
            1 => Fate::Panics,
            _ => Fate::Fine,
        }
    }
}

/// An output: what it is declared to weigh, and what it weighs.
#[derive(Clone, Copy)]
struct Weight {
    declared: Footprint,
    actual: Footprint,
}

fn weight(rng: &mut Rng, device: bool, makeup: Makeup) -> Weight {
    let some = |rng: &mut Rng, n| if rng.below(2) == 0 { 0 } else { rng.below(n) as u64 };
    let mut declared = Footprint { host: some(rng, 12), pinned: some(rng, 4), device: 0 };
    if device {
        declared.device = some(rng, 8);
    }
    let mut actual = declared;
    match rng.below(6) {
        0 => actual.host /= 2,
        1 => actual.device /= 2,
        2 if makeup.overweight > 0 && rng.below(makeup.overweight) == 0 => {
            actual.host += 1 + rng.below(3) as u64;
        }
        _ => {}
    }
    Weight { declared, actual }
}

enum Open<'g> {
    Owned(Port<'g, Blob>, Weight),
    Shared(Shared<'g, Blob>, Weight),
}

/// A resident value: its weight follows from its key, so that graphs agree.
fn resident<'g>(
    g: &mut Builder<'g>,
    rng: &mut Rng,
    meter: &Arc<Meter>,
    on_device: bool,
    fate: Fate,
) -> Shared<'g, Blob> {
    let key = rng.below(3);
    let (name, bytes) = if on_device {
        (format!("device{key}"), Footprint::device(4 + key as u64))
    } else {
        (format!("host{key}"), Footprint::host(5 + 2 * key as u64))
    };
    let meter = meter.clone();
    let cost = Cost::free().output(bytes).scratch(Footprint::host(key as u64));
    let load =
        stage_fn(format!("load.{name}"), cost, move |cx, ()| end(fate, || Blob::new(cx, bytes, &meter)));
    g.resident(name, load.at(if on_device { Placement::Gpu } else { Placement::Cpu }))
}

fn end<T>(fate: Fate, value: impl FnOnce() -> T) -> Result<T, Error> {
    match fate {
        Fate::Fine => Ok(value()),
        Fate::Fails => Err(Error::No),
        // No hook is called, and nothing printed.
        Fate::Panics => std::panic::resume_unwind(Box::new("boom")),
    }
}

/// A graph; one whose stages name devices that do not agree is thrown again.
fn graph(rng: &mut Rng, meter: &Arc<Meter>, makeup: Makeup) -> Graph<Blob, Blob> {
    loop {
        match throw(rng, meter, makeup) {
            Ok(graph) => return graph,
            Err(BuildError::TwoDevices { .. }) => {}
            Err(error) => panic!("it is well formed: {error}"),
        }
    }
}

fn throw(rng: &mut Rng, meter: &Arc<Meter>, makeup: Makeup) -> Result<Graph<Blob, Blob>, BuildError> {
    let stages = 1 + rng.below(18);
    Graph::build(|g, input: Port<'_, Blob>| {
        let zero = Weight { declared: Footprint::ZERO, actual: Footprint::ZERO };
        let mut open = vec![Open::Owned(input, zero)];
        let mut devices: Vec<Open<'_>> = Vec::new();
        for i in 0..stages {
            let device = makeup.devices > 0 && rng.below(3) == 0;
            let (mut owned, mut shared) = (Vec::new(), Vec::new());
            let mut held = Footprint::ZERO;
            for _ in 0..=rng.below(3) {
                let from =
                    if device && !devices.is_empty() && rng.below(2) == 0 { &mut devices } else { &mut open };
                if from.is_empty() {
                    continue;
                }
                let j = rng.below(from.len());
                match from.swap_remove(j) {
                    Open::Owned(port, weight) if rng.below(4) == 0 => {
                        let port = g.share(port);
                        shared.push(port);
                        from.push(Open::Shared(port, weight));
                    }
                    Open::Owned(port, weight) => {
                        held += weight.declared;
                        owned.push(port);
                    }
                    Open::Shared(port, weight) => {
                        shared.push(port);
                        from.push(Open::Shared(port, weight));
                    }
                }
            }
            if rng.below(4) == 0 {
                let fate = makeup.fate(rng);
                shared.push(resident(g, rng, meter, false, fate));
            }
            if device && rng.below(2) == 0 {
                let fate = makeup.fate(rng);
                shared.push(resident(g, rng, meter, true, fate));
            }
            let (a, b) = (weight(rng, device, makeup), weight(rng, device, makeup));
            let in_place = if rng.below(2) == 0 { a.declared.min(held) } else { Footprint::ZERO };
            let mut scratch = Footprint { host: rng.below(3) as u64, ..Footprint::ZERO };
            if device {
                scratch.device = rng.below(3) as u64;
            }
            let cost = Cost::free().scratch(scratch).output(a.declared).output(b.declared).in_place(in_place);
            let fate = makeup.fate(rng);
            let meter = meter.clone();
            let stage =
                stage_fn(format!("s{i}"), cost, move |cx, (owned, shared): (Vec<Blob>, Vec<Arc<Blob>>)| {
                    drop((owned, shared));
                    end(fate, || (Blob::new(cx, a.actual, &meter), Blob::new(cx, b.actual, &meter)))
                });
            let place = match device {
                true if rng.below(8) == 0 => Placement::At(Place::Gpu(rng.below(makeup.devices) as u16)),
                true => Placement::Gpu,
                false => Placement::Cpu,
            };
            let (p, q) = g.stage(stage.at(place), (owned, shared));
            for (port, weight) in [(p, a), (q, b)] {
                let to = if weight.declared.device > 0 { &mut devices } else { &mut open };
                to.push(Open::Owned(port, weight));
            }
        }
        // What lies on devices is taken home, then all is joined.
        let mut ends = Vec::new();
        let mut reads = Vec::new();
        for value in devices {
            let cost = Cost::free().output(Footprint::ZERO);
            match value {
                Open::Owned(port, _) => {
                    let home = stage_fn("home", cost, |_, _: Blob| Ok::<_, Error>(Blob::host(0)));
                    ends.push(g.stage(home.at(Placement::Gpu), port));
                }
                Open::Shared(port, _) => {
                    let home = stage_fn("home", cost, |_, _: Arc<Blob>| Ok::<_, Error>(Blob::host(0)));
                    ends.push(g.stage(home.at(Placement::Gpu), port));
                }
            }
        }
        for value in open {
            match value {
                Open::Owned(port, _) => ends.push(port),
                Open::Shared(port, _) => reads.push(port),
            }
        }
        let join =
            stage_fn("join", Cost::free().output(Footprint::host(1)), |_, _: (Vec<Blob>, Vec<Arc<Blob>>)| {
                Ok::<_, Error>(Blob::host(1))
            });
        Ok(g.stage(join, (ends, reads)))
    })
}

fn options(rng: &mut Rng) -> Options {
    let classes = [Priority::Critical, Priority::High, Priority::Normal, Priority::Low];
    Options::new().priority(classes[rng.below(4)])
}

struct Played {
    ends: Vec<Option<Result<u64, RunError>>>,
    sim: Sim,
    machine: Machine,
}

/// Four graphs, nine runs, a budget just above the largest floor.
fn play(seed: u64, makeup: Makeup, cancels: bool, greedy: bool) -> Played {
    let mut rng = Rng::new(seed);
    let meter: Arc<Meter> = Arc::default();
    let graphs: Vec<_> = (0..4).map(|_| graph(&mut rng, &meter, makeup)).collect();
    let floor = graphs.iter().fold(Footprint::ZERO, |floor, g| floor.max(g.floor_with(Footprint::host(2))));
    let spare = |rng: &mut Rng, n| if rng.below(2) == 0 { 0 } else { rng.below(n) as u64 };
    let machine = Machine {
        host: floor.host + spare(&mut rng, 30),
        pinned: floor.pinned + spare(&mut rng, 6),
        nodes: (0..=rng.below(2)).map(|_| 1 + rng.below(3)).collect(),
        devices: (0..makeup.devices).map(|_| (floor.device + spare(&mut rng, 8), 1 + rng.below(2))).collect(),
        reserved: rng.below(2),
    };
    let mut sim = Sim::new(&machine);
    sim.meter = meter;
    sim.honest = makeup.overweight == 0;
    if greedy {
        sim = sim.greedy();
    }
    let mut handles: Vec<Handle> = Vec::new();
    for i in 0..9 {
        let options = options(&mut rng);
        handles.push(sim.submit_with(&graphs[i % 4], 2, options));
        for _ in 0..rng.below(6) {
            if !sim.begun.is_empty() {
                let next = rng.below(sim.begun.len());
                sim.end(next);
            }
            if cancels && rng.below(5) == 0 {
                handles[rng.below(handles.len())].cancel.cancel();
            }
        }
    }
    sim.play(&mut rng);
    let ends = handles.iter().map(|handle| handle.end().map(|end| end.map(|blob| blob.bytes.host))).collect();
    Played { ends, sim, machine }
}

fn check(seed: u64, played: &Played, fine: impl Fn(&Result<u64, RunError>) -> bool) {
    let Played { ends, sim, machine } = played;
    for (i, end) in ends.iter().enumerate() {
        let Some(end) = end else { panic!("seed {seed}: run {i} starves") };
        assert!(fine(end), "seed {seed}: run {i} ended with {end:?}");
    }
    assert!(sim.balanced(), "seed {seed}: {:?}", sim.scheduler.books);
    let within = |ledger, budget| {
        let peak = sim.meter.peak(ledger);
        assert!(peak <= budget, "seed {seed}: {peak} of {budget} bytes on {ledger}");
    };
    within(Ledger::Host, machine.host);
    within(Ledger::Pinned, machine.pinned);
    for (id, (bytes, _)) in machine.devices.iter().enumerate() {
        within(Ledger::Device(id as u16), *bytes);
    }
}

#[test]
fn every_run_ends_within_the_budget() {
    for seed in 0..2000 {
        let makeup = Makeup { devices: seed as usize % 3, faults: 0, overweight: 0 };
        check(seed, &play(seed, makeup, false, false), |end| *end.as_ref().unwrap_or(&0) == 1);
    }
}

#[test]
fn faults_panics_and_cancels_end_their_runs_alone() {
    for seed in 0..2000 {
        let makeup = Makeup { devices: seed as usize % 3, faults: 40, overweight: 0 };
        let played = play(seed, makeup, true, false);
        check(seed, &played, |end| {
            use RunError::{Cancelled, Panicked, Stage};
            matches!(end, Ok(1) | Err(Stage { .. } | Panicked { .. } | Cancelled))
        });
    }
}

/// Outputs that are heavier than declared are paid for or refused, so that the
/// books are right and every other run ends.
#[test]
fn overweight_outputs_do_not_corrupt_the_books() {
    let mut refused = 0;
    for seed in 0..800 {
        let makeup = Makeup { devices: seed as usize % 2, faults: 0, overweight: 20 };
        let Played { ends, sim, .. } = play(seed, makeup, false, false);
        for end in ends {
            let Some(end) = end else { panic!("seed {seed} starves") };
            refused += usize::from(end.is_err());
            assert!(matches!(end, Ok(1) | Err(RunError::Overweight { .. })), "seed {seed}: {end:?}");
        }
        assert!(sim.balanced(), "seed {seed}");
    }
    assert!(refused > 0, "no output was ever refused");
}

/// The mutant that admits whatever fits dies by the test above: some of its
/// runs never end.
#[test]
fn greedy_admission_starves() {
    let starves = |seed: &u64| {
        let makeup = Makeup { devices: 0, faults: 0, overweight: 0 };
        play(*seed, makeup, false, true).ends.iter().any(Option::is_none)
    };
    let starved = (0..300).filter(starves).count();
    assert!(starved > 30, "only {starved} of 300 seeds starve under greedy admission");
}

/// Every stage of one graph, and its loads, fail in turn, panic in turn, are
/// cancelled in turn, beside a run of the same graph that is well.
#[test]
fn any_stage_may_fail() {
    #[derive(Clone, Copy, PartialEq)]
    enum How {
        Error,
        Panic,
        Cancel,
    }
    const STAGES: [&str; 5] = ["load", "split", "left", "right", "join"];
    for how in [How::Error, How::Panic, How::Cancel] {
        for at in STAGES {
            let meter: Arc<Meter> = Arc::default();
            let build = |bad: Option<&'static str>| {
                let meter = meter.clone();
                let blob = move |name: &'static str, cx: &crate::Cx<'_>| {
                    cx.checkpoint()?;
                    match how {
                        How::Error if bad == Some(name) => Err(Error::No),
                        How::Panic if bad == Some(name) => std::panic::resume_unwind(Box::new("boom")),
                        _ => Ok(Blob::new(cx, Footprint::host(3), &meter)),
                    }
                };
                let cost = || Cost::free().output(Footprint::host(3)).scratch(Footprint::host(2));
                Graph::<Blob, Blob>::build(|g, input| {
                    let key = if bad.is_some() { "bad" } else { "good" };
                    let f = blob.clone();
                    let table = g.resident(key, stage_fn("load", cost(), move |cx, ()| f("load", cx)));
                    let f = blob.clone();
                    let two = cost().output(Footprint::host(3));
                    let split = stage_fn("split", two, move |cx, _: Blob| {
                        Ok::<_, Error>((f("split", cx)?, f("split", cx)?))
                    });
                    let (p, q) = g.stage(split, input);
                    let f = blob.clone();
                    let read = move |cx: &crate::Cx<'_>, (_, _): (Blob, Arc<Blob>)| f("left", cx);
                    let p = g.stage(stage_fn("left", cost(), read), (p, table));
                    let f = blob.clone();
                    let q = g.stage(stage_fn("right", cost(), move |cx, _: Blob| f("right", cx)), q);
                    let f = blob.clone();
                    Ok(g.stage(stage_fn("join", cost(), move |cx, _: (Blob, Blob)| f("join", cx)), (p, q)))
                })
                .unwrap()
            };
            let (good, bad) = (build(None), build(Some(at)));
            for seed in 0..20 {
                let mut rng = Rng::new(seed);
                let mut sim = Sim::new(&Machine::host(good.floor_with(Footprint::host(1)).host + 9, 2));
                let (well, ill) = (sim.submit(&good, 1), sim.submit(&bad, 1));
                if how == How::Cancel {
                    // Cancel as soon as the stage runs.
                    for _ in 0..100 {
                        let is = |(_, task): &(usize, crate::engine::work::Task)| {
                            task.job == 2 && &*task.dag.node(task.stage).name == at
                        };
                        if sim.begun.iter().any(is) || sim.begun.is_empty() && !sim.sweep() {
                            break;
                        }
                        let next = rng.below(sim.begun.len().max(1));
                        if next < sim.begun.len() {
                            sim.end(next);
                        }
                    }
                    ill.cancel.cancel();
                }
                sim.play(&mut rng);
                assert!(well.end().is_some_and(|end| end.is_ok()), "seed {seed}, {at}");
                match (how, ill.end()) {
                    (How::Error, Some(Err(RunError::Stage { stage, place, .. }))) => {
                        assert_eq!((&*stage, place), (at, Place::Numa(0)));
                    }
                    (How::Panic, Some(Err(RunError::Panicked { stage, .. }))) => assert_eq!(&*stage, at),
                    (How::Cancel, Some(Err(RunError::Cancelled))) => {}
                    (_, end) => panic!("seed {seed}, {at}: {:?}", end.map(|e| e.map(|b| b.bytes))),
                }
                assert!(sim.balanced());
            }
        }
    }
}
