//! What goes wrong around a proof.

use cuzk_pipeline_core::ErrorKind;

/// A proof that cannot be made, or does not hold.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Groth16Error {
    /// The numbers of public inputs differ.
    #[error("partition {partition} has {given} public inputs; the verifying key takes {expected}")]
    Inputs {
        /// Which partition.
        partition: usize,
        /// How many there are, ONE included.
        given: usize,
        /// How many the key has a point for, ONE included.
        expected: usize,
    },
    /// The numbers of proofs and of inputs differ.
    #[error("the proof has {proofs} partitions, and the input {partitions}")]
    Partitions {
        /// How many proofs.
        proofs: usize,
        /// How many partitions.
        partitions: usize,
    },
    /// The pairing equation does not hold.
    #[error("the proof of partition {partition} does not verify")]
    Invalid {
        /// Which partition.
        partition: usize,
    },
    /// The parameters are of another circuit.
    #[error("the parameters have {given} points in the {query} query; the circuit needs {expected}")]
    WrongParameters {
        /// `h`, `l`, `a`, `b_g1`, `b_g2` or `ic`.
        query: &'static str,
        /// How many there are.
        given: usize,
        /// How many the circuit needs.
        expected: usize,
    },
    /// The prover was made to draw graphs, not to run them.
    #[error("this prover has no parameters: its graphs can be drawn, not run")]
    NoParameters,
    /// The OS gave no randomness.
    #[error("the operating system gave no randomness for r and s")]
    Randomness(#[source] rand_core::Error),
    /// The circuit cannot be synthesised.
    #[error(transparent)]
    Synth(#[from] cuzk_synth::SynthError),
    /// The parameters cannot be read.
    #[error(transparent)]
    Srs(#[from] cuzk_srs::SrsError),
    /// The domain is too large.
    #[error(transparent)]
    Ntt(#[from] cuzk_ntt::NttError),
    /// There is no room for a sum on the device.
    #[error(transparent)]
    Msm(#[from] cuzk_msm::MsmError),
    /// The backend cannot be used.
    #[error(transparent)]
    Device(#[from] cuzk_gpu_backend::Error),
    /// The graph could not be built.
    #[error(transparent)]
    Graph(#[from] cuzk_pipeline_core::BuildError),
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] cuzk_pipeline_core::Cancelled),
}

impl Groth16Error {
    /// Who must act.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Inputs { .. } | Self::Partitions { .. } | Self::WrongParameters { .. } => ErrorKind::Input,
            Self::Randomness(_) | Self::Cancelled(_) => ErrorKind::Resource,
            Self::Synth(error) => error.kind(),
            Self::Srs(error) => error.kind(),
            Self::Msm(error) => error.kind(),
            Self::Device(error) => error.kind(),
            Self::Invalid { .. } | Self::NoParameters | Self::Ntt(_) | Self::Graph(_) => ErrorKind::Bug,
        }
    }
}

#[cfg(test)]
mod tests {
    use cuzk_msm::MsmError;
    use cuzk_ntt::NttError;
    use cuzk_pipeline_core::{Cancelled, RunError};
    use cuzk_srs::SrsError;
    use cuzk_synth::SynthError;
    use cuzk_synth::input::InputError;

    use super::*;

    #[test]
    fn what_was_cancelled_may_be_tried_again_whoever_was_at_work() {
        let kinds = [
            RunError::Cancelled.kind(),
            Groth16Error::from(Cancelled).kind(),
            SynthError::from(Cancelled).kind(),
            InputError::from(Cancelled).kind(),
            NttError::from(Cancelled).kind(),
            MsmError::from(Cancelled).kind(),
            SrsError::from(Cancelled).kind(),
        ];
        assert_eq!(kinds, [ErrorKind::Resource; 7]);
    }
}
