//! The hashes along many paths, side by side.

use cuzk_values::{MerkleProof, Scalar};

use super::gadgets::scalar;
use crate::poseidon::{Poseidon, Traces};

/// The hashes along paths in trees of one shape, level by level.
pub(super) struct PathHashes(Vec<Traces>);

impl PathHashes {
    /// Of each path, from a leaf of its own.
    pub(super) fn new(paths: &[(&MerkleProof, Scalar)]) -> Self {
        let Some((first, _)) = paths.first() else { return Self(Vec::new()) };
        let mut nodes: Vec<Scalar> = paths.iter().map(|(_, leaf)| *leaf).collect();
        let mut levels: Vec<_> = paths.iter().map(|(path, _)| path.levels()).collect();
        let arities = first.tree.arities();
        let hash_level = |arity| {
            let mut children = Vec::with_capacity(paths.len() * arity);
            for (node, level) in nodes.iter().zip(levels.iter_mut().filter_map(Iterator::next)) {
                children.extend(level.siblings.iter().map(scalar));
                children.insert(children.len() - level.siblings.len() + level.index, *node);
            }
            let traces = Poseidon::of_arity(arity).traces(&children);
            nodes.iter_mut().enumerate().for_each(|(i, node)| *node = traces.hash(i));
            traces
        };
        Self(arities.map(hash_level).collect())
    }

    /// Those along one path, from the leaf's parent to the root.
    pub(super) fn along(&self, path: usize) -> impl Iterator<Item = &[Scalar]> {
        self.0.iter().map(move |level| level.of(path))
    }
}
