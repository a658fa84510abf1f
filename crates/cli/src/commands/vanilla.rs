//! `cuzk vanilla`

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cuzk_synth::input::{Input, InputError, Layer, Layers, Progress};
use cuzk_synth::vanilla::{SealedSector, Spacetime};
use cuzk_synth::{c1, post, snap, vanilla};
use cuzk_values::PostKind;
use serde_json::{Value as Json, json};

use super::{describe, fixture};
use crate::args::{VanillaPorep, VanillaPost, VanillaSnap, VanillaWindowPost};
use crate::failure::{Class, Classify as _, Failure};
use crate::files::{self, shown};
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::Meter;
use crate::source;

pub(crate) fn porep(printer: Printer, args: &VanillaPorep) -> Result<(), Failure> {
    check_writable(&[&args.sector], [&args.out])?;
    let seal = vanilla::Seal {
        proof: args.registered_proof,
        prover_id: c1::prover_id(args.miner_addr.0),
        ticket: args.ticket.0,
        seed: args.seed.0,
    };
    let c1 = vanilla::porep(&args.sector, &seal).map_err(failure)?;
    let encoding = fixture::c1_encoding(args.format);
    let mut bytes = Vec::new();
    c1::encode(&c1, encoding, &mut bytes).or_input()?;
    let (json, text) = written(&args.out, &bytes, &Input::C1(c1), Layer::C1(encoding))?;
    printer.result(&json, &text)
}

pub(crate) fn snap(printer: Printer, args: &VanillaSnap) -> Result<(), Failure> {
    check_writable(&[&args.sealed, &args.updated], [&args.out])?;
    let update = vanilla::snap(args.registered_proof, &args.sealed, &args.updated).map_err(failure)?;
    let encoding = fixture::snap_encoding(args.format);
    let mut bytes = Vec::new();
    snap::encode(&update, encoding, &mut bytes).or_bug()?;
    let (json, text) = written(&args.out, &bytes, &Input::Snap(update), Layer::Snap(encoding))?;
    printer.result(&json, &text)
}

pub(crate) fn winning_post(printer: Printer, args: &VanillaPost) -> Result<(), Failure> {
    let of = spacetime(args, PostKind::Winning, 0)?;
    let (json, text) = post(printer, args, &of, &args.sector, &args.out)?;
    printer.result(&json, &text)
}

/// One partition, or as many as the sectors fill, each into a file of its own.
pub(crate) fn window_post(printer: Printer, args: &VanillaWindowPost) -> Result<(), Failure> {
    let VanillaWindowPost { post: args, partition_index } = args;
    let of = spacetime(args, PostKind::Window, partition_index.unwrap_or(0))?;
    source::warn_of_order(printer, args.sector.iter().map(|sector| sector.number));
    if partition_index.is_some() || args.sector.len() <= of.room() {
        let (json, text) = post(printer, args, &of, &args.sector, &args.out)?;
        return printer.result(&json, &text);
    }
    if args.out.metadata().is_ok_and(|there| !there.is_file()) {
        let error = anyhow::anyhow!("{}: several partitions take files of their own", args.out.display());
        return Err(Failure::new(Class::Input, error));
    }
    let partitions: Vec<_> = args.sector.chunks(of.room()).zip(0..).collect();
    let files: Vec<PathBuf> = partitions.iter().map(|(_, k)| numbered(&args.out, *k)).collect();
    check_writable(&args.sector.iter().collect::<Vec<_>>(), &files)?;
    let (mut json, mut text) = (Vec::new(), Vec::new());
    for ((sectors, partition), out) in partitions.into_iter().zip(&files) {
        let made = post(printer, args, &Spacetime { partition, ..of }, sectors, out)?;
        json.push(made.0);
        text.push(made.1);
    }
    printer.result(&json!({ "partitions": json }), &text.join("\n"))
}

fn spacetime(args: &VanillaPost, kind: PostKind, partition: u32) -> Result<Spacetime, Failure> {
    let proof = args.registered_proof;
    if proof.kind != kind {
        let of = post::kind_name(proof.kind);
        let error = anyhow::anyhow!("the registered proof is of a {of}, not of a {}", post::kind_name(kind));
        return Err(Failure::new(Class::Input, error).hint(format!("cuzk vanilla {of}")));
    }
    let (prover_id, randomness) = (c1::prover_id(args.miner_addr.0), args.randomness.0);
    Ok(Spacetime { proof, prover_id, randomness, partition })
}

/// Makes and writes the vanilla proofs of a partition, and says what they are.
fn post(
    printer: Printer,
    args: &VanillaPost,
    of: &Spacetime,
    sectors: &[SealedSector],
    out: &PathBuf,
) -> Result<Told, Failure> {
    check_writable(&sectors.iter().collect::<Vec<_>>(), [out])?;
    let meter = Meter::steps(printer, "opening sectors");
    let watch = |Progress { done, total }| {
        meter.set(done, total);
        if interrupt::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    // Nothing is left to tidy up: an interrupt ends it at once, in the middle of a sector too.
    let made = vanilla::post(of, sectors, &watch);
    drop(meter);
    let made = made.map_err(failure)?;
    let encoding = fixture::post_encoding(args.format);
    let mut bytes = Vec::new();
    post::encode(&made, encoding, &mut bytes).or_bug()?;
    written(out, &bytes, &Input::Post(made), Layer::Post(encoding))
}

/// The file of a partition: `post-3.json` for `post.json`.
fn numbered(out: &Path, partition: u32) -> PathBuf {
    let mut name = out.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{partition}"));
    if let Some(extension) = out.extension() {
        name.push(".");
        name.push(extension);
    }
    out.with_file_name(name)
}

/// Nothing of the sectors is written over: neither replicas, nor what is in their caches.
fn check_writable<'a>(
    sectors: &[&SealedSector],
    out: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Failure> {
    let inputs = sectors.iter().flat_map(|sector| [sector.replica.as_path(), &sector.cache]);
    files::check_writable(&inputs.collect::<Vec<_>>(), out)
}

fn failure(error: InputError) -> Failure {
    Failure::new(Class::from(error.kind()), error)
}

/// What a result is, as JSON and as text.
type Told = (Json, String);

/// Writes what was made, and says what it is.
fn written(out: &Path, bytes: &[u8], input: &Input, layer: Layer) -> Result<Told, Failure> {
    files::write(out, bytes)?;
    let (mut json, text) = describe::input(input, &Layers(vec![layer]))?;
    json["file"] = shown(out).into();
    json["bytes"] = bytes.len().into();
    Ok((json, format!("{}: {text}", out.display())))
}
