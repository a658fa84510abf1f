//! `finalize`: five sums and two random scalars make a proof.

use ff::Field;
use group::Curve as _;
use rand_core::RngCore;

use cuzk_values::{G1Projective, G2Projective, PartitionProof, Scalar, VerifyingKey};

use crate::Groth16Error;

/// The two scalars that hide the witness.
///
/// With the same pair, the same parameters and the same witness the proof is the
/// same to the byte. A pair is used once: two proofs of different witnesses with
/// one pair would give the witnesses' difference away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blinding {
    /// Randomises A.
    pub r: Scalar,
    /// Randomises B.
    pub s: Scalar,
}

impl Blinding {
    /// Two scalars from a generator.
    pub fn random(rng: &mut impl RngCore) -> Self {
        Self { r: Scalar::random(&mut *rng), s: Scalar::random(rng) }
    }

    /// Two scalars from the operating system.
    ///
    /// # Errors
    /// [`Groth16Error::Randomness`] where the system has none to give.
    pub fn from_os() -> Result<Self, Groth16Error> {
        let mut seed = [0; 32];
        rand_core::OsRng.try_fill_bytes(&mut seed).map_err(Groth16Error::Randomness)?;
        Ok(Self::random(&mut <rand_chacha::ChaCha20Rng as rand_core::SeedableRng>::from_seed(seed)))
    }
}

/// What the MSMs give: each the sum of a query's points times the scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// `Σ h_i [x^i (x^n - 1) / delta]_1`
    pub h: G1Projective,
    /// `Σ z_i [(beta u_i + alpha v_i + w_i) / delta]_1` over the auxiliary variables.
    pub l: G1Projective,
    /// `Σ z_i [u_i]_1` over all variables.
    pub a: G1Projective,
    /// `Σ z_i [v_i]_1` over all variables.
    pub b_g1: G1Projective,
    /// `Σ z_i [v_i]_2` over all variables.
    pub b_g2: G2Projective,
}

/// The proof (Groth, EUROCRYPT 2016, section 3.2):
///
/// ```text
/// A = alpha + Σa + r·delta
/// B = beta  + Σb + s·delta                       (in G2, and in G1 for C)
/// C = Σl + Σh + s·A + r·B - r·s·delta
/// ```
pub fn assemble(vk: &VerifyingKey, sums: &Sums, Blinding { r, s }: Blinding) -> PartitionProof {
    let a = sums.a + vk.alpha_g1 + vk.delta_g1 * r;
    let b_g1 = sums.b_g1 + vk.beta_g1 + vk.delta_g1 * s;
    let b_g2 = sums.b_g2 + vk.beta_g2 + vk.delta_g2 * s;
    let c = sums.l + sums.h + a * s + b_g1 * r - vk.delta_g1 * (r * s);
    PartitionProof { a: a.to_affine(), b: b_g2.to_affine(), c: c.to_affine() }
}
