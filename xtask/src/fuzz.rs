//! `cargo xtask fuzz`: decoders and the loader of templates under cargo-fuzz.

use anyhow::{Result, bail};

use crate::workspace::Cargo;

/// The targets, in `fuzz/fuzz_targets`.
const TARGETS: [&str; 2] = ["input", "template"];

/// Fuzzes a target until it is interrupted, or as libFuzzer's options after it say.
/// On a stable toolchain `crates/synth/tests/fuzz.rs` runs the same bodies.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Some((target, options)) =
        arguments.split_first().filter(|(name, _)| TARGETS.contains(&name.as_str()))
    else {
        bail!("which target? One of: {}", TARGETS.join(", "));
    };
    if !Cargo::new("+nightly fuzz --version").succeeds() {
        bail!(
            "cargo-fuzz and a nightly toolchain are needed: rustup toolchain install nightly; \
             cargo install cargo-fuzz --locked"
        );
    }
    let mut cargo = Cargo::new("+nightly fuzz run --fuzz-dir fuzz").arg(target).arg("--");
    for option in options {
        cargo = cargo.arg(option);
    }
    cargo.run()
}
