//! Whether a C1 has the circuit's shape: upstream's circuits panic on one that has not.

use std::fmt::Display;

use cuzk_values::{C1, ChallengeProof, ColumnProof, MerkleProof, Node, Scalar, TreeShape};

use crate::{SectorShape, SynthError};

/// Checks all that the circuit of `partition` will read, and gives the
/// commitments that are public inputs.
pub(super) fn check(shape: SectorShape, c1: &C1, partition: usize) -> Result<[Scalar; 3], SynthError> {
    if c1.sector_size != shape.sector_size() {
        return Err(SynthError::SectorSize { found: c1.sector_size, expected: shape.sector_size() });
    }
    let partitions = c1.partitions.len();
    let challenges = c1.partitions.get(partition).ok_or(SynthError::Partition { partition, partitions })?;
    let at = format!("partitions[{partition}]");
    count(&at, "challenges", challenges.len(), shape.challenges)?;
    for (i, proof) in challenges.iter().enumerate() {
        challenge(shape, proof, &format!("{at}[{i}]"))?;
    }
    commitments(c1)
}

/// `replica_id`, `comm_d`, `comm_r`; all commitments are checked.
pub(super) fn commitments(c1: &C1) -> Result<[Scalar; 3], SynthError> {
    scalar(&c1.comm_c, &"comm_c")?;
    scalar(&c1.comm_r_last, &"comm_r_last")?;
    Ok([
        scalar(&c1.replica_id, &"replica_id")?,
        scalar(&c1.comm_d, &"comm_d")?,
        scalar(&c1.comm_r, &"comm_r")?,
    ])
}

fn challenge(shape: SectorShape, proof: &ChallengeProof, at: &str) -> Result<(), SynthError> {
    path(shape.tree_d(), &proof.data, &format_args!("{at}.data"))?;
    path(shape.tree_c(), &proof.replica, &format_args!("{at}.replica"))?;
    column(shape, &proof.column, &format_args!("{at}.column"))?;
    for (i, parent) in proof.drg_parents.iter().enumerate() {
        column(shape, parent, &format_args!("{at}.drg_parents[{i}]"))?;
    }
    for (i, parent) in proof.exp_parents.iter().enumerate() {
        column(shape, parent, &format_args!("{at}.exp_parents[{i}]"))?;
    }
    Ok(())
}

fn column(shape: SectorShape, column: &ColumnProof, at: &dyn Display) -> Result<(), SynthError> {
    count(at, "labels", column.labels.len(), shape.layers)?;
    column.labels.iter().try_for_each(|label| scalar(label, at).map(drop))?;
    path(shape.tree_c(), &column.path, at)
}

fn path(tree: TreeShape, path: &MerkleProof, at: &dyn Display) -> Result<(), SynthError> {
    let TreeShape { log_leaves, log_arity } = path.tree;
    count(at, "bits of a leaf's index", log_leaves.into(), tree.log_leaves.into())?;
    count(at, "bits of a child's index", log_arity.into(), tree.log_arity.into())?;
    count(at, "siblings", path.siblings.len(), tree.siblings())?;
    if path.node >> tree.log_leaves != 0 {
        let (found, expected) = (path.node as usize + 1, 1 << tree.log_leaves);
        return Err(SynthError::Count { at: at.to_string(), what: "leaves at the least", found, expected });
    }
    scalar(&path.leaf, at)?;
    path.siblings.iter().try_for_each(|sibling| scalar(sibling, at).map(drop))
}

fn count(at: &dyn Display, what: &'static str, found: usize, expected: usize) -> Result<(), SynthError> {
    if found == expected {
        return Ok(());
    }
    Err(SynthError::Count { at: at.to_string(), what, found, expected })
}

fn scalar(node: &Node, at: &dyn Display) -> Result<Scalar, SynthError> {
    Option::from(Scalar::from_bytes_le(node)).ok_or_else(|| SynthError::NotCanonical { at: at.to_string() })
}
