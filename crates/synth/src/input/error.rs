//! What can be wrong with an input, and where.

use std::fmt;
use std::io;

use cuzk_pipeline_core::{Cancelled, ErrorKind};

use super::layers::{Layer, Layers};
use crate::{SectorShape, SnapShape};

/// An input that cannot be read, written or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// One value is wrong.
    #[error("{location}: {problem}")]
    Invalid {
        /// Where it is.
        location: Box<Location>,
        /// What is wrong with it.
        problem: Problem,
    },
    /// No sector has this size.
    #[error(
        "sector size {bytes}: not one of 2KiB, 4KiB, 16KiB, 32KiB, 8MiB, 16MiB, 512MiB, 1GiB, 32GiB, 64GiB"
    )]
    SectorSize {
        /// The size, in bytes.
        bytes: u64,
    },
    /// No sector of this size can be updated.
    #[error("sector size {bytes}: {}", no_update())]
    NoUpdate {
        /// The size, in bytes.
        bytes: u64,
    },
    /// An encoding has no place for something.
    #[error("{encoding} cannot hold this input: it lacks {missing}")]
    Unencodable {
        /// The encoding.
        encoding: Layer,
        /// What the input lacks for it.
        missing: &'static str,
    },
    /// Writing has failed.
    #[error("writing an input: {0}")]
    Write(#[source] io::Error),
    /// The one who watched a check has stopped it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A sealed sector's files are not what they should be.
    #[error("the sector cannot be proved: {0}")]
    Sector(String),
    /// Filecoin's own code has refused.
    #[error("storage-proofs: {0}")]
    Upstream(String),
}

impl InputError {
    /// Who must act: the sender of the input, unless reading or writing itself failed.
    pub fn kind(&self) -> ErrorKind {
        use io::ErrorKind::{InvalidData, InvalidInput, IsADirectory, Other};
        match self {
            // What decompresses says that its input is corrupt by the others; a folder opens as a file does.
            Self::Invalid { problem: Problem::Read(e), .. }
                if !matches!(e.kind(), InvalidData | InvalidInput | IsADirectory | Other) =>
            {
                ErrorKind::Resource
            }
            Self::Invalid { .. }
            | Self::SectorSize { .. }
            | Self::NoUpdate { .. }
            | Self::Unencodable { .. }
            | Self::Sector(_) => ErrorKind::Input,
            Self::Write(_) | Self::Cancelled(_) => ErrorKind::Resource,
            Self::Upstream(_) => ErrorKind::Bug,
        }
    }

    #[cfg(feature = "vanilla")]
    pub(crate) fn sector(error: impl fmt::Display) -> Self {
        Self::Sector(format!("{error:#}"))
    }

    /// `storage-proofs` speaks in `anyhow`, which ends here.
    pub(crate) fn upstream(error: impl fmt::Display) -> Self {
        Self::Upstream(format!("{error:#}"))
    }
}

/// Where in an input something is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// The encodings around it, the outermost first.
    pub layers: Layers,
    /// How many bytes of the innermost encoding come before; `None` for what is
    /// compared after it was read.
    pub offset: Option<u64>,
    /// The fields and indices that lead there.
    pub path: Path,
    /// The sector's number, where there are several.
    pub sector: Option<u64>,
}

/// Fields and indices, as `vanilla_proofs[3][17].labeling_proofs[2].parents[36]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path(pub Vec<Segment>);

/// One step of a [`Path`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// Into a field, or a variant of an enum.
    Field(&'static str),
    /// Into a list.
    Index(usize),
}

/// What is wrong with a value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is nothing to read.
    #[error("the input is empty: nothing has been written to it")]
    Empty,
    /// A server's answer was saved in the input's place.
    #[error("the input is an HTML page: a download has failed")]
    Html,
    /// The first bytes are those of no known encoding.
    #[error("the input is in no known encoding; it starts with {start}")]
    Unknown {
        /// The first bytes, escaped.
        start: String,
    },
    /// JSON of something else.
    #[error("the JSON has neither `vanilla_proofs` nor `Phase1Out`: it is no input of a proof")]
    OtherJson,
    /// The bytes end within the value.
    #[error("the input ends here: it is truncated")]
    Truncated,
    /// Something else stands where the value should.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What should stand there.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A field is absent.
    #[error("is missing")]
    Missing,
    /// The input does not say something that has to be known.
    #[error("the input does not say: it has to be given")]
    NotGiven,
    /// The input is of another kind than the one that was asked for.
    #[error("is {found}, not {expected}")]
    OtherKind {
        /// What it is.
        found: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A sector of this size cannot be updated.
    #[error("is of a sector of {bytes} bytes: {}", no_update())]
    NoSuchProof {
        /// The sector's size.
        bytes: u64,
    },
    /// A field comes twice.
    #[error("is there twice")]
    Duplicate,
    /// A name is none of those known.
    #[error("is {found:?}, which is none of {known:?}")]
    Name {
        /// The name.
        found: String,
        /// The names that exist.
        known: &'static [&'static str],
    },
    /// A list has the wrong length.
    #[error("has {}, expected {expected}", elements(*.found as u64))]
    Count {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A list is longer than any input's.
    #[error("{}", too_many(*.found, *.limit))]
    TooMany {
        /// How many there are; `None` where they have not been counted to the end.
        found: Option<u64>,
        /// The most that any sector has.
        limit: usize,
    },
    /// 32 bytes are no field element.
    #[error("0x{} (little-endian) is not below the field's modulus", hex(.value))]
    NotCanonical {
        /// The bytes.
        value: [u8; 32],
    },
    /// Randomness is no field element.
    #[error(
        "0x{} (little-endian) is not below the field's modulus: miners clear the two highest bits of \
         randomness (byte 31 & 0x3f)", hex(.value)
    )]
    Unmasked {
        /// The bytes.
        value: [u8; 32],
    },
    /// A value differs from another that it must equal.
    #[error("is {found}, but {of} is {expected}")]
    Differs {
        /// The value.
        found: String,
        /// What it must equal.
        expected: String,
        /// Where that comes from.
        of: &'static str,
    },
    /// A value must not be zero.
    #[error("is all zeros")]
    Zero,
    /// The input, once decompressed, is longer than any that exists.
    #[error("the input is longer than {limit} bytes when decompressed")]
    TooLong {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Wrappers within wrappers.
    #[error("more than {limit} encodings lie one within another")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// Brackets within brackets, where nothing is known of the field.
    #[error("more than {limit} lists and objects lie one within another")]
    TooNested {
        /// The limit.
        limit: usize,
    },
    /// The bytes cannot be read or decompressed.
    #[error("{0}")]
    Read(#[source] io::Error),
}

impl Problem {
    pub(crate) fn nodes_differ(found: &[u8; 32], expected: &[u8; 32], of: &'static str) -> Self {
        Self::Differs { found: format!("0x{}", hex(found)), expected: format!("0x{}", hex(expected)), of }
    }

    pub(crate) fn differs(found: impl fmt::Display, expected: impl fmt::Display, of: &'static str) -> Self {
        Self::Differs { found: found.to_string(), expected: expected.to_string(), of }
    }
}

fn elements(count: u64) -> String {
    format!("{count} element{}", if count == 1 { "" } else { "s" })
}

fn too_many(found: Option<u64>, limit: usize) -> String {
    match found {
        Some(found) => format!("has {}, and the limit is {limit}", elements(found)),
        None => format!("has more than {}", elements(limit as u64)),
    }
}

/// Why there is no such update.
fn no_update() -> String {
    let sizes = SectorShape::ALL.into_iter().filter(|shape| SnapShape::new(*shape).is_some());
    let sizes: Vec<String> = sizes.map(|shape| shape.to_string()).collect();
    format!("only sectors of {} can be updated", sizes.join(", "))
}

pub(crate) fn hex(bytes: &[u8; 32]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A [`Problem`] on its way up, which learns its path as it passes.
#[derive(Debug)]
pub(crate) struct Fault(Box<FaultAt>);

#[derive(Debug)]
struct FaultAt {
    problem: Problem,
    offset: Option<u64>,
    sector: Option<u64>,
    /// Whether the path is complete.
    rooted: bool,
    /// The innermost first.
    path: Vec<Segment>,
}

impl Fault {
    pub(crate) fn at(offset: u64, problem: Problem) -> Self {
        Self(Box::new(FaultAt {
            problem,
            offset: Some(offset),
            sector: None,
            rooted: false,
            path: Vec::new(),
        }))
    }

    fn within(mut self, segment: Segment) -> Self {
        if !self.0.rooted {
            self.0.path.push(segment);
        }
        self
    }

    /// Ends the path here: what is wrong lies in an encoding of its own.
    pub(crate) fn rooted(mut self) -> Self {
        self.0.rooted = true;
        self
    }

    /// Says in which sector it is.
    pub(crate) fn of_sector(mut self, number: u64) -> Self {
        self.0.sector = Some(number);
        self
    }

    pub(crate) fn in_field(self, name: &'static str) -> Self {
        self.within(Segment::Field(name))
    }

    pub(crate) fn in_element(self, index: usize) -> Self {
        self.within(Segment::Index(index))
    }

    /// The error, of what was read through `layers`.
    pub(crate) fn error(self, layers: &Layers) -> InputError {
        let FaultAt { problem, offset, sector, mut path, .. } = *self.0;
        path.reverse();
        let location = Location { layers: layers.clone(), offset, path: Path(path), sector };
        InputError::Invalid { location: Box::new(location), problem }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self(Box::new(FaultAt { problem, offset: None, sector: None, rooted: false, path: Vec::new() }))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if i == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.0.is_empty() {
            f.write_str("the input")?;
        }
        write!(f, "{}", self.path)?;
        if let Some(number) = self.sector {
            write!(f, " of sector {number}")?;
        }
        match self.offset {
            Some(offset) if self.layers.is_empty() => write!(f, " (byte {offset})"),
            Some(offset) => write!(f, " (byte {offset} of the {})", self.layers),
            None if self.layers.is_empty() => Ok(()),
            None => write!(f, " (in the {})", self.layers),
        }
    }
}
