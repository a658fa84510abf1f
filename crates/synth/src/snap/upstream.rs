//! The same update in the types of `storage-proofs-update`, for its circuits and its checks.

use cuzk_values::{Snap, SnapChallenge};
use filecoin_hashers::poseidon::PoseidonHasher;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_update::vanilla::{ChallengeProof, PartitionProof};
use storage_proofs_update::{PublicInputs, PublicParams};

use crate::input::InputError;
use crate::input::upstream::{check_tree, merkle_proof};

/// The parameters of an update's circuit.
///
/// # Errors
/// [`InputError::NoUpdate`].
pub fn public_params(snap: &Snap) -> Result<PublicParams, InputError> {
    super::shape_of(snap).map(|shape| PublicParams::from_sector_size(shape.sector.sector_size()))
}

/// The public inputs of partition `k`.
pub fn public_inputs(snap: &Snap, k: usize) -> PublicInputs {
    PublicInputs {
        k,
        comm_r_old: snap.comm_r_old.into(),
        comm_d_new: snap.comm_d_new.into(),
        comm_r_new: snap.comm_r_new.into(),
        h: snap.high_bits as usize,
    }
}

/// The vanilla proof of partition `k`.
///
/// # Errors
/// [`InputError::NoUpdate`]; [`InputError::Upstream`] if `Tree` is not the type
/// that [`with_tree`](crate::c1::upstream::with_tree) gives for this sector size,
/// or there is no such partition.
pub fn partition_proof<Tree>(snap: &Snap, k: usize) -> Result<PartitionProof<Tree>, InputError>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    check_tree::<Tree>(super::shape_of(snap)?.sector)?;
    let Some(partition) = snap.partitions.get(k) else {
        return Err(InputError::Upstream(format!("partition {k} of {}", snap.partitions.len())));
    };
    let challenge = |challenge: &SnapChallenge| ChallengeProof {
        proof_r_old: merkle_proof(&challenge.old, snap.root_r_old),
        proof_d_new: merkle_proof(&challenge.data, snap.comm_d_new),
        proof_r_new: merkle_proof(&challenge.new, snap.root_r_new),
    };
    Ok(PartitionProof {
        comm_c: snap.comm_c.into(),
        apex_leafs: partition.apex_leaves.iter().map(|leaf| (*leaf).into()).collect(),
        challenge_proofs: partition.challenges.iter().map(challenge).collect(),
    })
}
