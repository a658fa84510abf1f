//! The names of the encodings.

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

/// One of the encodings that lie around one another, as they are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// JSON, before it is known what it holds.
    Json,
    /// Base64, in a JSON string.
    Base64,
    /// A C1.
    C1(Encoding),
}

/// The encodings around a C1, the outermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers(pub Vec<Layer>);

impl Layers {
    /// Whether nothing has been recognised.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, layer: Layer) {
        self.0.push(layer);
    }

    /// Says more of the innermost layer than was known when it was pushed.
    pub(super) fn refine(&mut self, layer: Layer) {
        if let Some(last) = self.0.last_mut() {
            *last = layer;
        }
    }
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

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gzip => f.write_str("gzip"),
            Self::Zstd => f.write_str("zstd"),
            Self::Json => f.write_str("JSON"),
            Self::Base64 => f.write_str("base64"),
            Self::C1(encoding) => encoding.fmt(f),
        }
    }
}

/// As `filecoin-proofs-api JSON in base64 in lotus JSON`.
impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, layer) in self.0.iter().rev().enumerate() {
            let joint = if i == 0 { "" } else { " in " };
            write!(f, "{joint}{layer}")?;
        }
        Ok(())
    }
}
