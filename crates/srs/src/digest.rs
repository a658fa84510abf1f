//! Digests, and the manifest of published files that lists them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use blake2b_simd::{Params, State};
use serde::{Deserialize, Deserializer};

use crate::map::Map;
use crate::progress::report;
use crate::{SrsError, Watch};

/// Bytes that are hashed between two looks at the [`Watch`].
const BLOCK: usize = 16 << 20;

/// The digest of a parameter file: the first 16 bytes of BLAKE2b-512, in
/// hexadecimal, as upstream's `parameters.json` lists them.
///
/// That of an empty file is `786a02f742015903c6c6fd852552d272`: who sees it has a
/// failed download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// The digest of a file.
    ///
    /// # Errors
    /// [`SrsError::Missing`], [`SrsError::Io`] and others about the file; [`SrsError::Cancelled`].
    pub fn of_file(path: &Path, watch: &mut Watch<'_>) -> Result<Self, SrsError> {
        let map = Map::open(path)?;
        let (mut hasher, total) = (Hasher::new(), map.bytes().len());
        for start in (0..total).step_by(BLOCK) {
            let block = start..total.min(start + BLOCK);
            report(watch, "digest", start as u64, total as u64)?;
            map.check_unchanged()?;
            hasher.update(&map.bytes()[block.clone()]);
            map.let_go(&block);
        }
        Ok(hasher.digest())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Digest {
    type Err = SrsError;

    fn from_str(text: &str) -> Result<Self, SrsError> {
        let bad = || SrsError::Digest { text: text.chars().take(80).collect() };
        if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(bad());
        }
        let value = u128::from_str_radix(text, 16).map_err(|_| bad())?;
        Ok(Self(value.to_be_bytes()))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A digest in the making.
pub(crate) struct Hasher(State);

impl Hasher {
    pub(crate) fn new() -> Self {
        Self(Params::new().hash_length(64).to_state())
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn digest(&self) -> Digest {
        let mut digest = [0; 16];
        digest.copy_from_slice(&self.0.finalize().as_bytes()[..16]);
        Digest(digest)
    }
}

/// Upstream's `parameters.json`: for each published file its digest and sector size.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Manifest(BTreeMap<String, Listed>);

/// What a [`Manifest`] says about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Listed {
    /// The file's digest.
    pub digest: Digest,
    /// The sector size that it is for.
    pub sector_size: u64,
}

impl Manifest {
    /// Reads a `parameters.json`.
    ///
    /// # Errors
    /// [`SrsError::Missing`], [`SrsError::Io`], [`SrsError::Json`].
    pub fn read(path: &Path) -> Result<Self, SrsError> {
        let text = std::fs::read(path).map_err(SrsError::io(path, "read"))?;
        serde_json::from_slice(&text).map_err(|source| SrsError::Json { path: path.into(), source })
    }

    /// What it says about a file of this name.
    pub fn get(&self, file_name: &str) -> Option<Listed> {
        self.0.get(file_name).copied()
    }
}
