//! A proof of a real sector's C1 passes Filecoin's own `verify_seal`.
//!
//! It makes 1 GiB of test parameters and proves a 2 KiB sector:
//! `cargo nextest run --release -p cuzk-groth16 --test verify_seal --run-ignored all`.

#![allow(clippy::unwrap_used, reason = "a test ends where something fails")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use cuzk_groth16::{Circuit, Parameters, Prover, Residence, graph};
use cuzk_pipeline_core::{Engine, Footprint};
use cuzk_srs::{FOLDER_VARIABLE, ParameterFile, Setup, Trapdoor, unwatched};
use cuzk_synth::{PorepCircuit, c1};
use cuzk_values::C1;
use filecoin_proofs::{PoRepConfig, SectorShape2KiB, verify_seal};
use storage_proofs_core::api_version::ApiVersion;

const C1_2KIB: &[u8] = include_bytes!("../../testing/fixtures/c1-2kib-lotus.json");
/// Where the inner test finds the proof.
const PROOF: &str = "porep.proof";

fn sector() -> (C1, PorepCircuit) {
    let c1 = c1::decode(C1_2KIB).unwrap();
    let circuit = PorepCircuit::of_size(c1.sector_size).unwrap();
    (c1, circuit)
}

/// Upstream reads its parameter folder from the environment once a process, so the
/// verification is a process of its own.
#[test]
#[ignore = "a GiB of parameters and a minute"]
fn a_proof_of_a_real_sector_passes_verify_seal() {
    let folder = tempfile::tempdir().unwrap();
    prove_into(folder.path());
    let inner = ["--exact", "upstream_accepts_the_proof", "--include-ignored", "--nocapture"];
    let test = std::env::current_exe().unwrap();
    let status = Command::new(test).args(inner).env(FOLDER_VARIABLE, folder.path()).status().unwrap();
    assert!(status.success());
}

fn prove_into(folder: &Path) {
    let (c1, circuit) = sector();
    let recorded = Circuit::filecoin(circuit).unwrap();
    let id = circuit.parameter_id().unwrap();
    let stem = id.strip_prefix("v28-").unwrap();
    let setup = Setup { folder, stem, sector_size: c1.sector_size, official_names: true, replace: false };
    let made = setup.run(recorded.r1cs(), &Trapdoor::from_seed(28), &mut unwatched).unwrap();
    let file = ParameterFile::open(&made.params, &recorded.sizes().queries).unwrap();
    let prover = Prover::new(recorded, Parameters::File(Arc::new(file), Residence::File)).unwrap();
    let graph = graph::proof(&prover, circuit, c1.partitions.len(), &[]).unwrap();
    let engine = Engine::builder().budget(Footprint::host(8 << 30)).build().unwrap();
    let proof = engine.submit(&Arc::new(graph), Arc::new(c1)).wait().unwrap();
    std::fs::write(folder.join(PROOF), proof.to_bytes()).unwrap();
}

#[test]
#[ignore = "the second half of the other test"]
fn upstream_accepts_the_proof() {
    let Some(folder) = std::env::var_os(FOLDER_VARIABLE) else { return };
    let Ok(mut proof) = std::fs::read(Path::new(&folder).join(PROOF)) else { return };
    let (c1, circuit) = sector();
    // The fixture's identity (`fixtures/README.md`).
    let (mut prover_id, sector) = ([1; 32], 1_u64);
    prover_id[31] = 0;
    let porep_id = c1::porep_id(circuit.shape(), c1.variant.unwrap()).unwrap();
    let config = PoRepConfig::new_groth16(c1.sector_size, porep_id, ApiVersion::V1_2_0);
    let accepts = |proof: &[u8]| {
        let (ticket, seed) = (c1.ticket, c1.seed);
        verify_seal::<SectorShape2KiB>(
            &config,
            c1.comm_r,
            c1.comm_d,
            prover_id,
            sector.into(),
            ticket,
            seed,
            proof,
        )
    };
    assert!(accepts(&proof).unwrap());
    proof.swap(0, 1);
    assert!(!accepts(&proof).unwrap_or(false));
}
