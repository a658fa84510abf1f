//! What the engine itself costs. Times are the machine's, so this measures and
//! bounds loosely:
//! `cargo test --release -p cuzk-pipeline-core --test overhead -- --ignored --nocapture`

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::*;
use cuzk_pipeline_core::*;

fn empty(name: String) -> impl Stage<In = Blob, Out = Blob> {
    stage_fn(name, Cost::free().output(Footprint::host(1)), |_, b: Blob| Ok::<_, Error>(b))
}

fn chain(length: usize) -> Arc<Graph<Blob, Blob>> {
    let made =
        Graph::build(|g, input| Ok((0..length).fold(input, |port, i| g.stage(empty(format!("s{i}")), port))));
    Arc::new(made.expect("it is well formed"))
}

fn engine(lanes: usize) -> Engine {
    Engine::builder()
        .budget(Footprint::host(1 << 20))
        .topology(&Topology::fake(&[1]))
        .place(Place::Numa(0), lanes)
        .build()
        .expect("there are threads")
}

/// One run of empty stages after the other: what a stage costs from the end of
/// the one before it to its own end.
#[test]
#[ignore = "a measurement"]
fn an_empty_stage() {
    let (graph, engine) = (chain(1000), engine(1));
    let mut best = f64::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        engine.submit(&graph, Blob(1, None)).wait().unwrap();
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / 1000.0);
    }
    println!("an empty stage: {best:.1} us");
    assert!(best < 200.0);
}

/// 40 runs of 100 stages at once.
#[test]
#[ignore = "a measurement"]
fn many_runs_at_once() {
    let (graph, engine) = (chain(100), engine(4));
    let mut best = f64::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        let runs: Vec<_> = (0..40).map(|_| engine.submit(&graph, Blob(1, None))).collect();
        runs.into_iter().for_each(|run| drop(run.wait().unwrap()));
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / 4000.0);
    }
    println!("a stage of 40 runs at once: {best:.1} us");
    assert!(best < 1000.0);
}
