//! `cargo xtask miri`: the engine's tests under an interpreter that sees undefined behaviour.

use anyhow::{Result, bail};

use crate::workspace::{Cargo, target_folder};

/// Runs the tests of `pipeline-core`'s engine, or those that `filters` name: what
/// crosses threads goes through the `unsafe` code of the queues that it builds on.
/// Crates that call blst's assembly are out of reach: Miri interprets Rust alone.
pub(crate) fn run(filters: &[String]) -> Result<()> {
    if !Cargo::new("+nightly miri --version").succeeds() {
        bail!(
            "Miri comes with nightly toolchains only and there is none here: \
             rustup toolchain install nightly --component miri,rust-src"
        );
    }
    let mut cargo = Cargo::new("+nightly miri test --locked --package cuzk-pipeline-core --lib --target-dir")
        .arg(target_folder("miri")?)
        .arg("--")
        // Files, processors and clocks are read by what is tested.
        .env("MIRIFLAGS", "-Zmiri-disable-isolation");
    if filters.is_empty() {
        cargo = cargo.arg("engine::");
    }
    for filter in filters {
        cargo = cargo.arg(filter);
    }
    cargo.run()
}
