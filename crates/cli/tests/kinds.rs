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
    let proved = done(
        folder,
        &format!("prove {kind} --input one.json --test-params --check-constraints --out proof.bin"),
    );
    assert_eq!((proved["kind"].as_str(), proved["verified"].as_bool()), (Some(kind), Some(true)));
    assert_eq!(std::fs::metadata(folder.join("proof.bin")).unwrap().len(), 192);
    let verify = |input| format!("verify {kind} --input {input} --proof proof.bin --test-params");
    assert_eq!(done(folder, &verify("one.json"))["valid"], true);
    refused(folder, &verify("other.json"), 3);

    let other_kind = if kind == "snap" { "window-post" } else { "snap" };
    refused(folder, &format!("prove {other_kind} --input one.json --test-params"), 2);
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
