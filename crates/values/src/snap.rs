//! The input of an update's proof: what shows that a sector of zeros was given data.

use cuzk_pipeline_core::{Footprint, Value};

use crate::{MerkleProof, Node};

/// The vanilla proofs of a sector's update (SnapDeals, `EmptySectorUpdate`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snap {
    /// Bytes in the sector.
    pub sector_size: u64,
    /// How many of a node's highest bits choose the scalar `rho` that its data
    /// is multiplied by: one of the six that its size allows.
    pub high_bits: u32,
    /// The replica before the update.
    pub comm_r_old: Node,
    /// The replica after the update.
    pub comm_r_new: Node,
    /// The root of `TreeD`, over the new data.
    pub comm_d_new: Node,
    /// The root of `TreeC` of the sector's sealing, which the update leaves as it is.
    pub comm_c: Node,
    /// The root of `TreeR` before the update.
    pub root_r_old: Node,
    /// The root of `TreeR` after the update.
    pub root_r_new: Node,
    /// Each partition's part; all are equally long.
    pub partitions: Vec<SnapPartition>,
}

/// What one partition shows: a chunk of the sector, as long as all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapPartition {
    /// All nodes of one level of `TreeD` that lie above the partition's chunk, in order.
    pub apex_leaves: Box<[Node]>,
    /// The challenges, in order.
    pub challenges: Vec<SnapChallenge>,
}

/// A challenged node in the three trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapChallenge {
    /// In `TreeR` before the update.
    pub old: MerkleProof,
    /// In `TreeD` of the new data.
    pub data: MerkleProof,
    /// In `TreeR` after the update: its leaf is the old one plus the data times `rho`.
    pub new: MerkleProof,
}

impl Value for Snap {
    fn footprint(&self) -> Footprint {
        let challenge = |challenge: &SnapChallenge| {
            let SnapChallenge { old, data, new } = challenge;
            size_of::<SnapChallenge>() + old.bytes() + data.bytes() + new.bytes()
        };
        let partition = |partition: &SnapPartition| {
            size_of::<SnapPartition>()
                + size_of_val(&*partition.apex_leaves)
                + partition.challenges.iter().map(challenge).sum::<usize>()
        };
        Footprint::host(self.partitions.iter().map(partition).sum::<usize>() as u64)
    }
}
