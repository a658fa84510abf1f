//! PoRep.

use cuzk_pipeline_core::{Cx, Footprint};
use cuzk_values::{C1, DRG_PARENTS, EXP_PARENTS, Scalar, Witness};
use ff::Field;

use super::{Statement, fit, scratch, stating};
use crate::writer::{self, Blocks, Memory, assemble, size};
use crate::{PorepCircuit, SynthError, WitnessSize};

impl Statement for PorepCircuit {
    type Input = C1;

    fn partitions(c1: &C1) -> usize {
        c1.partitions.len()
    }

    /// The circuit states `replica_id`, `comm_d` and `comm_r`, and for each
    /// challenge the nodes whose values it opens: the challenge in the data, its
    /// six and eight parents among the columns, the challenge itself, then the
    /// challenge in the replica and among the columns (storage-proofs-porep
    /// 19.1.0, `StackedCompound::generate_public_inputs`). A verifier derives
    /// these nodes from `replica_id`, the seed and the graph; here they are the
    /// C1's, which [`decode`](crate::c1::decode) has held against those.
    fn public_inputs(&self, c1: &C1, partition: usize) -> Result<Vec<Scalar>, SynthError> {
        let commitments = fit::c1(self.shape(), c1, partition)?;
        let mut inputs = Vec::with_capacity(self.witness_size().inputs);
        inputs.push(Scalar::ONE);
        inputs.extend(commitments);
        for challenge in &c1.partitions[partition] {
            let parents = challenge.drg_parents.iter().chain(&challenge.exp_parents);
            let columns = parents.map(|parent| parent.path.node);
            let node = challenge.challenge();
            let opened = [challenge.data.node].into_iter().chain(columns);
            let nodes = opened.chain([node, challenge.replica.node, challenge.column.path.node]);
            inputs.extend(nodes.map(|node| Scalar::from(u64::from(node))));
        }
        Ok(inputs)
    }

    fn witness(&self, cx: &Cx<'_>, c1: &C1, partition: usize) -> Result<Witness, SynthError> {
        let statement = self.public_inputs(c1, partition)?;
        let proofs = &c1.partitions[partition];
        let witness = assemble(
            cx,
            Memory::default(),
            blocks(*self),
            |part| writer::porep::header(part, c1),
            |first, parts| {
                for (part, proof) in parts.iter_mut().zip(&proofs[first..]) {
                    writer::porep::challenge(part, &c1.replica_id, proof);
                }
            },
        )?;
        stating(witness, &statement)
    }

    fn witness_size(&self) -> WitnessSize {
        blocks(*self).size()
    }

    fn witness_scratch(&self) -> Footprint {
        let paths = DRG_PARENTS + EXP_PARENTS + 2;
        let columns = (paths - 1) * size::poseidon(self.shape().layers).wide;
        scratch(blocks(*self), columns + paths * size::hashes_of_path(self.shape().tree_c()))
    }
}

fn blocks(circuit: PorepCircuit) -> Blocks {
    Blocks {
        header: size::porep_header(),
        block: size::porep_challenge(circuit.shape()),
        count: circuit.shape().challenges,
        // The 16 paths of a challenge fill the lanes.
        group: 1,
    }
}
