//! How many variables the circuits have, gadget by gadget.

use cuzk_values::{DRG_PARENTS, EXP_PARENTS, TreeShape};

use super::snap::{HIGH_BITS, SnapLayout};
use crate::{SectorShape, WitnessSize};

impl WitnessSize {
    const fn bits(bits: usize) -> Self {
        Self { inputs: 0, aux: bits, wide: 0 }
    }

    const fn wide(wide: usize) -> Self {
        Self { inputs: 0, aux: wide, wide }
    }

    const fn inputs(inputs: usize) -> Self {
        Self { inputs, aux: 0, wide: 0 }
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { inputs: self.inputs + other.inputs, aux: self.aux + other.aux, wide: self.wide + other.wide }
    }

    pub(crate) const fn times(self, times: usize) -> Self {
        Self { inputs: self.inputs * times, aux: self.aux * times, wide: self.wide * times }
    }
}

/// The bits of a scalar.
const SCALAR: WitnessSize = WitnessSize::bits(255);

/// SHA-256 of two scalars of 256 bits, the uppermost bit of each the constant 0, as a scalar.
const SHA_PAIR: WitnessSize = SCALAR.times(2).plus(WitnessSize::bits(44_820)).plus(WitnessSize::wide(1));

/// SHA-256 of a label's preimage: `replica_id`, layer and node, 37 parents' labels; as a scalar.
const SHA_LABEL: WitnessSize = WitnessSize::bits(521_748).plus(WitnessSize::wide(1));

/// Poseidon of `arity` scalars, by neptune's circuit of standard strength.
const fn poseidon(arity: usize) -> WitnessSize {
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

/// SnapDeals' header.
pub(crate) fn snap_header(shape: SnapLayout) -> WitnessSize {
    let SnapLayout { partition_bits, apex_bits, .. } = shape;
    let selectors = WitnessSize::wide(2).plus(WitnessSize::bits(partition_bits + HIGH_BITS));
    let commitments = WitnessSize::wide(6).plus(poseidon(2).times(3));
    let apex = WitnessSize::wide(1 << apex_bits).plus(SHA_PAIR.times((1 << apex_bits) - 1));
    let above_apex = TreeShape::binary(partition_bits as u8);
    let above_apex = WitnessSize::wide(partition_bits).plus(climb(above_apex, |_| SHA_PAIR));
    let digest = WitnessSize::wide(1).plus(poseidon(2)).plus(SCALAR);
    let digests = digest.times(shape.digests());
    WitnessSize::inputs(5).plus(selectors).plus(commitments).plus(apex).plus(above_apex).plus(digests)
}

/// SnapDeals' challenge.
pub(crate) fn snap_challenge(shape: SnapLayout) -> WitnessSize {
    let rho = WitnessSize::wide(2 * HIGH_BITS + 1).plus(poseidon(2));
    let tree_r = TreeShape::octal(shape.node_bits as u8);
    let replica = WitnessSize::wide(tree_r.siblings()).plus(climb(tree_r, poseidon));
    let below_apex = shape.node_bits - shape.partition_bits - shape.apex_bits;
    let data = climb(TreeShape::binary(below_apex as u8), |_| SHA_PAIR);
    let select = WitnessSize::wide((1 << shape.apex_bits) - 1);
    let data = WitnessSize::wide(below_apex).plus(data).plus(select);
    rho.plus(WitnessSize::wide(4)).plus(replica.times(2)).plus(data)
}
