//! Bits of a scalar, packing, insertion, paths of Merkle trees.

use cuzk_values::{MerkleProof, Node, Scalar};

use super::Part;
use super::word::Word;
use crate::hash;
use crate::poseidon::Poseidon;

/// The scalar that a node is.
///
/// # Panics
/// If it is none: that all nodes are scalars is checked before a witness is written.
pub(super) fn scalar(node: &Node) -> Scalar {
    hash::scalar(node).expect("nodes of a checked proof are scalars")
}

/// The words of a node in a message: all bits are variables but the uppermost,
/// which a scalar has not.
pub(super) fn node_words(node: &Node) -> [Word; 8] {
    let mut words = [Word::default(); 8];
    for (word, bytes) in words.iter_mut().zip(node.as_chunks::<4>().0) {
        *word = Word::variable(u32::from_be_bytes(*bytes));
    }
    words[7].constant = 0x80;
    words
}

impl Part<'_> {
    /// `AllocatedNum::to_bits_le`: the 255 bits of a scalar.
    pub(super) fn scalar_bits(&mut self, node: &Node) {
        for (i, bytes) in node.as_chunks::<8>().0.iter().enumerate() {
            self.bits(u64::from_le_bytes(*bytes), if i < 3 { 64 } else { 63 });
        }
    }

    /// `multipack::pack_bits` of a hash: its lower 254 bits as a scalar.
    pub(super) fn pack_hash(&mut self, hash: [Word; 8]) -> Node {
        let mut node = [0; 32];
        for (bytes, word) in node.as_chunks_mut::<4>().0.iter_mut().zip(hash) {
            *bytes = word.value.to_be_bytes();
        }
        node[31] &= 0x3f;
        self.wide(scalar(&node));
        node
    }

    /// Two scalars' bits and their SHA-256, a node of `TreeD`
    /// (filecoin-hashers 14.1.0, `Sha256Function::hash_multi_leaf_circuit`).
    pub(super) fn hash_data_nodes(&mut self, left: &Node, right: &Node) -> Node {
        self.scalar_bits(left);
        self.scalar_bits(right);
        let mut message = [Word::default(); 16];
        message[..8].copy_from_slice(&node_words(left));
        message[8..].copy_from_slice(&node_words(right));
        let hash = self.sha256(&message);
        self.pack_hash(hash)
    }

    /// `insertion::pick`: the one or the other.
    pub(super) fn pick(&mut self, condition: bool, then: Scalar, otherwise: Scalar) -> Scalar {
        self.wide(if condition { then } else { otherwise })
    }

    /// A node among its siblings, at `index` (storage-proofs-core 19.1.0,
    /// `gadgets/insertion.rs`): as many picks of a child as siblings and one, 2 or 8.
    ///
    /// Each child is picked by the bits of the index, the lowest first; those of
    /// the lower and of the upper half share their last pick's alternatives.
    pub(super) fn insert(&mut self, node: Scalar, index: usize, siblings: &[Scalar]) {
        let bit = |i: u32| (index >> i) & 1 == 1;
        match *siblings {
            [other] => {
                self.pick(bit(0), other, node);
                self.pick(bit(0), node, other);
            }
            [b, c, d, e, f, g, h] => {
                let (b0, b1, b2) = (bit(0), bit(1), bit(2));
                let (neither, both) = (!b0 && !b1, b0 && b1);
                self.bit(neither);
                self.bit(both);

                let low = self.pick(neither, node, b);
                self.pick(b2, b, low);
                let low = self.pick(b0, node, b);
                let low = self.pick(b1, c, low);
                self.pick(b2, c, low);
                let low = self.pick(b0, d, node);
                let low = self.pick(b1, low, c);
                self.pick(b2, d, low);
                let low = self.pick(both, node, d);
                self.pick(b2, e, low);

                let high = self.pick(neither, node, f);
                self.pick(b2, high, e);
                let high = self.pick(b0, node, f);
                let high = self.pick(b1, g, high);
                self.pick(b2, high, f);
                let high = self.pick(b0, h, node);
                let high = self.pick(b1, high, g);
                self.pick(b2, high, g);
                let high = self.pick(both, node, h);
                self.pick(b2, high, h);
            }
            _ => unreachable!("trees have arity 2 and 8; {} siblings", siblings.len()),
        }
    }

    /// A way to the root of a tree of Poseidon's (`gadgets/por.rs`, `PoRCircuit`):
    /// index, siblings and hash of each level; the leaf's index is a public input.
    pub(super) fn path<'a>(
        &mut self,
        path: &MerkleProof,
        leaf: Scalar,
        hashes: impl Iterator<Item = &'a [Scalar]>,
    ) {
        path.levels().zip(hashes).fold(leaf, |node, (level, hash)| {
            self.bits(level.index as u64, level.siblings.len().count_ones());
            let siblings = self.nodes(level.siblings);
            self.insert(node, level.index, siblings.as_slice());
            self.trace(hash)
        });
        self.input(Scalar::from(u64::from(path.node)));
    }

    /// As [`path`](Self::path), where the leaf's index is known
    /// (`por_no_challenge_input`): all siblings, then each level's hash.
    pub(super) fn climb<'a>(
        &mut self,
        path: &MerkleProof,
        leaf: Scalar,
        hashes: impl Iterator<Item = &'a [Scalar]>,
    ) {
        for sibling in &path.siblings {
            self.node(sibling);
        }
        path.levels().zip(hashes).fold(leaf, |node, (level, hash)| {
            self.insert(node, level.index, Children::of_nodes(level.siblings).as_slice());
            self.trace(hash)
        });
    }

    /// As [`path`](Self::path), to the root of `TreeD`.
    pub(super) fn data_path(&mut self, path: &MerkleProof) {
        path.levels().fold(path.leaf, |node, level| {
            self.bits(level.index as u64, 1);
            self.nodes(level.siblings);
            self.data_parent(&node, level.index, &level.siblings[0])
        });
        self.input(Scalar::from(u64::from(path.node)));
    }

    /// A node's parent in `TreeD`, the node standing at `index`.
    pub(super) fn data_parent(&mut self, node: &Node, index: usize, sibling: &Node) -> Node {
        self.insert(scalar(node), index, &[scalar(sibling)]);
        let (left, right) = if index == 0 { (node, sibling) } else { (sibling, node) };
        self.hash_data_nodes(left, right)
    }

    /// A few nodes, as variables.
    pub(super) fn nodes(&mut self, nodes: &[Node]) -> Children {
        let children = Children::of_nodes(nodes);
        self.next_wide(nodes.len()).copy_from_slice(children.as_slice());
        children
    }

    /// A node, as a variable.
    pub(super) fn node(&mut self, node: &Node) -> Scalar {
        self.wide(scalar(node))
    }

    /// Poseidon's variables; the hash.
    pub(super) fn poseidon(&mut self, poseidon: &Poseidon, preimage: &[Scalar]) -> Scalar {
        self.trace(poseidon.traces(preimage).of(0))
    }

    /// The variables of a hash; itself, the last.
    pub(super) fn trace(&mut self, trace: &[Scalar]) -> Scalar {
        self.next_wide(trace.len()).copy_from_slice(trace);
        trace[trace.len() - 1]
    }
}

/// At most as many scalars as a column has labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Children {
    scalars: [Scalar; 11],
    len: usize,
}

impl Children {
    pub(super) fn of_nodes(nodes: &[Node]) -> Self {
        let mut scalars = [Scalar::default(); 11];
        for (place, node) in scalars.iter_mut().zip(nodes) {
            *place = scalar(node);
        }
        Self { scalars, len: nodes.len() }
    }

    pub(super) fn as_slice(&self) -> &[Scalar] {
        &self.scalars[..self.len]
    }
}
