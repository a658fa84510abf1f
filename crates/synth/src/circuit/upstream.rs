//! What we have from Filecoin's own circuit: constraints, witnesses, names.

use std::marker::PhantomData;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_pipeline_core::{BoxError, Cx};
use cuzk_values::{C1, Node, PoRepVariant, Scalar, Witness};
use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonHasher};
use filecoin_hashers::sha256::Sha256Hasher;
use rayon::prelude::*;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::parameter_cache::{CacheableParameters, VERSION};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{
    Challenges, PublicParams, SetupParams, StackedCircuit, StackedCompound, StackedDrg,
};

use crate::c1::upstream::{WithTree, partition_proofs, public_inputs, setup_params};
use crate::{SectorShape, SynthError, WitnessSize, witness};

pub(super) type Porep<Tree> = StackedCircuit<Tree, Sha256Hasher>;
pub(super) type Compound<Tree> = StackedCompound<Tree, Sha256Hasher>;

/// The stem of the parameter files' names.
pub(super) struct ParameterId(pub(super) SectorShape);

impl WithTree for ParameterId {
    type Output = Result<String, SynthError>;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let params = public_params::<Tree>(self.0, self.0.challenges)?;
        let id = <Compound<Tree> as CacheableParameters<Porep<Tree>, _>>::cache_identifier(&params);
        Ok(format!("v{VERSION}-{id}"))
    }
}

/// The witnesses of the header, and of the header with each challenge of a partition.
pub(super) struct Pieces<'a> {
    pub(super) cx: &'a Cx<'a>,
    pub(super) shape: SectorShape,
    pub(super) c1: &'a C1,
    pub(super) partition: usize,
    pub(super) header: WitnessSize,
    pub(super) with_challenge: WitnessSize,
}

impl WithTree for Pieces<'_> {
    type Output = Result<(Witness, Vec<Witness>), SynthError>;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let Self { cx, shape, c1, partition, header, with_challenge } = self;
        let params = public_params::<Tree>(shape, 1)?;
        let inputs = public_inputs(c1, Some(partition));
        let proofs = partition_proofs::<Tree>(c1, partition).map_err(upstream)?;
        let challenges = proofs.into_par_iter().map(|proof| {
            let circuit = Compound::<Tree>::circuit(&inputs, (), &vec![proof], &params, None);
            witness(cx, circuit.map_err(upstream)?, &with_challenge)
        });
        let challenges = challenges.collect::<Result<_, _>>()?;
        Ok((witness(cx, Header::<Tree>(Some(c1), PhantomData), &header)?, challenges))
    }
}

/// What comes before the challenges: the commitments, and `comm_r`'s hash.
pub(super) struct Header<'a, Tree>(pub(super) Option<&'a C1>, pub(super) PhantomData<Tree>);

impl<Tree> Circuit<Scalar> for Header<'_, Tree>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let node = |of: fn(&C1) -> Node| self.0.map(|c1| PoseidonDomain::from(of(c1)));
        Porep::<Tree>::synthesize(
            cs.namespace(|| ""),
            node(|c1| c1.replica_id),
            self.0.map(|c1| c1.comm_d.into()),
            node(|c1| c1.comm_r),
            node(|c1| c1.comm_r_last),
            node(|c1| c1.comm_c),
            vec![],
        )
    }
}

/// Parameters of a circuit with so many challenges. It depends on the sector's
/// shape alone; on the variant and the `porep_id` only the graph does, which the
/// circuit does not look at.
pub(super) fn public_params<Tree>(
    shape: SectorShape,
    challenges: usize,
) -> Result<PublicParams<Tree>, SynthError>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let setup = SetupParams {
        challenges: Challenges::new_interactive(challenges),
        ..setup_params(shape, PoRepVariant::V1, [0; 32])
    };
    StackedDrg::<Tree, Sha256Hasher>::setup(&setup).map_err(upstream)
}

pub(super) fn upstream(error: impl Into<BoxError>) -> SynthError {
    SynthError::Upstream(error.into())
}
