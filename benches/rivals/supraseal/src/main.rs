//! Filecoin's C2 by bellperson's cuda-supraseal prover (filecoin-proofs 19.1.0, bellperson
//! 0.27, supraseal-c2 0.1.2), of a sector of 2 KiB, 8 MiB or 512 MiB:
//! `c2_supraseal C1.json COUNT [PROOF]`.
//!
//! One proof loads the parameters, from `FIL_PROOFS_PARAMETER_CACHE` under their official
//! names (`cuzk setup porep --official-names`); COUNT proofs follow, and the last of them is
//! verified. Prints of each what bellperson says that synthesis and prover took, and the
//! wall of the whole C2; then one line of JSON with the medians of the COUNT.

#[path = "../../src/porep.rs"]
mod porep;
mod said;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use porep::Porep;

/// Seconds of synthesis, of the prover and of the whole C2.
type Row = [f64; 3];

fn main() -> Result<()> {
    let usage = "usage: c2_supraseal C1.json COUNT [PROOF]";
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context(usage)?;
    let count: usize = arguments.next().context(usage)?.parse().context(usage)?;
    ensure!(count > 0, usage);
    said::listen()?;
    let porep = Porep::read(Path::new(&file))?;

    println!("{:<10} {:>11} {:>9} {:>9}", "", "synthesis s", "prover s", "wall s");
    let prove = |name: &str| -> Result<(Row, Vec<u8>)> {
        let start = Instant::now();
        let proof = porep.prove()?;
        let wall = start.elapsed().as_secs_f64();
        let row = [said::seconds("synthesis time")?, said::seconds("prover time")?, wall];
        print(name, row);
        Ok((row, proof))
    };
    let (cold, mut proof) = prove("first")?;
    let mut rows = Vec::with_capacity(count);
    for i in 1..=count {
        let (row, made) = prove(&format!("proof {i}"))?;
        rows.push(row);
        proof = made;
    }
    porep.verify(&proof)?;
    if let Some(out) = arguments.next() {
        std::fs::write(&out, &proof).context(out)?;
    }

    let warm = medians(&rows);
    print("median", warm);
    let named = |[synthesis, prover, wall]: Row| json!({"synthesis_s": synthesis, "prover_s": prover, "wall_s": wall});
    println!("{}", json!({"count": count, "verified": 1, "first": named(cold), "median": named(warm)}));
    Ok(())
}

fn print(name: &str, [synthesis, prover, wall]: Row) {
    println!("{name:<10} {synthesis:>11.3} {prover:>9.3} {wall:>9.3}");
}

fn medians(rows: &[Row]) -> Row {
    std::array::from_fn(|column| {
        let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
    })
}
