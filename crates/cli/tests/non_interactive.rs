//! Non-interactive proofs of replication: 13 partitions of a test sector, 126 of 32 GiB.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use bellperson::groth16::aggregate::{GenericSRS, setup_fake_srs};
use bellperson::groth16::{Proof, VerifyingKey, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, G1Affine, G2Affine};
use cuzk_values::PartitionProof;
use filecoin_proofs_api::seal::{
    SealCommitPhase1Output, SealCommitPhase2Output, aggregate_seal_commit_proofs, get_seal_inputs,
    verify_seal,
};
use filecoin_proofs_api::{RegisteredAggregationProof, RegisteredSealProof, SectorId};
use group::prime::PrimeCurveAffine as _;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::{Value, json};

mod sealing;

const PROOF: usize = 192;
const SECTOR: u64 = 42;
const REGISTERED: RegisteredSealProof = RegisteredSealProof::StackedDrg2KiBV1_2_Feat_NonInteractivePoRep;
const INTERACTIVE: RegisteredSealProof = RegisteredSealProof::StackedDrg2KiBV1_1;
/// The name that upstream gives the keys for aggregates.
const AGGREGATION_KEY: &str = "v28-fil-inner-product-v1.srs";

fn cuzk(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command.env("FIL_PROOFS_PARENT_CACHE", folder).env("XDG_CACHE_HOME", folder.join("cache"));
    command.output().unwrap()
}

/// What a command that succeeds says with `--json`.
fn said(folder: &Path, line: &str) -> Value {
    let out = cuzk(folder, &format!("{line} --json --quiet"));
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// What a command says on stderr that refuses its input (2) or a proof (3).
fn refused(folder: &Path, line: &str, code: i32) -> String {
    let out = cuzk(folder, &format!("{line} --quiet"));
    assert_eq!(out.status.code(), Some(code), "{line}: {out:?}");
    String::from_utf8(out.stderr).unwrap()
}

/// Runs a test of this file in a folder of its own and in a process of its own,
/// since upstream takes the folders of its caches from the environment.
fn alone(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .current_dir(folder.path())
        .env("FIL_PROOFS_PARENT_CACHE", folder.path())
        .env("FIL_PROOFS_PARAMETER_CACHE", folder.path().join("p"))
        .output()
        .unwrap();
    let said = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(child.status.success(), "{said}");
    println!("{said}");
}

/// Seals a sector, and writes its C1 to `c1.json`, as JSON of the API.
fn c1(registered: RegisteredSealProof, number: u64, folder: &Path) {
    sealing::seal(registered, number, folder);
    let (ticket, seed) = ("01".repeat(32), "02".repeat(32));
    said(
        folder,
        &format!(
            "vanilla porep --registered-proof {registered:?} --sector {number}:sealed-{number}:cache-{number} \
             --miner-addr t01000 --ticket {ticket} --seed {seed} --format api-json --out c1-{number}.json"
        ),
    );
}

fn json_of(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn a_c1_of_one_kind_is_none_of_the_other() {
    alone("c1s_that_claim_another_kind");
}

#[test]
#[ignore = "run by `a_c1_of_one_kind_is_none_of_the_other`"]
fn c1s_that_claim_another_kind() {
    let folder = &*std::env::current_dir().unwrap();
    c1(REGISTERED, SECTOR, folder);
    c1(INTERACTIVE, SECTOR + 1, folder);
    let (ni, interactive) = (json_of(folder, "c1-42.json"), json_of(folder, "c1-43.json"));
    let refused = |value: &Value| {
        std::fs::write(folder.join("changed.json"), serde_json::to_vec(value).unwrap()).unwrap();
        // Nothing is looked for before the input is known to be good.
        let prove = refused(folder, "prove porep --c1 changed.json --params nowhere --test-params", 2);
        assert!(
            refused(folder, "inspect changed.json", 2).contains(prove.trim_start_matches("error: ").trim())
        );
        prove
    };
    let claimed = |of: &Value, registered: RegisteredSealProof| {
        let mut changed = of.clone();
        changed["registered_proof"] = json!(format!("{registered:?}"));
        changed
    };
    let vanilla = |of: &mut Value| of["vanilla_proofs"]["StackedDrg2KiBV1"].take();
    let with = |of: &Value, partitions: Value| {
        let mut changed = of.clone();
        changed["vanilla_proofs"]["StackedDrg2KiBV1"] = partitions;
        changed
    };

    let error = refused(&claimed(&ni, INTERACTIVE));
    assert!(error.contains("): has 13 elements, expected 1"), "{error}");
    let error = refused(&claimed(&interactive, REGISTERED));
    assert!(error.contains("): has 1 element, expected 13"), "{error}");
    // With as many partitions as the other kind has.
    let partitions = vanilla(&mut ni.clone());
    let (first, one) = (&partitions[0], vanilla(&mut interactive.clone())[0].take());
    let error = refused(&with(&claimed(&ni, INTERACTIVE), json!([first])));
    assert!(error.contains("vanilla_proofs[0][0]") && error.contains("the challenge that"), "{error}");
    let error = refused(&with(&claimed(&interactive, REGISTERED), json!(vec![one; 13])));
    assert!(error.contains("vanilla_proofs[0][0]") && error.contains("the challenge that"), "{error}");
    // Ten of thirteen, and two in each other's place.
    let error = refused(&with(&ni, json!(partitions.as_array().unwrap()[..10])));
    assert!(error.contains("): has 10 elements, expected 13"), "{error}");
    let mut swapped = partitions.clone();
    swapped.as_array_mut().unwrap().swap(3, 7);
    let error = refused(&with(&ni, swapped));
    let of = "the challenge that replica_id and comm_r give";
    assert!(error.contains("vanilla_proofs[3][0]") && error.contains(of), "{error}");
}

/// All partitions of a sealed sector, proved, accepted one by one and aggregated.
///
/// It makes 1 GiB of test parameters and thirteen proofs, in some minutes:
/// `cargo nextest run --release -p cuzk-cli --test non_interactive --run-ignored all upstream_accepts --no-capture`.
#[test]
#[ignore = "a GiB of parameters and minutes"]
fn upstream_accepts_all_partitions_and_their_aggregate() {
    alone("prove_verify_and_aggregate");
}

#[test]
#[ignore = "run by `upstream_accepts_all_partitions_and_their_aggregate`"]
fn prove_verify_and_aggregate() {
    let folder = &*std::env::current_dir().unwrap();
    c1(REGISTERED, SECTOR, folder);
    said(folder, "setup porep --sector-size 2KiB --seed 1 --official-names --out p");
    let proved = said(folder, "prove porep --c1 c1-42.json --params p --out proof");
    assert_eq!((&proved["partitions"], &proved["verified"]), (&json!(13), &json!(true)));
    let told = ["seconds", "cpu_seconds", "peak_rss_bytes"].map(|name| proved[name].to_string());
    println!("13 partitions: {} s, {} CPU-s, peak RSS {} bytes", told[0], told[1], told[2]);
    let proof = std::fs::read(folder.join("proof")).unwrap();
    assert_eq!(proof.len(), 13 * PROOF);
    verify(folder, &proof);
    agree(folder, &proof);
}

/// What `cuzk verify` says of a proof and of what is not quite one.
fn verify(folder: &Path, proof: &[u8]) {
    let line = "verify porep --c1 c1-42.json --params p --proof changed";
    let write = |proof: &[u8]| std::fs::write(folder.join("changed"), proof).unwrap();
    write(proof);
    let verified = said(folder, &format!("{line} --miner-addr t01000 --sector-number {SECTOR}"));
    assert_eq!((&verified["partitions"], &verified["valid"]), (&json!(13), &json!(true)));
    for partitions in [1, 10, 12] {
        write(&proof[..partitions * PROOF]);
        let error = refused(folder, line, 2);
        assert!(error.contains(&format!("{partitions} ")) && error.contains("13"), "{error}");
    }
    write(&[proof, &proof[..PROOF]].concat());
    refused(folder, line, 2);
    let mut swapped = proof.to_vec();
    let (one, other) = swapped.split_at_mut(7 * PROOF);
    one[3 * PROOF..4 * PROOF].swap_with_slice(&mut other[..PROOF]);
    write(&swapped);
    assert!(refused(folder, line, 3).contains("partition 3"));
    for partition in 0..13 {
        // The sign of C, which leaves a point; any other bit of a coordinate, which seldom does.
        for (byte, bit) in [(144, 0x20), (50 + partition, 1)] {
            let mut flipped = proof.to_vec();
            flipped[partition * PROOF + byte] ^= bit;
            write(&flipped);
            let out = cuzk(folder, &format!("{line} --quiet"));
            let expected: &[i32] = if byte == 144 { &[3] } else { &[2, 3] };
            assert!(expected.contains(&out.status.code().unwrap()), "{partition}, {byte}: {out:?}");
        }
    }
}

/// Upstream derives the statements itself, from what is on chain, and accepts the
/// proofs: each by its verifier, and all as the aggregate that goes on chain.
fn agree(folder: &Path, proof: &[u8]) {
    let c1: SealCommitPhase1Output =
        serde_json::from_slice(&std::fs::read(folder.join("c1-42.json")).unwrap()).unwrap();
    let SealCommitPhase1Output { comm_r, comm_d, seed, ticket, .. } = c1;
    let (prover, sector) = (sealing::prover_id(), SectorId::from(SECTOR));
    let inputs = get_seal_inputs(REGISTERED, comm_r, comm_d, prover, sector, ticket, seed).unwrap();
    assert_eq!(inputs.len(), 13);

    let keys = std::fs::read_dir(folder.join("p")).unwrap().map(|entry| entry.unwrap().path());
    let key = keys.into_iter().find(|path| path.extension().is_some_and(|name| name == "vk")).unwrap();
    let key = VerifyingKey::<Bls12>::read(&*std::fs::read(key).unwrap()).unwrap();
    let key = prepare_verifying_key(&key);
    let proofs: Vec<Proof<Bls12>> =
        proof.chunks_exact(PROOF).map(|bytes| Proof::read(bytes).unwrap()).collect();
    for (k, (proof, inputs)) in proofs.iter().zip(&inputs).enumerate() {
        assert!(verify_proof(&key, proof, inputs).unwrap(), "partition {k}");
    }
    assert!(!verify_proof(&key, &proofs[0], &inputs[1]).unwrap());

    // 13 proofs are filled up to 16.
    let srs: GenericSRS<Bls12> = setup_fake_srs(&mut ChaCha20Rng::seed_from_u64(1), 16);
    let mut bytes = Vec::new();
    srs.write(&mut bytes).unwrap();
    std::fs::write(folder.join("p").join(AGGREGATION_KEY), bytes).unwrap();
    let accepted = |proof: Vec<u8>| {
        let output = [SealCommitPhase2Output { proof }];
        let version = RegisteredAggregationProof::SnarkPackV2;
        let aggregate =
            aggregate_seal_commit_proofs(REGISTERED, version, &[comm_r], &[seed], &output).unwrap();
        verify_seal(REGISTERED, comm_r, comm_d, prover, sector, ticket, seed, &aggregate).unwrap()
    };
    assert!(accepted(proof.to_vec()));
    let mut swapped = proof.to_vec();
    swapped.rotate_left(PROOF);
    assert!(!accepted(swapped));
}

/// A proof as long as that of 126 partitions is recognised.
#[test]
fn the_longest_proof_is_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let (g1, g2) = (G1Affine::generator().to_compressed(), G2Affine::generator().to_compressed());
    let proof = [&g1[..], &g2, &g1].concat().repeat(126);
    assert_eq!(proof.len(), 24_192);
    std::fs::write(folder.path().join("proof"), &proof).unwrap();
    let told = said(folder.path(), "inspect proof");
    assert_eq!(told, json!({ "kind": "proof", "partitions": 126, "bytes": 24_192 }));
}

/// More partitions take more stages, and no more memory than the circuit that stays for them.
#[test]
fn partitions_are_planned_one_by_one() {
    plans("2KiB", 1, 13);
}

/// `cargo nextest run --release -p cuzk-cli --test non_interactive --run-ignored all planned`.
#[test]
#[ignore = "records the circuit of 32 GiB: half a minute"]
fn partitions_of_32gib_are_planned_one_by_one() {
    plans("32GiB", 10, 126);
}

fn plans(size: &str, interactive: usize, non_interactive: usize) {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("graph --sector-size {size}");
    let one = said(folder.path(), &line);
    let many = said(folder.path(), &format!("{line} --non-interactive"));
    let count = |graph: &Value, name: &str| {
        let stages = graph["stages"].as_array().unwrap().iter();
        stages.filter(|stage| stage["name"] == name).count()
    };
    for (graph, partitions) in [(&one, interactive), (&many, non_interactive)] {
        for name in ["synth.witness", "eval.ab", "ntt.quotient", "msm.h", "finalize", "verify"] {
            assert_eq!(count(graph, name), partitions, "{name}");
        }
        assert_eq!(count(graph, "srs.load"), 1);
    }
    // The circuit stays until its last reader, and the proofs until they are one.
    let circuit =
        one["stages"].as_array().unwrap().iter().find(|stage| stage["name"] == "circuit.load").unwrap();
    let kept = if interactive == 1 { circuit["outputs"][0]["host"].as_u64().unwrap() } else { 0 };
    let [one, many] = [one, many].map(|graph| graph["floor"]["host"].as_u64().unwrap());
    let proofs = (non_interactive * 2 * size_of::<PartitionProof>()) as u64;
    assert!((one..=one + kept + proofs).contains(&many), "{one} of {interactive} partitions, {many}");
    let error = refused(folder.path(), "graph --kind snap --non-interactive", 2);
    assert!(error.contains("--non-interactive"), "{error}");
}
