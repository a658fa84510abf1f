//! How fast a C1 is read, beside serde's derived code for upstream's structs.
//!
//! `cargo run --release -p cuzk-synth --example c1_speed`

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cuzk_synth::{c1, fixture};
use filecoin_proofs_api::seal::SealCommitPhase1Output;

fn main() -> Result<(), Box<dyn Error>> {
    let mut file = Vec::new();
    c1::encode(&fixture::porep(32 << 30, 3)?, c1::Encoding::LotusJson, &mut file)?;
    println!("a 32GiB C1 in lotus JSON, {} bytes, in turns:", file.len());
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..10 {
        let start = Instant::now();
        black_box(c1::decode(&file[..])?);
        ours = ours.min(start.elapsed());

        let start = Instant::now();
        let wrapper: serde_json::Value = serde_json::from_slice(&file)?;
        let payload = STANDARD.decode(wrapper["Phase1Out"].as_str().unwrap_or_default())?;
        black_box(serde_json::from_slice::<SealCommitPhase1Output>(&payload)?);
        theirs = theirs.min(start.elapsed());
    }
    println!("  c1::decode, with all its checks: {ours:.3?}");
    println!("  base64 and serde_json into upstream's structs, unchecked: {theirs:.3?}");
    Ok(())
}
