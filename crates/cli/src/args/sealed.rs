//! `cuzk vanilla`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cuzk_synth::registered::{PostProof, SealProof, UpdateProof};
use cuzk_synth::vanilla::SealedSector;

use super::{C1Format, VanillaFormat};
use crate::units::{Hash, Miner};

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Sectors of the published sizes only: 2KiB, 8MiB, 512MiB, 32GiB, 64GiB. Filecoin's own code \
does the work; it keeps a cache of the graph in FIL_PROOFS_PARENT_CACHE [default: \
/var/tmp/filecoin-parents]. Nothing in the sectors' folders is changed.")]
pub(crate) enum Vanilla {
    /// Make the C1 output of a sealed sector (Commit 1)
    Porep(VanillaPorep),
    /// Make the vanilla proofs of an updated sector (SnapDeals)
    Snap(VanillaSnap),
    /// Make the vanilla proofs of a WindowPoSt, partition by partition
    WindowPost(VanillaWindowPost),
    /// Make the vanilla proof of a WinningPoSt
    WinningPost(VanillaPost),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk vanilla porep --registered-proof StackedDrg32GiBV1_1 --sector 7:sealed/s-t01000-7:cache/s-t01000-7 \\
      --miner-addr t01000 --ticket 3f5a… --seed 0c99… --out c1.json")]
pub(crate) struct VanillaPorep {
    /// The registered seal proof, by its name or its number (0 to 19)
    #[arg(long, value_name = "PROOF", value_parser = seal_proof)]
    pub(crate) registered_proof: SealProof,
    /// The sector: its number, its replica and the folder of its cache
    #[arg(long, value_name = "NUMBER:FILE:DIR", value_parser = sealed_sector)]
    pub(crate) sector: SealedSector,
    /// The miner, as t01000, f01000 or 1000
    #[arg(long, value_name = "ID")]
    pub(crate) miner_addr: Miner,
    /// The randomness that the sector was sealed with: 32 bytes in hex or base64
    #[arg(long, value_name = "HASH")]
    pub(crate) ticket: Hash,
    /// The randomness of the challenges
    #[arg(long, value_name = "HASH")]
    pub(crate) seed: Hash,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// How to write it
    #[arg(long, value_enum, default_value = "lotus")]
    pub(crate) format: C1Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk vanilla snap --registered-proof StackedDrg32GiBV1 --sealed sealed/s-t01000-7:cache/s-t01000-7 \\
      --updated update/s-t01000-7:update-cache/s-t01000-7 --out snap.json")]
pub(crate) struct VanillaSnap {
    /// The registered update proof, by its name or its number (0 to 4)
    #[arg(long, value_name = "PROOF", value_parser = update_proof)]
    pub(crate) registered_proof: UpdateProof,
    /// The sector as it was sealed: its replica and the folder of its cache
    #[arg(long, value_name = "FILE:DIR", value_parser = replica)]
    pub(crate) sealed: SealedSector,
    /// The sector as it was updated
    #[arg(long, value_name = "FILE:DIR", value_parser = replica)]
    pub(crate) updated: SealedSector,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// How to write it
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: VanillaFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk vanilla window-post --registered-proof StackedDrgWindow32GiBV1_1 --miner-addr t01000 \\
      --randomness be65… --sector 7:sealed/s-t01000-7:cache/s-t01000-7 \\
      --sector 9:sealed/s-t01000-9:cache/s-t01000-9 --out post.json

A partition has room for 2349 sectors of 32GiB, 2300 of 64GiB, 2 of other sizes. More of them \
are taken for partitions 0, 1 and so on, each in a file of its own: post-0.json, post-1.json. \
The proof of them all is the proofs of the partitions, one after the other.")]
pub(crate) struct VanillaWindowPost {
    #[command(flatten)]
    pub(crate) post: VanillaPost,
    /// The sectors are those of this partition, counted from 0 [default: of as many as
    /// they fill]. Only the challenges of V1 proofs depend on it
    #[arg(long, value_name = "K")]
    pub(crate) partition_index: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk vanilla winning-post --registered-proof StackedDrgWinning32GiBV1 --miner-addr t01000 \\
      --randomness be65… --sector 7:sealed/s-t01000-7:cache/s-t01000-7 --out post.json")]
pub(crate) struct VanillaPost {
    /// The registered PoSt proof, by its name or its number (0 to 14)
    #[arg(long, value_name = "PROOF", value_parser = post_proof)]
    pub(crate) registered_proof: PostProof,
    /// A sector: its number, its replica and the folder of its cache. Of a WindowPoSt
    /// once for each, by ascending numbers
    #[arg(long, value_name = "NUMBER:FILE:DIR", value_parser = sealed_sector, required = true)]
    pub(crate) sector: Vec<SealedSector>,
    /// The miner, as t01000, f01000 or 1000
    #[arg(long, value_name = "ID")]
    pub(crate) miner_addr: Miner,
    /// The randomness of the challenges: 32 bytes in hex or base64
    #[arg(long, value_name = "HASH")]
    pub(crate) randomness: Hash,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// How to write it
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: VanillaFormat,
}

fn seal_proof(text: &str) -> Result<SealProof, String> {
    let proof = text.parse().ok().map_or_else(|| SealProof::of_name(text), SealProof::of_number);
    proof.ok_or_else(|| "no registered seal proof: 0 to 19, or a name as StackedDrg32GiBV1_1".to_owned())
}

fn post_proof(text: &str) -> Result<PostProof, String> {
    let proof = text.parse().ok().map_or_else(|| PostProof::of_name(text), PostProof::of_number);
    proof
        .ok_or_else(|| "no registered PoSt proof: 0 to 14, or a name as StackedDrgWindow32GiBV1_1".to_owned())
}

fn update_proof(text: &str) -> Result<UpdateProof, String> {
    let proof = text.parse().ok().map_or_else(|| UpdateProof::of_name(text), UpdateProof::of_number);
    proof.ok_or_else(|| "no registered update proof: 0 to 4, or a name as StackedDrg32GiBV1".to_owned())
}

fn sealed_sector(text: &str) -> Result<SealedSector, String> {
    let wrong = || "a sector is written NUMBER:FILE:DIR, as 7:sealed/s-t01000-7:cache/s-t01000-7".to_owned();
    let (number, files) = text.split_once(':').ok_or_else(wrong)?;
    let number = number.parse().map_err(|_| wrong())?;
    replica(files).map(|sector| SealedSector { number, ..sector }).map_err(|_| wrong())
}

fn replica(text: &str) -> Result<SealedSector, String> {
    let wrong =
        || "a replica and its cache are written FILE:DIR, as sealed/s-t01000-7:cache/s-t01000-7".to_owned();
    let (replica, cache) = text.split_once(':').ok_or_else(wrong)?;
    Ok(SealedSector { number: 0, replica: replica.into(), cache: cache.into() })
}
