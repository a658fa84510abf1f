//! A PoRep C1: the vanilla proofs that a sector's commit phase 2 turns into a SNARK.

use cuzk_pipeline_core::{Footprint, Value};

/// A node of a tree or a label: a scalar below the field's modulus, little-endian.
pub type Node = [u8; 32];

/// Parents of a node in the depth-robust graph: one layer's own nodes.
pub const DRG_PARENTS: usize = 6;

/// Parents of a node in the expander graph: nodes of the layer before.
pub const EXP_PARENTS: usize = 8;

/// How many parents' labels go into a label; the list of parents is repeated to this length.
pub const LABEL_PARENTS: usize = 37;

/// The output of a sector's commit phase 1, for every sector size alike.
///
/// Nothing in it is stated twice. What Filecoin's own struct repeats (the root
/// in each Merkle proof, the indices along each path, the parents' labels in
/// each labeling and encoding proof) is compared on reading and rebuilt on
/// writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct C1 {
    /// Bytes in the sector; its trees have a leaf for each 32 of them.
    pub sector_size: u64,
    /// Which protocol the sector was sealed under, where the file says it.
    pub variant: Option<PoRepVariant>,
    /// The sector's number, where the file says it.
    pub sector_number: Option<u64>,
    /// SHA-256 of the prover, the sector, the ticket and `comm_d`: the key of all labels.
    pub replica_id: Node,
    /// The randomness of `replica_id`.
    pub ticket: [u8; 32],
    /// The randomness of interactive challenges.
    pub seed: [u8; 32],
    /// The root of `TreeD`, over the data.
    pub comm_d: Node,
    /// `H(comm_c, comm_r_last)`: the commitment to the replica.
    pub comm_r: Node,
    /// The root of `TreeC`, over the columns of labels.
    pub comm_c: Node,
    /// The root of `TreeR`, over the replica.
    pub comm_r_last: Node,
    /// The challenges' proofs, `[partition][challenge]`; all partitions are equally long.
    pub partitions: Vec<Vec<ChallengeProof>>,
}

/// The protocol that a sector was sealed under, as the registered seal proofs tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PoRepVariant {
    /// `V1`: the parents of proofs API 1.0.
    V1,
    /// `V1_1`: the parents of proofs API 1.1, as in all that follow.
    V1_1,
    /// `V1_1_Feat_SyntheticPoRep`: challenges drawn from a set that the replica fixes.
    Synthetic,
    /// `V1_2_Feat_NonInteractivePoRep`: more challenges, without a seed from the chain.
    NonInteractive,
}

/// What proves that one challenged node was encoded rightly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChallengeProof {
    /// The challenged node in `TreeD`; its leaf is the data.
    pub data: MerkleProof,
    /// The challenged node in `TreeR`; its leaf is the data plus the last label.
    pub replica: MerkleProof,
    /// The labels of the challenged node.
    pub column: ColumnProof,
    /// The labels of its parents in the depth-robust graph, in the graph's order.
    pub drg_parents: [ColumnProof; DRG_PARENTS],
    /// The labels of its parents in the expander graph, in the graph's order.
    pub exp_parents: [ColumnProof; EXP_PARENTS],
}

/// The labels of one node in all layers, and their place in `TreeC`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnProof {
    /// The label in each layer, the first layer first.
    pub labels: Box<[Node]>,
    /// The node in `TreeC`; its leaf is the hash of the labels.
    pub path: MerkleProof,
}

/// A leaf's way to the root of its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MerkleProof {
    /// The tree's shape.
    pub tree: TreeShape,
    /// Which leaf.
    pub node: u32,
    /// Its value.
    pub leaf: Node,
    /// The other children of each node on the way, from the leaf to the root, each level's in order.
    pub siblings: Box<[Node]>,
}

/// The shape of a tree with `2^log_leaves` leaves whose nodes have
/// `2^log_arity` children, save that the root has fewer where
/// `log_arity` does not divide `log_leaves`.
///
/// All trees of all sector sizes have it: binary for `TreeD`; of arity 8 for
/// `TreeC` and `TreeR`, with a root of two children in sectors of 4 KiB, 32 KiB,
/// 16 MiB, 1 GiB and 64 GiB. That upstream calls the uppermost levels of some
/// "sub" and "top" trees changes the encoding only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreeShape {
    /// The leaves, as a power of two.
    pub log_leaves: u8,
    /// The children of a node, as a power of two.
    pub log_arity: u8,
}

/// One level of a [`MerkleProof`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level<'a> {
    /// Which child the path comes from.
    pub index: usize,
    /// The other children, in order.
    pub siblings: &'a [Node],
}

impl C1 {
    /// Layers of labels: 11 in production sectors, 2 in test sectors.
    pub fn layers(&self) -> usize {
        self.partitions.first().and_then(|p| p.first()).map_or(0, |c| c.column.labels.len())
    }

    /// How many nodes the sector has: its size in 32-byte words.
    pub fn nodes(&self) -> u64 {
        self.sector_size / 32
    }
}

impl ChallengeProof {
    /// The challenged node.
    pub fn challenge(&self) -> u32 {
        self.column.path.node
    }

    /// The parents' labels that go into the challenged node's label in `layer`,
    /// counted from 1: [`LABEL_PARENTS`] of them, the same few over and over.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn label_parents(&self, layer: usize) -> impl Iterator<Item = &Node> {
        let drg = self.drg_parents.iter().map(move |parent| &parent.labels[layer - 1]);
        let of_layer_before = if layer == 1 { 0 } else { EXP_PARENTS };
        let exp = self.exp_parents[..of_layer_before].iter().map(move |parent| &parent.labels[layer - 2]);
        drg.chain(exp).cycle().take(LABEL_PARENTS)
    }
}

impl MerkleProof {
    /// The levels, from the leaf's to the root's.
    pub fn levels(&self) -> impl Iterator<Item = Level<'_>> {
        let mut siblings = &self.siblings[..];
        let mut node = self.node as usize;
        self.tree.arities().map(move |arity| {
            let (here, above) = siblings.split_at(arity - 1);
            let level = Level { index: node % arity, siblings: here };
            (siblings, node) = (above, node / arity);
            level
        })
    }
}

impl TreeShape {
    /// The binary tree over a sector's data.
    pub const fn binary(log_leaves: u8) -> Self {
        Self { log_leaves, log_arity: 1 }
    }

    /// The tree of arity 8 over a sector's columns or its replica.
    pub const fn octal(log_leaves: u8) -> Self {
        Self { log_leaves, log_arity: 3 }
    }

    /// How many levels lie above the leaves.
    pub fn height(self) -> usize {
        self.log_leaves.div_ceil(self.log_arity).into()
    }

    /// The children of a node at each level, from the leaves' parents to the root.
    pub fn arities(self) -> impl ExactSizeIterator<Item = usize> {
        let Self { log_leaves, log_arity } = self;
        (0..log_leaves).step_by(log_arity.into()).map(move |below| 1 << log_arity.min(log_leaves - below))
    }

    /// How many siblings a path has.
    pub fn siblings(self) -> usize {
        self.arities().map(|arity| arity - 1).sum()
    }
}

impl MerkleProof {
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.siblings)
    }
}

impl ColumnProof {
    fn bytes(&self) -> usize {
        size_of_val(&*self.labels) + self.path.bytes()
    }
}

impl ChallengeProof {
    fn bytes(&self) -> usize {
        let columns = self.drg_parents.iter().chain(&self.exp_parents).chain([&self.column]);
        self.data.bytes() + self.replica.bytes() + columns.map(ColumnProof::bytes).sum::<usize>()
    }
}

impl Value for C1 {
    fn footprint(&self) -> Footprint {
        let spine = self.partitions.capacity() * size_of::<Vec<ChallengeProof>>();
        let partition = |proofs: &Vec<ChallengeProof>| {
            proofs.capacity() * size_of::<ChallengeProof>()
                + proofs.iter().map(ChallengeProof::bytes).sum::<usize>()
        };
        Footprint::host((spine + self.partitions.iter().map(partition).sum::<usize>()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arities_multiply_to_the_leaves() {
        for log_leaves in [6, 7, 9, 10, 18, 19, 24, 25, 30, 31] {
            for tree in [TreeShape::binary(log_leaves), TreeShape::octal(log_leaves)] {
                assert_eq!(tree.arities().product::<usize>(), 1 << log_leaves);
                assert_eq!(tree.arities().len(), tree.height());
            }
        }
        let arities: Vec<_> = TreeShape::octal(10).arities().collect();
        assert_eq!(arities, [8, 8, 8, 2]);
        assert_eq!(TreeShape::octal(10).siblings(), 22);
    }

    #[test]
    fn levels_are_the_digits_of_the_node() {
        let tree = TreeShape::octal(7);
        let siblings: Box<[Node]> = (0..15).map(|i| [i; 32]).collect();
        let path = MerkleProof { tree, node: 0b1_011_110, leaf: [9; 32], siblings };
        let levels: Vec<_> = path.levels().map(|l| (l.index, l.siblings.len(), l.siblings[0][0])).collect();
        assert_eq!(levels, [(6, 7, 0), (3, 7, 7), (1, 1, 14)]);
    }
}
