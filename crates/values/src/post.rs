//! A proof of spacetime's input: what shows that sectors are still stored.

use cuzk_pipeline_core::{Footprint, Value};

use crate::{MerkleProof, Node};

/// The vanilla proofs of a WindowPoSt's partition or of a WinningPoSt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Which of the two.
    pub kind: PostKind,
    /// How the challenges are drawn.
    pub version: PostVersion,
    /// Bytes in each sector.
    pub sector_size: u64,
    /// The prover: the miner's id in LEB128, then zeros to 32 bytes.
    pub prover_id: Node,
    /// The randomness of the challenges, a scalar.
    pub randomness: Node,
    /// Which partition of a WindowPoSt this is, counted from 0: [`PostVersion::V1`]
    /// numbers challenges through all of them. 0 where each is proved on its own.
    pub partition: u32,
    /// The sectors, as many as were asked for: a circuit with room for more
    /// repeats the last one.
    pub sectors: Vec<PostSector>,
}

/// The two proofs of spacetime, which have the same circuit in different sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PostKind {
    /// Many sectors, 10 challenges in each, once a day.
    Window,
    /// 66 challenges in one sector, for a block that was won.
    Winning,
}

/// How a WindowPoSt draws its challenges. A WinningPoSt has one sector, and both
/// draw the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PostVersion {
    /// Challenges are numbered through all sectors (registered proofs 5 to 9).
    V1,
    /// Challenges are numbered in each sector anew (registered proofs 10 to 14).
    V1_1,
}

/// What shows that one sector is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostSector {
    /// The sector's number.
    pub number: u64,
    /// `H(comm_c, comm_r_last)`: the commitment to the replica.
    pub comm_r: Node,
    /// The root of `TreeC`, over the columns of labels.
    pub comm_c: Node,
    /// The root of `TreeR`, over the replica.
    pub comm_r_last: Node,
    /// The challenged leaves of `TreeR`, in the order of the challenges.
    pub challenges: Box<[MerkleProof]>,
}

impl Value for Post {
    fn footprint(&self) -> Footprint {
        let sector = |sector: &PostSector| {
            let paths = sector.challenges.iter().map(|path| size_of::<MerkleProof>() + path.bytes());
            size_of::<PostSector>() + paths.sum::<usize>()
        };
        Footprint::host(self.sectors.iter().map(sector).sum::<usize>() as u64)
    }
}
