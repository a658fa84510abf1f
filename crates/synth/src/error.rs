//! What goes wrong between a request and its evaluations.

use bellpepper_core::SynthesisError;
use cuzk_pipeline_core::{BoxError, Cancelled, ErrorKind};
use cuzk_values::{R1csError, Scalar};

/// A circuit that cannot be synthesised, or a witness that does not fit it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SynthError {
    /// The input has no such partition.
    #[error("partition {partition}: the input has {partitions}")]
    Partition {
        /// The one asked for, counted from 0.
        partition: usize,
        /// How many there are.
        partitions: usize,
    },
    /// The input is of another sector size than the circuit.
    #[error("sector size {found} bytes, and the circuit is for sectors of {expected}")]
    SectorSize {
        /// The input's.
        found: u64,
        /// The circuit's.
        expected: u64,
    },
    /// The input is of another kind than the circuit.
    #[error("a {found}, and the circuit is for a {expected}")]
    Kind {
        /// The input's.
        found: &'static str,
        /// The circuit's.
        expected: &'static str,
    },
    /// The input has more or fewer of something than its sector size fixes.
    #[error("{at}: {found} {what}, and the circuit has {expected}")]
    Count {
        /// Where, as `partitions[3][17].column`.
        at: String,
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// 32 bytes are no scalar.
    #[error("{at}: a value of 32 bytes is not below the field's modulus")]
    NotCanonical {
        /// Where, as `partitions[3][17].column`.
        at: String,
    },
    /// The circuit refused its inputs.
    #[error("the circuit cannot be synthesised")]
    Synthesis(#[source] SynthesisError),
    /// Filecoin's own code refused.
    #[error("storage-proofs: {0}")]
    Upstream(#[source] BoxError),
    /// A sub-circuit that should be the first one again is another.
    #[error("sub-circuit {block} of the circuit is not as the first: {what}")]
    Unequal {
        /// Which, counted from 0.
        block: u32,
        /// What it has.
        what: &'static str,
    },
    /// The constraints are too many to be held.
    #[error(transparent)]
    R1cs(#[from] R1csError),
    /// A witness of another circuit.
    #[error("{found} {what}, where the circuit has {expected}")]
    Foreign {
        /// `inputs`, `auxiliary variables`, `points of the domain`; on devices also `full-width
        /// values` and `bytes of constraints`.
        what: &'static str,
        /// The witness's.
        found: usize,
        /// The constraints'.
        expected: usize,
    },
    /// The witness violates a constraint.
    #[error("constraint {row} is not satisfied: {a} * {b} != {c}")]
    Unsatisfied {
        /// The first row that is violated, counted from 0.
        row: usize,
        /// What A's row gives.
        a: Scalar,
        /// What B's row gives.
        b: Scalar,
        /// What C's row gives.
        c: Scalar,
    },
    /// The circuit's public inputs are not those of the statement.
    #[error("public input {index}: the circuit has {circuit}, the statement {statement}")]
    PublicInput {
        /// Which, ONE being 0.
        index: usize,
        /// What the circuit has computed.
        circuit: Scalar,
        /// What the verifier expects.
        statement: Scalar,
    },
    /// There is not as much memory.
    #[error("{bytes} bytes of memory cannot be had")]
    Memory {
        /// How much was asked for.
        bytes: usize,
    },
    /// A device's call failed.
    #[error(transparent)]
    Device(#[from] cuzk_gpu_backend::Error),
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl SynthError {
    /// Whose turn it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Partition { .. }
            | Self::SectorSize { .. }
            | Self::Kind { .. }
            | Self::Count { .. }
            | Self::NotCanonical { .. }
            | Self::Unsatisfied { .. }
            | Self::PublicInput { .. } => ErrorKind::Input,
            Self::Memory { .. } | Self::Cancelled(_) => ErrorKind::Resource,
            Self::Device(error) => error.kind(),
            Self::Synthesis(_)
            | Self::Upstream(_)
            | Self::Unequal { .. }
            | Self::R1cs(_)
            | Self::Foreign { .. } => ErrorKind::Bug,
        }
    }
}

impl From<SynthesisError> for SynthError {
    fn from(error: SynthesisError) -> Self {
        Self::Synthesis(error)
    }
}
