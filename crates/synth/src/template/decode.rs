//! From a file to a recording.

use cuzk_values::{Coefficients, Matrix, MatrixBuilder, R1cs, Repeat, Scalar};
use ff::Field;

use super::TemplateError;
use super::encode::digest;
use super::format::{ColumnCode, Header, PARTS};
use super::varint::Unpacker;
use crate::{Recording, WitnessSize};

/// The recording in a template's bytes, if it is the one that `key` names.
///
/// The checksum is compared first. Then nothing is presumed of what it covers:
/// every count, length, index and order is checked, no memory is taken beyond
/// [`MULTIPLE`](super::MULTIPLE) times the bytes that are there, and vectors are made as long as
/// they stay. The three matrices are unpacked in parallel, on the caller's pool.
///
/// # Errors
/// [`TemplateError`], with what is wrong.
pub fn decode(key: &str, file: &[u8]) -> Result<Recording, TemplateError> {
    let (header, start) = Header::decode(file)?;
    if header.key != key {
        return Err(TemplateError::Foreign { found: header.key, expected: key.to_owned() });
    }
    let (body, checksum) = file.split_last_chunk::<32>().ok_or(TemplateError::Checksum)?;
    let expected = start as u64 + header.parts.into_iter().map(u64::from).sum::<u64>();
    if body.len() as u64 != expected {
        let found = body.len() as u64;
        return Err(TemplateError::Length { what: "file without its checksum", found, expected });
    }
    if digest(body) != *checksum {
        return Err(TemplateError::Checksum);
    }
    header.check(file.len() as u64)?;

    let mut rest = &body[start..];
    let parts = header.parts.map(|length| {
        let (part, after) = rest.split_at(length as usize);
        rest = after;
        part
    });
    let coefficients = dictionary(&header, parts[0])?;
    let repeat = Repeat {
        count: header.count,
        rows: header.run.clone(),
        inputs: header.run_inputs.clone(),
        aux: header.run_aux.clone(),
        bound: bound(&header, parts[1])?,
    };
    let one = coefficients.values().iter().position(|value| *value == Scalar::ONE);
    let context = Context { header: &header, repeat: &repeat, one: one.map(|one| one as u32) };
    let unpack = |matrix: usize| {
        let first = 2 + 3 * matrix;
        context.matrix(matrix, [first, first + 1, first + 2].map(|part| (PARTS[part], parts[part])))
    };
    let (a, (b, c)) = rayon::join(|| unpack(0), || rayon::join(|| unpack(1), || unpack(2)));
    let size = WitnessSize {
        inputs: header.inputs as usize,
        aux: header.aux as usize,
        wide: header.wide as usize,
        places: header.places as usize,
    };
    let r1cs = R1cs::new(size.inputs, size.aux, coefficients, [a?, b?, c?]);
    Ok(Recording { r1cs, size })
}

fn dictionary(header: &Header, packed: &[u8]) -> Result<Coefficients, TemplateError> {
    let mut unpacker = Unpacker::new(PARTS[0], packed)?;
    let mut coefficients = Coefficients::default();
    for index in 0..header.coefficients {
        let bytes = unpacker.bytes(index.into())?;
        let value: Option<Scalar> = Scalar::from_bytes_le(&bytes).into();
        let value = value.ok_or_else(|| unpacker.item(index.into(), "is not below the field's modulus"))?;
        if value.is_zero_vartime() {
            return Err(unpacker.item(index.into(), "is zero"));
        }
        if coefficients.intern(value) != index {
            return Err(unpacker.item(index.into(), "stands there twice"));
        }
    }
    unpacker.finish()?;
    Ok(coefficients)
}

/// The columns that arguments stand for: the header's variables.
fn bound(header: &Header, packed: &[u8]) -> Result<Vec<u32>, TemplateError> {
    let mut unpacker = Unpacker::new(PARTS[1], packed)?;
    let count = u64::from(header.arguments) * u64::from(header.count);
    let mut columns = Vec::with_capacity(count as usize);
    for index in 0..count {
        let column = u32::try_from(unpacker.next(index)?).ok().filter(|column| is_shared(header, *column));
        columns.push(column.ok_or_else(|| unpacker.item(index, "is no variable before the repeated run's"))?);
    }
    unpacker.finish()?;
    Ok(columns)
}

/// Whether all copies of the run may use a column.
fn is_shared(header: &Header, column: u32) -> bool {
    column < header.run_inputs.start || (header.inputs..header.run_aux.start).contains(&column)
}

/// What the rows of a matrix are held against.
struct Context<'a> {
    header: &'a Header,
    repeat: &'a Repeat,
    /// The index of the coefficient 1.
    one: Option<u32>,
}

impl Context<'_> {
    fn matrix(&self, matrix: usize, parts: [(&'static str, &[u8]); 3]) -> Result<Matrix, TemplateError> {
        let header = self.header;
        let entries = header.entries[matrix];
        let [lengths, columns, coefficients] = parts.map(|(what, packed)| Unpacker::new(what, packed));
        let (mut lengths, mut columns, mut coefficients) = (lengths?, columns?, coefficients?);
        let mut code = ColumnCode::new(header.inputs);
        let mut builder = MatrixBuilder::with_capacity(header.rows as usize, entries as usize);
        let mut left = u64::from(entries);
        for row in 0..header.rows {
            let length = lengths.next(row.into())?;
            left =
                left.checked_sub(length).ok_or_else(|| lengths.item(row.into(), "has too many entries"))?;
            // The least column that may come next.
            let (mut next, mut last_index) = (0, None);
            for _ in 0..length {
                let entry = builder.entries() as u64;
                let column = code.decode(columns.next(entry)?);
                let column = column.filter(|column| self.is_column(row, *column));
                let column = column.ok_or_else(|| columns.item(entry, "is no column of this row"))?;
                let first_copys = self.first_copys(column);
                if first_copys < next {
                    return Err(columns.item(entry, "is not after the one before"));
                }
                next = first_copys + 1;
                let index = coefficients.next(entry)?;
                if index >= header.coefficients.into() {
                    return Err(coefficients.item(entry, "is not in the dictionary"));
                }
                builder.entry(column, index as u32);
                last_index = Some(index as u32);
            }
            code.end_row();
            builder.end_row();
            let input = row.checked_sub(header.rows - header.inputs);
            let columns = builder.columns_of(row as usize);
            if input.is_some_and(|input| !self.is_inputs_row(matrix, input, columns, last_index)) {
                return Err(lengths.item(row.into(), "is not the row of an input"));
            }
        }
        if left > 0 {
            return Err(lengths.item(header.rows.into(), "is missing: there are more entries"));
        }
        lengths.finish()?;
        columns.finish()?;
        coefficients.finish()?;
        Ok(builder.build_repeating(self.repeat.clone()))
    }

    /// Whether a row may have a stored column.
    fn is_column(&self, row: u32, column: u32) -> bool {
        let header = self.header;
        if header.run.contains(&row) {
            let own = header.run_inputs.contains(&column) || header.run_aux.contains(&column);
            let argument = column.checked_sub(Repeat::BOUND);
            own || is_shared(header, column) || argument.is_some_and(|argument| argument < header.arguments)
        } else {
            column < header.inputs + header.aux
        }
    }

    /// What the first copy has for a stored column.
    fn first_copys(&self, column: u32) -> u32 {
        match column.checked_sub(Repeat::BOUND) {
            None => column,
            Some(argument) => self.repeat.bound[argument as usize],
        }
    }

    /// Whether a row is `input · 0 = 0`.
    fn is_inputs_row(&self, matrix: usize, input: u32, columns: &[u32], index: Option<u32>) -> bool {
        if matrix == 0 { columns == [input] && index == self.one } else { columns.is_empty() }
    }
}
