//! Device memory: ledgers of their own, groups that stay together.

use super::sim::{Blob, Error, Machine, Rng, Sim};
use crate::{BuildError, Cost, Footprint, Graph, Place, Placement, RunError, stage_fn};

fn machine(devices: &[u64]) -> Machine {
    Machine { devices: devices.iter().map(|bytes| (*bytes, 1)).collect(), ..Machine::host(100, 2) }
}

fn gpu(name: &'static str, bytes: Footprint, at: Placement) -> impl crate::Stage<In = Blob, Out = Blob> {
    let stage = stage_fn(name, Cost::free().output(bytes), move |cx, _: Blob| {
        assert!(matches!(cx.place(), Place::Gpu(_)));
        let mut out = Blob::host(0);
        out.bytes = bytes;
        Ok::<_, Error>(out)
    });
    stage.at(at)
}

/// Up to a device, on, and home again, with `bytes` of its memory.
fn trip(bytes: u64) -> Graph<Blob, Blob> {
    let made = Graph::build(|g, input| {
        let up = g.stage(gpu("up", Footprint::device(bytes), Placement::Gpu), input);
        let on = g.stage(gpu("on", Footprint::device(bytes), Placement::Gpu), up);
        Ok(g.stage(gpu("down", Footprint::host(1), Placement::Gpu), on))
    });
    made.unwrap()
}

#[test]
fn what_lies_on_a_device_is_taken_there() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let mut sim = Sim::new(&machine(&[25, 25, 25]));
        let graph = trip(10);
        let _runs: Vec<_> = (0..3).map(|_| sim.submit(&graph, 1)).collect();
        assert_eq!(sim.names(), ["up"; 3], "each has a device");
        let mut places = std::collections::HashMap::<u64, Vec<Place>>::new();
        while !sim.begun.is_empty() {
            let i = rng.below(sim.begun.len());
            let (berth, job) = (sim.begun[i].0, sim.begun[i].1.job);
            places.entry(job).or_default().push(sim.place(berth));
            sim.end(i);
        }
        for places in places.values() {
            assert!(places.iter().all(|p| *p == places[0]), "seed {seed}: {places:?}");
        }
    }
}

/// A run goes to the device that is large enough; one that none can hold is refused.
#[test]
fn a_small_device_is_left_alone() {
    let mut sim = Sim::new(&machine(&[19, 20]));
    let run = sim.submit(&trip(10), 1);
    assert_eq!(sim.end_stage("up"), Place::Gpu(1));
    sim.play(&mut Rng::new(1));
    assert!(run.end().is_some_and(|end| end.is_ok()));
    let refused = sim.submit(&trip(11), 1).end();
    assert!(
        matches!(refused, Some(Err(RunError::OverBudget { floor, budget })) if floor.device == 22 && budget.device == 20)
    );
}

/// Stages that name their devices need each device's part of the floor only.
#[test]
fn devices_that_are_named_are_counted_apart() {
    let graph = Graph::build(|g, input| {
        let at = |id| Placement::At(Place::Gpu(id));
        let a = g.stage(gpu("a", Footprint::device(15), at(0)), input);
        let a = g.stage(gpu("a.down", Footprint::host(1), at(0)), a);
        let b = g.stage(gpu("b", Footprint::device(5), at(1)), a);
        Ok(g.stage(gpu("b.down", Footprint::host(1), at(1)), b))
    });
    let graph = graph.unwrap();
    assert_eq!(graph.floor().device, 15);
    let mut sim = Sim::new(&machine(&[15, 5]));
    let run = sim.submit(&graph, 1);
    assert_eq!(sim.end_stage("a"), Place::Gpu(0));
    sim.play(&mut Rng::new(1));
    assert!(run.end().is_some_and(|end| end.is_ok()));
    let mut sim = Sim::new(&machine(&[14, 5]));
    assert!(matches!(sim.submit(&graph, 1).end(), Some(Err(RunError::OverBudget { .. }))));
}

#[test]
fn device_memory_off_devices_is_a_build_error() {
    let built = Graph::build(|g, input| {
        let up = g.stage(gpu("up", Footprint::device(1), Placement::Gpu), input);
        let cpu = stage_fn("cpu", Cost::free().output(Footprint::ZERO), |_, b: Blob| Ok::<_, Error>(b));
        Ok(g.stage(cpu, up))
    });
    assert!(
        matches!(built.err(), Some(BuildError::OffDevice { stage, bytes }) if &*stage == "cpu" && bytes.device == 1)
    );
}

#[test]
fn a_value_on_one_device_cannot_be_taken_on_another() {
    let built = Graph::build(|g, input| {
        let up = g.stage(gpu("up", Footprint::device(1), Placement::At(Place::Gpu(0))), input);
        Ok(g.stage(gpu("on", Footprint::host(1), Placement::At(Place::Gpu(1))), up))
    });
    assert!(
        matches!(built.err(), Some(BuildError::TwoDevices { stage, asked: 1, held: 0 }) if &*stage == "on")
    );
}

#[test]
fn an_input_on_a_device_is_refused() {
    let mut sim = Sim::new(&machine(&[9]));
    let graph = trip(1);
    let run = sim.submit_footprint(&graph, Footprint::device(1));
    assert!(matches!(run.end(), Some(Err(RunError::InputOnDevice { .. }))));
}
