//! `cargo xtask loom`: the engine's small protocols under every interleaving.

use anyhow::{Result, ensure};

use crate::workspace::{Cargo, target_folder};

/// Runs the loom tests of `pipeline-core` in a target folder of their own, since
/// `--cfg loom` changes every crate that is built with it.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "loom takes no arguments");
    Cargo::new("test --locked --package cuzk-pipeline-core --lib --target-dir")
        .arg(target_folder("loom")?)
        .arg("loom_tests")
        .env("RUSTFLAGS", "--cfg loom")
        .run()
}
