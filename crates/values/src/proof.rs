//! Proofs as points and as bytes.

use cuzk_pipeline_core::{Footprint, Value};

use crate::{G1Affine, G2Affine};

/// The bytes of one partition's proof: A 48, B 96, C 48, compressed.
pub const PROOF_BYTES: usize = 192;

/// The Groth16 proof of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionProof {
    /// A
    pub a: G1Affine,
    /// B
    pub b: G2Affine,
    /// C
    pub c: G1Affine,
}

/// Bytes that are no proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The length is wrong.
    #[error("{len} bytes; a proof has 192 bytes for each partition")]
    Length {
        /// How many bytes there are.
        len: usize,
    },
    /// A point is not on its curve, not in its subgroup, or not in canonical form.
    #[error("partition {partition}: {point} is not a point of the subgroup in canonical compressed form")]
    Point {
        /// Which partition.
        partition: usize,
        /// `A`, `B` or `C`.
        point: char,
    },
}

impl PartitionProof {
    /// The 192 bytes, as bellperson writes them.
    pub fn to_bytes(&self) -> [u8; PROOF_BYTES] {
        let mut bytes = [0; PROOF_BYTES];
        bytes[..48].copy_from_slice(&self.a.to_compressed());
        bytes[48..144].copy_from_slice(&self.b.to_compressed());
        bytes[144..].copy_from_slice(&self.c.to_compressed());
        bytes
    }

    fn read(bytes: &[u8], partition: usize) -> Result<Self, ProofError> {
        let bad = |point| ProofError::Point { partition, point };
        let g1 = |bytes: &[u8], point| {
            let bytes = bytes.try_into().map_err(|_| bad(point))?;
            Option::<G1Affine>::from(G1Affine::from_compressed(bytes)).ok_or(bad(point))
        };
        let b = bytes[48..144].try_into().map_err(|_| bad('B'))?;
        Ok(Self {
            a: g1(&bytes[..48], 'A')?,
            b: Option::<G2Affine>::from(G2Affine::from_compressed(b)).ok_or(bad('B'))?,
            c: g1(&bytes[144..], 'C')?,
        })
    }
}

impl Value for PartitionProof {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

/// The proofs of all partitions, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof(pub Vec<PartitionProof>);

impl Proof {
    /// The proofs one after another, 192 bytes each.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(PartitionProof::to_bytes).collect()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) writes, checking every point's
    /// curve, subgroup and encoding.
    ///
    /// # Errors
    /// [`ProofError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProofError> {
        if bytes.is_empty() || !bytes.len().is_multiple_of(PROOF_BYTES) {
            return Err(ProofError::Length { len: bytes.len() });
        }
        let parts = bytes.chunks_exact(PROOF_BYTES).enumerate();
        parts.map(|(i, part)| PartitionProof::read(part, i)).collect::<Result<_, _>>().map(Self)
    }
}

impl Value for Proof {
    fn footprint(&self) -> Footprint {
        Footprint::host((self.0.capacity() * size_of::<PartitionProof>()) as u64)
    }
}
