//! The same C1 in the types of `storage-proofs-porep`, for its circuits and its checks.

use cuzk_values::{C1, ChallengeProof, ColumnProof, MerkleProof, Node, PoRepVariant};
use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonHasher};
use filecoin_hashers::sha256::{Sha256Domain, Sha256Hasher};
use filecoin_hashers::{Hasher, PoseidonArity};
use generic_array::typenum::{U0, U2, U8, Unsigned};
use storage_proofs_core::api_version::{ApiFeature, ApiVersion};
use storage_proofs_core::merkle::{self, LCTree, MerkleTreeTrait};
use storage_proofs_porep::stacked::{
    self, Challenges, EncodingProof, LabelingProof, PublicInputs, ReplicaColumnProof, SetupParams, Tau,
};

use super::C1Error;
use crate::{SectorShape, TreeKind};

/// Code that wants to know a sector's trees as a type. See [`with_tree`].
pub trait WithTree {
    /// What comes out.
    type Output;

    /// Runs with upstream's type of the trees.
    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output;
}

/// Runs `f` with the type that upstream gives the trees of sectors of this shape
/// (`SectorShapeBase`, `Sub2`, `Sub8`, `Top2` in `filecoin-proofs`).
pub fn with_tree<F: WithTree>(shape: SectorShape, f: F) -> F::Output {
    match (shape.trees, shape.log_nodes % 3) {
        (TreeKind::Single, _) => f.run::<LCTree<PoseidonHasher, U8, U0, U0>>(),
        (TreeKind::Sub, 0) => f.run::<LCTree<PoseidonHasher, U8, U8, U0>>(),
        (TreeKind::Sub, _) => f.run::<LCTree<PoseidonHasher, U8, U2, U0>>(),
        (TreeKind::Top, _) => f.run::<LCTree<PoseidonHasher, U8, U8, U2>>(),
    }
}

/// The vanilla proofs of partition `k`.
///
/// # Errors
/// [`C1Error::SectorSize`]; [`C1Error::Upstream`] if `Tree` is not the type
/// that [`with_tree`] gives for this sector size, or there is no such partition.
pub fn partition_proofs<Tree>(c1: &C1, k: usize) -> Result<Vec<stacked::Proof<Tree, Sha256Hasher>>, C1Error>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let shape = super::shape_of(c1)?;
    let apart = [Tree::SubTreeArity::USIZE, Tree::TopTreeArity::USIZE];
    let expected = with_tree(shape, ApartArities);
    if apart != expected {
        let message = format!("sub and top arities {apart:?} where a {shape} sector has {expected:?}");
        return Err(C1Error::Upstream(message));
    }
    let Some(partition) = c1.partitions.get(k) else {
        return Err(C1Error::Upstream(format!("partition {k} of {}", c1.partitions.len())));
    };
    Ok(partition.iter().map(|proof| challenge_proof(c1, proof)).collect())
}

struct ApartArities;

impl WithTree for ApartArities {
    type Output = [usize; 2];

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> [usize; 2] {
        [Tree::SubTreeArity::USIZE, Tree::TopTreeArity::USIZE]
    }
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

fn merkle_proof<H, A, S, T>(path: &MerkleProof, root: Node) -> merkle::MerkleProof<H, A, S, T>
where
    H: Hasher,
    A: 'static + PoseidonArity,
    S: 'static + PoseidonArity,
    T: 'static + PoseidonArity,
{
    let level = |l: cuzk_values::Level<'_>| (l.siblings.iter().map(|s| (*s).into()).collect(), l.index);
    merkle::MerkleProof::from_parts(path.leaf.into(), root.into(), path.levels().map(level).collect())
}
