//! `e2e`: a witness in, a verified proof out, through the engine, beside
//! bellperson's prover: the 2 KiB WinningPoSt circuit, of 91,000 constraints.
//!
//! The 2 KiB PoRep, of 2.7 million, is `scripts/bench-rival.sh`: whole processes in
//! turns, with CPU time and peak memory.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use bellperson::groth16 as rival;
use blstrs::Bls12;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use cuzk_groth16::graph;
use cuzk_groth16::{Blinding, Circuit, Parameters, Prover, Residence};
use cuzk_pipeline_core::{Cx, Engine, Footprint, Graph};
use cuzk_srs::{ParameterFile, Trapdoor, unwatched, write_parameters};
use cuzk_testing::circuits;
use cuzk_values::{PartitionProof, Scalar, Witness};

fn e2e(criterion: &mut Criterion) {
    let upstream = circuits::winning_post_2kib();
    let recording = cuzk_synth::record(upstream.clone()).expect("constraints");
    let witness = cuzk_synth::witness(&Cx::detached(), upstream.clone(), &recording.size).expect("a witness");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("winning.params");
    let mut file = File::create(&path).expect("a file");
    write_parameters(&recording.r1cs, &Trapdoor::from_seed(1), &mut file, &mut unwatched)
        .expect("parameters");

    let blank = upstream.clone();
    let circuit = Circuit::new("winning", move || cuzk_synth::record(blank.clone())).expect("a circuit");
    let file = ParameterFile::open(&path, &circuit.sizes().queries).expect("parameters");
    let parameters = Parameters::File(Arc::new(file), Residence::Memory);
    let prover = Prover::new(circuit, parameters).expect("the circuit's parameters");
    let graph: Graph<Witness, PartitionProof> = Graph::build(|g, witness| {
        let witness = g.share(witness);
        Ok(graph::prove(g, &prover, witness, 0, None))
    })
    .expect("a graph");
    let graph = Arc::new(graph);
    let engine = Engine::builder().budget(Footprint::host(4 << 30)).build().expect("threads");

    let mut group = criterion.benchmark_group("e2e");
    group.sample_size(10);
    group.bench_function("cpu/winning-2KiB", |b| {
        let run = |witness| engine.submit(&graph, witness).wait().expect("a proof");
        b.iter_batched(|| witness.clone(), run, BatchSize::PerIteration);
    });
    let reader = BufReader::new(File::open(&path).expect("a file"));
    let parameters = rival::Parameters::<Bls12>::read(reader, false).expect("parameters");
    let Blinding { r, s } = Blinding { r: Scalar::from(3), s: Scalar::from(5) };
    group.bench_function("bellperson/winning-2KiB (synthesis included)", |b| {
        let run = |circuit| rival::create_proof(circuit, &parameters, r, s).expect("a proof");
        b.iter_batched(|| upstream.clone(), run, BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, e2e);
criterion_main!(benches);
