//! The same PoSt in the types of `storage-proofs-post`, for its circuits and its checks.

use cuzk_values::{MerkleProof, Post, PostKind, PostSector, PostVersion};
use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonHasher};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::merkle::{self, MerkleTreeTrait};
use storage_proofs_post::fallback::{Proof, PublicInputs, PublicParams, PublicSector, SectorProof};

use crate::PostShape;
use crate::input::InputError;
use crate::input::upstream::{check_tree, merkle_proof};

/// The parameters of a PoSt's circuit.
pub fn public_params(shape: PostShape, version: PostVersion) -> PublicParams {
    PublicParams {
        sector_size: shape.sector.sector_size(),
        challenge_count: shape.circuit_challenges(),
        sector_count: shape.circuit_sectors(),
        api_version: match version {
            PostVersion::V1 => ApiVersion::V1_0_0,
            PostVersion::V1_1 => ApiVersion::V1_2_0,
        },
    }
}

/// The public inputs, as `FallbackPoSt::verify` takes them: those of the
/// partition, whose index is `k`. A WinningPoSt's sector comes once for each challenge.
pub fn public_inputs(post: &Post) -> PublicInputs<PoseidonDomain> {
    let sector =
        |sector: &PostSector| PublicSector { id: sector.number.into(), comm_r: sector.comm_r.into() };
    let times = |sector: &PostSector| match post.kind {
        PostKind::Window => 1,
        PostKind::Winning => sector.challenges.len(),
    };
    let repeated = |of: &PostSector| vec![sector(of); times(of)];
    PublicInputs {
        randomness: post.randomness.into(),
        prover_id: post.prover_id.into(),
        sectors: post.sectors.iter().flat_map(repeated).collect(),
        k: Some(post.partition as usize),
    }
}

/// The partition's vanilla proof: a WinningPoSt's challenges as sectors of their
/// own, and the last sector repeated until the circuit is full
/// (`single_partition_vanilla_proofs` in filecoin-proofs).
///
/// # Errors
/// [`InputError::SectorSize`]; [`InputError::Upstream`] if `Tree` is not the type
/// that [`with_tree`](crate::c1::upstream::with_tree) gives for this sector size,
/// or there is no sector.
pub fn partition_proof<Tree>(post: &Post) -> Result<Proof<Tree::Proof>, InputError>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let shape = super::shape_of(post)?;
    check_tree::<Tree>(shape.sector)?;
    let paths = |sector: &PostSector, challenges: &[MerkleProof]| {
        let path = |path| tree_proof::<Tree>(path, sector.comm_r_last);
        SectorProof {
            inclusion_proofs: challenges.iter().map(path).collect(),
            comm_c: sector.comm_c.into(),
            comm_r_last: sector.comm_r_last.into(),
        }
    };
    let chunk = shape.circuit_challenges();
    let unrolled = |sector: &PostSector| -> Vec<_> {
        sector.challenges.chunks(chunk).map(|challenges| paths(sector, challenges)).collect()
    };
    let mut sectors: Vec<SectorProof<Tree::Proof>> = post.sectors.iter().flat_map(unrolled).collect();
    let Some(last) = sectors.last().cloned() else {
        return Err(InputError::Upstream("a PoSt without sectors".into()));
    };
    sectors.resize(shape.circuit_sectors(), last);
    Ok(Proof { sectors })
}

type TreeProof<Tree> = merkle::MerkleProof<
    PoseidonHasher,
    <Tree as MerkleTreeTrait>::Arity,
    <Tree as MerkleTreeTrait>::SubTreeArity,
    <Tree as MerkleTreeTrait>::TopTreeArity,
>;

fn tree_proof<Tree>(path: &MerkleProof, root: cuzk_values::Node) -> TreeProof<Tree>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    merkle_proof(path, root)
}
