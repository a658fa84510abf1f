//! What a sector's size fixes.
//!
//! The numbers are filecoin-proofs' (`constants.rs`, 19.1.0): `LAYERS`,
//! `POREP_PARTITIONS`, `get_porep_non_interactive_partitions`, and
//! `select_challenges` for the challenges of a partition;
//! `WINDOW_POST_SECTOR_COUNT`, `WINDOW_POST_CHALLENGE_COUNT`,
//! `WINNING_POST_SECTOR_COUNT`, `WINNING_POST_CHALLENGE_COUNT`. Those of updates
//! are storage-proofs-update's (`constants.rs`, 19.1.0).

use std::fmt;

use cuzk_values::{PostKind, TreeShape};

/// The shape of a sector's trees and proofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SectorShape {
    /// Nodes of 32 bytes, as a power of two.
    pub log_nodes: u8,
    /// How upstream divides `TreeC` and `TreeR`.
    pub trees: TreeKind,
    /// Layers of labels.
    pub layers: usize,
    /// Challenges in each partition.
    pub challenges: usize,
    /// Partitions of an interactive (also a synthetic) proof.
    pub partitions: usize,
    /// Partitions of a non-interactive proof.
    pub non_interactive_partitions: usize,
}

/// How upstream divides a tree of arity 8. The nodes and their hashes do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TreeKind {
    /// All levels are the base tree.
    Single,
    /// The root is a sub-tree of its own.
    Sub,
    /// So are the two uppermost levels: sub-tree, then top.
    Top,
}

impl SectorShape {
    /// All that exist, from 2 KiB to 64 GiB.
    pub const ALL: [Self; 10] = [
        Self::test(6, TreeKind::Single),
        Self::test(7, TreeKind::Sub),
        Self::test(9, TreeKind::Sub),
        Self::test(10, TreeKind::Top),
        Self::test(18, TreeKind::Single),
        Self::test(19, TreeKind::Sub),
        Self::test(24, TreeKind::Single),
        Self::test(25, TreeKind::Sub),
        Self::production(30, TreeKind::Sub),
        Self::production(31, TreeKind::Top),
    ];

    const fn test(log_nodes: u8, trees: TreeKind) -> Self {
        Self { log_nodes, trees, layers: 2, challenges: 2, partitions: 1, non_interactive_partitions: 13 }
    }

    const fn production(log_nodes: u8, trees: TreeKind) -> Self {
        Self { log_nodes, trees, layers: 11, challenges: 18, partitions: 10, non_interactive_partitions: 126 }
    }

    /// The shape of sectors of so many bytes.
    pub fn of_size(bytes: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.sector_size() == bytes)
    }

    /// The shape of sectors of `2^log_nodes` nodes.
    pub fn of_nodes(log_nodes: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| usize::from(shape.log_nodes) == log_nodes)
    }

    /// The sector's size in bytes.
    pub const fn sector_size(self) -> u64 {
        32 << self.log_nodes
    }

    /// How many nodes there are.
    pub const fn nodes(self) -> usize {
        1 << self.log_nodes
    }

    /// The tree over the data.
    pub const fn tree_d(self) -> TreeShape {
        TreeShape::binary(self.log_nodes)
    }

    /// The trees over columns and replica.
    pub const fn tree_c(self) -> TreeShape {
        TreeShape::octal(self.log_nodes)
    }
}

impl TreeKind {
    /// How many of the uppermost levels upstream sets apart.
    pub const fn apart(self) -> usize {
        self as usize
    }
}

/// As `32GiB`.
impl fmt::Display for SectorShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, log_unit) = match self.log_nodes + 5 {
            log @ 0..20 => ("KiB", log - 10),
            log @ 20..30 => ("MiB", log - 20),
            log => ("GiB", log - 30),
        };
        write!(f, "{}{unit}", 1_u64 << log_unit)
    }
}

/// The shape of a WindowPoSt's partition or of a WinningPoSt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostShape {
    /// The sectors' shape.
    pub sector: SectorShape,
    /// Which of the two.
    pub kind: PostKind,
    /// The most sectors: 2 (2,349 of 32 GiB, 2,300 of 64 GiB) in a window's
    /// partition, 1 in a WinningPoSt.
    pub sectors: usize,
    /// Challenges in each sector: 10 in a WindowPoSt, 66 in a WinningPoSt.
    pub challenges: usize,
}

impl PostShape {
    /// The shape for sectors of this shape, all of which have both proofs.
    pub const fn new(sector: SectorShape, kind: PostKind) -> Self {
        let (sectors, challenges) = match (kind, sector.log_nodes) {
            (PostKind::Winning, _) => (1, 66),
            (PostKind::Window, 30) => (2349, 10),
            (PostKind::Window, 31) => (2300, 10),
            (PostKind::Window, _) => (2, 10),
        };
        Self { sector, kind, sectors, challenges }
    }

    /// The shape for sectors of so many bytes.
    pub fn of_size(sector_size: u64, kind: PostKind) -> Option<Self> {
        SectorShape::of_size(sector_size).map(|sector| Self::new(sector, kind))
    }

    /// The sectors that the circuit sees. To it each challenge of a WinningPoSt
    /// is a sector of its own (`winning_post_setup_params` in filecoin-proofs).
    pub const fn circuit_sectors(self) -> usize {
        match self.kind {
            PostKind::Window => self.sectors,
            PostKind::Winning => self.challenges,
        }
    }

    /// The challenges in each sector that the circuit sees.
    pub const fn circuit_challenges(self) -> usize {
        match self.kind {
            PostKind::Window => self.challenges,
            PostKind::Winning => 1,
        }
    }
}

/// The shape of a sector's update (SnapDeals, `EmptySectorUpdate`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SnapShape {
    /// The sector's shape.
    pub sector: SectorShape,
    /// Partitions, a power of two (`partition_count`).
    pub partitions: usize,
    /// Challenges in each partition (`challenge_count`).
    pub challenges: usize,
    /// Nodes of `TreeD` that each partition shows, a power of two (`apex_leaf_count`).
    pub apex_leaves: usize,
    /// How many of a node's highest bits may choose its `rho`: the circuit
    /// selects one of the six (`hs`).
    pub high_bits: [u32; 6],
}

impl SnapShape {
    /// The shape for sectors of this shape. There is none for 1 GiB
    /// (`ALLOWED_SECTOR_SIZES`).
    pub const fn new(sector: SectorShape) -> Option<Self> {
        let (partitions, challenges, apex_leaves) = match sector.log_nodes {
            25 => return None,
            0..=8 => (1, 10, 8),
            9..=10 => (2, 10, 128),
            11..=19 => (4, 10, 128),
            _ => (16, 86, 128),
        };
        let high_bits = if sector.log_nodes <= 10 { [1; 6] } else { [7, 8, 9, 10, 11, 12] };
        Some(Self { sector, partitions, challenges, apex_leaves, high_bits })
    }

    /// The shape for sectors of so many bytes.
    pub fn of_size(sector_size: u64) -> Option<Self> {
        Self::new(SectorShape::of_size(sector_size)?)
    }

    /// The high bits that the network uses (`h_default`).
    pub const fn default_high_bits(self) -> u32 {
        self.high_bits[3]
    }

    /// The nodes of each partition's chunk, as a power of two.
    pub const fn log_chunk(self) -> u32 {
        self.sector.log_nodes as u32 - self.partitions.ilog2()
    }

    /// The nodes below each apex leaf, as a power of two.
    pub const fn log_apex_leaf(self) -> u32 {
        self.log_chunk() - self.apex_leaves.ilog2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_network() {
        let names = SectorShape::ALL.map(|shape| shape.to_string());
        let known = ["2KiB", "4KiB", "16KiB", "32KiB", "8MiB", "16MiB", "512MiB", "1GiB", "32GiB", "64GiB"];
        assert_eq!(names, known);
        assert_eq!(SectorShape::of_size(34_359_738_368).map(|s| s.log_nodes), Some(30));
    }
}
