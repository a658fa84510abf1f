//! `cuzk completions` and `cuzk man`

use std::path::Path;

use clap::CommandFactory as _;
use serde_json::json;

use crate::args::Cli;
use crate::failure::{Classify as _, Failure};
use crate::files::shown;
use crate::interrupt;
use crate::printer::Printer;

pub(crate) fn completions(printer: Printer, shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cuzk", &mut script);
    let script = String::from_utf8_lossy(&script);
    printer.result(&json!({ "shell": shell.to_string(), "script": script }), &script)
}

/// A page for each command and subcommand: `cuzk.1`, `cuzk-prove-porep.1`, …
pub(crate) fn man(printer: Printer, out: &Path) -> Result<(), Failure> {
    fs_err::create_dir_all(out).or_resource()?;
    interrupt::heeded(|| clap_mangen::generate_to(Cli::command(), out).or_resource())?;
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
