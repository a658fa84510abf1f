//! The input of a proof, whatever its kind, from a file.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use cuzk_synth::c1::{self, Identity};
use cuzk_synth::input::{self, Input, InputError, Known, Layers, Problem, Progress, Watch};
use cuzk_synth::{post, snap};
use cuzk_values::{C1, Post, PostKind};

use crate::args::{Given, GivenSnap, GivenWindow};
use crate::failure::{Class, Failure};
use crate::files;
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::Meter;
use crate::units::{Hash, Miner};

/// What the options say.
pub(crate) fn known(given: &Given) -> Known {
    let prover_id = given.miner_addr.map(|miner| c1::prover_id(miner.0));
    Known {
        c1: Identity { prover_id, sector_number: given.sector_number, porep_id: None },
        post: known_of_post(given.miner_addr, given.randomness, given.window),
        snap: known_of_snap(&given.snap),
    }
}

/// What the options say of a PoSt.
pub(crate) fn known_of_post(
    miner: Option<Miner>,
    randomness: Option<Hash>,
    window: GivenWindow,
) -> post::Known {
    post::Known {
        version: window.post_version.map(Into::into),
        prover_id: miner.map(|miner| c1::prover_id(miner.0)),
        randomness: randomness.map(|hash| hash.0),
        partition: window.partition_index,
        ..post::Known::default()
    }
}

/// What the options say of an update.
pub(crate) fn known_of_snap(given: &GivenSnap) -> snap::Known {
    snap::Known {
        comm_r_old: given.comm_r_old.map(|hash| hash.0),
        comm_r_new: given.comm_r_new.map(|hash| hash.0),
        comm_d_new: given.comm_d_new.map(|hash| hash.0),
        ..snap::Known::default()
    }
}

/// Opens a file and reads the input in it.
pub(crate) fn read(printer: Printer, path: &Path, given: &Given) -> Result<(Input, Layers), Failure> {
    decode(printer, files::open(path)?, path, given)
}

/// Reads the input that lies in a file.
pub(crate) fn decode(
    printer: Printer,
    input: impl Read,
    path: &Path,
    given: &Given,
) -> Result<(Input, Layers), Failure> {
    let mut layers = Layers::default();
    let input =
        input::decode_noting(input, &known(given), &mut layers).map_err(|error| failure(error, path))?;
    let (what, options) = match &input {
        Input::C1(_) => ("a C1", &["--miner-addr", "--sector-number"][..]),
        Input::Post(Post { kind: PostKind::Window, .. }) => {
            ("a window-post", &["--miner-addr", "--randomness", "--post-version", "--partition-index"][..])
        }
        Input::Post(_) => ("a winning-post", &["--miner-addr", "--randomness"][..]),
        Input::Snap(_) => ("an update", &["--comm-r-old", "--comm-r-new", "--comm-d-new"][..]),
    };
    only(given, options, path, what)?;
    if let Input::C1(c1) = &input {
        identify(printer, c1, &known(given).c1).map_err(|error| failure(error, path))?;
    }
    Ok((input, layers))
}

/// Holds a C1 against what is known of its sector, and says where it tells too little for that.
pub(crate) fn identify(printer: Printer, c1: &C1, known: &Identity) -> Result<(), InputError> {
    let checked = c1::check_identity(c1, known)?;
    let what = match known {
        _ if checked => return Ok(()),
        Identity { prover_id: Some(_), .. } => "its miner",
        Identity { sector_number: Some(_), .. } if c1.sector_number.is_none() => "its sector number",
        _ => return Ok(()),
    };
    let why = match c1.variant {
        None => "how it was sealed",
        Some(_) if known.prover_id.is_some() => "its sector number, which --sector-number gives",
        Some(_) => "it, and --miner-addr is not given",
    };
    printer.warn(&format!("warning: this C1 does not say {why}: {what} could not be checked"));
    Ok(())
}

/// Refuses options that say nothing of what a file holds.
pub(crate) fn only(given: &Given, options: &[&str], path: &Path, what: &str) -> Result<(), Failure> {
    let Given { miner_addr, sector_number, randomness, window, snap } = given;
    let all = [
        ("--miner-addr", miner_addr.is_some()),
        ("--sector-number", sector_number.is_some()),
        ("--randomness", randomness.is_some()),
        ("--post-version", window.post_version.is_some()),
        ("--partition-index", window.partition_index.is_some()),
        ("--comm-r-old", snap.comm_r_old.is_some()),
        ("--comm-r-new", snap.comm_r_new.is_some()),
        ("--comm-d-new", snap.comm_d_new.is_some()),
    ];
    match all.into_iter().find(|(option, given)| *given && !options.contains(option)) {
        None => Ok(()),
        Some((option, _)) => {
            let error = anyhow::anyhow!("{option} says nothing of {what}, which {} is", path.display());
            Err(Failure::new(Class::Input, error).hint("leave it out"))
        }
    }
}

/// Follows all paths of an input, with a bar, until the user interrupts.
pub(crate) fn check_trees(
    check: impl FnOnce(&Watch<'_>) -> Result<(), InputError>,
    path: &Path,
    meter: &Meter,
) -> Result<(), Failure> {
    let watch = |Progress { done, total }| {
        meter.set(done, total);
        if interrupt::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    interrupt::heeded(|| check(&watch).map_err(|error| failure(error, path)))
}

/// A fault of an input, with what the user can do.
pub(crate) fn failure(error: InputError, path: &Path) -> Failure {
    let hint = hint(&error);
    let class = Class::from(error.kind());
    let failure = Failure::new(class, anyhow::Error::new(error).context(path.display().to_string()));
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// What the user can do.
fn hint(error: &InputError) -> Option<String> {
    let InputError::Invalid { location, problem } = error else { return None };
    match problem {
        Problem::NotGiven => Some(match location.path.to_string().as_str() {
            "randomness" => "give the chain's: --randomness HASH".into(),
            "miner_id" => "give the miner: --miner-addr t01000".into(),
            "registered_proof" => "say how challenges are numbered: --post-version V1_1 (or V1)".into(),
            name => format!("give it: --{} HASH", name.replace('_', "-")),
        }),
        Problem::Unknown { .. } | Problem::OtherJson => Some(
            "inputs and proofs are told by what they hold; parameter files and keys by their names".into(),
        ),
        _ => None,
    }
}
