//! `cargo xtask fuzz`: decoders and the loader of templates under libFuzzer.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::{Cargo, root, target_folder};

/// The targets, in `fuzz/fuzz_targets`.
const TARGETS: [&str; 2] = ["input", "template"];

/// What has LLVM count edges and report comparisons in all code, as libFuzzer asks
/// for (clang's documentation of `SanitizerCoverage`). A stable compiler takes these;
/// memory errors would take a sanitizer, which takes a nightly: of them there is no
/// check here.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Fuzzes a target until it is interrupted, or as libFuzzer's options after it say.
///
/// It starts from `fuzz/corpus/TARGET`, where it keeps what reaches new code; what
/// fails goes into `fuzz/artifacts/TARGET`. `crates/synth/tests/fuzz.rs` runs the same
/// bodies without coverage.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Some((target, options)) =
        arguments.split_first().filter(|(name, _)| TARGETS.contains(&name.as_str()))
    else {
        bail!("which target? One of: {}", TARGETS.join(", "));
    };
    let folder = target_folder("fuzz")?;
    let host = host()?;
    // With a `--target` the flags are not those of build scripts and macros too.
    Cargo::new("build --locked --release --manifest-path fuzz/Cargo.toml")
        .arg("--target")
        .arg(&host)
        .arg("--target-dir")
        .arg(&folder)
        .env("RUSTFLAGS", COVERAGE)
        .run()?;
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|kind| root().join("fuzz").join(kind).join(target));
    for folder in [&corpus, &artifacts] {
        fs_err::create_dir_all(folder)?;
    }
    let mut fuzz = Command::new(format!("{folder}/{host}/release/{target}"));
    fuzz.arg(format!("-artifact_prefix={}/", artifacts.display())).args(options);
    // Files among the options are run alone.
    if options.iter().all(|option| option.starts_with('-')) {
        fuzz.arg(&corpus).env("SEEDS", &corpus);
    }
    println!("$ {fuzz:?}");
    let status = fuzz.status().with_context(|| format!("{fuzz:?} does not start"))?;
    ensure!(status.success(), "{target}: {status}");
    Ok(())
}

/// The triple of the machine's compiler.
fn host() -> Result<String> {
    let out = Command::new("rustc").arg("-vV").output().context("rustc does not start")?;
    let text = String::from_utf8_lossy(&out.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}
