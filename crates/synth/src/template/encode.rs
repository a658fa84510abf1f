//! From a recording to a file.

use std::io;

use cuzk_values::Matrix;

use super::TemplateError;
use super::format::{ColumnCode, Header, MAX_FILE, MAX_HEADER, PARTS};
use super::varint::Packer;
use crate::Recording;

/// The bytes of a template: a recording under a key ([`key`](super::key)).
///
/// # Errors
/// [`TemplateError::Limit`] for a key or constraints that are too large for a file.
pub fn encode(key: &str, recording: &Recording) -> Result<Vec<u8>, TemplateError> {
    let (r1cs, size) = (&recording.r1cs, recording.size);
    let repeat = r1cs.a.repeat();
    let matrices = [&r1cs.a, &r1cs.b, &r1cs.c];

    let mut dictionary = Packer::new()?;
    r1cs.coefficients.values().iter().try_for_each(|value| dictionary.bytes(&value.to_bytes_le()))?;
    let mut bound = Packer::new()?;
    repeat.bound.iter().try_for_each(|column| bound.push((*column).into()))?;
    let mut parts = vec![dictionary.finish()?, bound.finish()?];
    for matrix in matrices {
        parts.extend(pack(matrix, r1cs.inputs as u32)?);
    }
    let lengths: Vec<u32> = parts.iter().map(|part| part.len() as u32).collect();
    let total: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let header = Header {
        key: key.to_owned(),
        inputs: size.inputs as u32,
        aux: size.aux as u32,
        wide: size.wide as u32,
        places: size.places as u32,
        coefficients: r1cs.coefficients.values().len() as u32,
        rows: r1cs.a.stored_rows().len() as u32,
        entries: matrices.map(|matrix| matrix.stored_entries() as u32),
        count: repeat.count,
        run: repeat.rows.clone(),
        run_inputs: repeat.inputs.clone(),
        run_aux: repeat.aux.clone(),
        arguments: repeat.arguments(0).len() as u32,
        parts: lengths.try_into().unwrap_or([0; PARTS.len()]),
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
