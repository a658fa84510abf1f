//! What stands in a template's file.
//!
//! ```text
//! magic    8 bytes    "cuzkR1CS"
//! version  u32
//! length   u32        of the header
//! header              [`Header`] in bincode: the key, counts, the lengths of the parts
//! parts               zstd frames: dictionary, arguments, and of A, B and C
//!                     each the rows' lengths, columns, coefficients
//! digest   32 bytes   BLAKE2b-256 of all before
//! ```
//!
//! Numbers are little endian. A dictionary's items are scalars of 32 bytes; all
//! other parts are numbers in LEB128. A column is coded as in [`ColumnCode`].

use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use bincode::Options;
use cuzk_values::Repeat;
use serde::{Deserialize, Serialize};

use super::TemplateError;
use super::varint::{unzigzag, zigzag};
use crate::{FilecoinCircuit, SynthError};

pub(super) const MAGIC: [u8; 8] = *b"cuzkR1CS";

/// Grows with every change of the format, and of what the recorder makes of a circuit.
pub(super) const VERSION: u32 = 2;

/// The bytes before the header.
pub(super) const PREFIX: usize = MAGIC.len() + 8;

/// The most bytes of a header.
pub(super) const MAX_HEADER: usize = 4096;

/// The most bytes of a file. Filecoin's have less than 2^18.
pub(super) const MAX_FILE: u64 = 1 << 28;

/// The most memory that a template may take in loading and once loaded, as a multiple of
/// its file: 18 or 2,349 equal sub-circuits, which themselves repeat the same few gadgets,
/// pack well. The template of 32 GiB SnapDeals takes 5,400 times its file.
pub const MULTIPLE: u64 = 8192;

/// The most memory that a template of any size may take. Filecoin's take less than 2^29 bytes.
const MAX_MEMORY: u64 = 1 << 32;

/// The crates that circuits are recorded from, as in `Cargo.lock`.
pub(super) const UPSTREAM: [(&str, &str); 8] = [
    ("bellpepper-core", "0.2.1"),
    ("bellperson", "0.27.0"),
    ("filecoin-hashers", "14.1.0"),
    ("neptune", "11.0.0"),
    ("storage-proofs-core", "19.1.0"),
    ("storage-proofs-porep", "19.1.0"),
    ("storage-proofs-post", "19.1.0"),
    ("storage-proofs-update", "19.1.0"),
];

/// What a circuit's template is known by: the circuit's name, parameters and shape,
/// and the versions of the crates that it is recorded from.
///
/// # Errors
/// As [`FilecoinCircuit::parameter_id`].
pub fn key(circuit: FilecoinCircuit) -> Result<String, SynthError> {
    let (shape, (blocks, of)) = (circuit.shape(), circuit.blocks());
    let mut key = format!(
        "{circuit}: {}; {blocks} {of}, 2^{} nodes, {:?} tree, {} layers; recorded from",
        circuit.parameter_id()?,
        shape.log_nodes,
        shape.trees,
        shape.layers,
    );
    for (name, version) in UPSTREAM {
        // Writing into a string does not fail.
        let _ = write!(key, " {name} {version}");
    }
    Ok(key)
}

/// The parts of a file, in order.
pub(super) const PARTS: [&str; 11] = [
    "dictionary",
    "arguments",
    "lengths of A's rows",
    "columns of A",
    "coefficients of A",
    "lengths of B's rows",
    "columns of B",
    "coefficients of B",
    "lengths of C's rows",
    "columns of C",
    "coefficients of C",
];

/// What a file says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) key: String,
    pub(super) inputs: u32,
    pub(super) aux: u32,
    pub(super) wide: u32,
    /// Places of these that are stored.
    pub(super) places: u32,
    pub(super) coefficients: u32,
    /// Rows that are stored, the inputs' included.
    pub(super) rows: u32,
    /// Entries of A, B and C that are stored.
    pub(super) entries: [u32; 3],
    /// [`Repeat`], without its arguments' columns.
    pub(super) count: u32,
    pub(super) run: Range<u32>,
    pub(super) run_inputs: Range<u32>,
    pub(super) run_aux: Range<u32>,
    pub(super) arguments: u32,
    /// The bytes of each of the [`PARTS`].
    pub(super) parts: [u32; PARTS.len()],
}

impl Header {
    /// The bytes before the parts.
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let header = options().serialize(self).map_err(io::Error::other)?;
        let numbers = [VERSION, header.len() as u32].map(u32::to_le_bytes);
        Ok([&MAGIC[..], numbers.as_flattened(), &header].concat())
    }

    /// The header of a file that starts with `start`, and how long it is with what
    /// stands before. Only its form is checked.
    pub(super) fn decode(start: &[u8]) -> Result<(Self, usize), TemplateError> {
        let rest = start.strip_prefix(&MAGIC).ok_or(TemplateError::NotATemplate)?;
        let (version, rest) = rest.split_first_chunk().ok_or(TemplateError::NotATemplate)?;
        let (length, rest) = rest.split_first_chunk().ok_or(TemplateError::NotATemplate)?;
        let [version, length] = [version, length].map(|number| u32::from_le_bytes(*number));
        if version != VERSION {
            return Err(TemplateError::Version { found: version, expected: VERSION });
        }
        let bytes = rest.get(..length as usize).filter(|bytes| bytes.len() <= MAX_HEADER).ok_or(
            TemplateError::Length { what: "header", found: rest.len() as u64, expected: length.into() },
        )?;
        let header = options().deserialize(bytes);
        let packed =
            |e| TemplateError::Packed { what: "header", source: io::Error::other::<bincode::Error>(e) };
        Ok((header.map_err(packed)?, PREFIX + bytes.len()))
    }

    /// Constraints, repeated ones counted as often as they stand there.
    pub(super) fn constraints(&self) -> u64 {
        u64::from(self.rows) + self.run.len() as u64 * u64::from(self.count.saturating_sub(1))
    }

    /// An upper bound of the memory that decoding takes, the file not counted.
    fn memory(&self) -> u64 {
        let entries: u64 = self.entries.into_iter().map(u64::from).sum();
        let [rows, coefficients] = [self.rows, self.coefficients].map(u64::from);
        let bound = u64::from(self.arguments) * u64::from(self.count);
        let variables = u64::from(self.inputs) + u64::from(self.aux);
        let escaped = if coefficients >= u16::MAX.into() { 8 } else { 0 };
        // The rows' ends; the entries; the dictionary and its index; the arguments of each
        // matrix; a handful of bits a variable for the densities.
        12 * rows + (6 + escaped) * entries + 128 * coefficients + 12 * bound + variables
    }

    /// Whether the counts agree, and are no larger than a file of so many bytes may have them.
    pub(super) fn check(&self, file: u64) -> Result<(), TemplateError> {
        let limit = |what, found: u64, limit: u64| {
            if found <= limit { Ok(()) } else { Err(TemplateError::Limit { what, found, limit }) }
        };
        let [inputs, aux, rows, copies] = [self.inputs, self.aux, self.rows, self.count].map(u64::from);
        limit("variables", inputs + aux, Repeat::BOUND.into())?;
        limit("constraints", self.constraints(), u32::MAX.into())?;
        limit("wide variables", self.wide.into(), aux)?;
        limit("places of wide variables", self.places.into(), self.wide.into())?;
        limit("inputs", inputs, rows)?;
        limit("inputs at the least", 1, inputs)?;
        limit("copies at the least", 1, copies)?;
        limit("arguments", u64::from(self.arguments) * copies, u32::MAX.into())?;
        limit("bytes of memory", self.memory(), MAX_MEMORY.min(MULTIPLE * file))?;

        let run = |what, range: &Range<u32>, first: u64, end: u64| {
            limit(what, first, range.start.into())?;
            limit(what, range.start.into(), range.end.into())?;
            limit(what, u64::from(range.start) + range.len() as u64 * copies, end)
        };
        run("rows of the repeated run", &self.run, 0, self.constraints() - inputs)?;
        run("inputs of the repeated run", &self.run_inputs, 1, inputs)?;
        run("auxiliary variables of the repeated run", &self.run_aux, inputs, inputs + aux)
    }
}

/// bincode with numbers of fixed width.
fn options() -> impl Options {
    bincode::options().with_fixint_encoding().with_limit(MAX_HEADER as u64)
}

/// How columns are numbers: those of auxiliary variables by their distance from the
/// one before in their row, or, the first of a row, from the first of the row
/// before; those of inputs, and arguments after them, as they are.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnCode {
    inputs: u32,
    /// The first auxiliary column of the last row that had one.
    first: u32,
    /// The last auxiliary column of this row.
    last: Option<u32>,
}

impl ColumnCode {
    pub(super) fn new(inputs: u32) -> Self {
        Self { inputs, first: inputs, last: None }
    }

    pub(super) fn end_row(&mut self) {
        self.last = None;
    }

    #[inline]
    pub(super) fn encode(&mut self, column: u32) -> u64 {
        let plain = |number: u32| u64::from(number) << 1 | 1;
        if column < self.inputs {
            plain(column)
        } else if let Some(argument) = column.checked_sub(Repeat::BOUND) {
            plain(self.inputs + argument)
        } else {
            zigzag(i64::from(column) - i64::from(self.advance(column))) << 1
        }
    }

    /// The column, which may be any number of 32 bits; `None` for one that is more.
    #[inline]
    pub(super) fn decode(&mut self, number: u64) -> Option<u32> {
        let plain = number >> 1;
        if number & 1 == 1 {
            let plain = u32::try_from(plain).ok()?;
            return match plain.checked_sub(self.inputs) {
                None => Some(plain),
                Some(argument) => Repeat::BOUND.checked_add(argument),
            };
        }
        let base = i64::from(self.last.unwrap_or(self.first));
        let column = u32::try_from(base.checked_add(unzigzag(plain))?).ok()?;
        self.advance(column);
        Some(column)
    }

    /// Notes a column, and gives the one that it is told from.
    #[inline]
    fn advance(&mut self, column: u32) -> u32 {
        let base = self.last.unwrap_or(self.first);
        if self.last.is_none() {
            self.first = column;
        }
        self.last = Some(column);
        base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstreams_versions_are_those_that_are_locked() {
        let lock = include_str!("../../../../Cargo.lock");
        for (name, version) in UPSTREAM {
            let package = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&package), "{name} {version}");
        }
    }

    #[test]
    fn columns_are_numbers_and_back() {
        let rows: [&[u32]; 5] = [
            &[0, 3, 90],
            &[],
            &[10, 11, Repeat::BOUND - 1],
            &[1, Repeat::BOUND, 2],
            &[Repeat::BOUND + 7, 10],
        ];
        let (mut to, mut from) = (ColumnCode::new(10), ColumnCode::new(10));
        for row in rows {
            assert!(row.iter().all(|column| from.decode(to.encode(*column)) == Some(*column)), "{row:?}");
            to.end_row();
            from.end_row();
        }
        for number in [u64::MAX, u64::MAX - 1, 1 << 34, (1 << 33) | 1, (u64::from(u32::MAX) << 1) | 1] {
            assert_eq!(ColumnCode::new(10).decode(number), None, "{number}");
        }
    }
}
