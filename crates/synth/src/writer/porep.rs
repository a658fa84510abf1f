//! The PoRep circuit (storage-proofs-porep 19.1.0, `stacked/circuit`).

use cuzk_values::{C1, ChallengeProof, ColumnProof, DRG_PARENTS, Node, Scalar};
use ff::Field;

use super::Part;
use super::gadgets::{node_words, scalar};
use super::paths::PathHashes;
use super::word::Word;
use crate::hash;
use crate::poseidon::{Poseidon, Traces};

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
    let hashes = Hashes::new(replica_id, proof);
    let data = part.node(&proof.data.leaf);
    part.data_path(&proof.data);
    for (i, parent) in parents(proof).enumerate() {
        part.nodes(&parent.labels);
        let leaf = part.trace(hashes.columns.of(i));
        part.path(&parent.path, leaf, hashes.paths.along(i));
    }
    let node = u64::from(proof.challenge());
    part.bits(node, 64);
    part.input(Scalar::from(node));

    let mut last = Scalar::ZERO;
    for layer in 1..=proof.column.labels.len() {
        last = scalar(&label(part, replica_id, proof, layer));
    }
    let encoded = part.wide(last + data);
    let own = parents(proof).count();
    part.path(&proof.replica, encoded, hashes.paths.along(own + 1));
    let leaf = part.trace(hashes.columns.of(own));
    part.path(&proof.column.path, leaf, hashes.paths.along(own));
}

fn parents(proof: &ChallengeProof) -> impl Iterator<Item = &ColumnProof> {
    proof.drg_parents.iter().chain(&proof.exp_parents)
}

/// The Poseidon hashes of a challenge, done before the variables are written.
struct Hashes {
    /// Of the parents' labels, and of the challenged node's own.
    columns: Traces,
    /// Along the paths of the parents and of the node in `TreeC`, and of the node in `TreeR`.
    paths: PathHashes,
}

impl Hashes {
    fn new(replica_id: &Node, proof: &ChallengeProof) -> Self {
        let layers = proof.column.labels.len();
        let own = |layer| hash::label(replica_id, layer, proof.challenge(), proof.label_parents(layer));
        let own: Vec<Scalar> = (1..=layers).map(|layer| scalar(&own(layer))).collect();
        let labels = parents(proof).flat_map(|parent| &parent.labels).map(scalar);
        let labels: Vec<Scalar> = labels.chain(own.iter().copied()).collect();
        let columns = Poseidon::of_arity(layers).traces(&labels);

        let encoded = own.last().map_or(Scalar::ZERO, |label| label + scalar(&proof.data.leaf));
        let in_tree_c = parents(proof).chain([&proof.column]).enumerate();
        let paths = in_tree_c.map(|(i, column)| (&column.path, columns.hash(i)));
        let paths: Vec<_> = paths.chain([(&proof.replica, encoded)]).collect();
        Self { paths: PathHashes::new(&paths), columns }
    }
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
