//! The inputs of all proofs on the command line.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// `cuzk` with the words of `line`, in `folder`.
fn cuzk(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null()).output().unwrap()
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
    assert_eq!(out.status.code(), Some(2), "{line}");
    String::from_utf8(out.stderr).unwrap()
}

const FIXTURES: [(&str, &str, &str); 4] = [
    ("porep", "c1", "partitions"),
    ("snap", "snap", "partitions"),
    ("window-post", "window-post", "sectors"),
    ("winning-post", "winning-post", "sectors"),
];

#[test]
fn every_kind_is_made_recognised_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (fixture, kind, counted) in FIXTURES {
        for size in ["2KiB", "32KiB"] {
            let made = said(folder, &format!("fixture {fixture} --sector-size {size} --seed 7 --out file"));
            let bytes = std::fs::metadata(folder.join("file")).unwrap().len();
            assert_eq!((&made["seed"], &made["bytes"]), (&json!(7), &json!(bytes)), "{fixture}");
            for command in ["inspect", "check-vanilla"] {
                let report = said(folder, &format!("{command} file"));
                assert_eq!((&report["kind"], &report["sector_size"]), (&json!(kind), &made["sector_size"]));
                assert_eq!(report[counted], made[counted]);
                assert_eq!(report["valid"].as_bool(), (command == "check-vanilla").then_some(true));
            }
        }
    }
}

#[test]
fn what_bare_vanilla_proofs_do_not_say_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for format in ["list", "bincode"] {
        let post =
            said(folder, &format!("fixture window-post --sector-size 2KiB --format {format} --out post"));
        let error = refused(folder, "check-vanilla post");
        assert!(
            error.contains("hint: say how challenges are numbered: --post-version V1_1 (or V1)"),
            "{error}"
        );
        let error = refused(folder, "check-vanilla post --post-version V1_1");
        assert!(error.contains("hint: give the miner: --miner-addr t01000"), "{error}");
        let line = "check-vanilla post --post-version V1_1 --miner-addr t01000";
        let error = refused(folder, line);
        assert!(
            error.contains("randomness") && error.contains("hint: give the chain's: --randomness HASH"),
            "{error}"
        );
        let randomness = post["randomness"].as_str().unwrap();
        said(folder, &format!("{line} --randomness {randomness}"));
        let error = refused(folder, &format!("{line} --randomness {}", randomness.replace('0', "1")));
        assert!(
            error.contains("of sector 1") && error.contains("the challenge that the randomness"),
            "{error}"
        );

        let snap = said(folder, &format!("fixture snap --sector-size 2KiB --format {format} --out snap"));
        let error = refused(folder, "inspect snap");
        assert!(error.contains("hint: give it: --comm-r-old HASH"), "{error}");
        let given = ["comm-r-old", "comm-r-new", "comm-d-new"].map(|name| {
            let hash = snap[name.replace('-', "_")].as_str().unwrap();
            format!(" --{name} {hash}")
        });
        said(folder, &format!("check-vanilla snap{}", given.concat()));
    }
    assert!(
        refused(folder, "check-vanilla x --randomness 12")
            .contains("32 bytes are 64 digits of hex, or base64")
    );
}

#[test]
fn a_fault_is_named_by_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    said(folder, "fixture winning-post --sector-size 2KiB --sector-number 9 --format bincode --out post");
    let mut bytes = std::fs::read(folder.join("post")).unwrap();
    // A sibling in the path of challenge 40: 556 bytes a path.
    bytes[56 + 40 * 556 + 90] ^= 1;
    std::fs::write(folder.join("post"), &bytes).unwrap();
    said(folder, "fixture winning-post --sector-size 2KiB --sector-number 9 --out json");
    let request: Value = serde_json::from_slice(&std::fs::read(folder.join("json")).unwrap()).unwrap();
    let given = format!("--miner-addr 1000 --randomness {}", request["randomness"].as_str().unwrap());
    // What costs nothing is right.
    said(folder, &format!("inspect post {given}"));
    let error = refused(folder, &format!("check-vanilla post {given}"));
    let path = "post: vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs[40] of sector 9: is 0x";
    assert!(error.contains(path), "{error}");
    assert!(error.contains("the root that the path must reach"), "{error}");
}

#[test]
fn options_of_fixtures_are_heeded() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "fixture window-post --sector-size 8MiB --miner-addr f02 --sector-number 5 --sectors 1 --post-version V1 --out post";
    assert_eq!(said(folder, line)["sectors"], 1);
    let request: Value = serde_json::from_slice(&std::fs::read(folder.join("post")).unwrap()).unwrap();
    assert_eq!(
        (&request["miner_id"], &request["registered_proof"]),
        (&json!(2), &json!("StackedDrgWindow8MiBV1"))
    );
    let report = said(folder, "inspect post");
    assert_eq!((&report["first_sector"], &report["version"]), (&json!(5), &json!("V1")));
    let error = refused(folder, "fixture snap --sector-size 1GiB --out snap");
    assert!(error.contains("only sectors of 2KiB, 4KiB, "), "{error}");
}

/// A randomness that is no scalar, and sectors without number, before any file is
/// opened: the pipe in their place would never answer.
#[test]
fn sectors_are_opened_once_all_else_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir_all(folder.join("cache/p_aux")).unwrap();
    std::fs::create_dir(folder.join("trees")).unwrap();
    std::fs::write(folder.join("file"), [0; 2048]).unwrap();
    std::fs::write(folder.join("trees/p_aux"), [0; 64]).unwrap();
    for pipe in ["pipe", "trees/sc-02-data-tree-r-last.dat"] {
        assert!(Command::new("mkfifo").arg(folder.join(pipe)).status().unwrap().success());
    }
    let post = |kind: &str, proof: &str, randomness: &str, sectors: &[&str]| {
        let sectors = sectors.join(" --sector ");
        let line = format!("vanilla {kind} --registered-proof {proof} --miner-addr 1000");
        refused(folder, &format!("{line} --randomness {randomness} --out out --sector {sectors}"))
    };
    let (window, winning) = ("StackedDrgWindow2KiBV1_2", "StackedDrgWinning2KiBV1");
    let good = "02".repeat(32);
    let error = post("window-post", window, &"ff".repeat(32), &["1:pipe:pipe"]);
    assert!(error.contains("randomness: 0xffff"), "{error}");
    let error = post("winning-post", winning, &good, &["1:pipe:pipe", "2:pipe:pipe"]);
    assert!(error.contains("vanilla_proofs: has 2 elements, and the limit is 1"), "{error}");
    let three = ["1:pipe:pipe", "2:pipe:pipe", "3:pipe:pipe"];
    let error = post("window-post --partition-index 7", window, &good, &three);
    assert!(error.contains("vanilla_proofs: has 3 elements, and the limit is 2"), "{error}");

    for (sector, wrong) in [
        ("1:pipe:cache", "pipe is a pipe or a device, not a file"),
        ("1:trees:cache", "trees is a folder, not a file"),
        ("1:file:cache", "cache/p_aux is a folder, not a file"),
        ("1:file:trees", "trees/sc-02-data-tree-r-last.dat is a pipe or a device, not a file"),
        ("1:file:file", "file"),
    ] {
        for (kind, proof) in [("window-post", window), ("winning-post", winning)] {
            let error = post(kind, proof, &good, &[sector]);
            assert!(error.contains("the sector cannot be proved") && error.contains(wrong), "{error}");
        }
        let porep = "vanilla porep --registered-proof 5 --miner-addr 1000";
        let error =
            refused(folder, &format!("{porep} --ticket {good} --seed {good} --out out --sector {sector}"));
        assert!(error.contains("the sector cannot be proved") && error.contains(wrong), "{error}");
        let replica = &sector[2..];
        let snap = format!("vanilla snap --registered-proof 0 --sealed {replica} --updated {replica}");
        let error = refused(folder, &format!("{snap} --out out"));
        assert!(error.contains("the sector cannot be proved") && error.contains(wrong), "{error}");
    }
    // Several partitions do not go into one stream.
    let line = format!("--registered-proof {window} --miner-addr 1000 --randomness {good} --out /dev/null");
    let sectors = three.join(" --sector ");
    let error = refused(folder, &format!("vanilla window-post {line} --sector {sectors}"));
    assert!(error.contains("/dev/null: several partitions take files of their own"), "{error}");
}
