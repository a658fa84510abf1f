//! What can go wrong.

use cuzk_pipeline_core::{Cancelled, ErrorKind};

/// A transform that cannot be done, or was stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NttError {
    /// The field has no root of unity of this order.
    #[error("a domain of 2^{log_len} points: the scalar field has roots of unity up to 2^{max}")]
    LogLen {
        /// `k` of the domain of `2^k` points.
        log_len: u32,
        /// The largest that there is.
        max: u32,
    },
    /// Scalars that are not as many as the domain's points.
    #[error("{len} scalars for a domain of {expected} points")]
    Length {
        /// How many scalars.
        len: usize,
        /// How many points.
        expected: usize,
    },
    /// A coset whose shift is zero.
    #[error("the shift of a coset is zero")]
    ZeroShift,
    /// A device's call failed.
    #[error(transparent)]
    Device(#[from] cuzk_gpu_backend::Error),
    /// The run was cancelled; the scalars are left in no defined state.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl NttError {
    /// Who must act on it: whoever transforms chose the lengths and the shift.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::LogLen { .. } | Self::Length { .. } | Self::ZeroShift => ErrorKind::Bug,
            Self::Device(error) => error.kind(),
            Self::Cancelled(_) => ErrorKind::Resource,
        }
    }
}
