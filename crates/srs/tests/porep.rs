//! The 2 KiB PoRep circuit: 1.04 GiB of parameters.

#![allow(clippy::unwrap_used, reason = "only tests are here")]

use std::fs;
use std::ops::ControlFlow;
use std::time::Instant;

use cuzk_srs::{Depth, ParameterFile, Setup, Trapdoor, check};
use cuzk_synth::PorepCircuit;

/// CPU seconds and peak resident bytes of this process.
fn spent() -> (f64, u64) {
    let usage = fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = usage.rsplit_once(") ").unwrap().1;
    let ticks: u64 = after_name.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    // Ticks are hundredths of a second on Linux (`man 5 proc`).
    (ticks as f64 / 100.0, peak.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10)
}

/// Makes the parameters within 100 CPU seconds and 1.5 GiB, and checks every point:
/// `cargo nextest run --release -p cuzk-srs --test porep --run-ignored all --no-capture`
#[test]
#[ignore = "a minute of a core, and 1.1 GB of disk"]
fn parameters_of_a_2_kib_porep() {
    let circuit = PorepCircuit::of_size(2048).unwrap();
    let r1cs = circuit.record().unwrap().r1cs;
    let folder = tempfile::tempdir().unwrap();
    let stem = circuit.parameter_id().unwrap();
    let setup = Setup {
        folder: folder.path(),
        stem: &stem,
        sector_size: 2048,
        official_names: false,
        replace: false,
    };

    let (before, start) = (spent().0, Instant::now());
    let mut last = "";
    let mut watch = |progress: cuzk_srs::Progress| {
        if progress.part != last {
            last = progress.part;
            println!(
                "{:>8.2} s  {:>4} of {} MB  {last}",
                spent().0 - before,
                progress.done >> 20,
                progress.total >> 20
            );
        }
        ControlFlow::Continue(())
    };
    let made = setup.run(&r1cs, &Trapdoor::from_seed(1), &mut watch).unwrap();
    let (cpu, peak) = (spent().0 - before, spent().1);
    println!(
        "{} bytes, {cpu:.1} CPU s, {:.1} s, peak {} MiB",
        made.bytes,
        start.elapsed().as_secs_f64(),
        peak >> 20
    );
    assert_eq!(made.bytes, 1_114_707_768);
    assert!(cpu < 100.0, "{cpu} CPU seconds");
    assert!(peak < 3 << 29, "{peak} bytes");

    let file = ParameterFile::open(&made.params, &r1cs.query_lengths()).unwrap();
    drop(file);
    for depth in [Depth::Curve, Depth::Subgroup] {
        let before = spent().0;
        check(&made.params, Some(&r1cs.query_lengths()), depth, false, &mut cuzk_srs::unwatched).unwrap();
        println!("{depth:?}: {:.1} CPU s", spent().0 - before);
    }
}
