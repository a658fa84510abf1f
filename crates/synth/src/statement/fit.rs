//! Whether an input has the circuit's shape.

use std::fmt::Display;

use cuzk_values::{C1, ChallengeProof, ColumnProof, MerkleProof, Node, Post, Scalar, Snap, TreeShape};

use crate::hash;
use crate::post::kind_name;
use crate::{PostShape, SectorShape, SnapShape, SynthError};

/// Checks all that the circuit of `partition` will read, and gives the
/// commitments that are public inputs.
pub(super) fn c1(shape: SectorShape, c1: &C1, partition: usize) -> Result<[Scalar; 3], SynthError> {
    sector_size(shape, c1.sector_size)?;
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
fn commitments(c1: &C1) -> Result<[Scalar; 3], SynthError> {
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

/// Checks all that the circuit will read.
pub(super) fn post(shape: PostShape, post: &Post, partition: usize) -> Result<(), SynthError> {
    sector_size(shape.sector, post.sector_size)?;
    if post.kind != shape.kind {
        return Err(SynthError::Kind { found: kind_name(post.kind), expected: kind_name(shape.kind) });
    }
    if partition > 0 {
        return Err(SynthError::Partition { partition, partitions: 1 });
    }
    let sectors = post.sectors.len();
    count(&"sectors", "sectors", sectors, sectors.clamp(1, shape.sectors))?;
    for (i, sector) in post.sectors.iter().enumerate() {
        let at = format_args!("sectors[{i}]");
        for node in [&sector.comm_r, &sector.comm_c, &sector.comm_r_last] {
            scalar(node, &at)?;
        }
        count(&at, "challenges", sector.challenges.len(), shape.challenges)?;
        for (k, proof) in sector.challenges.iter().enumerate() {
            path(shape.sector.tree_c(), proof, &format_args!("sectors[{i}].challenges[{k}]"))?;
        }
    }
    Ok(())
}

/// Checks all that the circuit of `partition` will read, and gives the
/// commitments that are public inputs: `comm_r_old`, `comm_d_new`, `comm_r_new`.
pub(super) fn snap(shape: SnapShape, snap: &Snap, partition: usize) -> Result<[Scalar; 3], SynthError> {
    sector_size(shape.sector, snap.sector_size)?;
    let partitions = snap.partitions.len();
    count(&"partitions", "partitions", partitions, shape.partitions)?;
    let part = snap.partitions.get(partition).ok_or(SynthError::Partition { partition, partitions })?;
    if !shape.high_bits.contains(&snap.high_bits) {
        let (found, expected) = (snap.high_bits as usize, shape.default_high_bits() as usize);
        return Err(SynthError::Count { at: "high_bits".to_owned(), what: "bits", found, expected });
    }
    let at = format_args!("partitions[{partition}]");
    count(&at, "apex leaves", part.apex_leaves.len(), shape.apex_leaves)?;
    part.apex_leaves.iter().try_for_each(|leaf| scalar(leaf, &at).map(drop))?;
    count(&at, "challenges", part.challenges.len(), shape.challenges)?;
    for (i, challenge) in part.challenges.iter().enumerate() {
        let at = format!("partitions[{partition}].challenges[{i}]");
        path(shape.sector.tree_c(), &challenge.old, &format_args!("{at}.old"))?;
        path(shape.sector.tree_d(), &challenge.data, &format_args!("{at}.data"))?;
        path(shape.sector.tree_c(), &challenge.new, &format_args!("{at}.new"))?;
    }
    for (node, at) in
        [(&snap.comm_c, "comm_c"), (&snap.root_r_old, "root_r_old"), (&snap.root_r_new, "root_r_new")]
    {
        scalar(node, &at)?;
    }
    Ok([
        scalar(&snap.comm_r_old, &"comm_r_old")?,
        scalar(&snap.comm_d_new, &"comm_d_new")?,
        scalar(&snap.comm_r_new, &"comm_r_new")?,
    ])
}

fn sector_size(shape: SectorShape, found: u64) -> Result<(), SynthError> {
    let expected = shape.sector_size();
    if found == expected { Ok(()) } else { Err(SynthError::SectorSize { found, expected }) }
}

fn count(at: &dyn Display, what: &'static str, found: usize, expected: usize) -> Result<(), SynthError> {
    if found == expected {
        return Ok(());
    }
    Err(SynthError::Count { at: at.to_string(), what, found, expected })
}

pub(super) fn scalar(node: &Node, at: &dyn Display) -> Result<Scalar, SynthError> {
    hash::scalar(node).ok_or_else(|| SynthError::NotCanonical { at: at.to_string() })
}
