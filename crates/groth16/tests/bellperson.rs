//! Proofs equal to bellperson's, byte for byte, for Filecoin's circuits: the same
//! parameters, witness, r and s.
//!
//! The PoRep and SnapDeals circuits take gigabytes and minutes:
//! `cargo nextest run --release -p cuzk-groth16 --test bellperson --run-ignored all`.

#![allow(clippy::unwrap_used, reason = "a test ends where something fails")]

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use bellperson::groth16::{Parameters as BellpersonParameters, Proof as BellpersonProof, create_proof};
use blstrs::Bls12;
use cuzk_groth16::graph;
use cuzk_groth16::{Blinding, Circuit, Parameters, Prover, Residence};
use cuzk_pipeline_core::{Cx, Engine, Footprint, Graph};
use cuzk_srs::{ParameterFile, Trapdoor, unwatched, write_parameters};
use cuzk_testing::circuits;
use cuzk_values::{PartitionProof, Scalar, Witness};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

const SEED: u64 = 0x1ce_b00da;

fn same_as_bellperson<C>(circuit: C)
where
    C: bellpepper_core::Circuit<Scalar> + Clone + Send + Sync + 'static,
{
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.params");
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let blinding = Blinding::random(&mut rng);
    let recording = cuzk_synth::record(circuit.clone()).unwrap();
    let witness = cuzk_synth::witness(&Cx::detached(), circuit.clone(), &recording.size).unwrap();
    let mut file = BufWriter::new(File::create(&path).unwrap());
    write_parameters(&recording.r1cs, &Trapdoor::random(&mut rng), &mut file, &mut unwatched).unwrap();
    file.flush().unwrap();

    let again = circuit.clone();
    let recorded = Circuit::new("test", move || cuzk_synth::record(again.clone())).unwrap();
    let ours = prove(recorded, &path, witness, blinding);
    let theirs = bellperson(circuit, &path, blinding);
    assert_eq!(ours.to_bytes().to_vec(), theirs, "seed {SEED:#x}");
}

fn prove(circuit: Circuit, path: &Path, witness: Witness, blinding: Blinding) -> PartitionProof {
    let file = ParameterFile::open(path, &circuit.sizes().queries).unwrap();
    let prover = Prover::new(circuit, Parameters::File(Arc::new(file), Residence::File)).unwrap();
    let graph = Graph::build(|g, witness| {
        let witness = g.share(witness);
        Ok(graph::prove(g, &prover, witness, 0, Some(blinding)))
    });
    let engine = Engine::builder().budget(Footprint::host(8 << 30)).build().unwrap();
    engine.submit(&Arc::new(graph.unwrap()), witness).wait().unwrap()
}

fn bellperson<C>(circuit: C, path: &Path, Blinding { r, s }: Blinding) -> Vec<u8>
where
    C: bellpepper_core::Circuit<Scalar> + Send,
{
    let file = BufReader::new(File::open(path).unwrap());
    let parameters = BellpersonParameters::<Bls12>::read(file, false).unwrap();
    let proof: BellpersonProof<Bls12> = create_proof(circuit, &parameters, r, s).unwrap();
    let mut bytes = Vec::new();
    proof.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn window_post_2kib() {
    same_as_bellperson(circuits::window_post_2kib());
}

#[test]
fn winning_post_2kib() {
    same_as_bellperson(circuits::winning_post_2kib());
}

#[test]
#[ignore = "minutes and gigabytes"]
fn empty_sector_update_2kib() {
    same_as_bellperson(circuits::empty_sector_update_2kib());
}

#[test]
#[ignore = "minutes and gigabytes"]
fn porep_2kib() {
    same_as_bellperson(circuits::porep_2kib());
}
