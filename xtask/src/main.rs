//! The workspace's own chores, one file a command: `cargo xtask COMMAND`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who called it")]

mod ci;
mod deps;
mod fuzz;
mod kernels;
mod loom;
mod miri;
mod source;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, anyhow};

/// A command: its name, its line in the help, and what it does with its arguments.
type Command = (&'static str, &'static str, fn(&[String]) -> Result<()>);

const COMMANDS: [Command; 7] = [
    ("ci", "[STEP…]  every check, in order, or those named; --list lists them", ci::run),
    ("tidy", "hold the sources against the rules that no compiler knows", tidy::run),
    ("deps", "hold `cargo metadata` against ARCHITECTURE.md and docs/dependencies.md", deps::run),
    ("loom", "explore the interleavings of the engine's slots and wake-ups", loom::run),
    (
        "fuzz",
        "TARGET [OPTION…]  fuzz decoders with libFuzzer and its options (needs a C++ compiler)",
        fuzz::run,
    ),
    ("kernels", "[--arch LIST] [FAMILY…]  compile the code for devices (needs nvcc)", kernels::run),
    ("miri", "[FILTER…]  run the engine's tests under Miri (needs a nightly with it)", miri::run),
];

const HELP: [&str; 3] = ["help", "--help", "-h"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first().filter(|(name, _)| !HELP.contains(&name.as_str()))
    else {
        println!("cargo xtask COMMAND\n");
        for (name, about, _) in COMMANDS {
            println!("  {name:<7} {about}");
        }
        return ExitCode::SUCCESS;
    };
    let done = match COMMANDS.iter().find(|(command, ..)| command == name) {
        Some((.., run)) => run(rest),
        None => Err(anyhow!("no command `{name}`; `cargo xtask help` lists them")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
