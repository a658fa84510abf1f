//! What is wrong with a template.

use std::io;

use cuzk_pipeline_core::{Cancelled, ErrorKind};

use crate::SynthError;

/// A template that cannot be loaded or kept, or is not its circuit's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The system refused; the error names the file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A folder, a pipe or a device stands there.
    #[error("not a regular file")]
    NotAFile,
    /// It does not start as a template does.
    #[error("not a template")]
    NotATemplate,
    /// It is of another version of this program.
    #[error("a template of version {found}, where {expected} is read")]
    Version {
        /// The file's.
        found: u32,
        /// The one that this program reads and writes.
        expected: u32,
    },
    /// It is of another circuit, or recorded from other versions of upstream's crates.
    #[error("a template of `{found}`, where `{expected}` is wanted")]
    Foreign {
        /// The file's key.
        found: String,
        /// The key that was asked for.
        expected: String,
    },
    /// Its bytes are not those that were written.
    #[error("its checksum is wrong")]
    Checksum,
    /// There is more or less of something than there may be.
    #[error("{what}: {found}, and the limit is {limit}")]
    Limit {
        /// What is counted, as `bytes` or `rows`.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// It ends too early, or goes on too long.
    #[error("{what}: {found} bytes, where the header says {expected}")]
    Length {
        /// The part of the file.
        what: &'static str,
        /// How long it is.
        found: u64,
        /// How long it must be.
        expected: u64,
    },
    /// A part of it is nonsense.
    #[error("{what}: item {index} {reason}")]
    Item {
        /// The part of the file.
        what: &'static str,
        /// The item's number, from 0.
        index: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A part of it cannot be unpacked.
    #[error("{what}: cannot be unpacked")]
    Packed {
        /// The part of the file.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The circuit has another row there.
    #[error("row {row} of {matrix} is not the circuit's: {path}")]
    Row {
        /// The row, counted from 0.
        row: usize,
        /// `A`, `B` or `C`.
        matrix: char,
        /// Its namespaces in upstream's circuit.
        path: String,
    },
    /// The circuit has more or less of something.
    #[error("{template} {what}, where the circuit has {circuit}")]
    Total {
        /// `constraints`, `inputs` or `auxiliary variables`.
        what: &'static str,
        /// How many the template has.
        template: usize,
        /// How many the circuit has.
        circuit: usize,
    },
    /// The circuit uses other variables.
    #[error("{what} {index} is marked wrongly as used, or as not used, in {matrix}")]
    Density {
        /// `input` or `auxiliary variable`.
        what: &'static str,
        /// The first that is, counted from 0.
        index: usize,
        /// `A` or `B`.
        matrix: char,
    },
    /// The circuit could not be recorded.
    #[error(transparent)]
    Synth(#[from] SynthError),
    /// Somebody asked for the end.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl TemplateError {
    /// Whose turn it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io(_) => ErrorKind::Resource,
            Self::Synth(error) => error.kind(),
            _ => ErrorKind::Input,
        }
    }

    /// Whether the file is simply not there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}
