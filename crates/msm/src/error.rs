//! What goes wrong in a multiplication.

use cuzk_pipeline_core::limits::format_bytes;
use cuzk_pipeline_core::{Cancelled, ErrorKind};
use cuzk_values::BasesError;

use crate::Arithmetic;

/// A multiplication that did not give its sum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MsmError {
    /// Bases and scalars do not belong together.
    #[error("{bases} bases for {scalars} scalars")]
    Lengths {
        /// How many bases.
        bases: usize,
        /// How many scalars want one.
        scalars: usize,
    },
    /// A density map and the variables do not belong together.
    #[error("a density map of {bits} {what} for {variables} of them")]
    Density {
        /// `inputs` or `auxiliary variables`.
        what: &'static str,
        /// How many the map has.
        bits: usize,
        /// How many the witness has.
        variables: usize,
    },
    /// Bases cannot be had.
    #[error("bases")]
    Bases(#[from] BasesError),
    /// A source gave fewer or more points than it was asked for.
    #[error("a source gave {given} bases when asked for {asked}")]
    Source {
        /// How many were asked for.
        asked: usize,
        /// How many came.
        given: usize,
    },
    /// This CPU lacks what the arithmetic needs.
    #[error("this CPU has no {0:?} arithmetic")]
    Unavailable(Arithmetic),
    /// No way to multiply on a device is small enough.
    #[error("at least {} of the device are needed, and {} may be taken", format_bytes(*.least), format_bytes(*.limit))]
    Limit {
        /// How many bytes there are.
        limit: u64,
        /// How many it takes.
        least: u64,
    },
    /// What a device says.
    #[error("device")]
    Device(#[from] cuzk_gpu_backend::Error),
    /// The run was told to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl MsmError {
    /// Who must act.
    pub fn kind(&self) -> ErrorKind {
        match self {
            // A stored point that is none: the parameter file is bad.
            Self::Bases(_) => ErrorKind::Input,
            Self::Cancelled(_) | Self::Limit { .. } => ErrorKind::Resource,
            Self::Device(error) => error.kind(),
            Self::Lengths { .. } | Self::Density { .. } | Self::Source { .. } | Self::Unavailable(_) => {
                ErrorKind::Bug
            }
        }
    }
}
