//! The hashes of Filecoin's trees and labels, outside any circuit.

use cuzk_values::{Node, Scalar};
use ff::PrimeField;
use filecoin_hashers::HashFunction;
use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonFunction, PoseidonHasher};
use merkletree::hash::Algorithm;
use sha2::{Digest, Sha256};
use storage_proofs_porep::stacked::Column;

use crate::input::InputError;

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
    let scalar = |node: &Node| Option::<Scalar>::from(Scalar::from_repr(*node));
    Some((scalar(data)? + scalar(key)?).to_repr())
}

/// A node of `TreeC` or `TreeR`: Poseidon of its 2 or 8 children, which must be canonical.
pub(crate) fn tree_node(children: &[Node]) -> Node {
    let children: Vec<PoseidonDomain> = children.iter().map(|child| (*child).into()).collect();
    PoseidonFunction::default().multi_node(&children, 0).into()
}

/// `comm_r`.
pub(crate) fn comm_r(comm_c: &Node, comm_r_last: &Node) -> Node {
    PoseidonFunction::hash2(&(*comm_c).into(), &(*comm_r_last).into()).into()
}

/// A leaf of `TreeC`: Poseidon of a node's 2 or 11 labels, which must be canonical.
pub(crate) fn column(node: u32, labels: &[Node]) -> Result<Node, InputError> {
    let labels = labels.iter().map(|label| (*label).into()).collect();
    let column = Column::<PoseidonHasher>::new(node, labels).map_err(InputError::upstream)?;
    Ok(column.hash().to_repr())
}
