//! The PoRep circuit of each sector size: parameters, constraints, witnesses, public inputs.

mod fit;
mod size;
mod upstream;

use cuzk_pipeline_core::{Cx, Footprint};
use cuzk_values::{C1, PoRepVariant, Scalar, Witness};
use ff::Field;
use rayon::prelude::*;

use crate::{Recording, SectorShape, SynthError, WitnessSize};
use upstream::with_tree;

/// The circuit that proves one partition of a PoRep, for sectors of one size.
///
/// All variants (V1, V1_1, synthetic, non-interactive) of a sector size have
/// the same circuit and parameters; they differ in the challenges, and in how
/// many partitions there are.
///
/// This type is where templates and writers for Filecoin's circuits belong:
/// nothing outside it knows that its constraints are recorded and its witnesses
/// synthesised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        use upstream::parameter_id;
        let id = with_tree!(self.shape, parameter_id(self.shape))?;
        Ok(format!("v{}-{id}", storage_proofs_core::parameter_cache::VERSION))
    }

    /// The circuit's constraints.
    ///
    /// # Errors
    /// [`SynthError::Synthesis`] and [`SynthError::R1cs`], which no sector size is known to cause.
    pub fn record(&self) -> Result<Recording, SynthError> {
        use upstream::record;
        with_tree!(self.shape, record(self.shape))
    }

    /// The size of the circuit's witnesses, known without recording.
    pub fn witness_size(&self) -> WitnessSize {
        size::header().plus(size::challenge(self.shape).times(self.shape.challenges))
    }

    /// What [`witness`](Self::witness) holds besides the witness.
    pub fn witness_scratch(&self) -> Footprint {
        let piece = size::header().plus(size::challenge(self.shape)).footprint();
        Footprint::host(piece.host * (self.shape.challenges as u64 + 1))
    }

    /// The witness of a partition of `c1`. Its public inputs have been compared
    /// with [`public_inputs`](Self::public_inputs).
    ///
    /// Challenges are synthesised in parallel, on the caller's pool.
    ///
    /// # Errors
    /// [`SynthError::SectorSize`], [`SynthError::Partition`],
    /// [`SynthError::Count`], [`SynthError::NotCanonical`] for a C1 that does
    /// not fit the circuit; [`SynthError::Synthesis`]; [`SynthError::Cancelled`].
    /// That the constraints are satisfied is not checked: see [`check`](crate::check).
    pub fn witness(&self, cx: &Cx<'_>, c1: &C1, partition: usize) -> Result<Witness, SynthError> {
        let statement = self.public_inputs(c1, partition)?;
        let shape = self.shape;
        let one = size::header().plus(size::challenge(shape));

        use upstream::{challenge_witness, header_witness};
        let header = with_tree!(shape, header_witness(c1, &size::header()))?;
        let challenges: Vec<Witness> = c1.partitions[partition]
            .par_iter()
            .map(|challenge| {
                cx.checkpoint()?;
                with_tree!(shape, challenge_witness(shape, c1, challenge, &one))
            })
            .collect::<Result<_, _>>()?;

        let size = self.witness_size();
        let (mut inputs, mut aux) = (Vec::with_capacity(size.inputs), size.builder());
        inputs.extend_from_slice(&header.inputs);
        aux.append(&header.aux, 0);
        for challenge in challenges {
            inputs.extend_from_slice(&challenge.inputs[header.inputs.len()..]);
            aux.append(&challenge.aux, header.aux.len());
        }
        let witness = Witness { inputs, aux: aux.build() };
        let wide = witness.aux.wide().len();
        if wide > size.wide {
            return Err(SynthError::TooWide { found: wide, limit: size.wide });
        }
        for (index, (circuit, statement)) in witness.inputs.iter().zip(&statement).enumerate() {
            if circuit != statement {
                return Err(SynthError::PublicInput { index, circuit: *circuit, statement: *statement });
            }
        }
        Ok(witness)
    }

    /// The public inputs of a partition of `c1`, ONE first: the statement that
    /// its proof proves, as the C1 tells it.
    ///
    /// The circuit states `replica_id`, `comm_d`, `comm_r`, and of each challenge
    /// the nodes whose values it opens: the challenge in the data; its six and
    /// eight parents among the columns; the challenge itself; the challenge in
    /// the replica and among the columns (storage-proofs-porep 19.1.0,
    /// `StackedCompound::generate_public_inputs`). A verifier derives these nodes;
    /// see [`derived_inputs`](Self::derived_inputs).
    ///
    /// # Errors
    /// For a C1 that does not fit the circuit, as [`witness`](Self::witness).
    pub fn public_inputs(&self, c1: &C1, partition: usize) -> Result<Vec<Scalar>, SynthError> {
        let commitments = fit::check(self.shape, c1, partition)?;
        let mut inputs = vec![Scalar::ONE];
        inputs.extend(commitments);
        for challenge in &c1.partitions[partition] {
            let node = challenge.challenge();
            let parents = challenge.drg_parents.iter().chain(&challenge.exp_parents);
            let opened = [challenge.data.node].into_iter().chain(parents.map(|parent| parent.path.node));
            let nodes = opened.chain([node, challenge.replica.node, challenge.column.path.node]);
            inputs.extend(nodes.map(|node| Scalar::from(u64::from(node))));
        }
        Ok(inputs)
    }

    /// The public inputs, ONE first, that a verifier computes who knows of `c1`
    /// only its commitments and its seed: the challenges and their parents are
    /// derived for `variant`, from the graph of `porep_id`. Where they equal
    /// [`public_inputs`](Self::public_inputs), the network accepts a proof of them.
    ///
    /// # Errors
    /// [`SynthError::Partition`] for a partition above 255; [`SynthError::Upstream`].
    pub fn derived_inputs(
        &self,
        c1: &C1,
        partition: usize,
        variant: PoRepVariant,
        porep_id: [u8; 32],
    ) -> Result<Vec<Scalar>, SynthError> {
        use upstream::derived_inputs;
        if partition > u8::MAX.into() {
            return Err(SynthError::Partition { partition, partitions: 1 + usize::from(u8::MAX) });
        }
        fit::commitments(c1)?;
        with_tree!(self.shape, derived_inputs(self.shape, c1, partition, variant, porep_id))
    }
}
