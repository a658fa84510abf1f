//! The `cuzk` command on a sector of 2 KiB, from nothing to a verified proof.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

const MIB: u64 = 1 << 20;
/// When a command on one thread is in the middle of its work.
const MIDDLE: Duration = Duration::from_secs(4);

/// `cuzk` with the words of `line`, in `folder`, where its cache is too.
fn cuzk(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    command
}

fn output(folder: &Path, line: &str) -> Output {
    cuzk(folder, line).output().unwrap()
}

/// What a command that succeeds says with `--json`.
fn json(folder: &Path, line: &str) -> Value {
    let out = output(folder, &format!("{line} --json --quiet"));
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// The exit code of a command, and what it says on stderr.
fn failure(folder: &Path, line: &str) -> (Option<i32>, String) {
    let out = output(folder, &format!("{line} --quiet"));
    assert!(out.stdout.is_empty(), "{line}");
    (out.status.code(), String::from_utf8(out.stderr).unwrap())
}

/// What is in a folder, which an early interrupt may have left unmade.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Interrupts a command in the middle, and says how long it went on and how it ended.
fn interrupt(mut child: Child) -> (Duration, Option<i32>) {
    sleep(MIDDLE);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let start = Instant::now();
    let code = child.wait().unwrap().code();
    (start.elapsed(), code)
}

#[test]
fn from_nothing_to_a_verified_proof() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    json(folder, "fixture porep --sector-size 2KiB --seed 7 --out c1.json");

    // Interrupted, a setup leaves nothing that looks like parameters.
    let child = cuzk(folder, "setup porep --sector-size 2KiB --out p --threads 1 --quiet").spawn().unwrap();
    let (time, code) = interrupt(child);
    assert_eq!(code, Some(130));
    assert!(time < Duration::from_secs(2), "{time:?}");
    assert!(names(&folder.join("p")).is_empty());
    json(folder, "setup porep --sector-size 2KiB --seed 7 -o p");
    // They stay, unless other ones are asked for.
    assert_eq!(json(folder, "setup porep --sector-size 2KiB --seed 7 --out p")["made"], false);
    assert_eq!(json(folder, "setup porep --sector-size 2KiB --out p")["seed"], 7);
    let (code, error) = failure(folder, "setup porep --sector-size 2KiB --seed 8 --out p");
    assert!(code == Some(2) && error.contains("from seed 7, not from seed 8"), "{error}");

    // A budget below the floor is refused with both numbers, and the hint is enough for
    // two proofs at once, by what the kernel saw resident.
    let prove = "prove porep --c1 c1.json --test-params --params p --out proof.bin";
    let (code, error) = failure(folder, &format!("{prove} --memory 100MiB"));
    assert_eq!(code, Some(4), "{error}");
    assert!(error.contains("the budget is ") && error.contains("the graph needs 388"), "{error}");
    let memory = error.split("--memory ").nth(1).unwrap().trim();
    let budget = memory.strip_suffix("MiB").unwrap().parse::<u64>().unwrap() * MIB;
    let bench = "bench --c1 c1.json --test-params --params p --count 2 --concurrency 2 --threads 2";
    let report = json(folder, &format!("{bench} --memory {memory}"));
    assert_eq!(report["verified"], 2);
    let peak = report["peak_rss_bytes"].as_u64().unwrap();
    assert!(peak < budget, "{} of {} MiB", peak / MIB, budget / MIB);

    // Interrupted in the middle, a proof leaves no file.
    let before = names(folder);
    let child = cuzk(folder, &format!("{prove} --threads 1 --quiet")).spawn().unwrap();
    let (time, code) = interrupt(child);
    assert_eq!(code, Some(130));
    assert!(time < Duration::from_secs(2), "{time:?}");
    assert_eq!(names(folder), before);

    let report = json(folder, prove);
    assert_eq!(report["verified"], true);
    assert_eq!(report["insecure_parameters"], true);
    let verify = "verify porep --c1 c1.json --proof proof.bin --test-params --params p";
    json(folder, verify);
    let mut proof = std::fs::read(folder.join("proof.bin")).unwrap();
    assert_eq!(proof.len(), 192);
    // The sign of C.
    proof[144] ^= 0x20;
    std::fs::write(folder.join("proof.bin"), proof).unwrap();
    let (code, error) = failure(folder, verify);
    assert_eq!(code, Some(3), "{error}");
}
