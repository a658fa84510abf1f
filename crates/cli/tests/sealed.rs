//! Vanilla proofs of sectors that upstream has sealed and updated.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use filecoin_proofs_api::post::{generate_fallback_sector_challenges, generate_single_vanilla_proof};
use filecoin_proofs_api::{PrivateReplicaInfo, RegisteredPoStProof, RegisteredSealProof, SectorId};
use sealing::{seal, update};
use serde_json::{Value, json};

mod sealing;

fn cuzk(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.args(line.split_whitespace()).current_dir(folder).env("FIL_PROOFS_PARENT_CACHE", folder);
    command.stdin(Stdio::null()).output().unwrap()
}

/// What a command that succeeds says with `--json`.
fn said(folder: &Path, line: &str) -> Value {
    let out = cuzk(folder, &format!("{line} --json --quiet"));
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// What a command says on stderr that refuses its input.
fn refused(folder: &Path, line: &str) -> String {
    let out = cuzk(folder, &format!("{line} --quiet"));
    assert_eq!(out.status.code(), Some(2), "{line}: {out:?}");
    String::from_utf8(out.stderr).unwrap()
}

/// In a process of its own, since upstream takes the folder of its parents'
/// cache from the environment.
#[test]
fn sealed_sectors_give_vanilla_proofs() {
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "seal_and_prove", "--ignored", "--nocapture"])
        .current_dir(folder.path())
        .env("FIL_PROOFS_PARENT_CACHE", folder.path())
        .output()
        .unwrap();
    let said = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(child.status.success(), "{}", said.concat());
}

#[test]
#[ignore = "run by `sealed_sectors_give_vanilla_proofs`"]
fn seal_and_prove() {
    use RegisteredSealProof::{
        StackedDrg2KiBV1, StackedDrg2KiBV1_1, StackedDrg2KiBV1_1_Feat_SyntheticPoRep,
        StackedDrg2KiBV1_2_Feat_NonInteractivePoRep,
    };
    let folder = std::env::current_dir().unwrap();
    let folder = &*folder;
    let variants = [
        (StackedDrg2KiBV1, "0", 1),
        (StackedDrg2KiBV1_1, "StackedDrg2KiBV1_1", 1),
        (StackedDrg2KiBV1_1_Feat_SyntheticPoRep, "10", 1),
        (
            StackedDrg2KiBV1_2_Feat_NonInteractivePoRep,
            "RegisteredSealProof_StackedDrg2KiBV1_2_Feat_NiPoRep",
            13,
        ),
    ];
    let (ticket, seed) = ("01".repeat(32), "02".repeat(32));
    let mut comm_r = BTreeMap::new();
    for (i, (registered, name, partitions)) in variants.into_iter().enumerate() {
        let number = 40 + i as u64;
        comm_r.insert(number, seal(registered, number, folder));
        let line = format!(
            "vanilla porep --registered-proof {name} --sector {number}:sealed-{number}:cache-{number} \
             --miner-addr t01000 --ticket {ticket} --seed {seed} --out c1.json"
        );
        let made = said(folder, &line);
        assert_eq!((&made["kind"], &made["partitions"]), (&json!("c1"), &json!(partitions)));
        let checked = said(folder, "check-vanilla c1.json --miner-addr t01000");
        assert_eq!((&checked["valid"], &checked["sector_number"]), (&json!(true), &json!(number)));
    }

    let common = format!("--miner-addr t01000 --randomness {seed} --out post.json");
    let sectors = "--sector 40:sealed-40:cache-40 --sector 41:sealed-41:cache-41";
    for name in ["StackedDrgWindow2KiBV1_1", "5"] {
        let made = said(folder, &format!("vanilla window-post --registered-proof {name} {sectors} {common}"));
        assert_eq!((&made["kind"], &made["challenges"]), (&json!("window-post"), &json!(20)));
        assert_eq!(said(folder, "check-vanilla post.json")["valid"], true);
    }
    window_post_of_two_partitions(folder, &comm_r);

    let winning = "vanilla winning-post --registered-proof StackedDrgWinning2KiBV1";
    let made = said(folder, &format!("{winning} --sector 41:sealed-41:cache-41 {common}"));
    assert_eq!((&made["kind"], &made["challenges"]), (&json!("winning-post"), &json!(66)));
    assert_eq!(said(folder, "check-vanilla post.json")["valid"], true);

    update(41, folder);
    let snap = "vanilla snap --registered-proof StackedDrg2KiBV1 --sealed sealed-41:cache-41 --updated";
    let made = said(folder, &format!("{snap} updated:update-cache --out snap.json"));
    assert_eq!((&made["kind"], &made["challenges"]), (&json!("snap"), &json!(10)));
    assert_eq!(said(folder, "check-vanilla snap.json")["valid"], true);

    let error = refused(folder, &format!("{winning} {sectors} {common}"));
    assert!(
        error.contains("vanilla_proofs") && error.contains("has 2 elements, and the limit is 1"),
        "{error}"
    );
    let error = refused(folder, &format!("{winning} --sector 41:sealed-41:nowhere {common}"));
    assert!(error.contains("the sector cannot be proved") && error.contains("`nowhere`"), "{error}");
    let error = refused(folder, &format!("vanilla winning-post --registered-proof 10 {sectors} {common}"));
    assert!(error.contains("is of a window-post, not of a winning-post"), "{error}");
    let error = refused(folder, &format!("{winning} --sector 41 {common}"));
    assert!(error.contains("a sector is written NUMBER:FILE:DIR"), "{error}");
    // The replica of another sector.
    let error = refused(folder, &format!("{winning} --sector 41:sealed-40:cache-41 {common}"));
    assert!(error.contains("sector 41"), "{error}");
}

/// Three sectors, of which a partition has room for two: partition by partition they
/// are what upstream makes of them with its own challenges, and so is the second alone.
fn window_post_of_two_partitions(folder: &Path, comm_r: &BTreeMap<u64, [u8; 32]>) {
    let sectors = [40, 41, 42].map(|n| format!("--sector {n}:sealed-{n}:cache-{n}"));
    let (randomness, prover) = ([2; 32], sealing::prover_id());
    for registered in
        [RegisteredPoStProof::StackedDrgWindow2KiBV1, RegisteredPoStProof::StackedDrgWindow2KiBV1_2]
    {
        let line = format!(
            "vanilla window-post --registered-proof {registered:?} --miner-addr t01000 --randomness {} \
             --format bincode --out posts/post.bin",
            "02".repeat(32)
        );
        let _ = std::fs::remove_dir_all(folder.join("posts"));
        std::fs::create_dir(folder.join("posts")).unwrap();
        let made = said(folder, &format!("{line} {}", sectors.join(" ")));
        let files: Vec<_> = made["partitions"].as_array().unwrap().iter().map(|made| &made["file"]).collect();
        assert_eq!(files, ["posts/post-0.bin", "posts/post-1.bin"]);
        said(folder, &format!("{line} --partition-index 1 {}", sectors[2]));
        let read = |name: &str| std::fs::read(folder.join("posts").join(name)).unwrap();
        assert_eq!(read("post.bin"), read("post-1.bin"));

        let numbers = [40, 41, 42].map(SectorId::from);
        let challenges = generate_fallback_sector_challenges(registered, &randomness, &numbers, prover);
        let upstream = |number: u64| {
            let [sealed, cache] = ["sealed", "cache"].map(|name| folder.join(format!("{name}-{number}")));
            let replica = PrivateReplicaInfo::new(registered, comm_r[&number], cache, sealed);
            let number = SectorId::from(number);
            let challenges = &challenges.as_ref().unwrap()[&number];
            generate_single_vanilla_proof(registered, number, &replica, challenges).unwrap()
        };
        assert_eq!(read("post-0.bin"), [upstream(40), upstream(41)].concat());
        assert_eq!(read("post-1.bin"), upstream(42));
    }
    let error = refused(
        folder,
        &format!(
            "vanilla window-post --registered-proof 5 --miner-addr t01000 --randomness {} \
             --partition-index 1 {} --out post.json",
            "02".repeat(32),
            sectors.join(" ")
        ),
    );
    assert!(
        error.contains("vanilla_proofs") && error.contains("has 3 elements, and the limit is 2"),
        "{error}"
    );
}
