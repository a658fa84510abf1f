//! The forms of a C1.

use std::fmt;

/// The forms in which a C1 travels. Each may be compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// serde's JSON of `filecoin_proofs::SealCommitPhase1Output`.
    ProofsJson,
    /// serde's JSON of `filecoin_proofs_api::seal::SealCommitPhase1Output`.
    ApiJson,
    /// What Lotus and Curio write: `SectorNum`, `Phase1Out` (base64 of [`Self::ApiJson`]), `SectorSize`.
    LotusJson,
    /// bincode 1 of `filecoin_proofs::SealCommitPhase1Output`.
    ProofsBincode,
    /// bincode 1 of `filecoin_proofs_api::seal::SealCommitPhase1Output`.
    ApiBincode,
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ProofsJson => "filecoin-proofs JSON",
            Self::ApiJson => "filecoin-proofs-api JSON",
            Self::LotusJson => "lotus JSON",
            Self::ProofsBincode => "filecoin-proofs bincode",
            Self::ApiBincode => "filecoin-proofs-api bincode",
        })
    }
}
