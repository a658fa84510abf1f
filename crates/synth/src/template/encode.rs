//! From a recording to a file.

use std::io;

use cuzk_values::Matrix;

use super::TemplateError;
use super::format::{ColumnCode, Header, MAX_FILE, MAX_HEADER};
use super::varint::Packer;
use crate::Recording;

/// The bytes of a template: a recording under a key ([`key`](super::key)).
///
/// # Errors
/// [`TemplateError::Limit`] for a key or constraints that are too large for a file.
pub fn encode(key: &str, recording: &Recording) -> Result<Vec<u8>, TemplateError> {
    let (r1cs, size) = (&recording.r1cs, recording.size);
    let repeat = r1cs.a.repeat();
    let mut dictionary = Packer::new()?;
    r1cs.coefficients.values().iter().try_for_each(|value| dictionary.bytes(&value.to_bytes_le()))?;
    let mut bound = Packer::new()?;
    repeat.bound.iter().try_for_each(|column| bound.push((*column).into()))?;
    let (dictionary, bound) = (dictionary.finish()?, bound.finish()?);
    let [a0, a1, a2] = pack(&r1cs.a, r1cs.inputs as u32)?;
    let [b0, b1, b2] = pack(&r1cs.b, r1cs.inputs as u32)?;
    let [c0, c1, c2] = pack(&r1cs.c, r1cs.inputs as u32)?;
    let parts = [dictionary, bound, a0, a1, a2, b0, b1, b2, c0, c1, c2];
    let total: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let header = Header {
        key: key.to_owned(),
        inputs: size.inputs as u32,
        aux: size.aux as u32,
        wide: size.wide as u32,
        places: size.places as u32,
        coefficients: r1cs.coefficients.values().len() as u32,
        rows: r1cs.a.stored_rows().len() as u32,
        entries: [&r1cs.a, &r1cs.b, &r1cs.c].map(|matrix| matrix.stored_entries() as u32),
        count: repeat.count,
        run: repeat.rows.clone(),
        run_inputs: repeat.inputs.clone(),
        run_aux: repeat.aux.clone(),
        arguments: repeat.arguments(0).len() as u32,
        parts: parts.each_ref().map(|part| part.len() as u32),
    };
    let limits =
        [("bytes of the key", key.len() as u64, MAX_HEADER as u64 / 2), ("bytes", total, MAX_FILE / 2)];
    if let Some((what, found, limit)) = limits.into_iter().find(|(_, found, limit)| found > limit) {
        return Err(TemplateError::Limit { what, found, limit });
    }
    let mut file = header.encode()?;
    file.extend(parts.into_iter().flatten());
    let digest = digest(&file);
    file.extend(digest);
    header.check(file.len() as u64)?;
    Ok(file)
}

/// BLAKE2b-256.
pub(super) fn digest(bytes: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(blake2b_simd::Params::new().hash_length(32).hash(bytes).as_bytes());
    digest
}

/// The rows' lengths, columns and coefficients.
fn pack(matrix: &Matrix, inputs: u32) -> io::Result<[Vec<u8>; 3]> {
    let [mut lengths, mut columns, mut coefficients] = [Packer::new()?, Packer::new()?, Packer::new()?];
    let mut code = ColumnCode::new(inputs);
    for row in matrix.stored_rows() {
        lengths.push(row.len() as u64)?;
        for (column, coefficient) in row {
            columns.push(code.encode(column))?;
            coefficients.push(coefficient.into())?;
        }
        code.end_row();
    }
    Ok([lengths.finish()?, columns.finish()?, coefficients.finish()?])
}
