//! What must hold between the parts of a PoSt.

use cuzk_values::{MerkleProof, Node, Post, PostKind, PostSector, PostVersion};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::input::InputError;
use crate::input::error::{Fault, Problem};
use crate::input::merkle::{REACHES, roots, same};
use crate::input::reader::is_canonical;
use crate::input::watch::{Watch, each, each_watched, unwatched};
use crate::{PostShape, hash};

/// The leaf that challenge `index` of a sector asks for, of `2^log_nodes`:
/// `SHA-256(randomness ‖ sector ‖ index)`, the numbers as 8 bytes
/// little-endian, its first 8 bytes likewise
/// (`generate_leaf_challenge_inner` in storage-proofs-post 19.1.0).
///
/// `index` counts the challenges in the sector, in [`PostVersion::V1`] through
/// all sectors of all partitions (`get_challenge_index`). A WinningPoSt's 66
/// challenges are counted so or so.
pub fn challenge(randomness: &Node, sector: u64, index: u64, log_nodes: u8) -> u32 {
    let preimage = Sha256::new()
        .chain_update(randomness)
        .chain_update(sector.to_le_bytes())
        .chain_update(index.to_le_bytes());
    let hash: Node = preimage.finalize().into();
    let (low, _) = hash.split_at(8);
    let number = low.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    (number % (1 << log_nodes)) as u32
}

/// The index of the first challenge of the sector at place `i` of its partition.
pub(crate) fn first_index(version: PostVersion, shape: PostShape, partition: u32, i: usize) -> u64 {
    match version {
        PostVersion::V1 if shape.kind == PostKind::Window => {
            let sector = u64::from(partition) * shape.sectors as u64 + i as u64;
            sector * shape.challenges as u64
        }
        _ => 0,
    }
}

/// Follows every path to its root: what [`decode`](super::decode) leaves out,
/// because it takes seconds of a core for a partition of 32 GiB sectors (235,000
/// Poseidon hashes). A PoSt that passes has a satisfied circuit.
///
/// # Errors
/// [`InputError::Invalid`], with the sector and the path that goes astray.
pub fn check_trees(post: &Post) -> Result<(), InputError> {
    check_trees_watched(post, &unwatched)
}

/// As [`check_trees`], under watch.
///
/// # Errors
/// As [`check_trees`]; [`InputError::Cancelled`].
pub fn check_trees_watched(post: &Post, watch: &Watch<'_>) -> Result<(), InputError> {
    let total = post.sectors.iter().map(|sector| sector.challenges.len()).sum();
    each_watched(watch, total, post.sectors.par_chunks(SIDE_BY_SIDE), |chunk, sectors| {
        let paths: Vec<(usize, usize, &MerkleProof)> = places(sectors);
        let here = |fault: Fault, path: usize| {
            let (i, n, _) = paths[path];
            in_sector(in_challenge(fault, n), chunk * SIDE_BY_SIDE + i, &sectors[i])
        };
        let reached = roots(&paths.iter().map(|(.., path)| *path).collect::<Vec<_>>());
        let reached = reached.map_err(|(path, problem)| here(problem.into(), path))?;
        for (path, (reached, (i, ..))) in reached.iter().zip(&paths).enumerate() {
            same(reached, &sectors[*i].comm_r_last, REACHES).map_err(|fault| here(fault, path))?;
        }
        Ok(paths.len())
    })
}

/// How many sectors are checked together: ten paths each, for the lanes of a vector.
const SIDE_BY_SIDE: usize = 4;

/// Every challenge, with its sector and its place there.
fn places(sectors: &[PostSector]) -> Vec<(usize, usize, &MerkleProof)> {
    let sector = |(i, sector): (usize, _)| {
        let PostSector { challenges, .. }: &PostSector = sector;
        challenges.iter().enumerate().map(move |(n, path)| (i, n, path))
    };
    sectors.iter().enumerate().flat_map(sector).collect()
}

/// All that is cheap to check: a tenth of a second for any partition.
pub(super) fn on_reading(post: &Post, shape: PostShape) -> Result<(), Fault> {
    if post.sectors.len() > shape.sectors {
        let problem = Problem::TooMany { found: Some(post.sectors.len() as u64), limit: shape.sectors };
        return Err(Fault::from(problem).in_field("vanilla_proofs"));
    }
    if !is_canonical(post.randomness) {
        return Err(Fault::from(Problem::Unmasked { value: post.randomness }).in_field("randomness"));
    }
    if !is_canonical(post.prover_id) {
        return Err(Fault::from(Problem::NotCanonical { value: post.prover_id }).in_field("prover_id"));
    }
    // A window of V1 counts them all in 64 bits.
    each(post.sectors.par_iter().enumerate(), |(i, sector)| {
        sector_on_reading(post, shape, i, sector).map_err(|fault| in_sector(fault, i, sector))
    })
}

fn sector_on_reading(post: &Post, shape: PostShape, i: usize, sector: &PostSector) -> Result<(), Fault> {
    if sector.challenges.len() != shape.challenges {
        let problem = Problem::Count { found: sector.challenges.len(), expected: shape.challenges };
        return Err(in_sectors(Fault::from(problem).in_field("inclusion_proofs")));
    }
    let comm_r = hash::comm_r(&sector.comm_c, &sector.comm_r_last);
    same(&sector.comm_r, &comm_r, "the hash of comm_c and comm_r_last").map_err(|f| f.in_field("comm_r"))?;
    let first = first_index(post.version, shape, post.partition, i);
    for (n, path) in sector.challenges.iter().enumerate() {
        let index = first + n as u64;
        let expected = challenge(&post.randomness, sector.number, index, shape.sector.log_nodes);
        if path.node != expected {
            let of = "the challenge that the randomness, the sector's number and the version give";
            return Err(in_challenge(Problem::differs(path.node, expected, of).into(), n));
        }
    }
    Ok(())
}

fn in_challenge(fault: Fault, n: usize) -> Fault {
    in_sectors(fault.in_element(n).in_field("inclusion_proofs"))
}

fn in_sectors(fault: Fault) -> Fault {
    fault.in_element(0).in_field("sectors").in_field("vanilla_proof")
}

fn in_sector(fault: Fault, i: usize, sector: &PostSector) -> Fault {
    fault.in_element(i).in_field("vanilla_proofs").of_sector(sector.number)
}
