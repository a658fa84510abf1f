//! `synth.witness` and the recording of constraints: the 2 KiB PoRep beside its
//! rivals, and partitions of 32 GiB sectors.
//!
//! Rivals: bellperson's `WitnessCS` (values only) on the same upstream circuit,
//! and the definition, which evaluates every linear combination as bellperson's
//! prover does.

use std::hint::black_box;

use bellpepper_core::{Circuit, ConstraintSystem};
use bellperson::util_cs::witness_cs::WitnessCS;
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, criterion_group, criterion_main};
use cuzk_pipeline_core::Cx;
use cuzk_synth::{PorepCircuit, PostCircuit, SnapCircuit, Statement, c1, fixture, naive};
use cuzk_testing::circuits;
use cuzk_values::{PostKind, Scalar};

fn synth(criterion: &mut Criterion) {
    let c1 = c1::decode(circuits::C1_2KIB).expect("a C1 of 2 KiB");
    let circuit = PorepCircuit::of_size(c1.sector_size).expect("a sector size that exists");
    let cx = Cx::detached();

    let mut group = criterion.benchmark_group("synth.witness");
    group.sample_size(10);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        group.bench_function(format!("cpu/2KiB/{threads}"), |b| {
            b.iter(|| pool.install(|| circuit.witness(&cx, black_box(&c1), 0).expect("a witness")));
        });
    }
    group.bench_function("bellperson/2KiB/1", |b| {
        b.iter_batched(
            circuits::porep_2kib,
            |circuit| {
                let mut witness = WitnessCS::<Scalar>::new();
                circuit.synthesize(&mut witness).expect("a witness");
                witness
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("naive/2KiB/1", |b| {
        let assign = |circuit| naive::assign(circuit).expect("an assignment");
        b.iter_batched(circuits::porep_2kib, assign, BatchSize::PerIteration);
    });
    group.finish();

    let mut group = criterion.benchmark_group("synth.witness");
    group.sample_size(10);
    let sector = 32 << 30;
    let porep = PorepCircuit::of_size(sector).expect("a circuit");
    witness(&mut group, "porep", porep, &fixture::porep(sector, 1).expect("a fixture"));
    let snap = SnapCircuit::of_size(sector).expect("a circuit");
    witness(&mut group, "snap", snap, &fixture::snap(sector, 1).expect("a fixture"));
    let winning = PostCircuit::of_size(PostKind::Winning, sector).expect("a circuit");
    witness(&mut group, "winning-post", winning, &fixture::winning_post(sector, 1).expect("a fixture"));
    group.finish();

    let mut group = criterion.benchmark_group("synth.record");
    group.sample_size(10);
    group.bench_function("cpu/2KiB", |b| b.iter(|| circuit.record().expect("constraints")));
    group.bench_function("whole/2KiB", |b| {
        let record = |circuit| cuzk_synth::record(circuit).expect("constraints");
        b.iter_batched(circuits::porep_2kib, record, BatchSize::PerIteration);
    });
    group.finish();
}

/// A partition of 32 GiB sectors on one thread.
fn witness<S: Statement>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    kind: &str,
    statement: S,
    input: &S::Input,
) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let cx = Cx::detached();
    group.bench_function(format!("cpu/{kind}-32GiB/1"), |b| {
        b.iter(|| pool.install(|| statement.witness(&cx, black_box(input), 0).expect("a witness")));
    });
}

criterion_group!(benches, synth);
criterion_main!(benches);
