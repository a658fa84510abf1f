//! The hashes of Filecoin's trees and labels, outside any circuit.

use cuzk_values::{Node, Scalar};
use ff::{Field, PrimeField};
use filecoin_hashers::HashFunction;
use filecoin_hashers::poseidon::PoseidonFunction;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::poseidon::Poseidon;

/// SHA-256, with the two highest bits cleared so that it is a field element.
pub(crate) fn sha256_node(parts: &[&[u8]]) -> Node {
    let mut sha = Sha256::new();
    for part in parts {
        sha.update(part);
    }
    let mut node: Node = sha.finalize().into();
    node[31] &= 0x3f;
    node
}

/// A node of `TreeD`.
pub(crate) fn data_node(left: &Node, right: &Node) -> Node {
    sha256_node(&[left, right])
}

/// A label: `SHA-256(replica_id ‖ layer ‖ node ‖ zeros to 64 bytes ‖ parents)`
/// (`storage_proofs_porep::stacked`, `create_label`).
pub(crate) fn label<'a>(
    replica_id: &Node,
    layer: usize,
    node: u32,
    parents: impl Iterator<Item = &'a Node>,
) -> Node {
    let mut block = [0; 64];
    block[..32].copy_from_slice(replica_id);
    block[32..36].copy_from_slice(&(layer as u32).to_be_bytes());
    block[36..44].copy_from_slice(&u64::from(node).to_be_bytes());
    let mut sha = Sha256::new();
    sha.update(block);
    parents.for_each(|parent| sha.update(parent));
    let mut label: Node = sha.finalize().into();
    label[31] &= 0x3f;
    label
}

/// The key of a sector's labels (`stacked::generate_replica_id`).
pub(crate) fn replica_id(
    prover_id: &[u8; 32],
    sector_number: u64,
    ticket: &[u8; 32],
    comm_d: &Node,
    porep_id: &[u8; 32],
) -> Node {
    sha256_node(&[prover_id, &sector_number.to_be_bytes(), ticket, comm_d, porep_id])
}

/// A node of the replica: the data plus the last label.
pub(crate) fn encode(data: &Node, key: &Node) -> Option<Node> {
    Some((scalar(data)? + scalar(key)?).to_repr())
}

/// The scalar that a node is, if it is canonical.
pub(crate) fn scalar(node: &Node) -> Option<Scalar> {
    Scalar::from_repr(*node).into()
}

/// The nodes of a `TreeD` whose children `children` are, one pair after another.
pub(crate) fn data_nodes(_arity: usize, children: &[Node]) -> Vec<Node> {
    children.par_chunks_exact(2).map(|pair| data_node(&pair[0], &pair[1])).collect()
}

/// As [`data_nodes`], of a `TreeC` or `TreeR`: Poseidon of 2 or 8 children, which
/// must be canonical.
pub(crate) fn tree_nodes(arity: usize, children: &[Node]) -> Vec<Node> {
    let children: Vec<Scalar> = children.iter().map(|child| scalar(child).unwrap_or_default()).collect();
    poseidon(arity, &children).iter().map(PrimeField::to_repr).collect()
}

/// How many hashes a thread does at a time: some for each lane of its vectors.
const BATCH: usize = 64;

/// Poseidon of many preimages of 2, 8 or 11 scalars, one after another; in parallel.
/// The last is the leaf of a node's labels in a `TreeC`.
pub(crate) fn poseidon(arity: usize, preimages: &[Scalar]) -> Vec<Scalar> {
    let hasher = Poseidon::of_arity(arity);
    let mut hashes = vec![Scalar::ZERO; preimages.len() / arity];
    let batches = preimages.par_chunks(arity * BATCH).zip(hashes.par_chunks_mut(BATCH));
    batches.for_each(|(preimages, hashes)| hasher.hashes(preimages, hashes));
    hashes
}

/// `comm_r`.
pub(crate) fn comm_r(comm_c: &Node, comm_r_last: &Node) -> Node {
    PoseidonFunction::hash2(&(*comm_c).into(), &(*comm_r_last).into()).into()
}
