//! `eval.ab`: a and b of the 2 KiB PoRep from its constraints and a compact witness.
//!
//! The naive line is the definition: the circuit synthesised with every linear
//! combination built and evaluated, which is how bellperson's prover has a, b and c.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use cuzk_pipeline_core::Cx;
use cuzk_synth::{PorepCircuit, Statement, c1, check, eval_ab, naive};
use cuzk_testing::circuits;

fn eval(criterion: &mut Criterion) {
    let c1 = c1::decode(circuits::C1_2KIB).expect("a C1 of 2 KiB");
    let circuit = PorepCircuit::of_size(c1.sector_size).expect("a sector size that exists");
    let cx = Cx::detached();
    let r1cs = circuit.record().expect("constraints").r1cs;
    let witness = circuit.witness(&cx, &c1, 0).expect("a witness");

    let mut group = criterion.benchmark_group("eval.ab");
    group.sample_size(10);
    group.throughput(Throughput::Elements((r1cs.a.entries() + r1cs.b.entries()) as u64));
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        group.bench_function(format!("cpu/2KiB/{threads}"), |b| {
            b.iter(|| pool.install(|| eval_ab(&cx, black_box(&r1cs), &witness).expect("evaluations")));
        });
        group.bench_function(format!("check/2KiB/{threads}"), |b| {
            b.iter(|| pool.install(|| check(&cx, black_box(&r1cs), &witness).expect("a witness")));
        });
    }
    group.bench_function("naive/2KiB/1", |b| {
        let assign = |circuit| naive::assign(circuit).expect("an assignment");
        b.iter_batched(circuits::porep_2kib, assign, BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, eval);
criterion_main!(benches);
