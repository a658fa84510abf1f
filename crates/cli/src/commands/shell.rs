//! `cuzk completions` and `cuzk man`

use std::io;
use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use serde_json::json;

use crate::args::Cli;
use crate::failure::{Classify as _, Failure};
use crate::files::{self, shown};
use crate::interrupt;
use crate::printer::Printer;

pub(crate) fn completions(printer: Printer, shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cuzk", &mut script);
    let script = String::from_utf8_lossy(&script);
    printer.result(&json!({ "shell": shell.to_string(), "script": script }), &script)
}

/// The pages of a command and of those below it.
fn write_pages(command: &Command, out: &Path) -> io::Result<()> {
    command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
        .try_for_each(|below| write_pages(below, out))?;
    // An empty date is left out, and what follows would take its place.
    let page = Man::new(command.clone()).date(" ").source(concat!("cuzk ", env!("CARGO_PKG_VERSION")));
    page.manual("Proofs of Filecoin's Groth16 statements").generate_to(out).map(drop)
}

/// A page for each command and subcommand: `cuzk.1`, `cuzk-prove-porep.1`, …
pub(crate) fn man(printer: Printer, out: &Path) -> Result<(), Failure> {
    files::make_folder(out)?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    interrupt::heeded(|| {
        let cannot = || format!("cannot write into {}", out.display());
        write_pages(&command, out).with_context(cannot).or_resource()
    })?;
    let mut pages: Vec<String> = fs_err::read_dir(out)
        .or_resource()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("cuzk") && name.ends_with(".1"))
        .collect();
    pages.sort();
    printer.result(
        &json!({ "folder": shown(out), "pages": pages }),
        &format!("{} pages in {}", pages.len(), out.display()),
    )
}
