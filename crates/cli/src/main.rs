//! The `cuzk` command.

mod allocator;
mod args;
mod circuits;
mod commands {
    pub(crate) mod bench;
    pub(crate) mod check_vanilla;
    pub(crate) mod circuit;
    pub(crate) mod describe;
    pub(crate) mod devices;
    pub(crate) mod fixture;
    pub(crate) mod graph;
    pub(crate) mod inspect;
    pub(crate) mod params;
    pub(crate) mod prove;
    pub(crate) mod selftest;
    pub(crate) mod setup;
    pub(crate) mod shell;
    pub(crate) mod topology;
    pub(crate) mod vanilla;
    pub(crate) mod verify;
}
mod constraints;
mod devices;
mod failure;
mod files;
mod input;
mod interrupt;
mod machine;
mod params;
mod printer;
mod progress;
mod source;
mod units;
mod usage;

use std::io::IsTerminal as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser as _;
use cuzk_values::PostKind;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::args::{Circuit, Cli, Command, Fixture, Global, Kind, Params, Prove, Setup, Vanilla, Verify};
use crate::failure::{Class, Failure};
use crate::printer::Printer;

fn main() -> ExitCode {
    allocator::give_back_what_is_freed();
    let Cli { command, global } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let printer = Printer::new(global.json, global.quiet);
    log(&global);
    let work = AssertUnwindSafe(|| {
        interrupt::listen(printer)?;
        params::expect_bus_errors(printer)?;
        run(printer, command)
    });
    let ended = catch_unwind(work).unwrap_or_else(|panic| Err(Failure::panicked(&*panic)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            printer.failure(&failure);
            failure.exit_code()
        }
    }
}

/// Prints what clap has to say: help, the version, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let json = std::env::args_os().any(|argument| argument == "--json");
    if json {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let text = text.split("\n\nFor more information").next().unwrap_or(text).trim_end().to_owned();
        Printer::new(json, false).failure(&Failure::new(Class::Input, anyhow::Error::msg(text)));
    } else {
        let _ = error.print();
    }
    ExitCode::from(Class::Input.code())
}

fn run(printer: Printer, command: Command) -> Result<(), Failure> {
    use commands::{
        bench, check_vanilla, circuit, devices, fixture, graph, inspect, params, prove, selftest, setup,
        shell, topology, vanilla, verify,
    };
    match command {
        Command::Prove(Prove::Porep(args)) => prove::run(printer, &args),
        Command::Prove(Prove::Snap(args)) => prove::run(printer, &args),
        Command::Prove(Prove::WindowPost(args)) => prove::run(printer, &args),
        Command::Prove(Prove::WinningPost(args)) => prove::run(printer, &args),
        Command::Verify(Verify::Porep(args)) => verify::run(printer, &args),
        Command::Verify(Verify::Snap(args)) => verify::run(printer, &args),
        Command::Verify(Verify::WindowPost(args)) => verify::run(printer, &args),
        Command::Verify(Verify::WinningPost(args)) => verify::run(printer, &args),
        Command::Inspect(args) => inspect::run(printer, &args),
        Command::CheckVanilla(args) => check_vanilla::run(printer, &args),
        Command::Vanilla(Vanilla::Porep(args)) => vanilla::porep(printer, &args),
        Command::Vanilla(Vanilla::Snap(args)) => vanilla::snap(printer, &args),
        Command::Vanilla(Vanilla::WindowPost(args)) => vanilla::window_post(printer, &args),
        Command::Vanilla(Vanilla::WinningPost(args)) => vanilla::winning_post(printer, &args),
        Command::Fixture(Fixture::Porep(args)) => fixture::porep(printer, &args),
        Command::Fixture(Fixture::Snap(args)) => fixture::snap(printer, &args),
        Command::Fixture(Fixture::WindowPost(args)) => fixture::post(printer, PostKind::Window, &args),
        Command::Fixture(Fixture::WinningPost(args)) => fixture::post(printer, PostKind::Winning, &args),
        Command::Setup(Setup::Porep(args)) => setup::run(printer, Kind::Porep, &args),
        Command::Setup(Setup::Snap(args)) => setup::run(printer, Kind::Snap, &args),
        Command::Setup(Setup::WindowPost(args)) => setup::run(printer, Kind::WindowPost, &args),
        Command::Setup(Setup::WinningPost(args)) => setup::run(printer, Kind::WinningPost, &args),
        Command::Params(Params::List(args)) => params::list(printer, &args),
        Command::Params(Params::Check(args)) => params::check(printer, &args),
        Command::Circuit(Circuit::List(args)) => circuit::list(printer, &args),
        Command::Circuit(Circuit::Show(args)) => circuit::show(printer, &args),
        Command::Circuit(Circuit::Build(args)) => circuit::build(printer, &args),
        Command::Circuit(Circuit::Check(args)) => circuit::check(printer, &args),
        Command::Bench(args) => bench::run(printer, &args),
        Command::Graph(args) => graph::run(printer, &args),
        Command::Devices => devices::run(printer),
        Command::Selftest(args) => selftest::run(printer, &args),
        Command::Topology => topology::run(printer),
        Command::Completions { shell } => shell::completions(printer, shell),
        Command::Man { out } => shell::man(printer, &out),
    }
}

/// Logs to stderr: warnings, or with `-v` each stage at its end too; `RUST_LOG` overrides both.
fn log(global: &Global) {
    let default = match global.verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
}
