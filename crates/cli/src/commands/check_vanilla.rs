//! `cuzk check-vanilla`

use std::time::Instant;

use super::describe;
use crate::args::CheckVanilla;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::progress::Meter;
use crate::usage::Usage;
use crate::{input, machine};

pub(crate) fn run(printer: Printer, args: &CheckVanilla) -> Result<(), Failure> {
    let start = Instant::now();
    let pool = machine::pool(args.threads)?;
    let (input, layers) = pool.install(|| input::read(printer, &args.file, &args.given))?;
    let (mut json, text) = describe::input(&input, &layers)?;
    let meter = Meter::steps(printer, "following paths");
    pool.install(|| input::check_trees(|watch| input.check_trees(watch), &args.file, &meter))?;
    drop(meter);
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), Usage::now().cpu.as_secs_f64());
    json["valid"] = true.into();
    json["seconds"] = seconds.into();
    json["cpu_seconds"] = cpu.into();
    let text = format!(
        "{}: {text}\n  every path leads to its root: checked in {seconds:.1} s, {cpu:.1} CPU-seconds",
        args.file.display()
    );
    printer.result(&json, &text)
}
