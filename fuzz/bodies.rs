//! What is fuzzed, for cargo-fuzz and for the test `crates/synth/tests/fuzz.rs`.

use cuzk_synth::input::{self, Known};
use cuzk_synth::{FilecoinCircuit, c1, fixture, post, snap, template};

/// The key of the templates that are decoded.
pub(crate) const KEY: &str = "fuzzed";

/// Reads bytes as an input of any kind; where they are one, follows its trees.
pub(crate) fn input(bytes: &[u8], known: &Known) -> bool {
    let Ok(input) = input::decode(bytes, known) else { return false };
    let _ = input.check_trees(&input::unwatched);
    true
}

/// Reads bytes as a template, as they are and with a checksum that is right; where
/// they are one, walks its rows.
pub(crate) fn template(bytes: &[u8]) -> bool {
    let as_it_is = template::decode(KEY, bytes).is_ok();
    let body = bytes.split_last_chunk::<32>().map_or(bytes, |(body, _)| body);
    let digest = blake2b_simd::Params::new().hash_length(32).hash(body);
    let Ok(recording) = template::decode(KEY, &[body, digest.as_bytes()].concat()) else {
        return as_it_is;
    };
    let r1cs = &recording.r1cs;
    let (columns, coefficients) = (r1cs.inputs + r1cs.aux, r1cs.coefficients.values().len());
    for matrix in [&r1cs.a, &r1cs.b, &r1cs.c] {
        // Copies without end are possible; some are enough.
        for (column, coefficient) in matrix.rows_in(0..matrix.rows().min(1 << 14)).flatten() {
            assert!((column as usize) < columns && (coefficient as usize) < coefficients);
        }
    }
    true
}

/// What making seeds can fail with.
type Failed = Box<dyn std::error::Error>;

/// Inputs to start from, and what is known of those that do not say it: of each kind
/// in every encoding, and some of them compressed.
pub(crate) fn inputs() -> Result<(Vec<Vec<u8>>, Known), Failed> {
    let (c1, snap) = (fixture::porep(2048, 1)?, fixture::snap(2048, 1)?);
    let (window, winning) = (fixture::window_post(2048, 1)?, fixture::winning_post(2048, 1)?);
    let mut seeds = Vec::new();
    for encoding in [
        c1::Encoding::ProofsJson,
        c1::Encoding::ApiJson,
        c1::Encoding::LotusJson,
        c1::Encoding::ProofsBincode,
        c1::Encoding::ApiBincode,
    ] {
        seeds.push(encoded(|out| c1::encode(&c1, encoding, out))?);
    }
    for encoding in [post::Encoding::Json, post::Encoding::List, post::Encoding::Bincode] {
        seeds.push(encoded(|out| post::encode(&window, encoding, out))?);
        seeds.push(encoded(|out| post::encode(&winning, encoding, out))?);
    }
    for encoding in [snap::Encoding::Json, snap::Encoding::List, snap::Encoding::Bincode] {
        seeds.push(encoded(|out| snap::encode(&snap, encoding, out))?);
    }
    for i in [2, 5, 10] {
        seeds.push(zstd::encode_all(&seeds[i][..], 1)?);
    }
    let known = Known {
        // The two PoSts have randomness of their own: the bare forms of one are known.
        post: post::Known {
            version: Some(window.version),
            prover_id: Some(window.prover_id),
            randomness: Some(window.randomness),
            ..post::Known::default()
        },
        snap: snap::Known {
            comm_r_old: Some(snap.comm_r_old),
            comm_r_new: Some(snap.comm_r_new),
            comm_d_new: Some(snap.comm_d_new),
            ..snap::Known::default()
        },
        ..Known::default()
    };
    seeds.retain(|bytes| input(bytes, &known));
    Ok((seeds, known))
}

/// Templates to start from.
pub(crate) fn templates() -> Result<Vec<Vec<u8>>, Failed> {
    let of = |name: &str| {
        let circuit: FilecoinCircuit = name.parse()?;
        Ok(template::encode(KEY, &circuit.record()?)?)
    };
    ["window-post-2KiB", "winning-post-2KiB"].into_iter().map(of).collect()
}

fn encoded<E>(encode: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Vec<u8>, E> {
    let mut bytes = Vec::new();
    encode(&mut bytes).map(|()| bytes)
}

/// Writes seeds into the folder that `SEEDS` names, if any, before libFuzzer reads it.
#[allow(dead_code, reason = "of the targets")]
pub(crate) fn sow(seeds: &[Vec<u8>]) -> std::io::Result<()> {
    let Some(folder) = std::env::var_os("SEEDS") else { return Ok(()) };
    let file = |i: usize| std::path::Path::new(&folder).join(format!("seed-{i:02}"));
    seeds.iter().enumerate().try_for_each(|(i, bytes)| std::fs::write(file(i), bytes))
}
