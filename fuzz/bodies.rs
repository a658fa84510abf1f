//! What is fuzzed, for cargo-fuzz and for the test `crates/synth/tests/fuzz.rs`.

use cuzk_synth::input::{self, Known};
use cuzk_synth::template;

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
