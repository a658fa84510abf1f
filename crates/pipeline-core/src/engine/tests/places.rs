//! Stages stay with their data, and lanes do not idle beside work.

use super::sim::{Machine, Rng, Sim, chain, step};
use crate::{Graph, Options, Place, Placement, Priority, StageFn};

fn two_nodes(lanes: usize) -> Sim {
    Sim::new(&Machine { nodes: vec![lanes, lanes], ..Machine::host(1000, 0) })
}

/// Two runs on a machine of two nodes: each has a node, and every stage of it
/// runs there, in whatever order the lanes are done.
#[test]
fn stages_run_where_their_inputs_lie() {
    let a = chain(&[("a0", 5), ("a1", 5), ("a2", 5), ("a3", 5)]);
    let b = chain(&[("b0", 5), ("b1", 5), ("b2", 5), ("b3", 5)]);
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let mut sim = two_nodes(1);
        let _runs = [sim.submit(&a, 1), sim.submit(&b, 1)];
        let mut places = std::collections::HashMap::<char, Vec<Place>>::new();
        while !sim.begun.is_empty() {
            let names = sim.names();
            let name = &names[rng.below(names.len())];
            let place = sim.end_stage(name);
            places.entry(name.chars().next().unwrap()).or_default().push(place);
        }
        let (a, b) = (&places[&'a'], &places[&'b']);
        assert!(a.iter().all(|p| *p == a[0]), "seed {seed}: {a:?}");
        assert!(b.iter().all(|p| *p == b[0]), "seed {seed}: {b:?}");
        assert_ne!(a[0], b[0]);
    }
}

/// Four ready stages with all data on one node: the lanes of the other steal two.
#[test]
fn idle_lanes_steal() {
    let graph = Graph::build(|g, input| {
        use super::sim::{Blob, Error};
        use crate::{Cost, Footprint, stage_fn};
        let cost = (0..4).fold(Cost::free(), |cost, _| cost.output(Footprint::host(9)));
        let four = |_: &crate::Cx<'_>, _: Blob| {
            let b = || Blob::host(9);
            Ok::<_, Error>((b(), b(), b(), b()))
        };
        let (a, b, c, d) = g.stage(stage_fn("four", cost, four), input);
        let each: Vec<_> = [a, b, c, d].into_iter().map(|port| g.stage(step("each", 1), port)).collect();
        let join = stage_fn("join", Cost::free().output(Footprint::ZERO), |_, _: Vec<Blob>| {
            Ok::<_, Error>(Blob::host(0))
        });
        Ok(g.stage(join, each))
    });
    let mut sim = two_nodes(2);
    let run = sim.submit(&graph.unwrap(), 1);
    sim.end_stage("four");
    assert_eq!(sim.names(), ["each"; 4]);
    let mut places: Vec<_> = (0..4).map(|_| sim.end_stage("each")).collect();
    places.sort();
    assert_eq!(places, [Place::Numa(0), Place::Numa(0), Place::Numa(1), Place::Numa(1)]);
    sim.end_stage("join");
    assert!(run.end().is_some());
}

/// What asks for a node by number runs nowhere else, whoever is idle.
#[test]
fn a_stage_at_a_node_is_not_stolen() {
    use super::sim::{Blob, Error};
    use crate::{Cost, Footprint, stage_fn};
    let here = |name: &'static str| -> StageFn<Blob, Blob, Error, _> {
        let cost = Cost::free().output(Footprint::host(1));
        stage_fn(name, cost, |_, b: Blob| Ok::<_, Error>(b)).at(Placement::At(Place::Numa(1)))
    };
    let graph = Graph::build(|g, input| {
        let p = g.stage(here("here"), input);
        Ok(g.stage(here("here"), p))
    });
    let graph = graph.unwrap();
    let mut sim = two_nodes(1);
    let _runs: Vec<_> = (0..3).map(|_| sim.submit(&graph, 1)).collect();
    let mut ends = 0;
    while !sim.begun.is_empty() {
        assert_eq!(sim.names(), ["here"]);
        assert_eq!(sim.end_stage("here"), Place::Numa(1));
        ends += 1;
    }
    assert_eq!(ends, 6);
}

/// Ordinary runs never take the lane that is reserved for critical ones.
#[test]
fn critical_runs_have_a_lane() {
    let mut sim = Sim::new(&Machine { reserved: 1, ..Machine::host(1000, 1) });
    let (slow, urgent) = (chain(&[("slow", 1)]), chain(&[("urgent", 1)]));
    let _slow: Vec<_> = (0..3).map(|_| sim.submit(&slow, 1)).collect();
    assert_eq!(sim.names(), ["slow"]);
    let _urgent: Vec<_> =
        (0..2).map(|_| sim.submit_with(&urgent, 1, Options::new().priority(Priority::Critical))).collect();
    assert_eq!(sim.names(), ["slow", "urgent"]);
    sim.end_stage("slow");
    assert_eq!(sim.names(), ["urgent", "urgent"], "a critical run may use both");
}
