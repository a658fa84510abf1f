//! `cargo xtask miri`: the engine's tests under an interpreter that sees undefined behaviour.

use anyhow::{Result, bail};

use crate::workspace::Cargo;

/// Runs the unit tests of `pipeline-core`, the one crate with `unsafe` code that
/// calls no assembly (Miri interprets Rust alone). Says so where it cannot run.
pub(crate) fn run(filters: &[String]) -> Result<()> {
    if !Cargo::new("+nightly miri --version").succeeds() {
        bail!(
            "Miri comes with nightly toolchains only and there is none here: \
             rustup toolchain install nightly --component miri,rust-src"
        );
    }
    let mut cargo =
        Cargo::new("+nightly miri test --locked --package cuzk-pipeline-core --lib --target-dir target/miri")
            // Files, processors and clocks are read by what is tested.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation")
            .arg("--");
    for filter in filters {
        cargo = cargo.arg(filter);
    }
    cargo.run()
}
