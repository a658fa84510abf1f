//! What goes wrong around a proof.

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
    #[error("{proofs} partition proofs for {partitions} partitions")]
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
    /// The OS gave no randomness.
    #[error("the operating system gave no randomness for r and s")]
    Randomness(#[source] rand_core::Error),
    /// The graph could not be built.
    #[error(transparent)]
    Graph(#[from] cuzk_pipeline_core::BuildError),
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] cuzk_pipeline_core::Cancelled),
}
