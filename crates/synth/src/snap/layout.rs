//! `storage_proofs_update::PartitionProof` and what is in it, 19.1.0, in the words
//! of a [`Reader`], and its way into the noun.

use cuzk_values::{Node, SnapChallenge, SnapPartition};

use crate::input::error::{Fault, Problem};
use crate::input::merkle::{Path, path, same};
use crate::input::open::word;
use crate::input::reader::{Reader, collect, count};
use crate::{SnapShape, TreeKind};

/// The most partitions of any sector, and the most of each in one of them.
pub(crate) const MAX_PARTITIONS: usize = 16;
const MAX_CHALLENGES: usize = 86;
const MAX_APEX_LEAVES: usize = 128;

/// The partitions while they are read.
#[derive(Default)]
pub(crate) struct Partitions {
    pub(super) partitions: Vec<SnapPartition>,
    /// What the first partition says, which all others say again.
    pub(super) first: Option<First>,
}

/// The shape, `comm_c`, and the roots of the three trees.
#[derive(Clone, Copy)]
pub(super) struct First {
    pub(super) shape: SnapShape,
    pub(super) comm_c: Node,
    pub(super) old: Node,
    pub(super) data: Node,
    pub(super) new: Node,
}

/// Whether bytes that start so are a partition's proof. `comm_c` may be anything;
/// then come 8 or 128 apex leaves, each with its two highest bits clear.
pub(crate) fn is_partition(start: &[u8]) -> bool {
    let clear = |at: usize| start.get(at).is_some_and(|byte| byte & 0xc0 == 0);
    let leaves = word(start, 32).is_some_and(|leaves| (1..=1000).contains(&leaves));
    leaves && clear(40 + 31) && clear(40 + 63)
}

impl Partitions {
    /// A `PartitionProof`.
    pub(crate) fn read<R: Reader>(&mut self, r: &mut R) -> Result<(), Fault> {
        let (mut comm_c, mut apex_leaves, mut challenges) = (Node::default(), Vec::new(), Vec::new());
        r.record(&["comm_c", "apex_leafs", "challenge_proofs"], |r, i| {
            match i {
                0 => {
                    comm_c = r.node()?;
                    if let Some(first) = self.first {
                        same(&comm_c, &first.comm_c, "the first partition's")?;
                    }
                }
                1 => apex_leaves = collect(r, MAX_APEX_LEAVES, R::node)?,
                _ => {
                    r.list(MAX_CHALLENGES, |r, _| {
                        challenges.push(challenge(r)?.settle(comm_c, &mut self.first)?);
                        Ok(())
                    })?;
                }
            }
            Ok(())
        })?;
        if let Some(First { shape, .. }) = self.first {
            count(apex_leaves.len(), shape.apex_leaves).map_err(|p| Fault::from(p).in_field("apex_leafs"))?;
            count(challenges.len(), shape.challenges)
                .map_err(|p| Fault::from(p).in_field("challenge_proofs"))?;
        }
        let apex_leaves = apex_leaves.into_boxed_slice();
        self.partitions.push(SnapPartition { apex_leaves, challenges });
        Ok(())
    }
}

/// A `ChallengeProof`.
#[derive(Default)]
struct Challenge {
    old: Path,
    data: Path,
    new: Path,
}

fn challenge<R: Reader>(r: &mut R) -> Result<Challenge, Fault> {
    let mut c = Challenge::default();
    r.record(&["proof_r_old", "proof_d_new", "proof_r_new"], |r, i| {
        match i {
            0 => c.old = path(r)?,
            1 => c.data = path(r)?,
            _ => c.new = path(r)?,
        }
        Ok(())
    })?;
    Ok(c)
}

impl Challenge {
    /// Checks the shape, and all that is stated twice.
    fn settle(self, comm_c: Node, first: &mut Option<First>) -> Result<SnapChallenge, Fault> {
        let Self { old, data, new } = self;
        let first = if let Some(first) = first {
            first
        } else {
            let sector = data.binary_shape().map_err(|f| f.in_field("proof_d_new"))?;
            let bytes = sector.sector_size();
            let shape = SnapShape::new(sector).ok_or(Problem::NoSuchProof { bytes })?;
            first.insert(First { shape, comm_c, old: old.root, data: data.root, new: new.root })
        };
        let First { shape, old: root_old, data: root_data, new: root_new, .. } = *first;
        let sector = shape.sector;
        let replica = |path: Path, root, name| {
            let settled = path.settle(sector.tree_c(), sector.trees, root);
            settled.map_err(|f| f.in_field(name))
        };
        let data = data.settle(sector.tree_d(), TreeKind::Single, root_data);
        Ok(SnapChallenge {
            old: replica(old, root_old, "proof_r_old")?,
            data: data.map_err(|f| f.in_field("proof_d_new"))?,
            new: replica(new, root_new, "proof_r_new")?,
        })
    }
}
