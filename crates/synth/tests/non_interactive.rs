//! As many partitions as a non-interactive proof has.
//!
//! No sparse sector has such a proof's challenges, which depend on all its paths. Here
//! are as many partitions with the challenges of an interactive one: what is decoded,
//! followed and written is the same, and decoding ends where challenges are compared.
//! A sealed sector of 2 KiB has the right ones (`crates/cli/tests/non_interactive.rs`).
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::process::{Command, Stdio};
use std::time::Instant;

use cuzk_pipeline_core::{Cx, Value};
use cuzk_synth::fixture::SparsePorep;
use cuzk_synth::{PorepCircuit, SectorShape, Statement, SynthError, c1, check};
use cuzk_values::{C1, PoRepVariant};
use rustix::time::{ClockId, clock_gettime};

const CHALLENGE: &str = "vanilla_proofs[0][0].replica_column_proofs.c_x.column.index";

fn partitions(shape: SectorShape) -> C1 {
    let sparse = SparsePorep::new(shape.sector_size(), 1).unwrap();
    let c1 = sparse.partitions(shape.non_interactive_partitions).build().unwrap();
    assert_eq!(c1.partitions.len(), shape.non_interactive_partitions);
    C1 { variant: Some(PoRepVariant::NonInteractive), ..c1 }
}

/// Decodes to the end, where it finds that the challenges are no non-interactive proof's.
fn refused(file: impl std::io::Read) {
    let error = c1::decode(file).unwrap_err().to_string();
    let of = "the challenge that replica_id and comm_r give";
    assert!(error.starts_with(CHALLENGE) && error.contains(of), "{error}");
}

/// The statements and the witnesses of partitions; some are held against the circuit.
fn written(c1: &C1, held: &[usize]) {
    let circuit = PorepCircuit::of_size(c1.sector_size).unwrap();
    let r1cs = (!held.is_empty()).then(|| circuit.record().unwrap().r1cs);
    let cx = Cx::detached();
    let (before, mut checking) = (cpu_seconds(), 0.0);
    for partition in 0..c1.partitions.len() {
        let witness = circuit.witness(&cx, c1, partition).unwrap();
        assert_eq!(*witness.inputs, circuit.public_inputs(c1, partition).unwrap());
        if held.contains(&partition) {
            let before = cpu_seconds();
            check(&cx, r1cs.as_ref().unwrap(), &witness).unwrap();
            checking += cpu_seconds() - before;
        }
    }
    let cpu = cpu_seconds() - before - checking;
    println!("witnesses: {cpu:.1} CPU-s for {} partitions", c1.partitions.len());
    let past = circuit.witness(&cx, c1, c1.partitions.len()).unwrap_err();
    assert!(matches!(past, SynthError::Partition { .. }), "{past}");
}

#[test]
fn all_partitions_of_a_test_sector_are_written() {
    let c1 = partitions(SectorShape::of_size(2 << 10).unwrap());
    for encoding in [c1::Encoding::ApiJson, c1::Encoding::LotusJson, c1::Encoding::ApiBincode] {
        let mut bytes = Vec::new();
        c1::encode(&c1, encoding, &mut bytes).unwrap();
        refused(&bytes[..]);
    }
    c1::check_trees(&c1).unwrap();
    written(&c1, &[0, 12]);
}

/// 126 partitions of 32 GiB: what reading, following and writing them takes.
///
/// `cargo nextest run --release -p cuzk-synth --test non_interactive --run-ignored all 32gib --no-capture`.
#[test]
#[ignore = "2 GB of files, minutes"]
fn all_partitions_of_a_32gib_sector_are_written() {
    let c1 = partitions(SectorShape::of_size(32 << 30).unwrap());
    let weight = c1.footprint().host;
    println!("126 partitions weigh {weight} bytes");
    let folder = tempfile::tempdir().unwrap();
    for encoding in [c1::Encoding::LotusJson, c1::Encoding::ApiBincode] {
        let path = folder.path().join("c1");
        c1::encode(&c1, encoding, fs_err::File::create(&path).unwrap()).unwrap();
        let bytes = path.metadata().unwrap().len();
        let test = ["--exact", "read_from_stdin", "--ignored", "--nocapture"];
        let child = Command::new(std::env::current_exe().unwrap())
            .args(test)
            .stdin(Stdio::from(fs_err::File::open(&path).unwrap().into_parts().0))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout).into_owned();
        assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
        let line = said.lines().find_map(|line| line.strip_prefix("took ")).unwrap();
        println!("{encoding} of {bytes} bytes: {line}");
        let peak: u64 = line.split_whitespace().last().unwrap().parse().unwrap();
        assert!(peak < weight + weight / 4 + (16 << 20), "{peak} for a C1 of {weight}");
    }
    let before = (cpu_seconds(), Instant::now());
    c1::check_trees(&c1).unwrap();
    let (cpu, seconds) = (cpu_seconds() - before.0, before.1.elapsed().as_secs_f64());
    println!("following all paths: {cpu:.1} CPU-s, {seconds:.1} s");
    written(&c1, &[]);
    println!("peak RSS {} bytes", status("VmHWM"));
    written(&C1 { partitions: vec![c1.partitions[125].clone()], ..c1 }, &[0]);
}

#[test]
#[ignore = "run by `all_partitions_of_a_32gib_sector_are_written`"]
fn read_from_stdin() {
    let before = (cpu_seconds(), status("VmHWM"));
    refused(std::io::stdin().lock());
    println!("\ntook {:.1} CPU-s, peak RSS grew by {}", cpu_seconds() - before.0, status("VmHWM") - before.1);
}

/// A line of `/proc/self/status`, in bytes.
fn status(name: &str) -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
