//! The inputs of proofs, and what they may leave unsaid.

#![allow(clippy::doc_markdown, reason = "the docs are help texts, for a terminal")]

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{GivenSnap, GivenWindow};
use crate::units::{Hash, Miner};

/// What is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A sector was sealed (Commit 2)
    Porep,
    /// A sector was given data (SnapDeals)
    Snap,
    /// Sectors are still stored
    WindowPost,
    /// A sector is still stored, for a block that was won
    WinningPost,
}

/// A PoRep's input.
#[derive(Debug, Args)]
pub(crate) struct PorepInput {
    /// The C1 output: JSON of filecoin-proofs or of its API, the wrapper that
    /// lotus-bench and Curio write, bincode of either; gz or zst of any
    #[arg(long, value_name = "FILE")]
    pub(crate) c1: PathBuf,
    #[command(flatten)]
    pub(crate) sector: SectorCheck,
}

/// What the C1's replica id is checked against, when it is given.
#[derive(Debug, Args)]
pub(crate) struct SectorCheck {
    /// Check that the C1 is of this sector number
    #[arg(long, value_name = "N")]
    pub(crate) sector_number: Option<u64>,
    /// Check that the C1 is of this miner, as t01000, f01000 or 1000. Takes a sector
    /// number too, given or in the file
    #[arg(long, value_name = "ID")]
    pub(crate) miner_addr: Option<Miner>,
}

/// An update's input.
#[derive(Debug, Args)]
pub(crate) struct SnapInput {
    /// The vanilla proofs: one JSON with all that a request has, as `cuzk fixture snap`
    /// writes it, a JSON list of base64 (snap-vproof.json), or bincode; gz or zst of any
    #[arg(long, short, value_name = "FILE")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) given: GivenSnap,
}

/// A WindowPoSt's input.
#[derive(Debug, Args)]
pub(crate) struct WindowPostInput {
    #[command(flatten)]
    pub(crate) post: PostInput,
    #[command(flatten)]
    pub(crate) window: GivenWindow,
}

/// A WinningPoSt's input.
#[derive(Debug, Args)]
pub(crate) struct WinningPostInput {
    #[command(flatten)]
    pub(crate) post: PostInput,
}

/// The input of either proof of spacetime.
#[derive(Debug, Args)]
pub(crate) struct PostInput {
    /// The vanilla proofs: one JSON with all that a request has, as `cuzk fixture
    /// window-post` writes it, a JSON list of base64, or bincode, one proof a sector;
    /// gz or zst of any
    #[arg(long, short, value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// The miner, as t01000, f01000 or 1000
    #[arg(long, value_name = "ID", help_heading = "What the file does not say")]
    pub(crate) miner_addr: Option<Miner>,
    /// The randomness: 32 bytes in hex or base64
    #[arg(long, value_name = "HASH", help_heading = "What the file does not say")]
    pub(crate) randomness: Option<Hash>,
}
