//! `cuzk circuit`

use std::ops::ControlFlow;
use std::path::Path;

use cuzk_pipeline_core::Value as _;
use cuzk_pipeline_core::limits::format_bytes;
use cuzk_synth::template::{Stored, TemplateError, compare};
use cuzk_synth::{FilecoinCircuit, Recording};
use cuzk_values::R1cs;
use serde_json::{Value as Json, json};

use crate::args::{CircuitBuild, CircuitCheck, CircuitList, CircuitShow};
use crate::circuits;
use crate::failure::{Classify as _, Failure};
use crate::files::shown;
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::Meter;
use crate::units::counted;
use crate::usage::Usage;

pub(crate) fn list(printer: Printer, args: &CircuitList) -> Result<(), Failure> {
    let store = circuits::store(&args.circuits)?;
    let mut text = format!(
        "{}\n  {:<20} {:>16} {:>13} {:>10} {:>10}\n",
        store.folder().display(),
        "circuit",
        "blocks",
        "constraints",
        "domain",
        "bytes"
    );
    let mut list = Vec::new();
    for circuit in FilecoinCircuit::all() {
        let (blocks, of) = circuit.blocks();
        let mut json = json!({
            "circuit": circuit.to_string(), "sector_size": circuit.shape().sector_size(), "blocks": blocks,
        });
        text += &format!("  {circuit:<20} {:>16}", format!("{blocks} {of}"));
        match store.stored(circuit) {
            Ok(Stored { constraints, bytes, inputs, aux, path, .. }) => {
                let log_domain = constraints.next_power_of_two().ilog2();
                text += &format!(" {constraints:>13} {:>10} {bytes:>10}\n", format!("2^{log_domain}"));
                json["stored"] = json!({
                    "file": shown(&path), "bytes": bytes, "constraints": constraints,
                    "log_domain": log_domain, "inputs": inputs, "aux": aux,
                });
            }
            Err(error) if error.is_missing() => text += "             -          -          -\n",
            Err(error) => {
                let error = format!("{:#}", anyhow::Error::from(error));
                text += &format!("  not usable: {error}\n");
                json["error"] = error.into();
            }
        }
        list.push(json);
    }
    printer.result(&json!({ "folder": shown(store.folder()), "circuits": list }), &text)
}

pub(crate) fn show(printer: Printer, args: &CircuitShow) -> Result<(), Failure> {
    let circuit = args.circuit;
    let store = if args.circuits.no_circuits { None } else { Some(circuits::store(&args.circuits.dir)?) };
    let recording = circuits::load(printer, store.as_ref(), circuit)?;
    let file = store.and_then(|store| store.stored(circuit).ok());
    let id = circuit.parameter_id().or_bug()?;
    let (json, text) = describe(circuit, &id, &recording, file.as_ref());
    printer.result(&json, &text)
}

fn describe(
    circuit: FilecoinCircuit,
    id: &str,
    Recording { r1cs, size }: &Recording,
    file: Option<&Stored>,
) -> (Json, String) {
    let R1cs { inputs, aux, coefficients, a, b, c, .. } = r1cs;
    let (constraints, log_domain) = (r1cs.constraints(), r1cs.log_domain());
    let queries = r1cs.query_lengths();
    let entries = [a, b, c].map(cuzk_values::Matrix::entries);
    let stored = [a, b, c].map(cuzk_values::Matrix::stored_entries);
    let repeat = a.repeat();
    let ((blocks, of), rows, arguments) = (circuit.blocks(), repeat.rows.len(), repeat.arguments(0).len());
    let memory = r1cs.footprint().host;
    let json = json!({
        "circuit": circuit.to_string(),
        "parameter_id": id,
        "sector_size": circuit.shape().sector_size(),
        "inputs": inputs,
        "aux": aux,
        "wide": size.wide,
        "constraints": constraints,
        "log_domain": log_domain,
        "entries": { "a": entries[0], "b": entries[1], "c": entries[2] },
        "stored_entries": { "a": stored[0], "b": stored[1], "c": stored[2] },
        "coefficients": coefficients.values().len(),
        "blocks": { "count": blocks, "of": of, "rows": rows, "arguments": arguments },
        "queries": { "ic": queries.inputs, "h": queries.h, "l": queries.l, "a": queries.a, "b": queries.b },
        "memory_bytes": memory,
        "file": file.map(|file| shown(&file.path)),
        "file_bytes": file.map(|file| file.bytes),
    });
    let percent = 100.0 * constraints as f64 / (1_u64 << log_domain) as f64;
    let kept = match file {
        Some(Stored { path, bytes, .. }) => format!("{} in {}", format_bytes(*bytes), path.display()),
        None => "not kept".into(),
    };
    let text = format!(
        "{circuit}\n  parameters    {id}\n  \
         inputs        {inputs}, ONE included\n  \
         auxiliary     {aux}, of which at most {} are neither 0 nor 1\n  \
         constraints   {constraints}, {percent:.1} % of a domain of 2^{log_domain}\n  \
         entries       A {}, B {}, C {}\n  \
         coefficients  {} distinct\n  \
         blocks        {blocks} {of} of {rows} constraints, stored once{}\n  \
         queries       ic {}, h {}, l {}, a {}, b {}\n  \
         in memory     {}\n  on disk       {kept}",
        size.wide,
        entries[0],
        entries[1],
        entries[2],
        coefficients.values().len(),
        if arguments == 0 { String::new() } else { format!(", with {}", counted(arguments, "argument")) },
        queries.inputs,
        queries.h,
        queries.l,
        queries.a,
        queries.b,
        format_bytes(memory),
    );
    (json, text)
}

pub(crate) fn build(printer: Printer, args: &CircuitBuild) -> Result<(), Failure> {
    let store = circuits::store(&args.circuits)?;
    let production = |circuit: &FilecoinCircuit| circuit.shape().sector_size() >= 32 << 30;
    let wanted: Vec<_> = match (args.all, args.small) {
        (true, _) => FilecoinCircuit::all().collect(),
        (_, true) => FilecoinCircuit::all().filter(|circuit| !production(circuit)).collect(),
        _ => args.names.clone(),
    };
    let meter = Meter::steps(printer, "recording");
    let (mut built, mut text) = (Vec::new(), String::new());
    for (done, circuit) in (0..).zip(&wanted) {
        meter.say(&format!("recording {circuit}"));
        meter.set(done, wanted.len() as u64);
        let made = args.force || store.load(*circuit).is_err();
        if made {
            let recording = circuit.record().or_bug()?;
            interrupt::heeded(|| {
                let kept = store.save(*circuit, &recording);
                kept.map_err(|error| unsaved(store.folder(), error))
            })?;
        }
        let Stored { path, bytes, constraints, .. } =
            store.stored(*circuit).map_err(|error| failure(Some(&store.path(*circuit)), error))?;
        let what = if made { "recorded" } else { "kept" };
        text += &format!("{circuit}: {what}, {constraints} constraints, {bytes} bytes\n");
        built.push(json!({
            "circuit": circuit.to_string(), "made": made, "constraints": constraints,
            "file": shown(&path), "bytes": bytes,
        }));
    }
    drop(meter);
    text += &format!("in {}", store.folder().display());
    printer.result(&json!({ "folder": shown(store.folder()), "circuits": built }), &text)
}

pub(crate) fn check(printer: Printer, args: &CircuitCheck) -> Result<(), Failure> {
    let (circuit, store) = (args.circuit, circuits::store(&args.circuits)?);
    let path = store.path(circuit);
    let again = |failure: Failure, how: &str| failure.hint(format!("{how}: {}", command(circuit, args)));
    let recording = store.load(circuit).map_err(|error| {
        let how = if error.is_missing() { "record it" } else { "record it again" };
        again(failure(Some(&path), error), how)
    })?;
    let meter = Meter::steps(printer, &format!("comparing {circuit}"));
    let mut watch = |done, of| {
        meter.set(done as u64, of as u64);
        if interrupt::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let compared = interrupt::heeded(|| {
        compare(circuit, &recording, &mut watch)
            .map_err(|error| again(failure(Some(&path), error), "record it again"))
    });
    drop(meter);
    compared?;
    let (constraints, usage) = (recording.r1cs.constraints(), Usage::now());
    let json = json!({
        "circuit": circuit.to_string(), "file": shown(&path), "constraints": constraints, "equal": true,
        "cpu_seconds": usage.cpu.as_secs_f64(), "peak_rss_bytes": usage.peak_rss,
    });
    let text = format!(
        "{circuit}: all {constraints} constraints are those of Filecoin's own circuit\n  {}; {:.1} CPU-seconds",
        path.display(),
        usage.cpu.as_secs_f64(),
    );
    printer.result(&json, &text)
}

/// The command that records a circuit again.
fn command(circuit: FilecoinCircuit, args: &CircuitCheck) -> String {
    let folder = args.circuits.circuits.as_deref().map(|folder| format!(" --circuits {}", folder.display()));
    format!("cuzk circuit build {circuit} --force{}", folder.unwrap_or_default())
}

/// That a circuit cannot be kept in a folder.
fn unsaved(folder: &Path, error: TemplateError) -> Failure {
    let failure = failure(None, error);
    let context = format!("circuits cannot be kept in {}", folder.display());
    Failure::new(failure.class, failure.error.context(context)).hint("name another folder, with --circuits")
}

/// A template's failure, with the file that it is about where the error does not name it.
fn failure(path: Option<&Path>, error: TemplateError) -> Failure {
    let class = error.kind().into();
    let named = matches!(error, TemplateError::Io(_));
    let error = anyhow::Error::from(error);
    let error = match path {
        Some(path) if !named => error.context(path.display().to_string()),
        _ => error,
    };
    Failure::new(class, error)
}
