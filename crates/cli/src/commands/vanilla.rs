//! `cuzk vanilla`

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cuzk_synth::input::{Input, InputError, Layer, Layers, Progress};
use cuzk_synth::vanilla::SealedSector;
use cuzk_synth::{c1, post, snap, vanilla};
use cuzk_values::PostKind;

use super::{describe, fixture};
use crate::args::{VanillaPorep, VanillaPost, VanillaSnap};
use crate::failure::{Class, Classify as _, Failure};
use crate::files::{self, shown};
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::Meter;

pub(crate) fn porep(printer: Printer, args: &VanillaPorep) -> Result<(), Failure> {
    check_writable(&[&args.sector], &args.out)?;
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
    written(printer, &args.out, &bytes, &Input::C1(c1), Layer::C1(encoding))
}

pub(crate) fn snap(printer: Printer, args: &VanillaSnap) -> Result<(), Failure> {
    check_writable(&[&args.sealed, &args.updated], &args.out)?;
    let update = vanilla::snap(args.registered_proof, &args.sealed, &args.updated).map_err(failure)?;
    let encoding = fixture::snap_encoding(args.format);
    let mut bytes = Vec::new();
    snap::encode(&update, encoding, &mut bytes).or_bug()?;
    written(printer, &args.out, &bytes, &Input::Snap(update), Layer::Snap(encoding))
}

pub(crate) fn post(printer: Printer, kind: PostKind, args: &VanillaPost) -> Result<(), Failure> {
    check_writable(&args.sector.iter().collect::<Vec<_>>(), &args.out)?;
    if args.registered_proof.kind != kind {
        let of = post::kind_name(args.registered_proof.kind);
        let error = anyhow::anyhow!("the registered proof is of a {of}, not of a {}", post::kind_name(kind));
        return Err(Failure::new(Class::Input, error).hint(format!("cuzk vanilla {of}")));
    }
    let meter = Meter::steps(printer, "opening sectors");
    let watch = |Progress { done, total }| {
        meter.set(done, total);
        if interrupt::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (prover_id, randomness) = (c1::prover_id(args.miner_addr.0), args.randomness.0);
    // Nothing is left to tidy up: an interrupt ends it at once, in the middle of a sector too.
    let made = vanilla::post(args.registered_proof, prover_id, randomness, &args.sector, &watch);
    drop(meter);
    let made = made.map_err(failure)?;
    let encoding = fixture::post_encoding(args.format);
    let mut bytes = Vec::new();
    post::encode(&made, encoding, &mut bytes).or_bug()?;
    written(printer, &args.out, &bytes, &Input::Post(made), Layer::Post(encoding))
}

/// Nothing of the sectors is written over: neither replicas, nor what is in their caches.
fn check_writable(sectors: &[&SealedSector], out: &PathBuf) -> Result<(), Failure> {
    let inputs = sectors.iter().flat_map(|sector| [sector.replica.as_path(), &sector.cache]);
    files::check_writable(&inputs.collect::<Vec<_>>(), [out])
}

fn failure(error: InputError) -> Failure {
    Failure::new(Class::from(error.kind()), error)
}

/// Writes what was made, and says what it is.
fn written(printer: Printer, out: &Path, bytes: &[u8], input: &Input, layer: Layer) -> Result<(), Failure> {
    files::write(out, bytes)?;
    let (mut json, text) = describe::input(input, &Layers(vec![layer]))?;
    json["file"] = shown(out).into();
    json["bytes"] = bytes.len().into();
    printer.result(&json, &format!("{}: {text}", out.display()))
}
