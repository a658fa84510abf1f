//! What a PoRep partition's witness costs, beside upstream's `WitnessCS`.
//!
//! `cargo run --release -p cuzk-synth --example witness_speed -- 32GiB`

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::hint::black_box;

use cuzk_pipeline_core::Cx;
use cuzk_synth::{Evaluator, PorepCircuit, SectorShape, Side, Statement, SynthError, fixture};

fn main() -> Result<(), Box<dyn Error>> {
    let size = std::env::args().nth(1).unwrap_or("2KiB".into());
    let shape =
        SectorShape::ALL.into_iter().find(|shape| shape.to_string() == size).ok_or("no such sector size")?;
    let c1 = fixture::porep(shape.sector_size(), 1)?;
    let circuit = PorepCircuit::of_size(shape.sector_size()).ok_or("no circuit")?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let cx = Cx::detached();
    for _ in 0..7 {
        let start = cpu();
        let witness = pool.install(|| circuit.witness(&cx, black_box(&c1), 0))?;
        println!(
            "{:.3} CPU-s, {} variables, {} wide",
            cpu() - start,
            witness.aux.len(),
            witness.aux.wide().len()
        );
    }
    println!("peak {}", peak());
    let start = cpu();
    let r1cs = circuit.record()?.r1cs;
    println!("recorded in {:.2} CPU-s, peak {}", cpu() - start, peak());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let witness = pool.install(|| circuit.witness(&cx, black_box(&c1), 0))?;
    for _ in 0..2 {
        let start = cpu();
        let mut block = vec![Default::default(); 1 << 20];
        pool.install(|| {
            let evaluator = Evaluator::new(&r1cs, &witness)?;
            println!("lookup {:.2} CPU-s", cpu() - start);
            for side in [Side::A, Side::B] {
                let start = cpu();
                for first in (0..r1cs.constraints()).step_by(block.len()) {
                    evaluator.evaluate(&cx, side, first, &mut block)?;
                    black_box(&mut block);
                }
                println!("{side:?} in {:.2} CPU-s", cpu() - start);
            }
            Ok::<_, SynthError>(())
        })?;
        println!("a and b in {:.2} CPU-s, peak {}", cpu() - start, peak());
    }
    Ok(())
}

/// CPU-seconds of this process so far.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let _ = stat;
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanos = tasks.map(|task| {
        let stat = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        stat.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0)
    });
    nanos.sum::<u64>() as f64 / 1e9
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim().to_owned()
}
