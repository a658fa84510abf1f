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
fn a_folder_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let lines: [&[&str]; 10] = [
        &["prove", "porep", "--c1", folder],
        &["prove", "snap", "--input", folder],
        &["prove", "window-post", "--input", folder],
        &["prove", "winning-post", "--input", folder],
        &["verify", "porep", "--proof", folder, "--c1", folder],
        &["bench", "--c1", folder],
        &["inspect", folder],
        &["check-vanilla", folder],
        &["man", env!("CARGO_BIN_EXE_cuzk")],
        &["params", "list", "--params", env!("CARGO_BIN_EXE_cuzk")],
    ];
    for line in lines {
        let output = run(line.iter().chain(&["--json"]));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let message = json(&output)["error"]["message"].to_string();
        assert!(line[0] == "man" || line[0] == "params" || message.contains(" is a folder"), "{message}");
    }
}

#[test]
fn a_result_is_not_mixed_with_what_is_said_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = ["fixture", "snap", "--sector-size", "2KiB", "--json", "--out"];
    for stdout in ["/dev/stdout", "/dev/fd/1"] {
        let output = run(fixture.iter().chain(&[stdout]));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(json(&output)["error"]["message"].as_str().unwrap().starts_with(stdout));
    }
    // Nor where stdout is a file.
    let out = folder.path().join("out");
    let file = std::fs::File::create(&out).unwrap();
    let mut command = cuzk(fixture.iter().map(OsStr::new).chain([out.as_os_str()]));
    assert_eq!(command.stdout(file).status().unwrap().code(), Some(2));
    assert!(std::fs::read_to_string(&out).unwrap().contains("stdout is where the command says"));
    // In /dev/null nothing comes together.
    let mut command = cuzk(fixture.iter().chain(&["/dev/null"]));
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
}

#[test]
fn options_of_another_kind_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let file = file.to_str().unwrap();
    let hash = &"11".repeat(32)[..];
    let options = [
        ("--miner-addr", "1000"),
        ("--sector-number", "1"),
        ("--randomness", hash),
        ("--post-version", "V1_1"),
        ("--partition-index", "0"),
        ("--comm-r-old", hash),
        ("--comm-r-new", hash),
        ("--comm-d-new", hash),
    ];
    for (kind, what, own) in [
        ("porep", "a C1", 0..2),
        ("snap", "an update", 5..8),
        ("window-post", "a window-post", 2..5),
        ("winning-post", "a winning-post", 2..3),
    ] {
        assert!(run(["fixture", kind, "--sector-size", "2KiB", "--out", file]).status.success());
        for (i, (option, value)) in options.iter().enumerate() {
            let shared = *option == "--miner-addr" && kind != "snap";
            let output = run(["check-vanilla", file, option, value, "--json"]);
            if own.contains(&i) || shared {
                continue;
            }
            assert_eq!(output.status.code(), Some(2), "{kind} {option}: {output:?}");
            let message = json(&output)["error"]["message"].to_string();
            assert!(message.contains(&format!("{option} says nothing of {what}, which ")), "{message}");
        }
    }
    // What names the kind has no such option.
    for line in [
        &["prove", "winning-post", "--input", file, "--post-version", "V1"],
        &["verify", "winning-post", "--input", file, "--partition-index", "0"],
        &["fixture", "winning-post", "--sector-size=2KiB", "--out=/dev/null", "--post-version", "V1"],
    ] {
        assert_eq!(run(line).status.code(), Some(2), "{line:?}");
    }
    std::fs::write(file, "f".repeat(384)).unwrap();
    let output = run(["inspect", file, "--miner-addr", "1000"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("--miner-addr says nothing of a proof"));
}

#[test]
fn what_could_not_be_checked_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c1");
    let file = file.to_str().unwrap();
    let said = |line: &[&str]| String::from_utf8(run(line).stderr).unwrap();
    for (format, option, why) in [
        ("json", "--miner-addr=1", "how it was sealed: its miner could not be checked"),
        ("json", "--sector-number=7", "how it was sealed: its sector number could not be checked"),
        ("api-json", "--miner-addr=1", "its sector number, which --sector-number gives: its miner could not"),
        ("api-json", "--sector-number=7", "it, and --miner-addr is not given: its sector number could not"),
    ] {
        let made = run(["fixture", "porep", "--sector-size", "2KiB", "--format", format, "--out", file]);
        assert!(made.status.success());
        for line in [["check-vanilla", file, option], ["inspect", file, option]] {
            assert!(said(&line).contains(why), "{line:?} {format}: {}", said(&line));
        }
        assert!(said(&["prove", "porep", "--c1", file, option, "--params", file]).contains(why));
    }
    assert!(run(["fixture", "porep", "--sector-size", "2KiB", "--out", file]).status.success());
    assert_eq!(said(&["check-vanilla", file, "--miner-addr=1000", "--sector-number=1", "--quiet"]), "");
}

#[test]
fn sizes_without_a_circuit_are_told_from_those_with_one() {
    let lines: [&[&str]; 5] = [
        &["fixture", "snap", "--out", "/dev/null"],
        &["setup", "snap"],
        &["graph", "--kind", "snap"],
        &["params", "check", "--kind", "snap"],
        &["circuit", "show", "snap-1GiB"],
    ];
    for line in lines {
        let size = if line[0] == "circuit" { &[][..] } else { &["--sector-size", "1GiB"] };
        let output = run(line.iter().chain(size));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("2KiB, 4KiB, 16KiB, 32KiB, 8MiB, 16MiB, 512MiB, 32GiB, 64GiB"), "{error}");
    }
}

#[test]
fn pages_of_the_manual_say_whose_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    assert!(run(["man", out]).status.success());
    let page = std::fs::read_to_string(folder.path().join("cuzk-prove-porep.1")).unwrap();
    let title = page.lines().find(|line| line.starts_with(".TH")).unwrap();
    let source = concat!("\"cuzk ", env!("CARGO_PKG_VERSION"), "\"");
    assert!(title.starts_with(&format!(".TH cuzk-prove-porep 1 \" \" {source} \"")), "{title}");
}

/// Nothing heeds an interrupt while a circuit is recorded: it ends at once.
#[test]
fn an_interrupt_ends_what_records_a_circuit() {
    let folder = tempfile::tempdir().unwrap();
    let circuits = folder.path().to_str().unwrap();
    for line in [
        &["circuit", "build", "porep-32GiB", "--circuits", circuits][..],
        &["circuit", "show", "porep-32GiB", "--no-circuits"],
    ] {
        let mut child = pipe(line);
        wait_for_handler(child.id());
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }
    assert_eq!(std::fs::read_dir(circuits).unwrap().count(), 0);
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

#[test]
fn devices_are_listed_with_what_is_missing() {
    let output = run(["devices", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let json = json(&output);
    let names: Vec<_> = json["backends"].as_array().unwrap().iter().map(|b| b["backend"].clone()).collect();
    assert_eq!(names, ["cuda", "opencl", "host"]);
    assert_eq!(json["backends"][2]["devices"].as_array().unwrap().len(), 1);
}

#[test]
fn a_backend_that_is_none_is_refused_wherever_it_is_named() {
    let option = run(["selftest", "--backend", "metal", "--json"]);
    assert_eq!(option.status.code(), Some(2), "{option:?}");
    let variable = cuzk(["selftest", "--json"]).env("BELLMAN_GPU_FRAMEWORK", "metal").output().unwrap();
    assert_eq!(variable.status.code(), Some(2), "{variable:?}");
    assert!(json(&variable)["error"]["message"].as_str().unwrap().contains("BELLMAN_GPU_FRAMEWORK"));
    let none = cuzk(["selftest"]).env("BELLMAN_NO_GPU", "").env("BELLMAN_GPU_FRAMEWORK", "cuda").output();
    assert!(none.unwrap().status.success());
    let device = run(["selftest", "--backend", "host", "--device", "7", "--json"]);
    assert_eq!(device.status.code(), Some(5), "{device:?}");
}

#[test]
fn devices_that_contradict_one_another_are_refused() {
    for options in [["host", "0,0"], ["cpu", "0"]] {
        let output = run(["selftest", "--backend", options[0], "--device", options[1], "--json"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(json(&output)["error"]["message"].as_str().unwrap().contains("--device"), "{output:?}");
    }
    let empty = cuzk(["selftest", "--json"]).env("BELLMAN_GPU_FRAMEWORK", "").output().unwrap();
    assert!(empty.status.success(), "{empty:?}");
}

#[test]
fn a_device_without_memory_is_one_error_that_names_both_sizes() {
    let output = run(["selftest", "--backend", "host", "--device-memory", "200KiB", "--json"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let message = json(&output)["error"]["message"].to_string();
    assert_eq!(message.matches(" KiB").count(), 2, "{message}");
}

#[test]
fn a_small_proof_tells_whether_a_device_calculates_right() {
    let output = run(["selftest", "--backend", "host", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let json = json(&output);
    let devices = json["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 2, "{devices:?}");
    assert!(devices.iter().all(|device| device["right"] == true), "{devices:?}");
}
