//! SnapDeals.

use cuzk_pipeline_core::{Cx, Footprint};
use cuzk_values::{Scalar, Snap, Witness};
use ff::Field;

use super::{Statement, fit, scratch, stating};
use crate::writer::{Blocks, Memory, assemble, size, snap};
use crate::{SnapCircuit, SnapShape, SynthError, WitnessSize};

impl Statement for SnapCircuit {
    type Input = Snap;

    fn partitions(snap: &Snap) -> usize {
        snap.partitions.len()
    }

    /// The circuit states which partition it is and how many high bits are used,
    /// in one scalar, and the three commitments (storage-proofs-update 19.1.0,
    /// `PublicInputs::to_vec`).
    fn public_inputs(&self, snap: &Snap, partition: usize) -> Result<Vec<Scalar>, SynthError> {
        let shape = self.snap_shape();
        let [comm_r_old, comm_d_new, comm_r_new] = fit::snap(shape, snap, partition)?;
        let selectors = snap::selectors(shape, snap, partition);
        Ok(vec![Scalar::ONE, Scalar::from(selectors), comm_r_old, comm_d_new, comm_r_new])
    }

    fn witness(&self, cx: &Cx<'_>, snap: &Snap, partition: usize) -> Result<Witness, SynthError> {
        let statement = self.public_inputs(snap, partition)?;
        let common = snap::Common::new(self.snap_shape(), snap, partition);
        let challenges = &snap.partitions[partition].challenges;
        let witness = assemble(
            cx,
            Memory::default(),
            blocks(self.snap_shape()),
            |part| common.header(part, snap),
            |first, parts| common.challenges(parts, &challenges[first..first + parts.len()]),
        )?;
        stating(witness, &statement)
    }

    fn witness_size(&self) -> WitnessSize {
        blocks(self.snap_shape()).size()
    }

    fn witness_scratch(&self) -> Footprint {
        let shape = self.snap_shape();
        let blocks = blocks(shape);
        let paths = 2 * blocks.group * size::hashes_of_path(shape.sector.tree_c());
        scratch(blocks, paths + blocks.group * (size::poseidon(2).wide + shape.apex_leaves))
    }
}

fn blocks(shape: SnapShape) -> Blocks {
    Blocks {
        header: size::snap_header(shape),
        block: size::snap_challenge(shape),
        count: shape.challenges,
        // Two paths each: eight fill the lanes.
        group: 4,
    }
}
