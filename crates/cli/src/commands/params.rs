//! `cuzk params list` and `cuzk params check`

use std::path::{Path, PathBuf};

use cuzk_pipeline_core::limits::format_bytes;
use cuzk_srs::{Depth, FOLDER_VARIABLE, Report, SrsError};
use serde_json::json;

use crate::args::{ParamsCheck, ParamsList};
use crate::failure::{Class, Failure};
use crate::files::shown;
use crate::params::{Chosen, folder, meter_watch};
use crate::printer::Printer;
use crate::progress::Meter;
use crate::{circuits, interrupt, machine, source};

pub(crate) fn list(printer: Printer, args: &ParamsList) -> Result<(), Failure> {
    let folder = folder(&args.params)?;
    let entries = cuzk_srs::list(&folder.path).map_err(|error| {
        let missing = matches!(error, SrsError::Missing { .. });
        let class = if missing { Class::Resource } else { error.kind().into() };
        let hint = format!("name the folder, with --params or {FOLDER_VARIABLE}, or ask for --test-params");
        Failure::new(class, error).hint(hint)
    })?;
    let json = entries.iter().map(|e| {
        json!({
            "name": e.name,
            "kind": format!("{:?}", e.kind),
            "title": e.published.map(|p| p.title),
            "insecure": e.insecure,
            "bytes": e.size,
            "expected_bytes": e.expected_size,
            "problems": e.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    });
    let mut text = format!("{folder}\n");
    for e in &entries {
        let title = e.published.map_or("", |p| p.title);
        let mark = if e.insecure { "INSECURE" } else { "" };
        let name = shortened(&e.name);
        text += format!("  {:>10}  {name}  {title} {mark}", format_bytes(e.size)).trim_end();
        text.push('\n');
        e.problems.iter().for_each(|problem| text += &format!("              {problem}\n"));
    }
    if entries.is_empty() {
        text += "  no parameter files\n";
    }
    printer.result(&json!({ "folder": shown(&folder.path), "files": json.collect::<Vec<_>>() }), &text)
}

/// A name with most of its long digest left out.
fn shortened(name: &str) -> String {
    match (name.rsplit_once('.'), name.rsplit_once('-')) {
        (Some((_, extension)), Some((stem, digest))) if digest.len() > 24 => {
            format!("{stem}-{}….{extension}", &digest.chars().take(8).collect::<String>())
        }
        _ => name.to_owned(),
    }
}

pub(crate) fn check(printer: Printer, args: &ParamsCheck) -> Result<(), Failure> {
    let circuit = source::circuit(args.kind, args.sector_size)?;
    let chosen = Chosen::of(&args.params, circuit)?;
    let path = chosen.params();
    printer.note(&format!("checking {}", path.display()));
    // A missing file must not cost the recording of a circuit.
    cuzk_srs::check(&path, None, Depth::Header, false, &mut cuzk_srs::unwatched)
        .map_err(|e| chosen.failure(e))?;
    let key = key_beside(printer, &chosen)?;
    let constraints = circuits::circuit(printer, &args.circuits, circuit)?;
    let depth = if args.deep { Depth::Subgroup } else { Depth::Curve };
    let meter = Meter::bytes(printer, "checking");
    let mut watch = |p| meter_watch(&meter, p);
    let lengths = constraints.sizes().queries;
    let pool = machine::pool(args.threads)?;
    let report = interrupt::heeded(|| {
        let report = pool.install(|| cuzk_srs::check(&path, Some(&lengths), depth, true, &mut watch));
        report.map_err(|e| chosen.failure(e))
    });
    drop(meter);
    result(printer, &chosen, key.as_deref(), &report?, args.deep)
}

/// The `.vk` file, which must hold the key that the parameters start with. `cuzk prove`
/// can do without it.
fn key_beside(printer: Printer, chosen: &Chosen) -> Result<Option<PathBuf>, Failure> {
    let key = chosen.key();
    match cuzk_srs::check_key(&chosen.params()) {
        Ok(()) => Ok(Some(key)),
        Err(SrsError::Missing { path }) if path == key => {
            printer.warn(&format!("warning: {} is missing: `cuzk verify` needs it", key.display()));
            Ok(None)
        }
        Err(error) => Err(chosen.failure(error)),
    }
}

fn result(
    printer: Printer,
    chosen: &Chosen,
    key: Option<&Path>,
    report: &Report,
    deep: bool,
) -> Result<(), Failure> {
    let (path, insecure) = (shown(&chosen.params()), chosen.insecure);
    let digest = report.digest.map(|d| d.to_string()).unwrap_or_default();
    let published = report.is_published();
    let json = json!({
        "file": path,
        "vk": key.map(shown),
        "sector_size": chosen.circuit.shape().sector_size(),
        "bytes": report.size,
        "digest": digest,
        "published": published,
        "insecure": insecure,
        "subgroup_checked": deep,
        "points": {
            "ic": report.lengths.inputs, "h": report.lengths.h, "l": report.lengths.l,
            "a": report.lengths.a, "b_g1": report.lengths.b, "b_g2": report.lengths.b,
        },
    });
    let verdict = match (published, insecure) {
        (_, true) => "INSECURE test parameters",
        (Some(true), _) => "the published parameters",
        (Some(false), _) => "NOT the published parameters",
        (None, _) => "no published digest is known here to compare with",
    };
    let points = if deep { "on their curve and in the subgroup" } else { "on their curve" };
    let same = if key.is_some() { ", the key that of the .vk file" } else { "" };
    let text = format!(
        "{path}\n  {} and the counts are right for this circuit; all points {points}{same}\n  \
         BLAKE2b {digest}: {verdict}",
        format_bytes(report.size),
    );
    printer.result(&json, &text)?;
    if published == Some(false) && !insecure {
        let error = anyhow::anyhow!("{path}: the digest is not that of the published file");
        return Err(Failure::new(Class::Input, error).hint("fetch the file again"));
    }
    Ok(())
}
