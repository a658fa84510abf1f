//! The PoRep circuit (storage-proofs-porep 19.1.0, `stacked/circuit`).

use cuzk_values::{C1, ChallengeProof, ColumnProof, DRG_PARENTS, Node, Scalar};
use ff::Field;

use super::Part;
use super::gadgets::{Children, node_words, scalar};
use super::poseidon::Poseidon;
use super::word::Word;

/// What comes before the challenges: the commitments, and `comm_r`'s hash.
pub(crate) fn header(part: &mut Part<'_>, c1: &C1) {
    part.input(Scalar::ONE);
    let replica_id = part.node(&c1.replica_id);
    part.input(replica_id);
    part.scalar_bits(&c1.replica_id);
    let comm_d = part.node(&c1.comm_d);
    part.input(comm_d);
    let comm_r = part.node(&c1.comm_r);
    part.input(comm_r);
    let comm_r_last = part.node(&c1.comm_r_last);
    let comm_c = part.node(&c1.comm_c);
    part.poseidon(Poseidon::of_arity(2), &[comm_c, comm_r_last]);
}

/// One challenge (`circuit/params.rs`, `Proof::synthesize`).
pub(crate) fn challenge(part: &mut Part<'_>, replica_id: &Node, proof: &ChallengeProof) {
    let data = part.node(&proof.data.leaf);
    part.data_path(&proof.data);
    for parent in proof.drg_parents.iter().chain(&proof.exp_parents) {
        column(part, parent);
    }
    let node = u64::from(proof.challenge());
    part.bits(node, 64);
    part.input(Scalar::from(node));

    let layers = proof.column.labels.len();
    let mut labels = Vec::with_capacity(layers);
    for layer in 1..=layers {
        labels.push(label(part, replica_id, proof, layer));
    }
    let last = labels.last().map_or(Scalar::ZERO, scalar);
    let encoded = part.wide(last + data);
    part.path(&proof.replica, encoded);
    let labels = Children::of_nodes(&labels);
    let leaf = part.poseidon(Poseidon::of_arity(layers), labels.as_slice());
    part.path(&proof.column.path, leaf);
}

/// A parent's labels, their hash, and its way to the root of `TreeC`.
fn column(part: &mut Part<'_>, column: &ColumnProof) {
    let labels = part.nodes(&column.labels);
    let leaf = part.poseidon(Poseidon::of_arity(column.labels.len()), labels.as_slice());
    part.path(&column.path, leaf);
}

/// The bits of the parents' labels, and the label of the challenged node: the
/// hash of `replica_id`, layer and node, and 37 parents (`create_label.rs`).
fn label(part: &mut Part<'_>, replica_id: &Node, proof: &ChallengeProof, layer: usize) -> Node {
    let parents = DRG_PARENTS + if layer == 1 { 0 } else { proof.exp_parents.len() };
    for parent in proof.label_parents(layer).take(parents) {
        part.scalar_bits(parent);
    }
    let mut message = [Word::constant(0); 8 * 39];
    message[..8].copy_from_slice(&node_words(replica_id));
    message[8] = Word::constant(layer as u32);
    message[9] = Word::variable(0);
    message[10] = Word::variable(proof.challenge());
    let (_, parent_words) = message.split_at_mut(16);
    for (words, parent) in parent_words.as_chunks_mut::<8>().0.iter_mut().zip(proof.label_parents(layer)) {
        *words = node_words(parent);
    }
    let hash = part.sha256(&message);
    part.pack_hash(hash)
}
