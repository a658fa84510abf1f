//! The circuit of both proofs of spacetime (storage-proofs-post 19.1.0, `fallback/circuit.rs`).

use cuzk_values::{MerkleProof, PostSector, Scalar};

use super::Part;
use super::gadgets::scalar;
use super::paths::PathHashes;
use crate::poseidon::Poseidon;

/// Sectors: the commitments of each, and some of its challenges (`Sector::synthesize`).
pub(crate) fn sectors(parts: &mut [Part<'_>], sectors: &[(&PostSector, &[MerkleProof])]) {
    let commitments = |(sector, _): &(&PostSector, _)| [scalar(&sector.comm_c), scalar(&sector.comm_r_last)];
    let commitments: Vec<Scalar> = sectors.iter().flat_map(commitments).collect();
    let commitments = Poseidon::of_arity(2).traces(&commitments);
    let paths = sectors.iter().flat_map(|(_, challenges)| *challenges);
    let paths: Vec<_> = paths.map(|path| (path, scalar(&path.leaf))).collect();
    let hashes = PathHashes::new(&paths);

    let mut paths = paths.iter().enumerate();
    for (i, (part, (sector, challenges))) in parts.iter_mut().zip(sectors).enumerate() {
        part.node(&sector.comm_r_last);
        part.node(&sector.comm_c);
        let comm_r = part.node(&sector.comm_r);
        part.input(comm_r);
        part.trace(commitments.of(i));
        for (k, (path, leaf)) in paths.by_ref().take(challenges.len()) {
            part.wide(*leaf);
            part.path(path, *leaf, hashes.along(k));
        }
    }
}
