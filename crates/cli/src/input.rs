//! The input of a proof, whatever its kind, from a file.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use cuzk_synth::c1::{self, Identity};
use cuzk_synth::input::{self, Input, InputError, Known, Layers, Problem, Progress, Watch};
use cuzk_synth::{post, snap};

use crate::args::{Given, GivenPost, GivenSnap};
use crate::failure::{Class, Classify as _, Failure};
use crate::interrupt;
use crate::progress::Meter;
use crate::units::Miner;

/// What the options say.
pub(crate) fn known(given: &Given) -> Known {
    let prover_id = given.miner_addr.map(|miner| c1::prover_id(miner.0));
    Known {
        c1: Identity { prover_id, sector_number: given.sector_number, porep_id: None },
        post: known_of_post(&given.post, given.miner_addr),
        snap: known_of_snap(&given.snap),
    }
}

/// What the options say of a PoSt.
pub(crate) fn known_of_post(given: &GivenPost, miner: Option<Miner>) -> post::Known {
    post::Known {
        version: given.post_version.map(Into::into),
        prover_id: miner.map(|miner| c1::prover_id(miner.0)),
        randomness: given.randomness.map(|hash| hash.0),
        partition: given.partition_index,
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
pub(crate) fn read(path: &Path, given: &Given) -> Result<(Input, Layers), Failure> {
    decode(fs_err::File::open(path).or_input()?, path, given)
}

/// Reads the input that lies in a file.
pub(crate) fn decode(input: impl Read, path: &Path, given: &Given) -> Result<(Input, Layers), Failure> {
    let mut layers = Layers::default();
    let decoded = input::decode_noting(input, &known(given), &mut layers);
    decoded.map(|input| (input, layers)).map_err(|error| failure(error, path))
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
