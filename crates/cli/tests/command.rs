//! The command as a process: what clumsy and hostile callers give it.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn cuzk<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.args(args).env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    cuzk(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

fn pipe(args: &[&str]) -> Child {
    cuzk(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn json_is_json_whatever_goes_wrong() {
    let bad: [&[&str]; 4] = [
        &["--json"],
        &["prove", "porep", "--json"],
        &["prove", "porep", "--c1", "x", "--memory", "lots", "--json"],
        &["inspect", "/nonexistent", "--json"],
    ];
    for args in bad {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let error = &json(&output)["error"];
        assert_eq!((error["code"].as_u64(), error["class"].as_str()), (Some(2), Some("input")), "{args:?}");
        assert!(!output.stderr.is_empty());
    }
    assert!(json(&run(["completions", "bash", "--json"]))["script"].as_str().unwrap().contains("cuzk"));
}

#[test]
fn names_need_not_be_utf8() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(OsString::from_vec(b"\xff.json".to_vec()));
    let mut args: Vec<OsString> =
        ["fixture", "porep", "--sector-size", "2KiB", "--json", "--out"].map(Into::into).into();
    args.push(file.clone().into());
    let output = run(&args);
    assert!(output.status.success(), "{output:?}");
    assert!(json(&output)["file"].as_str().unwrap().ends_with("\u{fffd}.json"));
    assert_eq!(json(&run([OsStr::new("inspect"), OsStr::new("--json"), file.as_os_str()]))["kind"], "c1");
}

#[test]
fn a_file_may_be_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c1");
    let out = file.to_str().unwrap();
    assert!(run(["fixture", "porep", "--sector-size", "2KiB", "--out", out]).status.success());
    let mut child = pipe(&["inspect", "/dev/stdin", "--json"]);
    child.stdin.take().unwrap().write_all(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(json(&child.wait_with_output().unwrap())["kind"], "c1");
}

#[test]
fn an_interrupt_ends_what_waits_for_its_input() {
    for signal in [Signal::INT, Signal::TERM] {
        let child = pipe(&["inspect", "/dev/stdin", "--json"]);
        wait_for_handler(child.id());
        let start = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut child = child;
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert!(start.elapsed() < Duration::from_secs(2));
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        assert_eq!(json(&output)["error"]["class"], "interrupted");
    }
}

/// Waits until a process catches SIGINT (`SigCgt` of `proc_pid_status(5)`).
fn wait_for_handler(process: u32) {
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        if u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 1) != 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no handler");
}

#[test]
fn a_c1_whose_paths_go_astray_is_refused_before_it_is_proved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c1.json");
    let name = file.to_str().unwrap();
    assert!(
        run(["fixture", "porep", "--sector-size", "2KiB", "--format", "json", "--out", name])
            .status
            .success()
    );
    let mut c1: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let path = "/vanilla_proofs/0/0/replica_column_proofs/exp_parents/0/inclusion_proof/data/Single/path/path/0/hashes/0/0";
    let byte = c1.pointer_mut(path).unwrap();
    *byte = (byte.as_u64().unwrap() ^ 1).into();
    std::fs::write(&file, c1.to_string()).unwrap();
    let output = run(["prove", "porep", "--c1", name, "--json"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let message = json(&output)["error"]["message"].to_string();
    assert!(message.contains("exp_parents[0].inclusion_proof"), "{message}");
}
