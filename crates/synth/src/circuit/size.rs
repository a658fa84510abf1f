//! How many variables the PoRep circuit has, gadget by gadget.

use cuzk_pipeline_core::Footprint;
use cuzk_values::{DRG_PARENTS, EXP_PARENTS, LABEL_PARENTS, Node, TreeShape};

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

/// A path to the root, by the hash of a node's children.
fn path(tree: TreeShape, hash: impl Fn(usize) -> WitnessSize) -> WitnessSize {
    tree.arities().fold(WitnessSize::inputs(1), |size, arity| {
        let index = WitnessSize::bits(arity.ilog2() as usize);
        let siblings = WitnessSize::wide(arity - 1);
        size.plus(index).plus(siblings).plus(insert(arity)).plus(hash(arity))
    })
}

/// `replica_id` and its bits, the four commitments, `comm_r`'s hash; ONE and three commitments as inputs.
pub(super) fn header() -> WitnessSize {
    WitnessSize::inputs(4).plus(WitnessSize::wide(5)).plus(SCALAR).plus(poseidon(2))
}

/// One challenge (`storage_proofs_porep::stacked`, `circuit/params.rs`).
pub(super) fn challenge(shape: SectorShape) -> WitnessSize {
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

/// The most that upstream holds for one challenge: its vanilla proof; a copy of
/// that in the circuit, as scalars with a tag; and, as measured, 1 MiB of bits,
/// numbers and linear combinations within the gadgets.
pub(super) fn upstream_scratch(shape: SectorShape) -> Footprint {
    let columns = (1 + DRG_PARENTS + EXP_PARENTS) * (shape.layers + shape.tree_c().siblings());
    let paths = shape.tree_d().siblings() + shape.tree_c().siblings();
    let labels = (shape.layers + 1) * LABEL_PARENTS;
    Footprint::host((3 * (columns + paths + labels) * size_of::<Node>() + (1 << 20)) as u64)
}
