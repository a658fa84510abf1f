//! What templates take, in time and memory: figures, each from a process of its own.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::process::Command;
use std::time::Instant;

use cuzk_pipeline_core::Value as _;
use cuzk_synth::FilecoinCircuit;
use cuzk_synth::template::Store;

const VARIABLE: &str = "CUZK_TEST_TEMPLATE";

/// `cargo nextest run --release -p cuzk-synth --test template_figures --run-ignored only --no-capture templates`
#[test]
#[ignore = "a minute"]
fn templates_of_32gib_are_small_and_fast() {
    for name in ["porep-32GiB", "window-post-32GiB", "winning-post-32GiB", "snap-32GiB"] {
        let folder = tempfile::tempdir().unwrap();
        for what in ["record", "load"] {
            let test = ["--exact", what, "--ignored", "--nocapture"];
            let run = format!("{name} {}", folder.path().display());
            let child = Command::new(std::env::current_exe().unwrap()).args(test).env(VARIABLE, run).output();
            let child = child.unwrap();
            let said = String::from_utf8_lossy(&child.stdout).into_owned();
            assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
            said.lines().filter(|line| line.starts_with(name)).for_each(|line| println!("{line}"));
        }
    }
}

fn asked() -> (FilecoinCircuit, Store) {
    let asked = std::env::var_os(VARIABLE).unwrap().into_string().unwrap();
    let (name, folder) = asked.split_once(' ').unwrap();
    (name.parse().unwrap(), Store::new(folder))
}

/// A line of `/proc/self/status`, in bytes.
fn status(name: &str) -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

/// CPU-seconds of this process.
fn cpu_seconds() -> f64 {
    let stat = fs_err::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // Fields 14 and 15, user and system time in hundredths (proc_pid_stat(5)).
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

#[test]
#[ignore = "run by `templates_of_32gib_are_small_and_fast`"]
fn record() {
    let (circuit, store) = asked();
    let before = cpu_seconds();
    let recording = circuit.record().unwrap();
    let (recorded, peak) = (cpu_seconds() - before, status("VmHWM"));
    let memory = recording.r1cs.footprint().host;
    let bytes = store.save(circuit, &recording).unwrap();
    let saved = cpu_seconds() - before - recorded;
    println!(
        "\n{circuit}: recorded in {recorded:.1} CPU-seconds, peak RSS {} MiB; {} MiB in memory; saved in \
         {saved:.1} CPU-seconds, {bytes} bytes on disk, {} times as much in memory",
        peak >> 20,
        memory >> 20,
        memory / bytes,
    );
    assert!(recorded < 40.0 && memory <= 400 << 20 && bytes <= 150 << 20);
}

#[test]
#[ignore = "run by `templates_of_32gib_are_small_and_fast`"]
fn load() {
    let (circuit, store) = asked();
    let (before, start) = (cpu_seconds(), Instant::now());
    let recording = store.load(circuit).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let (peak, memory) = (status("VmHWM"), recording.r1cs.footprint().host);
    println!(
        "\n{circuit}: loaded in {seconds:.2} s, {:.2} CPU-seconds, peak RSS {} MiB for {} MiB",
        cpu_seconds() - before,
        peak >> 20,
        memory >> 20,
    );
    assert!(seconds < 2.0);
}
