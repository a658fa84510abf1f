//! `cuzk setup`: test parameters.

use std::path::Path;

use anyhow::anyhow;
use cuzk_pipeline_core::limits::format_bytes;
use cuzk_srs::{Depth, Meta, ParameterSet, Setup, Trapdoor};
use serde_json::json;

use crate::args::{Kind, SetupOptions};
use crate::failure::{Class, Classify as _, Failure};
use crate::files::shown;
use crate::params::{meter_watch, stem, test_folder};
use crate::printer::Printer;
use crate::progress::Meter;
use crate::usage::Usage;
use crate::{circuits, interrupt, machine, source};

pub(crate) fn run(printer: Printer, kind: Kind, args: &SetupOptions) -> Result<(), Failure> {
    let shape = args.sector_size;
    let circuit = source::circuit(kind, shape)?;
    let stem = stem(circuit)?;
    let folder = test_folder(args.out.clone())?.path;
    printer.warn("warning: these parameters are INSECURE: whoever makes them can forge proofs");
    let names = if args.official_names { ParameterSet::official } else { ParameterSet::insecure_test };
    let names = names(&stem).or_bug()?;
    let path = folder.join(names.params());
    if path.exists() && !args.force {
        return kept(printer, &path, &folder.join(names.meta()), args);
    }
    let constraints = circuits::circuit(printer, &args.circuits, circuit)?;
    let trapdoor = args.seed.map_or_else(Trapdoor::from_os, Trapdoor::from_seed);
    let setup = Setup {
        folder: &folder,
        stem: &stem,
        sector_size: shape.sector_size(),
        official_names: args.official_names,
        replace: args.force,
    };
    let meter = Meter::bytes(printer, "making parameters");
    let pool = machine::pool(args.threads)?;
    let made = interrupt::heeded(|| {
        let made = pool.install(|| setup.run(constraints.r1cs(), &trapdoor, &mut |p| meter_watch(&meter, p)));
        made.map_err(|error| Failure::new(Class::from(error.kind()), error))
    });
    drop(meter);
    let made = made?;
    let usage = Usage::now();
    let json = json!({
        "params": shown(&made.params), "vk": shown(&made.vk), "meta": shown(&made.meta), "bytes": made.bytes,
        "sector_size": shape.sector_size(), "insecure": true, "seed": args.seed, "made": true,
        "cpu_seconds": usage.cpu.as_secs_f64(), "peak_rss_bytes": usage.peak_rss,
    });
    let text = format!(
        "{}\n  {} of INSECURE test parameters for {circuit}, in {:.1} CPU-seconds",
        made.params.display(),
        format_bytes(made.bytes),
        usage.cpu.as_secs_f64(),
    );
    printer.result(&json, &text)
}

/// Parameters that are there already stay, unless another seed is asked for than theirs.
fn kept(printer: Printer, path: &Path, meta: &Path, args: &SetupOptions) -> Result<(), Failure> {
    let refused =
        |error: anyhow::Error| Failure::new(Class::Input, error).hint("make them again with --force");
    cuzk_srs::check(path, None, Depth::Header, false, &mut cuzk_srs::unwatched)
        .map_err(|e| refused(e.into()))?;
    let theirs = Meta::read(meta).map_err(|e| refused(e.into()))?.insecure.and_then(|made| made.seed);
    if let Some(seed) = args.seed
        && theirs != args.seed
    {
        let theirs = theirs.map_or("the operating system".into(), |theirs| format!("seed {theirs}"));
        return Err(refused(anyhow!("{} is there, and from {theirs}, not from seed {seed}", path.display())));
    }
    let sector_size = args.sector_size.sector_size();
    let json = json!({
        "params": shown(path), "sector_size": sector_size, "insecure": true, "seed": theirs, "made": false,
    });
    printer.result(&json, &format!("{} is there already; --force makes it again", path.display()))
}
