//! What we have from Filecoin's own PoRep circuit: constraints and names.

use std::marker::PhantomData;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_pipeline_core::BoxError;
use cuzk_values::{C1, Node, PoRepVariant, Scalar};
use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonHasher};
use filecoin_hashers::sha256::Sha256Hasher;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::parameter_cache::{CacheableParameters, VERSION};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{
    Challenges, PublicParams, SetupParams, StackedCircuit, StackedCompound, StackedDrg,
};

use crate::c1::upstream::{WithTree, setup_params};
use crate::{SectorShape, SynthError};

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
