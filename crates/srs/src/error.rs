//! What is wrong with a parameter file, or with making one.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use cuzk_pipeline_core::{Cancelled, ErrorKind};
use cuzk_values::BasesError;

/// Parameters that cannot be used or made. Every variant about a file names it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SrsError {
    /// There is no such file.
    #[error("{path}: No cached parameters found")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{path}: cannot {action}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as `open` or `write`.
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A writer that is no file refused.
    #[error("cannot write the parameters")]
    Write(#[source] io::Error),
    /// A folder, a pipe or a device stands there.
    #[error("{path}: Invalid parameters file: not a regular file")]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// Nothing was ever written, or a download failed at once.
    #[error("{path}: Invalid parameters file: it is empty")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A server's error page was saved under the file's name.
    #[error(
        "{path}: Invalid parameters file: a web page of {size} bytes (a failed download: fetch it again)"
    )]
    Html {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        size: u64,
    },
    /// Some other text was saved under the file's name.
    #[error("{path}: Invalid parameters file: text of {size} bytes, it starts with `{start}`")]
    Text {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        size: u64,
        /// How it starts.
        start: String,
    },
    /// The file ends too early.
    #[error(
        "{path}: Invalid parameters file: truncated, {part} ends at byte {needed} and the file at {size}"
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The part that is cut, as `vk` or `b_g2`.
        part: &'static str,
        /// Where that part ends.
        needed: u64,
        /// The file's bytes.
        size: u64,
    },
    /// The file goes on where it should end.
    #[error("{path}: Invalid parameters file: it should end at byte {expected} and has {size}")]
    Trailing {
        /// The file.
        path: PathBuf,
        /// Where it should end.
        expected: u64,
        /// The file's bytes.
        size: u64,
    },
    /// The file is sound, and not as large as the published one of its name.
    #[error("{path}: the published file of this name has {expected} bytes, this one {size}")]
    Size {
        /// The file.
        path: PathBuf,
        /// Bytes of the published one.
        expected: u64,
        /// Its bytes.
        size: u64,
    },
    /// The file starts with another verifying key than stands beside it.
    #[error("{path}: the verifying key in it is not that of {key}")]
    OtherKey {
        /// The file.
        path: PathBuf,
        /// The `.vk` file.
        key: PathBuf,
    },
    /// The file has the parameters of another circuit.
    #[error(
        "{path}: parameters of another circuit: {part} has {found} points, this circuit's has {expected}"
    )]
    WrongCircuit {
        /// The file.
        path: PathBuf,
        /// The part that differs, as `ic` or `h`.
        part: &'static str,
        /// Points in the file.
        found: u64,
        /// Points that the circuit needs.
        expected: u64,
    },
    /// A stored point is not one.
    #[error("{path}: Invalid parameters file: point {index} of {part}: {reason}")]
    Point {
        /// The file.
        path: PathBuf,
        /// Its part.
        part: &'static str,
        /// Which point of the part.
        index: usize,
        /// What is wrong with it.
        reason: Fault,
    },
    /// The file was written to while it was in use.
    #[error("{path}: changed while it was in use")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A `.meta` file or a manifest that does not parse.
    #[error("{path}: not the JSON that was expected")]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A digest that is not 32 hexadecimal digits.
    #[error("`{text}` is not a digest: 32 hexadecimal digits")]
    Digest {
        /// What was given.
        text: String,
    },
    /// A circuit that has no parameters.
    #[error("{what} {index} of the circuit: {reason}")]
    Circuit {
        /// `input` or `auxiliary variable`.
        what: &'static str,
        /// Which.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A circuit that is larger than a parameter file or the scalar field allows.
    #[error("{count} {what}, and the limit is {limit}")]
    TooLarge {
        /// `constraints` or `points`.
        what: &'static str,
        /// How many.
        count: u64,
        /// How many may be.
        limit: u64,
    },
    /// Secrets that make no parameters.
    #[error("{name} cannot be used as a secret of this circuit: {reason}")]
    Trapdoor {
        /// Which of the secrets.
        name: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// A name that would leave the folder.
    #[error("`{stem}` is not the name of a parameter set")]
    Name {
        /// What was given.
        stem: String,
    },
    /// A file is already there, and was not to be replaced.
    #[error("{path}: already there")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Points that cannot be had of a query in use.
    #[error("bases")]
    Bases(#[from] BasesError),
    /// A device refuses a point that is sound where it comes from.
    #[error("point {index} is sound on the host and not on {device}")]
    Spoilt {
        /// Which point of its query.
        index: usize,
        /// The device.
        device: String,
    },
    /// A device failed.
    #[error("device")]
    Device(#[from] cuzk_gpu_backend::Error),
    /// The work was told to stop.
    #[error("cancelled")]
    Cancelled,
}

/// What is wrong with the bytes of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The top bits say compressed or larger `y`: parameter files hold neither.
    Flag,
    /// The point at infinity, which no query holds.
    Infinity,
    /// A coordinate is not below the field's modulus.
    NotCanonical,
    /// The coordinates do not satisfy the curve's equation.
    NotOnCurve,
    /// On the curve, and not in its subgroup of order r.
    NotInSubgroup,
}

impl Fault {
    /// The fault in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "a flag bit is set",
            Self::Infinity => "point at infinity",
            Self::NotCanonical => "a coordinate is not below the modulus",
            Self::NotOnCurve => "not on curve",
            Self::NotInSubgroup => "not in the subgroup of order r",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl SrsError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path: path.into() },
            _ => Self::Io { path: path.into(), action, source },
        }
    }

    /// Whose turn it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { source, .. } | Self::Write(source) => match source.kind() {
                io::ErrorKind::StorageFull
                | io::ErrorKind::QuotaExceeded
                | io::ErrorKind::OutOfMemory
                | io::ErrorKind::Interrupted => ErrorKind::Resource,
                _ => ErrorKind::Input,
            },
            Self::Cancelled | Self::Changed { .. } => ErrorKind::Resource,
            Self::Spoilt { .. } => ErrorKind::Device,
            Self::Device(error) => error.kind(),
            _ => ErrorKind::Input,
        }
    }
}

impl From<Cancelled> for SrsError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}
