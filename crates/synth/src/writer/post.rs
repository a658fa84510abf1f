//! The circuit of both proofs of spacetime (storage-proofs-post 19.1.0, `fallback/circuit.rs`).

use cuzk_values::{MerkleProof, PostSector, Scalar};
use ff::Field;

use super::Part;
use super::poseidon::Poseidon;

/// What comes before the sectors: ONE.
pub(crate) fn header(part: &mut Part<'_>) {
    part.input(Scalar::ONE);
}

/// A sector: its commitments, and some of its challenges (`Sector::synthesize`).
pub(crate) fn sector(part: &mut Part<'_>, sector: &PostSector, challenges: &[MerkleProof]) {
    let comm_r_last = part.node(&sector.comm_r_last);
    let comm_c = part.node(&sector.comm_c);
    let comm_r = part.node(&sector.comm_r);
    part.input(comm_r);
    part.poseidon(Poseidon::of_arity(2), &[comm_c, comm_r_last]);
    for path in challenges {
        let leaf = part.node(&path.leaf);
        part.path(path, leaf);
    }
}
