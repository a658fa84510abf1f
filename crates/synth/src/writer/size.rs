//! How many variables the circuits have, gadget by gadget.

use cuzk_values::{DRG_PARENTS, EXP_PARENTS, TreeShape};

use super::snap::{HIGH_BITS, digests};
use crate::{SectorShape, SnapShape, WitnessSize};

impl WitnessSize {
    const fn bits(bits: usize) -> Self {
        Self { aux: bits, ..Self::NONE }
    }

    const fn wide(wide: usize) -> Self {
        Self { aux: wide, wide, places: wide, ..Self::NONE }
    }

    const fn inputs(inputs: usize) -> Self {
        Self { inputs, ..Self::NONE }
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            inputs: self.inputs + other.inputs,
            aux: self.aux + other.aux,
            wide: self.wide + other.wide,
            places: self.places + other.places,
        }
    }

    pub(crate) const fn times(self, times: usize) -> Self {
        Self {
            inputs: self.inputs * times,
            aux: self.aux * times,
            wide: self.wide * times,
            places: self.places * times,
        }
    }
}

/// The bits of a scalar.
const SCALAR: WitnessSize = WitnessSize::bits(255);

/// SHA-256 of two scalars of 256 bits, the uppermost bit of each the constant 0, as a scalar.
const SHA_PAIR: WitnessSize = SCALAR.times(2).plus(WitnessSize::bits(44_820)).plus(WitnessSize::wide(1));

/// SHA-256 of a label's preimage: `replica_id`, layer and node, 37 parents' labels; as a scalar.
const SHA_LABEL: WitnessSize = WitnessSize::bits(521_748).plus(WitnessSize::wide(1));

/// Poseidon of `arity` scalars, by neptune's circuit of standard strength.
pub(crate) const fn poseidon(arity: usize) -> WitnessSize {
    WitnessSize::wide(match arity {
        2 => 311,
        8 => 505,
        _ => 598,
    })
}

/// `storage_proofs_core::gadgets::insertion::insert`: a node among its siblings, by the bits of its index.
const fn insert(arity: usize) -> WitnessSize {
    match arity {
        2 => WitnessSize::wide(2),
        _ => WitnessSize::wide(20).plus(WitnessSize::bits(2)),
    }
}

/// A path to the root, by the hash of a node's children, whose siblings and
/// index are known.
fn climb(tree: TreeShape, hash: impl Fn(usize) -> WitnessSize) -> WitnessSize {
    let levels = tree.arities().map(|arity| insert(arity).plus(hash(arity)));
    levels.fold(WitnessSize::inputs(0), WitnessSize::plus)
}

/// The same with siblings and index, which is an input.
fn path(tree: TreeShape, hash: impl Fn(usize) -> WitnessSize) -> WitnessSize {
    let index = WitnessSize::bits(tree.log_leaves.into()).plus(WitnessSize::inputs(1));
    climb(tree, hash).plus(WitnessSize::wide(tree.siblings())).plus(index)
}

/// PoRep's header: `replica_id` and its bits, the four commitments, `comm_r`'s hash; ONE and three commitments as inputs.
pub(crate) fn porep_header() -> WitnessSize {
    WitnessSize::inputs(4).plus(WitnessSize::wide(5)).plus(SCALAR).plus(poseidon(2))
}

/// A PoRep's challenge.
pub(crate) fn porep_challenge(shape: SectorShape) -> WitnessSize {
    let column_path = poseidon(shape.layers).plus(path(shape.tree_c(), poseidon));
    let parent = WitnessSize::wide(shape.layers).plus(column_path);
    let node = WitnessSize::bits(64).plus(WitnessSize::inputs(1));
    let label = |parents| SCALAR.times(parents).plus(SHA_LABEL);
    let data = WitnessSize::wide(1).plus(path(shape.tree_d(), |_| SHA_PAIR));
    let encoding = WitnessSize::wide(1);
    data.plus(parent.times(DRG_PARENTS + EXP_PARENTS))
        .plus(node)
        .plus(label(DRG_PARENTS))
        .plus(label(DRG_PARENTS + EXP_PARENTS).times(shape.layers - 1))
        .plus(encoding)
        .plus(path(shape.tree_c(), poseidon))
        .plus(column_path)
}

/// A PoSt's header: ONE.
pub(crate) const POST_HEADER: WitnessSize = WitnessSize::inputs(1);

/// A PoSt's sector, with so many challenges in a tree.
pub(crate) fn post_sector(tree: TreeShape, challenges: usize) -> WitnessSize {
    let commitments = WitnessSize::wide(3).plus(WitnessSize::inputs(1)).plus(poseidon(2));
    commitments.plus(WitnessSize::wide(1).plus(path(tree, poseidon)).times(challenges))
}

/// The scalars of the hashes along a path.
pub(crate) fn hashes_of_path(tree: TreeShape) -> usize {
    tree.arities().map(|arity| poseidon(arity).wide).sum()
}

/// SnapDeals' header.
pub(crate) fn snap_header(shape: SnapShape) -> WitnessSize {
    let partition_bits = shape.partitions.ilog2();
    let selectors = WitnessSize::wide(2).plus(WitnessSize::bits(partition_bits as usize + HIGH_BITS));
    let commitments = WitnessSize::wide(6).plus(poseidon(2).times(3));
    let apex = WitnessSize::wide(shape.apex_leaves).plus(SHA_PAIR.times(shape.apex_leaves - 1));
    let above_apex = climb(TreeShape::binary(partition_bits as u8), |_| SHA_PAIR);
    let above_apex = WitnessSize::wide(partition_bits as usize).plus(above_apex);
    let digest = WitnessSize::wide(1).plus(poseidon(2)).plus(SCALAR);
    let digests = digest.times(digests(shape));
    WitnessSize::inputs(5).plus(selectors).plus(commitments).plus(apex).plus(above_apex).plus(digests)
}

/// SnapDeals' challenge.
pub(crate) fn snap_challenge(shape: SnapShape) -> WitnessSize {
    let rho = WitnessSize::wide(2 * HIGH_BITS + 1).plus(poseidon(2));
    let tree_r = shape.sector.tree_c();
    let replica = WitnessSize::wide(tree_r.siblings()).plus(climb(tree_r, poseidon));
    let below_apex = shape.log_apex_leaf();
    let data = climb(TreeShape::binary(below_apex as u8), |_| SHA_PAIR);
    let data = WitnessSize::wide(below_apex as usize).plus(data);
    let select = WitnessSize::wide(shape.apex_leaves - 1);
    rho.plus(WitnessSize::wide(4)).plus(replica.times(2)).plus(select).plus(data)
}
