//! What must hold between the parts of an update.

use std::collections::BTreeMap;

use cuzk_values::{MerkleProof, Node, Scalar, Snap, SnapChallenge, SnapPartition};
use ff::PrimeField;
use rayon::prelude::*;
use storage_proofs_update::Challenges;

use crate::input::InputError;
use crate::input::error::{Fault, Problem};
use crate::input::merkle::{REACHES, climb, climb_from, roots, same};
use crate::input::watch::{Watch, each, each_watched, unwatched};
use crate::{SnapShape, hash};

/// Follows every path in the two `TreeR`s to its root: what
/// [`decode`](super::decode) leaves out, because it takes seconds of a core for a
/// 32 GiB sector (27,500 Poseidon hashes). An update that passes has a satisfied circuit.
///
/// # Errors
/// [`InputError::Invalid`], with the path that goes astray.
pub fn check_trees(snap: &Snap) -> Result<(), InputError> {
    check_trees_watched(snap, &unwatched)
}

/// As [`check_trees`], under watch.
///
/// # Errors
/// As [`check_trees`]; [`InputError::Cancelled`].
pub fn check_trees_watched(snap: &Snap, watch: &Watch<'_>) -> Result<(), InputError> {
    let places = places(snap);
    each_watched(watch, places.len(), places.par_chunks(SIDE_BY_SIDE), |_, challenges| {
        let both = challenges.iter().flat_map(|(.., challenge)| [&challenge.old, &challenge.new]);
        let paths: Vec<&MerkleProof> = both.collect();
        let here = |fault: Fault, path: usize| {
            let (k, i, _) = challenges[path / 2];
            in_challenge(fault.in_field(["proof_r_old", "proof_r_new"][path % 2]), k, i)
        };
        let reached = roots(&paths).map_err(|(path, problem)| here(problem.into(), path))?;
        for (path, (reached, root)) in
            reached.iter().zip([&snap.root_r_old, &snap.root_r_new].iter().cycle()).enumerate()
        {
            same(reached, root, REACHES).map_err(|fault| here(fault, path))?;
        }
        Ok(challenges.len())
    })
}

/// How many challenges are checked together: two paths each, for the lanes of a vector.
const SIDE_BY_SIDE: usize = 16;

/// All that is cheap to check: a tenth of a second for any sector.
/// `comm_d` is the root of the paths in `TreeD`.
pub(super) fn on_reading(snap: &Snap, shape: SnapShape, comm_d: &Node) -> Result<(), Fault> {
    let (found, expected) = (snap.partitions.len(), shape.partitions);
    if found != expected {
        return Err(Fault::from(Problem::Count { found, expected }).in_field("vanilla_proofs"));
    }
    let commitments = [
        ("comm_r_old", &snap.comm_r_old, hash::comm_r(&snap.comm_c, &snap.root_r_old)),
        ("comm_r_new", &snap.comm_r_new, hash::comm_r(&snap.comm_c, &snap.root_r_new)),
    ];
    for (name, said, value) in commitments {
        same(said, &value, "the hash of comm_c and the root of the paths in the replica")
            .map_err(|f| f.in_field(name))?;
    }
    same(&snap.comm_d_new, comm_d, "the root of the paths `proof_d_new`")
        .map_err(|f| f.in_field("comm_d_new"))?;
    challenges(snap, shape)?;
    each(snap.partitions.par_iter().enumerate(), |(k, partition)| {
        apex(snap, shape, k, partition).map_err(|f| f.in_element(k).in_field("vanilla_proofs"))
    })?;
    let rhos = Rhos::new(snap, shape);
    each(places(snap).into_par_iter(), |(k, i, challenge)| {
        let SnapChallenge { old, data, .. } = challenge;
        let encoded = rhos.encode(&old.leaf, &data.leaf, data.node);
        same(&challenge.new.leaf, &encoded, "the old node plus the data times rho")
            .map_err(|fault| in_challenge(fault.in_field("leaf").in_field("proof_r_new"), k, i))
    })
}

/// The challenged nodes are those that `comm_r_new` asks for.
fn challenges(snap: &Snap, shape: SnapShape) -> Result<(), Fault> {
    let of = "the challenge that comm_r_new gives";
    for (k, partition) in snap.partitions.iter().enumerate() {
        let expected = Challenges::new(shape.sector.nodes(), snap.comm_r_new.into(), k);
        for (i, (challenge, expected)) in partition.challenges.iter().zip(expected).enumerate() {
            let SnapChallenge { old, data, new } = challenge;
            for (path, name) in [(old, "proof_r_old"), (data, "proof_d_new"), (new, "proof_r_new")] {
                if path.node != expected {
                    let fault = Fault::from(Problem::differs(path.node, expected, of));
                    return Err(in_challenge(fault.in_field(name), k, i));
                }
            }
        }
    }
    Ok(())
}

/// The paths in `TreeD` go through the partition's apex leaves, and these lead to `comm_d_new`.
fn apex(snap: &Snap, shape: SnapShape, k: usize, partition: &SnapPartition) -> Result<(), Fault> {
    let node = |pair: &[Node]| hash::data_node(&pair[0], &pair[1]);
    let below = shape.log_apex_leaf() as usize;
    let mut row = partition.apex_leaves.to_vec();
    while row.len() > 1 {
        row = row.chunks_exact(2).map(node).collect();
    }
    let (Some(root), Some(first)) = (row.first(), partition.challenges.first()) else {
        return Err(Problem::Missing.into());
    };
    let reached = climb_from(*root, first.data.levels().skip(shape.log_chunk() as usize), node);
    let of = "the root that the apex leaves must reach";
    same(&reached, &snap.comm_d_new, of).map_err(|f| f.in_field("apex_leafs"))?;
    for (i, SnapChallenge { data, .. }) in partition.challenges.iter().enumerate() {
        let leaf = data.node as usize >> below;
        let reached = climb_from(data.leaf, data.levels().take(below), node);
        let in_data = |f: Fault| f.in_field("proof_d_new").in_element(i).in_field("challenge_proofs");
        same(&reached, &partition.apex_leaves[leaf % shape.apex_leaves], "the apex leaf above it")
            .map_err(in_data)?;
        same(&climb(data, node), &snap.comm_d_new, REACHES).map_err(in_data)?;
    }
    debug_assert!(
        first.data.node >> shape.log_chunk() == k as u32,
        "challenges lie in their partition's chunk"
    );
    Ok(())
}

/// The scalars that data is multiplied by: one for each value of a node's highest bits
/// (`phi`, `rho` in storage-proofs-update, `vanilla.rs`).
pub(crate) struct Rhos {
    rhos: BTreeMap<u32, Scalar>,
    shift: u32,
}

impl Rhos {
    /// Those of the challenged nodes.
    fn new(snap: &Snap, shape: SnapShape) -> Self {
        let shift = u32::from(shape.sector.log_nodes) - snap.high_bits;
        let highs = places(snap).into_iter().map(|(.., challenge)| challenge.data.node >> shift);
        Self::of(highs, shift, &snap.comm_d_new, &snap.comm_r_old)
    }

    /// Those of the nodes whose highest bits, `shift` places up, are among
    /// `highs`. The commitments must be canonical.
    pub(crate) fn of(
        highs: impl Iterator<Item = u32>,
        shift: u32,
        comm_d_new: &Node,
        comm_r_old: &Node,
    ) -> Self {
        let comm_d_new: filecoin_hashers::sha256::Sha256Domain = (*comm_d_new).into();
        let phi = storage_proofs_update::phi(&comm_d_new, &(*comm_r_old).into());
        let mut highs: Vec<u32> = highs.collect();
        highs.sort_unstable();
        highs.dedup();
        let rhos = highs.into_par_iter().map(|high| (high, storage_proofs_update::rho(&phi, high)));
        Self { rhos: rhos.collect(), shift }
    }

    /// What a node becomes. Old node and data are canonical when they have been read.
    pub(crate) fn encode(&self, old: &Node, data: &Node, node: u32) -> Node {
        let scalar = |node| hash::scalar(node).unwrap_or_default();
        let rho = self.rhos.get(&(node >> self.shift)).copied().unwrap_or_default();
        (scalar(old) + scalar(data) * rho).to_repr()
    }
}

/// Every challenge, with its partition and its place there.
fn places(snap: &Snap) -> Vec<(usize, usize, &SnapChallenge)> {
    let partition = |(k, partition): (usize, _)| {
        let SnapPartition { challenges, .. }: &SnapPartition = partition;
        challenges.iter().enumerate().map(move |(i, challenge)| (k, i, challenge))
    };
    snap.partitions.iter().enumerate().flat_map(partition).collect()
}

fn in_challenge(fault: Fault, partition: usize, challenge: usize) -> Fault {
    let fault = fault.in_element(challenge).in_field("challenge_proofs");
    fault.in_element(partition).in_field("vanilla_proofs")
}
