//! Writes `kernels/generated`: the constants of the fields, from blstrs, and for OpenCL their
//! arithmetic, from ec-gpu-gen.
//!
//! `cargo run -p cuzk-gpu-backend --example constants`

#[allow(dead_code, reason = "the test reads numbers too")]
#[path = "../tests/support/mod.rs"]
mod support;

fn main() -> std::io::Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/generated");
    std::fs::write(format!("{folder}/fields.cuh"), support::fields_cuh())?;
    std::fs::write(format!("{folder}/fields.clh"), support::fields_clh())
}
