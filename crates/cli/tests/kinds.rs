//! Each kind of proof from end to end: fixture, test parameters, proof, verification.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn cuzk(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.args(args).current_dir(folder).env_remove("RUST_LOG").stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", folder.join("cache")).env("XDG_DATA_HOME", folder.join("data"));
    command.output().unwrap()
}

fn done(folder: &Path, args: &str) -> Value {
    let args: Vec<&str> = args.split(' ').chain(["--json"]).collect();
    let output = cuzk(folder, &args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(folder: &Path, args: &str, code: i32) -> String {
    let args: Vec<&str> = args.split(' ').collect();
    let output = cuzk(folder, &args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// A proof of a fixture verifies, one of another fixture does not.
fn end_to_end(kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, &format!("fixture {kind} --sector-size 2KiB --seed 1 --out one.json"));
    done(folder, &format!("fixture {kind} --sector-size 2KiB --seed 2 --out other.json"));
    let missing = format!("prove {kind} --input one.json --test-params --out proof.bin");
    assert!(refused(folder, &missing, 4).contains(&format!("cuzk setup {kind} --sector-size 2KiB")));

    done(folder, &format!("setup {kind} --sector-size 2KiB --seed 7"));
    // The check takes the engine's memory, and the constraints that the proof takes.
    let prove = format!("prove {kind} --input one.json --test-params --check-constraints --no-circuits");
    let output = cuzk(folder, &format!("{prove} --out proof.bin --json").split(' ').collect::<Vec<_>>());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("recording the circuit").count(), 1, "{said}");
    let proved: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((proved["kind"].as_str(), proved["verified"].as_bool()), (Some(kind), Some(true)));
    let partitions = proved["partitions"].as_u64().unwrap();
    let stages = proved["stages"].as_array().unwrap();
    let check = stages.iter().find(|stage| stage["stage"] == "synth.check").unwrap();
    assert_eq!(check["count"].as_u64(), Some(partitions));
    assert_eq!(std::fs::metadata(folder.join("proof.bin")).unwrap().len(), 192);
    let verify = |input| format!("verify {kind} --input {input} --proof proof.bin --test-params");
    assert_eq!(done(folder, &verify("one.json"))["valid"], true);
    let error = refused(folder, &verify("other.json"), 3);
    assert!(error.contains("proof.bin: the proof of partition 0 does not verify"), "{error}");
    assert!(error.contains("hint: test parameters are all different: "), "{error}");
    // The kind is said first, whatever the bytes are.
    let other_kind = if kind == "snap" { "window-post" } else { "snap" };
    let error = refused(folder, &format!("prove {other_kind} --input one.json --test-params"), 2);
    assert!(error.contains(&format!("is {kind}, not {other_kind}")), "{error}");

    if kind == "window-post" {
        keys(folder, kind);
    }
}

/// A key of other parameters is told from the parameters' own, and one that does not
/// fit is named.
fn keys(folder: &Path, kind: &str) {
    let check = format!("params check --kind {kind} --sector-size 2KiB --test-params");
    let verify = format!("verify {kind} --input one.json --proof proof.bin --test-params");
    let checked = done(folder, &check);
    let key = Path::new(checked["vk"].as_str().unwrap());
    let own = std::fs::read(key).unwrap();

    // Alpha in beta's place.
    let mut other = own.clone();
    other.copy_within(..96, 96);
    std::fs::write(key, &other).unwrap();
    let error = refused(folder, &check, 2);
    assert!(error.contains(&format!("the verifying key in it is not that of {}", key.display())), "{error}");
    assert!(error.contains(&format!("cuzk setup {kind} --sector-size 2KiB --force")), "{error}");

    // One input less.
    let inputs = u32::from_be_bytes(own[864..868].try_into().unwrap()) - 1;
    other = own[..own.len() - 96].to_vec();
    other[864..868].copy_from_slice(&inputs.to_be_bytes());
    std::fs::write(key, &other).unwrap();
    let error = refused(folder, &verify, 2);
    assert!(error.contains(".vk: partition 0 has ") && error.contains("hint: make them again: "), "{error}");

    std::fs::remove_file(key).unwrap();
    assert!(done(folder, &check)["vk"].is_null());
}

#[test]
fn window_post() {
    end_to_end("window-post");
}

#[test]
fn winning_post() {
    end_to_end("winning-post");
}

#[test]
fn snap() {
    end_to_end("snap");
}
