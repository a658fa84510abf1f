//! Verifying keys (`.vk`) and what stands beside them (`.meta`).

use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use cuzk_values::VerifyingKey;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::format::{COUNT, G1_BYTES, G2_BYTES, VK_POINTS, read_count, vk_bytes};
use crate::map::Map;
use crate::{Fault, Point, SrsError};

/// Reads a `.vk` file, every point of it checked for the curve and the subgroup.
///
/// # Errors
/// [`SrsError`], as for a parameter file.
pub fn verifying_key(path: &Path) -> Result<VerifyingKey, SrsError> {
    let map = Map::open(path)?;
    let key = parse(map.bytes(), path)?;
    match (vk_bytes(key.ic.len() as u64), map.bytes().len() as u64) {
        (expected, size) if expected == size => Ok(key),
        (expected, size) => Err(SrsError::Trailing { path: path.into(), expected, size }),
    }
}

/// The key at the start of `file`, which may go on after it.
pub(crate) fn parse(file: &[u8], path: &Path) -> Result<VerifyingKey, SrsError> {
    let size = file.len() as u64;
    if size < VK_POINTS {
        return Err(SrsError::Truncated { path: path.into(), part: "vk", needed: VK_POINTS, size });
    }
    let inputs = read_count(file, VK_POINTS, G1_BYTES, ("ic", None), path)?;
    let mut at = 0;
    let g1 = |at: &mut usize, index| next::<G1Affine>(file, at, index, path);
    let g2 = |at: &mut usize, index| next::<G2Affine>(file, at, index, path);
    Ok(VerifyingKey {
        alpha_g1: g1(&mut at, 0)?,
        beta_g1: g1(&mut at, 1)?,
        beta_g2: g2(&mut at, 2)?,
        gamma_g2: g2(&mut at, 3)?,
        delta_g1: g1(&mut at, 4)?,
        delta_g2: g2(&mut at, 5)?,
        ic: file[(VK_POINTS + COUNT) as usize..][..inputs * G1_BYTES]
            .par_chunks_exact(G1_BYTES)
            .with_min_len(16)
            .enumerate()
            .map(|(index, bytes)| in_subgroup(bytes, "ic", index, path))
            .collect::<Result<_, _>>()?,
    })
}

fn next<P: Point>(file: &[u8], at: &mut usize, index: usize, path: &Path) -> Result<P, SrsError> {
    let bytes = &file[*at..*at + P::BYTES];
    *at += P::BYTES;
    in_subgroup(bytes, "vk", index, path)
}

fn in_subgroup<P: Point>(bytes: &[u8], part: &'static str, index: usize, path: &Path) -> Result<P, SrsError> {
    match P::decode(bytes) {
        Ok(point) if point.in_subgroup() => Ok(point),
        Ok(_) => Err(Fault::NotInSubgroup),
        Err(fault) => Err(fault),
    }
    .map_err(|reason| SrsError::Point { path: path.into(), part, index, reason })
}

/// The bytes of a `.vk` file, with which a parameter file starts too.
pub fn encode_key(key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(vk_bytes(key.ic.len() as u64) as usize);
    bytes.extend(key.alpha_g1.to_uncompressed());
    bytes.extend(key.beta_g1.to_uncompressed());
    bytes.extend(key.beta_g2.to_uncompressed());
    bytes.extend(key.gamma_g2.to_uncompressed());
    bytes.extend(key.delta_g1.to_uncompressed());
    bytes.extend(key.delta_g2.to_uncompressed());
    bytes.extend((key.ic.len() as u32).to_be_bytes());
    key.ic.iter().for_each(|point| bytes.extend(point.to_uncompressed()));
    debug_assert_eq!(bytes.len() - 3 * G2_BYTES, (3 + key.ic.len()) * G1_BYTES + COUNT as usize);
    bytes
}

/// A `.meta` file: upstream's has the sector size alone, and upstream ignores the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Bytes of the sectors that the circuit proves.
    pub sector_size: u64,
    /// There when the parameters are for tests: whoever made them can forge proofs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure: Option<Insecure>,
}

/// Why parameters prove nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insecure {
    /// For people who open the file.
    pub warning: String,
    /// The seed of the secrets, or none when they came from the operating system.
    pub seed: Option<u64>,
    /// The program that made them.
    pub made_by: String,
}

impl Meta {
    /// Reads a `.meta` file.
    ///
    /// # Errors
    /// [`SrsError::Missing`], [`SrsError::Io`], [`SrsError::Json`].
    pub fn read(path: &Path) -> Result<Self, SrsError> {
        let text = std::fs::read(path).map_err(SrsError::io(path, "read"))?;
        serde_json::from_slice(&text).map_err(|source| SrsError::Json { path: path.into(), source })
    }
}
