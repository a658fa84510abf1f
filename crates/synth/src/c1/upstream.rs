//! The same C1 in the types of `storage-proofs-porep`, for its circuits and its checks.

use cuzk_values::{C1, ChallengeProof, ColumnProof, PoRepVariant};
use filecoin_hashers::PoseidonArity;
use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonHasher};
use filecoin_hashers::sha256::{Sha256Domain, Sha256Hasher};
use generic_array::typenum::{U0, U2};
use storage_proofs_core::api_version::{ApiFeature, ApiVersion};
use storage_proofs_core::merkle::{self, MerkleTreeTrait};
use storage_proofs_porep::stacked::{
    self, Challenges, EncodingProof, LabelingProof, PublicInputs, ReplicaColumnProof, SetupParams, Tau,
};

use crate::SectorShape;
use crate::input::InputError;
pub use crate::input::upstream::{WithTree, with_tree};
use crate::input::upstream::{check_tree, merkle_proof};

/// The vanilla proofs of partition `k`.
///
/// # Errors
/// [`InputError::SectorSize`]; [`InputError::Upstream`] if `Tree` is not the type
/// that [`with_tree`] gives for this sector size, or there is no such partition.
pub fn partition_proofs<Tree>(
    c1: &C1,
    k: usize,
) -> Result<Vec<stacked::Proof<Tree, Sha256Hasher>>, InputError>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let shape = super::shape_of(c1)?;
    check_tree::<Tree>(shape)?;
    let Some(partition) = c1.partitions.get(k) else {
        return Err(InputError::Upstream(format!("partition {k} of {}", c1.partitions.len())));
    };
    Ok(partition.iter().map(|proof| challenge_proof(c1, proof)).collect())
}

/// The public inputs of partition `k`, or of all for `None`.
pub fn public_inputs(c1: &C1, k: Option<usize>) -> PublicInputs<PoseidonDomain, Sha256Domain> {
    let tau = Tau { comm_d: c1.comm_d.into(), comm_r: c1.comm_r.into() };
    PublicInputs { replica_id: c1.replica_id.into(), seed: Some(c1.seed), tau: Some(tau), k }
}

/// How upstream sets up a PoRep: all that its public parameters depend on.
pub fn setup_params(shape: SectorShape, variant: PoRepVariant, porep_id: [u8; 32]) -> SetupParams {
    let api_features = match variant {
        PoRepVariant::V1 | PoRepVariant::V1_1 => vec![],
        PoRepVariant::Synthetic => vec![ApiFeature::SyntheticPoRep],
        PoRepVariant::NonInteractive => vec![ApiFeature::NonInteractivePoRep],
    };
    SetupParams {
        nodes: shape.nodes(),
        degree: cuzk_values::DRG_PARENTS,
        expansion_degree: cuzk_values::EXP_PARENTS,
        porep_id,
        challenges: challenges(shape, variant),
        num_layers: shape.layers,
        api_version: api_version(variant),
        api_features,
    }
}

pub(crate) fn api_version(variant: PoRepVariant) -> ApiVersion {
    match variant {
        PoRepVariant::V1 => ApiVersion::V1_0_0,
        PoRepVariant::V1_1 => ApiVersion::V1_1_0,
        PoRepVariant::Synthetic | PoRepVariant::NonInteractive => ApiVersion::V1_2_0,
    }
}

pub(crate) fn challenges(shape: SectorShape, variant: PoRepVariant) -> Challenges {
    match variant {
        PoRepVariant::V1 | PoRepVariant::V1_1 => Challenges::new_interactive(shape.challenges),
        PoRepVariant::Synthetic => Challenges::new_synthetic(shape.challenges),
        PoRepVariant::NonInteractive => Challenges::new_non_interactive(shape.challenges),
    }
}

fn challenge_proof<Tree>(c1: &C1, proof: &ChallengeProof) -> stacked::Proof<Tree, Sha256Hasher>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let node = u64::from(proof.challenge());
    let layers = proof.column.labels.len();
    let parents = |layer| proof.label_parents(layer).map(|label| (*label).into()).collect();
    let columns = |parents: &[ColumnProof]| parents.iter().map(|parent| column(c1, parent)).collect();
    stacked::Proof {
        comm_d_proofs: merkle_proof::<Sha256Hasher, U2, U0, U0>(&proof.data, c1.comm_d),
        comm_r_last_proof: merkle_proof(&proof.replica, c1.comm_r_last),
        replica_column_proofs: ReplicaColumnProof {
            c_x: column(c1, &proof.column),
            drg_parents: columns(&proof.drg_parents),
            exp_parents: columns(&proof.exp_parents),
        },
        labeling_proofs: (1..=layers)
            .map(|layer| LabelingProof::new(layer as u32, node, parents(layer)))
            .collect(),
        encoding_proof: EncodingProof::new(layers as u32, node, parents(layers)),
    }
}

fn column<A, S, T>(
    c1: &C1,
    column: &ColumnProof,
) -> stacked::ColumnProof<merkle::MerkleProof<PoseidonHasher, A, S, T>>
where
    A: 'static + PoseidonArity,
    S: 'static + PoseidonArity,
    T: 'static + PoseidonArity,
{
    let labels = column.labels.iter().map(|label| (*label).into()).collect();
    stacked::ColumnProof::new(column.path.node, labels, merkle_proof(&column.path, c1.comm_c))
}
