//! The encodings that lie around one another in a file.

use std::fmt;

use crate::{c1, post, snap};

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
    /// A PoRep's C1.
    C1(c1::Encoding),
    /// The vanilla proofs of a WindowPoSt or a WinningPoSt.
    Post(post::Encoding),
    /// The vanilla proofs of a sector's update.
    Snap(snap::Encoding),
}

/// The encodings around an input, the outermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers(pub Vec<Layer>);

impl Layers {
    /// Whether nothing has been recognised.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, layer: Layer) {
        self.0.push(layer);
    }

    /// Says more of the innermost layer than was known when it was pushed.
    pub(crate) fn refine(&mut self, layer: Layer) {
        if let Some(last) = self.0.last_mut() {
            *last = layer;
        }
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
            Self::Post(encoding) => encoding.fmt(f),
            Self::Snap(encoding) => encoding.fmt(f),
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
