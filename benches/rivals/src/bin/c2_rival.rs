//! Filecoin's C2 as upstream makes it on a CPU (filecoin-proofs 19.1.0, bellperson
//! 0.27), of a sector of 2 KiB, 8 MiB or 512 MiB: `c2_rival C1.json [PROOF]`.
//!
//! The parameters come from `FIL_PROOFS_PARAMETER_CACHE` under their official names
//! (`cuzk setup porep --official-names`). Prints one line of JSON: seconds of wall
//! and CPU time and the most memory resident, of the whole process.

#[path = "../porep.rs"]
mod porep;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use serde_json::json;

use porep::Porep;

fn main() -> Result<()> {
    let start = Instant::now();
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context("usage: c2_rival C1.json [PROOF]")?;
    let porep = Porep::read(Path::new(&file))?;
    let decoded = start.elapsed().as_secs_f64();

    let proof = porep.prove()?;
    let proved = start.elapsed().as_secs_f64();
    porep.verify(&proof)?;
    if let Some(out) = arguments.next() {
        std::fs::write(&out, &proof).context(out)?;
    }

    let all = start.elapsed().as_secs_f64();
    let line = json!({
        "wall_s": all,
        "cpu_s": cpu_seconds(&getrusage(UsageWho::RUSAGE_SELF)?),
        "vm_hwm_bytes": peak_bytes()?,
        "decode_s": decoded,
        "prove_s": proved - decoded,
        "verify_s": all - proved,
    });
    println!("{line}");
    Ok(())
}

fn cpu_seconds(usage: &Usage) -> f64 {
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

/// The kernel's high-water mark of what was resident, mapped files included.
fn peak_bytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib << 10)
}
