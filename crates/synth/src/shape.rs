//! What a sector's size fixes.
//!
//! The numbers are filecoin-proofs' (`constants.rs`, 19.1.0): `LAYERS`,
//! `POREP_PARTITIONS`, `get_porep_non_interactive_partitions`, and
//! `select_challenges` for the challenges of a partition.

use std::fmt;

use cuzk_values::TreeShape;

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
