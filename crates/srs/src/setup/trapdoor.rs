//! The secrets of a setup.

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::prime::PrimeCurveAffine;
use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, RngCore, SeedableRng};

use crate::{Point, SrsError};

/// The secrets of a setup ("toxic waste") and the generators of the two groups. Who
/// knows them can prove anything.
#[derive(Clone)]
pub struct Trapdoor {
    /// `alpha`
    pub alpha: Scalar,
    /// `beta`
    pub beta: Scalar,
    /// `gamma`
    pub gamma: Scalar,
    /// `delta`
    pub delta: Scalar,
    /// The point at which the circuit's polynomials are evaluated: `x` in Groth16.
    pub tau: Scalar,
    /// The generator of G1. The pairing equation holds for any; [`from_seed`](Self::from_seed)
    /// and [`from_os`](Self::from_os) take the standard one where bellperson takes a random one.
    pub g1: G1Affine,
    /// The generator of G2.
    pub g2: G2Affine,
    /// The seed of the secrets, where there is one.
    pub seed: Option<u64>,
}

impl Trapdoor {
    /// The secrets of a seed: the same on every machine and in every version.
    ///
    /// They are drawn from `ChaCha20` keyed with the text `cuzk test parameters` and
    /// zeros up to byte 24, then the seed, little-endian.
    pub fn from_seed(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..20].copy_from_slice(b"cuzk test parameters");
        key[24..].copy_from_slice(&seed.to_le_bytes());
        Self { seed: Some(seed), ..Self::random(&mut ChaCha20Rng::from_seed(key)) }
    }

    /// Secrets that the operating system chose, and that are gone when this value is.
    pub fn from_os() -> Self {
        Self::random(&mut OsRng)
    }

    /// Secrets of a random number generator, with the standard generators.
    pub fn random(random: &mut impl RngCore) -> Self {
        let mut secret = || loop {
            let secret = Scalar::random(&mut *random);
            if !secret.is_zero_vartime() {
                return secret;
            }
        };
        Self {
            alpha: secret(),
            beta: secret(),
            gamma: secret(),
            delta: secret(),
            tau: secret(),
            g1: G1Affine::generator(),
            g2: G2Affine::generator(),
            seed: None,
        }
    }

    /// `1 / gamma` and `1 / delta`, when all secrets can be used.
    ///
    /// # Errors
    /// [`SrsError::Trapdoor`] for one that is zero, or a generator that generates nothing.
    pub(crate) fn inverses(&self) -> Result<(Scalar, Scalar), SrsError> {
        let zero = |name| SrsError::Trapdoor { name, reason: "it is zero" };
        let secrets = [("alpha", &self.alpha), ("beta", &self.beta), ("tau", &self.tau)];
        if let Some((name, _)) = secrets.into_iter().find(|(_, secret)| secret.is_zero_vartime()) {
            return Err(zero(name));
        }
        let generates = |name, generates| {
            let reason = "it does not generate the group";
            if generates { Ok(()) } else { Err(SrsError::Trapdoor { name, reason }) }
        };
        generates("g1", !bool::from(self.g1.is_identity()) && self.g1.in_subgroup())?;
        generates("g2", !bool::from(self.g2.is_identity()) && self.g2.in_subgroup())?;
        let inverse = |name, secret: &Scalar| Option::from(secret.invert()).ok_or_else(|| zero(name));
        Ok((inverse("gamma", &self.gamma)?, inverse("delta", &self.delta)?))
    }
}

impl std::fmt::Debug for Trapdoor {
    /// The seed alone: secrets do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trapdoor").field("seed", &self.seed).finish_non_exhaustive()
    }
}
