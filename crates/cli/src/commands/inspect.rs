//! `cuzk inspect`: what a file is.

use std::io::Read;
use std::path::Path;

use cuzk_pipeline_core::limits::format_bytes;
use cuzk_srs::{Depth, FileKind, Meta, Published};
use cuzk_values::PROOF_BYTES;
use serde_json::{Value as Json, json};

use super::describe;
use super::verify::{LONGEST_PROOF, parse_proof};
use crate::args::Inspect;
use crate::failure::{Classify as _, Failure};
use crate::printer::Printer;
use crate::units::counted;
use crate::{files, input};

pub(crate) fn run(printer: Printer, args: &Inspect) -> Result<(), Failure> {
    let (json, text) = describe(printer, args)?;
    printer.result(&json, &format!("{}: {text}", args.file.display()))
}

fn describe(printer: Printer, args: &Inspect) -> Result<(Json, String), Failure> {
    let path = &*args.file;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bare = |what| input::only(&args.given, &[], path, what);
    match FileKind::of(&name) {
        Some((FileKind::Params, insecure)) => {
            bare("parameters")?;
            params(path, &name, insecure)
        }
        Some((FileKind::VerifyingKey, insecure)) => {
            bare("a verifying key")?;
            key(path, &name, insecure)
        }
        Some((FileKind::Meta, _)) => {
            bare("a description of parameters")?;
            meta(path)
        }
        _ => proof_or_input(printer, args),
    }
}

/// Told by how it starts. It is read once, for it may be a pipe.
fn proof_or_input(printer: Printer, args: &Inspect) -> Result<(Json, String), Failure> {
    let path = &*args.file;
    let mut file = files::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(LONGEST_PROOF + 1).read_to_end(&mut start).or_input()?;
    if is_proof(&start) {
        input::only(&args.given, &[], path, "a proof")?;
        return proof(&start, path);
    }
    let (input, layers) = input::decode(printer, start.chain(file), path, &args.given)?;
    describe::input(&input, &layers)
}

/// Whether a file that starts so has a proof's length and first bit, or is hex.
fn is_proof(start: &[u8]) -> bool {
    // The first bit of a compressed point is set, and of no text or bincode length.
    let compressed = start.first().is_some_and(|byte| byte & 0x80 != 0);
    let head = start.get(..PROOF_BYTES);
    let hex = head.is_some_and(|head| head.iter().all(|c| c.is_ascii_hexdigit() || *c == b'x'));
    compressed && start.len().is_multiple_of(PROOF_BYTES) || hex
}

fn proof(bytes: &[u8], path: &Path) -> Result<(Json, String), Failure> {
    let proof = parse_proof(bytes, path)?;
    let partitions = proof.0.len();
    let json = json!({ "kind": "proof", "partitions": partitions, "bytes": proof.to_bytes().len() });
    Ok((
        json,
        format!(
            "a Groth16 proof of {}; its points are well formed (not verified)",
            counted(partitions, "partition")
        ),
    ))
}

fn params(path: &Path, name: &str, insecure: bool) -> Result<(Json, String), Failure> {
    let report = cuzk_srs::check(path, None, Depth::Header, false, &mut cuzk_srs::unwatched).or_input()?;
    let title = Published::of(name).map(|p| p.title);
    let lengths = report.lengths;
    let json = json!({
        "kind": "parameters", "title": title, "insecure": insecure, "bytes": report.size,
        "points": { "ic": lengths.inputs, "h": lengths.h, "l": lengths.l, "a": lengths.a,
                    "b_g1": lengths.b, "b_g2": lengths.b },
    });
    let what = if insecure { "INSECURE test parameters" } else { "parameters" };
    let of = title.map(|t| format!(" of {t}")).unwrap_or_default();
    let text = format!(
        "{what}{of}, {}: h {}, l {}, a {}, b {} points, {} public inputs (header only: `cuzk params check` looks at the points)",
        format_bytes(report.size),
        lengths.h,
        lengths.l,
        lengths.a,
        lengths.b,
        lengths.inputs,
    );
    Ok((json, text))
}

fn key(path: &Path, name: &str, insecure: bool) -> Result<(Json, String), Failure> {
    let key = cuzk_srs::verifying_key(path).or_input()?;
    let title = Published::of(name).map(|p| p.title);
    let json = json!({
        "kind": "verifying-key", "title": title, "insecure": insecure, "inputs": key.ic.len(),
    });
    let of = title.map(|t| format!(" of {t}")).unwrap_or_default();
    let what = if insecure { "an INSECURE test verifying key" } else { "a verifying key" };
    Ok((json, format!("{what}{of} for {} public inputs, ONE included", key.ic.len())))
}

fn meta(path: &Path) -> Result<(Json, String), Failure> {
    let Meta { sector_size, insecure } = Meta::read(path).or_input()?;
    let json = json!({
        "kind": "meta", "sector_size": sector_size, "insecure": insecure.is_some(),
        "seed": insecure.as_ref().and_then(|made| made.seed),
        "made_by": insecure.as_ref().map(|made| &made.made_by),
    });
    let sectors = format_bytes(sector_size);
    let text = match insecure {
        None => format!("says that parameters are for {sectors} sectors"),
        Some(made) => {
            let seed = made.seed.map_or("the operating system".into(), |seed| format!("seed {seed}"));
            format!(
                "says that parameters are for {sectors} sectors: INSECURE ones from {seed}, by {}",
                made.made_by
            )
        }
    };
    Ok((json, text))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
