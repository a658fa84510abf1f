//! `engine`: what scheduling costs, by stages that do nothing.
//!
//! The naive line calls the same closures one after another.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cuzk_pipeline_core::{Cancelled, Cost, Engine, Footprint, Graph, Value, stage_fn};

struct Unit(u64);

impl Value for Unit {
    fn footprint(&self) -> Footprint {
        Footprint::host(8)
    }
}

const STAGES: usize = 100;

fn chain() -> Graph<Unit, Unit> {
    let built = Graph::build(|g, mut port| {
        for i in 0..STAGES {
            let cost =
                Cost::free().output(Footprint::host(8)).in_place(Footprint::host(if i == 0 { 0 } else { 8 }));
            port = g.stage(stage_fn("step", cost, |_, v: Unit| Ok::<_, Cancelled>(Unit(v.0 + 1))), port);
        }
        Ok(port)
    });
    built.expect("it is well formed")
}

fn fan() -> Graph<Unit, Unit> {
    let built = Graph::build(|g, port| {
        let shared = g.share(port);
        let cost = || Cost::free().output(Footprint::host(8));
        let step = || stage_fn("step", cost(), |_, v: Arc<Unit>| Ok::<_, Cancelled>(Unit(v.0 + 1)));
        let ports: Vec<_> = (0..STAGES).map(|_| g.stage(step(), shared)).collect();
        let sum =
            stage_fn("sum", cost(), |_, v: Vec<Unit>| Ok::<_, Cancelled>(Unit(v.iter().map(|u| u.0).sum())));
        Ok(g.stage(sum, ports))
    });
    built.expect("it is well formed")
}

fn engine(criterion: &mut Criterion) {
    let engine = Engine::builder().budget(Footprint::host(1 << 20)).build().expect("threads");
    let mut group = criterion.benchmark_group("engine");
    group.throughput(Throughput::Elements(STAGES as u64));
    for (name, graph) in [("chain", Arc::new(chain())), ("fan", Arc::new(fan()))] {
        group.bench_function(format!("{name}/{STAGES}"), |b| {
            b.iter(|| engine.submit(&graph, Unit(black_box(1))).wait().expect("it runs").0);
        });
    }
    group.bench_function(format!("naive/{STAGES}"), |b| {
        let steps: Vec<Box<dyn Fn(u64) -> u64>> =
            (0..STAGES).map(|_| Box::new(|v: u64| v + 1) as _).collect();
        b.iter(|| steps.iter().fold(black_box(1), |v, step| step(v)));
    });
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
