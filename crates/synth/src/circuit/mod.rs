//! The PoRep circuit of each sector size: parameters, constraints, witnesses, public inputs.

mod blank;
mod filecoin;
mod fit;
mod post;
mod snap;
mod upstream;

use cuzk_pipeline_core::{Cx, Footprint};
use cuzk_values::{C1, Scalar, Witness};
use ff::Field;

use crate::c1::upstream::with_tree;
use crate::writer::{self, Blocks, assemble, size};
use crate::{Recording, SectorShape, SynthError, WitnessSize, record_repeating};
use upstream::ParameterId;

pub use blank::Blank;
pub use filecoin::{FilecoinCircuit, ParseCircuitError};
pub use post::PostCircuit;
pub use snap::SnapCircuit;

/// The circuit that proves one partition of a PoRep, for sectors of one size: the
/// commitments, then challenges.
///
/// All variants (`V1`, `V1_1`, synthetic, non-interactive) of a sector size have
/// the same circuit and parameters; they differ in the challenges, and in how
/// many partitions there are.
///
/// This type is where templates and writers for Filecoin's circuits belong:
/// nothing outside it knows that its constraints are recorded and its witnesses
/// synthesised by upstream's gadgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PorepCircuit {
    shape: SectorShape,
}

impl PorepCircuit {
    /// The circuit for sectors of `sector_size` bytes, if there are such.
    pub fn of_size(sector_size: u64) -> Option<Self> {
        SectorShape::of_size(sector_size).map(|shape| Self { shape })
    }

    /// The sectors' shape.
    pub fn shape(&self) -> SectorShape {
        self.shape
    }

    /// The stem of the names of the circuit's parameter files, as
    /// `v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-82a357d2…`.
    ///
    /// # Errors
    /// [`SynthError::Upstream`], which no sector size is known to cause.
    pub fn parameter_id(&self) -> Result<String, SynthError> {
        with_tree(self.shape, ParameterId(self.shape))
    }

    /// The circuit's constraints, its challenges stored once.
    ///
    /// # Errors
    /// [`SynthError::Synthesis`], [`SynthError::Upstream`] and
    /// [`SynthError::R1cs`], which no sector size is known to cause.
    pub fn record(&self) -> Result<Recording, SynthError> {
        record_repeating(
            Blank::porep(self.shape, 0),
            Blank::porep(self.shape, 1),
            self.shape.challenges as u32,
        )
    }

    /// The size of the circuit's witnesses, known without recording.
    pub fn witness_size(&self) -> WitnessSize {
        self.blocks().size()
    }

    /// What [`witness`](Self::witness) holds besides the witness: the places of a
    /// challenge's full-width variables.
    pub fn witness_scratch(&self) -> Footprint {
        Footprint::host(8 * size::porep_challenge(self.shape).wide as u64)
    }

    /// The witness of a partition of `c1`, whose public inputs are
    /// [`public_inputs`](Self::public_inputs). Challenges are written in
    /// parallel, on the caller's pool.
    ///
    /// That the constraints are satisfied is not checked: see [`check`](crate::check).
    ///
    /// # Errors
    /// [`SynthError::SectorSize`], [`SynthError::Partition`],
    /// [`SynthError::Count`], [`SynthError::NotCanonical`] for a C1 that does
    /// not fit the circuit; [`SynthError::PublicInput`]; [`SynthError::Cancelled`];
    /// [`SynthError::Synthesis`] and [`SynthError::Upstream`] where upstream refuses.
    pub fn witness(&self, cx: &Cx<'_>, c1: &C1, partition: usize) -> Result<Witness, SynthError> {
        let statement = self.public_inputs(c1, partition)?;
        let proofs = &c1.partitions[partition];
        let witness = assemble(
            cx,
            self.blocks(),
            |part| writer::porep::header(part, c1),
            |first, parts| {
                for (part, proof) in parts.iter_mut().zip(&proofs[first..]) {
                    writer::porep::challenge(part, &c1.replica_id, proof);
                }
            },
        )?;

        let different = witness.inputs.iter().zip(&statement).position(|(circuit, stated)| circuit != stated);
        match different {
            None => Ok(witness),
            Some(index) => Err(SynthError::PublicInput {
                index,
                circuit: witness.inputs[index],
                statement: statement[index],
            }),
        }
    }

    /// The public inputs of a partition of `c1`, ONE first: the statement that
    /// its proof proves.
    ///
    /// The circuit states `replica_id`, `comm_d` and `comm_r`, and for each
    /// challenge the nodes whose values it opens: the challenge in the data, its
    /// six and eight parents among the columns, the challenge itself, then the
    /// challenge in the replica and among the columns (storage-proofs-porep
    /// 19.1.0, `StackedCompound::generate_public_inputs`). A verifier derives
    /// these nodes from `replica_id`, the seed and the graph; here they are the
    /// C1's, which [`decode`](crate::c1::decode) has held against those.
    ///
    /// # Errors
    /// For a C1 that does not fit the circuit, as [`witness`](Self::witness).
    pub fn public_inputs(&self, c1: &C1, partition: usize) -> Result<Vec<Scalar>, SynthError> {
        let commitments = fit::check(self.shape, c1, partition)?;
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

    fn blocks(&self) -> Blocks {
        Blocks {
            header: size::porep_header(),
            block: size::porep_challenge(self.shape),
            count: self.shape.challenges,
            // The 16 paths of a challenge fill the lanes.
            group: 1,
        }
    }
}
