//! `cargo xtask ci`: every check, the same here as on the machine that decides.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::workspace::{Cargo, list, metadata};
use crate::{deps, kernels, loom, tidy};

/// A step: its name, its line in `--list`, and what it does.
type Step = (&'static str, &'static str, fn() -> Result<()>);

const STEPS: [Step; 13] = [
    ("fmt", "rustfmt changes nothing", fmt),
    ("tidy", "the rules that no compiler knows", || tidy::run(&[])),
    ("deps", "who depends on whom, and why", || deps::run(&[])),
    ("deny", "bans, licences, sources (advisories need the network)", deny),
    ("clippy", "no warning in any target with every feature", clippy),
    ("features", "crates with features build with none and with each alone", features),
    ("nextest", "unit and integration tests", nextest),
    ("doctest", "the examples in the documentation", doctest),
    ("doc", "the documentation builds, its links resolve", doc),
    ("bench", "each bench runs once", bench),
    ("loom", "the engine's protocols in every interleaving", || loom::run(&[])),
    ("rivals", "the rivals' workspace compiles", rivals),
    ("kernels", "the code for NVIDIA's devices compiles", kernels::check),
];

/// Runs the steps named in `arguments`, or all, until one fails; prints how long each took.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "--list") {
        for (name, about, _) in STEPS {
            println!("{name:<9} {about}");
        }
        return Ok(());
    }
    for name in arguments {
        ensure!(STEPS.iter().any(|(step, ..)| step == name), "no step `{name}`; --list lists them");
    }
    let chosen =
        STEPS.iter().filter(|(name, ..)| arguments.is_empty() || arguments.iter().any(|a| a == name));
    let mut taken: Vec<(&str, Duration)> = Vec::new();
    let mut failure = None;
    for (name, about, step) in chosen {
        println!("\n=== {name}: {about}");
        let start = Instant::now();
        let result = step();
        taken.push((name, start.elapsed()));
        if let Err(error) = result {
            failure = Some((name, error));
            break;
        }
    }
    println!();
    for (name, time) in &taken {
        println!("{name:<9} {:8.1} s", time.as_secs_f64());
    }
    println!("{:<9} {:8.1} s", "all", taken.iter().map(|(_, time)| time.as_secs_f64()).sum::<f64>());
    let failed = usize::from(failure.is_some());
    println!("steps: {} passed, {failed} failed", taken.len() - failed);
    match failure {
        Some((name, error)) => bail!("{name}: {error:#}"),
        None => Ok(()),
    }
}

fn fmt() -> Result<()> {
    component("fmt", "rustup component add rustfmt")?;
    Cargo::new("fmt --all --check").run()
}

fn clippy() -> Result<()> {
    component("clippy", "rustup component add clippy")?;
    Cargo::new("clippy --workspace --all-targets --all-features --locked -- -D warnings").run()
}

/// Features are additive and need no toolkit, so every crate builds with none and with each.
fn features() -> Result<()> {
    for package in list(&metadata()?, "packages") {
        let name = package["name"].as_str().unwrap_or_default();
        let features = package["features"].as_object().into_iter().flatten().map(|(name, _)| name);
        let features: Vec<_> = features.filter(|name| *name != "default").collect();
        if features.is_empty() {
            continue;
        }
        let check = format!("check --locked --package {name} --no-default-features");
        Cargo::new(&check).run()?;
        for feature in features {
            Cargo::new(&format!("{check} --features {feature}")).run()?;
        }
    }
    Ok(())
}

fn nextest() -> Result<()> {
    component("nextest", "scripts/install.sh test, or cargo install --locked cargo-nextest")?;
    Cargo::new("nextest run --workspace --all-features --locked --profile ci").run()
}

fn doctest() -> Result<()> {
    Cargo::new("test --doc --workspace --all-features --locked").run()
}

fn doc() -> Result<()> {
    let doc = Cargo::new("doc --workspace --no-deps --all-features --locked");
    doc.env("RUSTDOCFLAGS", "-D warnings").run()
}

/// Called by `cargo test`, criterion runs each bench once and measures nothing,
/// on what the tests have built already.
fn bench() -> Result<()> {
    Cargo::new("test --benches --package cuzk-benches --all-features --locked").run()
}

fn deny() -> Result<()> {
    component("deny", "scripts/install.sh test, or cargo install --locked cargo-deny")?;
    Cargo::new("deny --all-features --locked check bans licenses sources").run()
}

fn rivals() -> Result<()> {
    component("clippy", "rustup component add clippy")?;
    Cargo::new("clippy --all-targets --all-features --locked --manifest-path benches/rivals/Cargo.toml -- -D warnings").run()
}

/// Says how to get a cargo command that is not there.
fn component(command: &str, remedy: &str) -> Result<()> {
    ensure!(
        Cargo::new(&format!("{command} --version")).succeeds(),
        "`cargo {command}` is not installed: {remedy}"
    );
    Ok(())
}
