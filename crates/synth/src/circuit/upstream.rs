//! Filecoin's own circuits, made of our nouns: the one file that speaks their types.

use std::marker::PhantomData;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_values::{C1, ChallengeProof, ColumnProof, MerkleProof, Node, PoRepVariant, Scalar, Witness};
use filecoin_hashers::Hasher;
use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonHasher};
use filecoin_hashers::sha256::{Sha256Domain, Sha256Hasher};
use generic_array::typenum::{U0, U2, U8};
use storage_proofs_core::api_version::{ApiFeature, ApiVersion};
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::drgraph::BASE_DEGREE;
use storage_proofs_core::merkle::{self, LCTree, MerkleTreeTrait};
use storage_proofs_core::parameter_cache::CacheableParameters;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{
    self, Challenges, EXP_DEGREE, EncodingProof, LabelingProof, PublicInputs, PublicParams,
    ReplicaColumnProof, SetupParams, StackedCircuit, StackedCompound, StackedDrg, Tau,
};

use crate::{Recording, SectorShape, SynthError, WitnessSize, record_repeating, witness};

/// The trees over columns and replicas, by how upstream divides their levels.
pub(super) type Base = LCTree<PoseidonHasher, U8, U0, U0>;
pub(super) type Sub2 = LCTree<PoseidonHasher, U8, U2, U0>;
pub(super) type Sub8 = LCTree<PoseidonHasher, U8, U8, U0>;
pub(super) type Top2 = LCTree<PoseidonHasher, U8, U8, U2>;

/// Any of these.
pub(super) trait Tree: MerkleTreeTrait<Hasher = PoseidonHasher> + 'static {}
impl<T: MerkleTreeTrait<Hasher = PoseidonHasher> + 'static> Tree for T {}

/// Calls `$function` with the tree of the sectors of a shape as its first type.
macro_rules! with_tree {
    ($shape:expr, $function:ident($($argument:expr),*)) => {{
        use crate::TreeKind::{Single, Sub, Top};
        use crate::circuit::upstream::{Base, Sub2, Sub8, Top2};
        match ($shape.trees, $shape.tree_c().arities().last()) {
            (Single, _) => $function::<Base>($($argument),*),
            (Sub, Some(2)) => $function::<Sub2>($($argument),*),
            (Sub, _) => $function::<Sub8>($($argument),*),
            (Top, _) => $function::<Top2>($($argument),*),
        }
    }};
}
pub(super) use with_tree;

type Porep<T> = StackedCircuit<T, Sha256Hasher>;
type Compound<T> = StackedCompound<T, Sha256Hasher>;
type Path<H, B, S, T> = merkle::MerkleProof<H, B, S, T>;
type TreePath<T> = Path<
    PoseidonHasher,
    <T as MerkleTreeTrait>::Arity,
    <T as MerkleTreeTrait>::SubTreeArity,
    <T as MerkleTreeTrait>::TopTreeArity,
>;

/// The proof's public parameters. The circuit depends on the shape alone; the
/// graph, for whoever derives parents, also on the variant and its `porep_id`.
fn public_params<T: Tree>(
    shape: SectorShape,
    challenges: Challenges,
    porep_id: [u8; 32],
    variant: PoRepVariant,
) -> Result<PublicParams<T>, SynthError> {
    let (api_version, api_features) = match variant {
        PoRepVariant::V1 => (ApiVersion::V1_0_0, vec![]),
        PoRepVariant::V1_1 => (ApiVersion::V1_1_0, vec![]),
        PoRepVariant::Synthetic => (ApiVersion::V1_2_0, vec![ApiFeature::SyntheticPoRep]),
        PoRepVariant::NonInteractive => (ApiVersion::V1_2_0, vec![ApiFeature::NonInteractivePoRep]),
    };
    let setup = SetupParams {
        nodes: shape.nodes(),
        degree: BASE_DEGREE,
        expansion_degree: EXP_DEGREE,
        porep_id,
        challenges,
        num_layers: shape.layers,
        api_version,
        api_features,
    };
    StackedDrg::<T, Sha256Hasher>::setup(&setup).map_err(upstream)
}

/// The parameters of `count` challenges where only the circuit matters.
fn circuit_params<T: Tree>(shape: SectorShape, count: usize) -> Result<PublicParams<T>, SynthError> {
    public_params(shape, Challenges::new_interactive(count), [0; 32], PoRepVariant::V1)
}

/// What comes before the challenges: public commitments, and what binds them.
struct Header<'a, T>(Option<&'a C1>, PhantomData<T>);

impl<T: Tree> Circuit<Scalar> for Header<'_, T> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let column = |node: fn(&C1) -> Node| self.0.map(|c1| PoseidonDomain::from(node(c1)));
        Porep::<T>::synthesize(
            cs.namespace(|| ""),
            column(|c1| c1.replica_id),
            self.0.map(|c1| c1.comm_d.into()),
            column(|c1| c1.comm_r),
            column(|c1| c1.comm_r_last),
            column(|c1| c1.comm_c),
            vec![],
        )
    }
}

/// Records the circuit of one partition: a header and equal challenges.
pub(super) fn record<T: Tree>(shape: SectorShape) -> Result<Recording, SynthError> {
    let one = Compound::<T>::blank_circuit(&circuit_params(shape, 1)?);
    record_repeating(Header::<T>(None, PhantomData), one, shape.challenges as u32)
}

/// The witness of the header alone.
pub(super) fn header_witness<T: Tree>(c1: &C1, size: &WitnessSize) -> Result<Witness, SynthError> {
    witness(Header::<T>(Some(c1), PhantomData), size)
}

/// The witness of the header and one challenge.
pub(super) fn challenge_witness<T: Tree>(
    shape: SectorShape,
    c1: &C1,
    challenge: &ChallengeProof,
    size: &WitnessSize,
) -> Result<Witness, SynthError> {
    let params = circuit_params::<T>(shape, 1)?;
    let proof = [vanilla_proof::<T>(challenge, c1, shape)];
    let circuit = Compound::<T>::circuit(&public_inputs(c1, 0), (), &proof.into(), &params, None);
    witness(circuit.map_err(upstream)?, size)
}

/// The name of the circuit's parameter files, without extension.
pub(super) fn parameter_id<T: Tree>(shape: SectorShape) -> Result<String, SynthError> {
    let params = circuit_params::<T>(shape, shape.challenges)?;
    Ok(<Compound<T> as CacheableParameters<Porep<T>, _>>::cache_identifier(&params))
}

/// The public inputs, ONE first, that a verifier computes who has only the
/// commitments and the seed: challenges and their parents are derived.
pub(super) fn derived_inputs<T: Tree>(
    shape: SectorShape,
    c1: &C1,
    partition: usize,
    variant: PoRepVariant,
    porep_id: [u8; 32],
) -> Result<Vec<Scalar>, SynthError> {
    let challenges = match variant {
        PoRepVariant::V1 | PoRepVariant::V1_1 => Challenges::new_interactive(shape.challenges),
        PoRepVariant::Synthetic => Challenges::new_synthetic(shape.challenges),
        PoRepVariant::NonInteractive => Challenges::new_non_interactive(shape.challenges),
    };
    let params = public_params::<T>(shape, challenges, porep_id, variant)?;
    let inputs = public_inputs(c1, partition);
    let derived = Compound::<T>::generate_public_inputs(&inputs, &params, Some(partition));
    let one = <Scalar as ff::Field>::ONE;
    Ok([one].into_iter().chain(derived.map_err(upstream)?).collect())
}

fn public_inputs(c1: &C1, partition: usize) -> PublicInputs<PoseidonDomain, Sha256Domain> {
    PublicInputs {
        replica_id: c1.replica_id.into(),
        seed: Some(c1.seed),
        tau: Some(Tau { comm_d: c1.comm_d.into(), comm_r: c1.comm_r.into() }),
        k: Some(partition),
    }
}

fn vanilla_proof<T: Tree>(
    challenge: &ChallengeProof,
    c1: &C1,
    shape: SectorShape,
) -> stacked::Proof<T, Sha256Hasher> {
    let node = challenge.challenge().into();
    let parents = |layer| challenge.label_parents(layer).map(|label| (*label).into()).collect();
    let last = shape.layers;
    stacked::Proof {
        comm_d_proofs: path(&challenge.data, c1.comm_d),
        comm_r_last_proof: path(&challenge.replica, c1.comm_r_last),
        replica_column_proofs: ReplicaColumnProof {
            c_x: column::<T>(&challenge.column, c1.comm_c),
            drg_parents: challenge.drg_parents.iter().map(|p| column::<T>(p, c1.comm_c)).collect(),
            exp_parents: challenge.exp_parents.iter().map(|p| column::<T>(p, c1.comm_c)).collect(),
        },
        labeling_proofs: (1..=last).map(|l| LabelingProof::new(l as u32, node, parents(l))).collect(),
        encoding_proof: EncodingProof::new(last as u32, node, parents(last)),
    }
}

fn column<T: Tree>(column: &ColumnProof, root: Node) -> stacked::ColumnProof<TreePath<T>> {
    let labels = column.labels.iter().map(|label| (*label).into()).collect();
    stacked::ColumnProof::new(column.path.node, labels, path(&column.path, root))
}

fn path<H, B, S, T>(path: &MerkleProof, root: Node) -> Path<H, B, S, T>
where
    H: Hasher,
    H::Domain: From<Node>,
    B: filecoin_hashers::PoseidonArity,
    S: filecoin_hashers::PoseidonArity,
    T: filecoin_hashers::PoseidonArity,
{
    let siblings = |siblings: &[Node]| siblings.iter().map(|node| (*node).into()).collect();
    let levels = path.levels().map(|level| (siblings(level.siblings), level.index)).collect();
    Path::from_parts(path.leaf.into(), root.into(), levels)
}

/// An error of Filecoin's crates, whose type is `anyhow`'s.
fn upstream(error: impl Into<cuzk_pipeline_core::BoxError>) -> SynthError {
    SynthError::Upstream(error.into())
}
