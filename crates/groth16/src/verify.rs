//! The pairing equation.

use blstrs::{Bls12, G2Prepared, Gt};
use group::Curve as _;
use pairing::{Engine as _, MillerLoopResult as _, MultiMillerLoop as _};

use cuzk_values::{G1Affine, G1Projective, PartitionProof, Proof, Scalar, VerifyingKey};

use crate::Groth16Error;

/// A verifying key with what does not depend on the proof worked out once.
pub struct PreparedVerifyingKey {
    alpha_beta: Gt,
    neg_gamma: G2Prepared,
    neg_delta: G2Prepared,
    ic: Vec<G1Affine>,
}

impl std::fmt::Debug for PreparedVerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PreparedVerifyingKey of {} public inputs", self.ic.len())
    }
}

impl PreparedVerifyingKey {
    /// Prepares a key.
    pub fn new(vk: &VerifyingKey) -> Self {
        Self {
            alpha_beta: Bls12::pairing(&vk.alpha_g1, &vk.beta_g2),
            neg_gamma: G2Prepared::from(-vk.gamma_g2),
            neg_delta: G2Prepared::from(-vk.delta_g2),
            ic: vk.ic.clone(),
        }
    }

    /// How many public inputs the key takes, ONE included.
    pub fn inputs(&self) -> usize {
        self.ic.len()
    }

    /// Checks `e(A, B) = e(alpha, beta) · e(Σ x_i ic_i, gamma) · e(C, delta)`
    /// (Groth, EUROCRYPT 2016, section 3.2) for public inputs `x`, ONE first.
    ///
    /// The points of a [`PartitionProof`] read from bytes are known to be of the
    /// prime-order subgroup, as this equation needs.
    ///
    /// # Errors
    /// [`Groth16Error::Inputs`] where the number of inputs is not the key's,
    /// [`Groth16Error::Invalid`] where the equation does not hold.
    pub fn verify(
        &self,
        partition: usize,
        proof: &PartitionProof,
        inputs: &[Scalar],
    ) -> Result<(), Groth16Error> {
        if inputs.len() != self.ic.len() {
            let (given, expected) = (inputs.len(), self.ic.len());
            return Err(Groth16Error::Inputs { partition, given, expected });
        }
        let ic: Vec<G1Projective> = self.ic.iter().map(G1Projective::from).collect();
        let inputs = G1Projective::multi_exp(&ic, inputs).to_affine();
        let terms =
            [(&proof.a, &G2Prepared::from(proof.b)), (&inputs, &self.neg_gamma), (&proof.c, &self.neg_delta)];
        let product = Bls12::multi_miller_loop(&terms).final_exponentiation();
        if product == self.alpha_beta { Ok(()) } else { Err(Groth16Error::Invalid { partition }) }
    }

    /// Verifies the proofs of all partitions.
    ///
    /// # Errors
    /// [`Groth16Error::Partitions`] where there is not one proof for each
    /// partition's inputs; else as [`verify`](Self::verify).
    pub fn verify_all(&self, proof: &Proof, inputs: &[Vec<Scalar>]) -> Result<(), Groth16Error> {
        if proof.0.len() != inputs.len() {
            return Err(Groth16Error::Partitions { proofs: proof.0.len(), partitions: inputs.len() });
        }
        let parts = proof.0.iter().zip(inputs).enumerate();
        parts.into_iter().try_for_each(|(i, (proof, inputs))| self.verify(i, proof, inputs))
    }
}
