//! Filecoin's circuits at 2 KiB, of its own crates, with witnesses that satisfy them.
//!
//! The witnesses are statements about little trees of random values from a fixed
//! seed; the PoRep's is the C1 in `fixtures/`.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_values::Scalar;
use ff::Field;
use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonFunction, PoseidonHasher};
use filecoin_hashers::sha256::{Sha256Domain, Sha256Function, Sha256Hasher};
use filecoin_hashers::{Domain, HashFunction};
use generic_array::typenum::{U0, U8};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::drgraph::BASE_DEGREE;
use storage_proofs_core::merkle::LCTree;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{self, StackedCircuit, StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{FallbackPoStCircuit, Sector};
use storage_proofs_update::circuit as update;
use storage_proofs_update::{Challenges, EmptySectorUpdateCircuit, PublicParams, phi, rho};

/// `TreeC` and `TreeR` of sectors of 2 KiB: 64 leaves, arity 8.
type Tree = LCTree<PoseidonHasher, U8, U0, U0>;

/// Leaves in a sector of 2 KiB.
const NODES: usize = 64;

/// The C1 of a sector of 2 KiB, as filecoin-proofs writes it.
pub const C1_2KIB: &[u8] = include_bytes!("../fixtures/c1-2kib.json");

/// The PoRep of the sector in [`C1_2KIB`]: 2 challenges.
///
/// # Panics
/// Never: the fixture is sound.
pub fn porep_2kib() -> impl Circuit<Scalar> + Clone + Send {
    let c1: Value = serde_json::from_slice(C1_2KIB).expect("the fixture is JSON");
    porep(&c1)
}

fn porep(c1: &Value) -> StackedCircuit<Tree, Sha256Hasher> {
    fn node<D: From<[u8; 32]>>(c1: &Value, name: &str) -> D {
        serde_json::from_value::<[u8; 32]>(c1[name].clone()).expect("32 bytes").into()
    }
    let mut partitions: Vec<Vec<stacked::Proof<Tree, Sha256Hasher>>> =
        serde_json::from_value(c1["vanilla_proofs"].clone()).expect("the proofs of a sector of 2 KiB");
    let proofs = partitions.pop().expect("one partition");
    let inputs = stacked::PublicInputs {
        replica_id: node(c1, "replica_id"),
        seed: Some(node(c1, "seed")),
        tau: Some(stacked::Tau { comm_d: node(c1, "comm_d"), comm_r: node(c1, "comm_r") }),
        k: Some(0),
    };
    let params = StackedDrg::<Tree, Sha256Hasher>::setup(&stacked::SetupParams {
        nodes: NODES,
        degree: BASE_DEGREE,
        expansion_degree: stacked::EXP_DEGREE,
        porep_id: [0; 32],
        challenges: stacked::Challenges::new_interactive(proofs.len()),
        num_layers: proofs[0].labeling_proofs.len(),
        api_version: ApiVersion::V1_0_0,
        api_features: vec![],
    });
    StackedCompound::circuit(&inputs, (), &proofs, &params.expect("parameters of 2 KiB"), None)
        .expect("a circuit of 2 KiB")
}

/// WinningPoSt: 66 challenges in one sector, which upstream lays out as 66 sectors of one challenge.
pub fn winning_post_2kib() -> impl Circuit<Scalar> + Clone + Send {
    let sector = PostSector::random(1);
    post((0..66).map(|i| sector.challenged(&[(7 * i + 3) % NODES])).collect())
}

/// WindowPoSt: 10 challenges in each of 2 sectors.
pub fn window_post_2kib() -> impl Circuit<Scalar> + Clone + Send {
    let nodes: Vec<usize> = (0..10).map(|i| (11 * i + 5) % NODES).collect();
    post((2..4).map(|seed| PostSector::random(seed).challenged(&nodes)).collect())
}

fn post(sectors: Vec<Sector<Tree>>) -> FallbackPoStCircuit<Tree> {
    FallbackPoStCircuit { prover_id: Some(Scalar::from(1000)), sectors }
}

/// A sector as PoSt sees it: its replica's tree, and the other half of `comm_r`.
struct PostSector {
    comm_c: Scalar,
    replica: MerkleTree,
}

impl PostSector {
    fn random(seed: u64) -> Self {
        let mut scalars = random_scalars(seed);
        Self { comm_c: scalars(), replica: MerkleTree::new(8, (0..NODES).map(|_| scalars()).collect()) }
    }

    fn challenged(&self, nodes: &[usize]) -> Sector<Tree> {
        let path = |node: &usize| {
            let levels = self.replica.path(*node);
            levels.into_iter().map(|(siblings, index)| (siblings, Some(index))).collect::<Vec<_>>().into()
        };
        Sector {
            comm_r: Some(poseidon(&[self.comm_c, self.replica.root()])),
            comm_c: Some(self.comm_c),
            comm_r_last: Some(self.replica.root()),
            leafs: nodes.iter().map(|node| Some(self.replica.leaf(*node))).collect(),
            paths: nodes.iter().map(path).collect(),
            id: Some(Scalar::from(1)),
        }
    }
}

/// SnapDeals' `EmptySectorUpdate`: 10 challenges in one partition.
///
/// # Panics
/// Never: the fixture is sound.
pub fn empty_sector_update_2kib() -> impl Circuit<Scalar> + Clone + Send {
    /// As much of each index as `rho` hashes: `hs` of storage-proofs-update, for 2 KiB.
    const HIGH_BITS: usize = 1;
    /// Leaves of the data's tree that each partition shows.
    const APEX_LEAVES: usize = 8;

    let mut scalars = random_scalars(4);
    let comm_c = scalars();
    // TreeD's leaves are scalars too; SHA-256 clears two bits more.
    let data = MerkleTree::new(2, (0..NODES).map(|_| scalars()).collect());
    let old = MerkleTree::new(8, (0..NODES).map(|_| scalars()).collect());

    let (comm_d, comm_r_old) = (data.root(), poseidon(&[comm_c, old.root()]));
    let phi = phi::<Sha256Domain>(&comm_d.into(), &comm_r_old.into());
    let rho = |node: usize| rho(&phi, (node >> (NODES.ilog2() as usize - HIGH_BITS)) as u32);
    let encoded = |node| old.leaf(node) + data.leaf(node) * rho(node);
    let new = MerkleTree::new(8, (0..NODES).map(encoded).collect());
    let comm_r_new = poseidon(&[comm_c, new.root()]);

    let siblings = |tree: &MerkleTree, node| tree.path(node).into_iter().map(|(s, _)| s).collect();
    let challenge_proofs = Challenges::new(NODES, comm_r_new.into(), 0)
        .map(|node| node as usize)
        .map(|node| update::ChallengeProof {
            leaf_r_old: Some(old.leaf(node)),
            path_r_old: siblings(&old, node),
            leaf_d_new: Some(data.leaf(node)),
            path_d_new: siblings(&data, node),
            leaf_r_new: Some(new.leaf(node)),
            path_r_new: siblings(&new, node),
            _tree_r: std::marker::PhantomData,
        })
        .collect();
    let apex = data.levels.iter().find(|level| level.len() == APEX_LEAVES).expect("a level of 8 nodes");
    Update {
        inputs: update::PublicInputs::new(
            NODES,
            0,
            HIGH_BITS,
            comm_r_old.into(),
            comm_d.into(),
            comm_r_new.into(),
        ),
        comm_c: Some(comm_c),
        root_r_old: Some(old.root()),
        root_r_new: Some(new.root()),
        apex_leafs: apex.iter().map(|leaf| Some(*leaf)).collect(),
        challenge_proofs,
    }
}

/// Upstream's circuit, which is not `Clone` itself.
#[derive(Clone)]
struct Update {
    inputs: update::PublicInputs,
    comm_c: Option<Scalar>,
    root_r_old: Option<Scalar>,
    root_r_new: Option<Scalar>,
    apex_leafs: Vec<Option<Scalar>>,
    challenge_proofs: Vec<update::ChallengeProof<Tree>>,
}

impl Circuit<Scalar> for Update {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        EmptySectorUpdateCircuit {
            pub_params: PublicParams::from_sector_size(32 * NODES as u64),
            pub_inputs: self.inputs,
            priv_inputs: update::PrivateInputs {
                comm_c: self.comm_c,
                root_r_old: self.root_r_old,
                root_r_new: self.root_r_new,
                apex_leafs: self.apex_leafs,
                challenge_proofs: self.challenge_proofs,
            },
        }
        .synthesize(cs)
    }
}

/// A tree of SHA-256 (arity 2) or Poseidon (arity 8), all levels kept.
struct MerkleTree {
    arity: usize,
    levels: Vec<Vec<Scalar>>,
}

impl MerkleTree {
    fn new(arity: usize, leaves: Vec<Scalar>) -> Self {
        let hash = if arity == 2 { sha256 } else { poseidon };
        let mut levels = vec![leaves];
        while let Some(level) = levels.last().filter(|level| level.len() > 1) {
            levels.push(level.chunks(arity).map(hash).collect());
        }
        Self { arity, levels }
    }

    fn root(&self) -> Scalar {
        self.levels[self.levels.len() - 1][0]
    }

    fn leaf(&self, node: usize) -> Scalar {
        self.levels[0][node]
    }

    /// Of each level: the siblings, and which child the path comes from.
    fn path(&self, node: usize) -> Vec<(Vec<Option<Scalar>>, usize)> {
        let mut node = node;
        let below_root = &self.levels[..self.levels.len() - 1];
        let level = |level: &Vec<Scalar>| {
            let (parent, index) = (node / self.arity, node % self.arity);
            node = parent;
            let mut children = level[parent * self.arity..][..self.arity].to_vec();
            children.remove(index);
            (children.into_iter().map(Some).collect(), index)
        };
        below_root.iter().map(level).collect()
    }
}

fn poseidon(children: &[Scalar]) -> Scalar {
    let bytes: Vec<u8> =
        children.iter().flat_map(|child| PoseidonDomain::from(*child).into_bytes()).collect();
    PoseidonFunction::hash(&bytes).into()
}

fn sha256(children: &[Scalar]) -> Scalar {
    Sha256Function::hash2(&children[0].into(), &children[1].into()).into()
}

fn random_scalars(seed: u64) -> impl FnMut() -> Scalar {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    move || Scalar::random(&mut rng)
}
