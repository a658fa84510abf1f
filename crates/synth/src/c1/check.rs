//! What must hold between the parts of a C1.

use cuzk_values::{C1, ChallengeProof, ColumnProof, DRG_PARENTS, Node, PoRepVariant, Scalar};
use ff::PrimeField;
use filecoin_hashers::poseidon::PoseidonHasher;
use rayon::prelude::*;
use storage_proofs_core::drgraph::Graph;
use storage_proofs_porep::stacked::StackedBucketGraph;

use super::upstream;
use crate::input::error::{Fault, InputError, Problem};
use crate::input::layers::Layers;
use crate::input::merkle::{REACHES, climb, roots, same};
use crate::input::watch::{Watch, each, each_watched, unwatched};
use crate::registered::porep_id;
use crate::{SectorShape, hash};

/// What the caller knows of a sector. What is `None` is not compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Identity {
    /// The miner's actor address as the prover sees it: see [`prover_id`].
    pub prover_id: Option<[u8; 32]>,
    /// The sector's number.
    pub sector_number: Option<u64>,
    /// Where it is not that of the registered seal proof.
    pub porep_id: Option<[u8; 32]>,
}

/// The prover's name: the miner's id as LEB128, then zeros
/// (`01000` is `e8 07 00 …`).
pub fn prover_id(miner: u64) -> [u8; 32] {
    let mut id = [0; 32];
    let mut rest = miner;
    for byte in &mut id {
        *byte = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            break;
        }
        *byte |= 0x80;
    }
    id
}

/// Compares a C1 with what is known of its sector: its number, and the
/// `replica_id`, which is the hash of the prover, the sector number, the ticket,
/// `comm_d` and the `porep_id`.
///
/// Returns whether the `replica_id` could be checked: that takes a
/// `prover_id`, a sector number (given, or in the file) and a `porep_id` (given,
/// or by the registered seal proof in the file).
///
/// # Errors
/// [`InputError::Invalid`] for what differs.
pub fn check_identity(c1: &C1, known: &Identity) -> Result<bool, InputError> {
    identity(c1, known).map_err(|fault| fault.error(&Layers::default()))
}

/// Follows every path in `TreeC` and `TreeR` to its root, and hashes every
/// column: what [`decode`](super::decode) leaves out, because it takes
/// seconds of a core for a 32 GiB sector (33,000 Poseidon hashes). A C1 that
/// passes has a satisfied circuit.
///
/// # Errors
/// [`InputError::Invalid`], with the path that goes astray.
pub fn check_trees(c1: &C1) -> Result<(), InputError> {
    check_trees_watched(c1, &unwatched)
}

/// As [`check_trees`], under watch.
///
/// # Errors
/// As [`check_trees`]; [`InputError::Cancelled`].
pub fn check_trees_watched(c1: &C1, watch: &Watch<'_>) -> Result<(), InputError> {
    let places = places(c1);
    each_watched(watch, places.len(), places.par_iter(), |_, (k, i, proof)| {
        trees(c1, proof).map_err(|fault| in_challenge(fault, *k, *i)).map(|()| 1)
    })
}

/// All columns and paths of a challenge, side by side.
fn trees(c1: &C1, proof: &ChallengeProof) -> Result<(), Fault> {
    let columns: Vec<&ColumnProof> =
        [&proof.column].into_iter().chain(&proof.drg_parents).chain(&proof.exp_parents).collect();
    let here = |fault: Fault, path: usize| {
        let inclusion = |fault: Fault| match path.checked_sub(1 + DRG_PARENTS) {
            None if path == 0 => fault.in_field("c_x"),
            None => fault.in_element(path - 1).in_field("drg_parents"),
            Some(i) => fault.in_element(i).in_field("exp_parents"),
        };
        match path < columns.len() {
            true => inclusion(fault.in_field("inclusion_proof")).in_field("replica_column_proofs"),
            false => fault.in_field("comm_r_last_proof"),
        }
    };
    for (column, (hash, proof)) in column_hashes(&columns)?.iter().zip(&columns).enumerate() {
        same(&proof.path.leaf, hash, "the hash of the labels")
            .map_err(|f| here(f.in_field("leaf"), column))?;
    }
    let paths: Vec<_> = columns.iter().map(|column| &column.path).chain([&proof.replica]).collect();
    let reached = roots(&paths).map_err(|(path, problem)| here(problem.into(), path))?;
    for (path, reached) in reached.iter().enumerate() {
        let root = if path < columns.len() { &c1.comm_c } else { &c1.comm_r_last };
        same(reached, root, REACHES).map_err(|fault| here(fault, path))?;
    }
    Ok(())
}

/// The leaves of `TreeC` that columns of labels are.
fn column_hashes(columns: &[&ColumnProof]) -> Result<Vec<Node>, Fault> {
    let layers = columns.first().map_or(0, |column| column.labels.len());
    if !matches!(layers, 2 | 11) {
        return Err(Problem::Expected { expected: "2 or 11 labels", found: layers.to_string() }.into());
    }
    let labels = columns.iter().flat_map(|column| &column.labels);
    let label = |label: &Node| hash::scalar(label).ok_or(Problem::NotCanonical { value: *label });
    let labels: Vec<Scalar> = labels.map(label).collect::<Result<_, _>>()?;
    Ok(hash::poseidon(layers, &labels).iter().map(PrimeField::to_repr).collect())
}

/// All that is cheap to check: milliseconds for any sector.
pub(super) fn on_reading(c1: &C1, shape: SectorShape) -> Result<(), Fault> {
    partitions(c1, shape)?;
    for (name, value) in [("comm_d", &c1.comm_d), ("comm_r", &c1.comm_r), ("seed", &c1.seed)] {
        if *value == [0; 32] {
            return Err(Fault::from(Problem::Zero).in_field(name));
        }
    }
    let comm_r = hash::comm_r(&c1.comm_c, &c1.comm_r_last);
    same(&c1.comm_r, &comm_r, "the hash of comm_c and comm_r_last").map_err(|f| f.in_field("comm_r"))?;
    challenges(c1, shape)?;
    parents(c1, shape)?;
    each_challenge(c1, |proof| {
        let root = climb(&proof.data, |pair| hash::data_node(&pair[0], &pair[1]));
        same(&root, &c1.comm_d, REACHES).map_err(|f| f.in_field("comm_d_proofs"))?;
        labels(c1, proof)
    })
}

fn identity(c1: &C1, known: &Identity) -> Result<bool, Fault> {
    if let (Some(said), Some(known)) = (c1.sector_number, known.sector_number)
        && said != known
    {
        let problem = Problem::differs(said, known, "the sector number given");
        return Err(Fault::from(problem).in_field("SectorNum"));
    }
    let shape = SectorShape::of_size(c1.sector_size);
    let registered = shape.zip(c1.variant).and_then(|(shape, variant)| porep_id(shape, variant));
    let (Some(prover_id), Some(sector), Some(porep_id)) =
        (known.prover_id, known.sector_number.or(c1.sector_number), known.porep_id.or(registered))
    else {
        return Ok(false);
    };
    let of = "the hash of the prover, the sector number, the ticket, comm_d and the porep_id";
    let expected = hash::replica_id(&prover_id, sector, &c1.ticket, &c1.comm_d, &porep_id);
    same(&c1.replica_id, &expected, of).map_err(|f| f.in_field("replica_id"))?;
    Ok(true)
}

fn partitions(c1: &C1, shape: SectorShape) -> Result<(), Fault> {
    let found = c1.partitions.len();
    let expected = match c1.variant {
        Some(PoRepVariant::NonInteractive) => shape.non_interactive_partitions,
        None if found == shape.non_interactive_partitions => found,
        _ => shape.partitions,
    };
    if found == expected {
        return Ok(());
    }
    Err(Fault::from(Problem::Count { found, expected }).in_field("vanilla_proofs"))
}

/// The challenged nodes are those that the seed (or the replica) asks for.
fn challenges(c1: &C1, shape: SectorShape) -> Result<(), Fault> {
    let candidates = match c1.variant {
        Some(variant) => vec![variant],
        None if c1.partitions.len() == shape.non_interactive_partitions => vec![PoRepVariant::NonInteractive],
        None => vec![PoRepVariant::V1_1, PoRepVariant::Synthetic],
    };
    let mut result = Ok(());
    for variant in candidates.into_iter().rev() {
        result = challenges_of(c1, shape, variant);
        if result.is_ok() {
            break;
        }
    }
    result
}

fn challenges_of(c1: &C1, shape: SectorShape, variant: PoRepVariant) -> Result<(), Fault> {
    let inputs = upstream::public_inputs(c1, None);
    let rule = upstream::challenges(shape, variant);
    let of = match variant {
        PoRepVariant::NonInteractive => "the challenge that replica_id and comm_r give",
        _ => "the challenge that replica_id and seed give",
    };
    for (k, partition) in c1.partitions.iter().enumerate() {
        let expected = inputs.challenges(&rule, shape.nodes(), Some(k));
        for (i, (proof, expected)) in partition.iter().zip(expected).enumerate() {
            if proof.challenge() as usize != expected {
                let problem = Problem::differs(proof.challenge(), expected, of);
                let fault = Fault::from(problem).in_field("index").in_field("column").in_field("c_x");
                return Err(in_challenge(fault.in_field("replica_column_proofs"), k, i));
            }
        }
    }
    Ok(())
}

/// The parents are those of the graph, where the file says which graph.
fn parents(c1: &C1, shape: SectorShape) -> Result<(), Fault> {
    let Some((variant, porep_id)) = c1.variant.and_then(|v| Some((v, porep_id(shape, v)?))) else {
        return Ok(());
    };
    let Ok(graph) = graph(shape, variant, porep_id) else { return Ok(()) };
    each_challenge(c1, |proof| {
        let mut expected = [0; DRG_PARENTS + cuzk_values::EXP_PARENTS];
        if graph.parents(proof.challenge() as usize, &mut expected).is_err() {
            return Ok(());
        }
        let (drg, exp) = expected.split_at(DRG_PARENTS);
        let compare = |columns: &[ColumnProof], expected: &[u32]| {
            let mut pairs = columns.iter().zip(expected).enumerate();
            match pairs.find(|(_, (column, expected))| column.path.node != **expected) {
                None => Ok(()),
                Some((i, (column, expected))) => {
                    let problem = Problem::differs(column.path.node, expected, "the parent in the graph");
                    Err(Fault::from(problem).in_field("index").in_field("column").in_element(i))
                }
            }
        };
        let both = || {
            compare(&proof.drg_parents, drg).map_err(|f| f.in_field("drg_parents"))?;
            compare(&proof.exp_parents, exp).map_err(|f| f.in_field("exp_parents"))
        };
        both().map_err(|f: Fault| f.in_field("replica_column_proofs"))
    })
}

/// The graph of a sector, without a cache of it on disk.
pub(crate) fn graph(
    shape: SectorShape,
    variant: PoRepVariant,
    porep_id: [u8; 32],
) -> Result<StackedBucketGraph<PoseidonHasher>, InputError> {
    StackedBucketGraph::new_stacked(
        shape.nodes(),
        DRG_PARENTS,
        cuzk_values::EXP_PARENTS,
        porep_id,
        upstream::api_version(variant),
    )
    .map_err(InputError::upstream)
}

/// The column's labels follow from the parents', and the replica from the last.
fn labels(c1: &C1, proof: &ChallengeProof) -> Result<(), Fault> {
    for (i, label) in proof.column.labels.iter().enumerate() {
        let layer = i + 1;
        let expected = hash::label(&c1.replica_id, layer, proof.challenge(), proof.label_parents(layer));
        let fault = same(label, &expected, "the hash of the parents' labels");
        fault.map_err(|f| {
            let column = f.in_element(i).in_field("rows").in_field("column").in_field("c_x");
            column.in_field("replica_column_proofs")
        })?;
    }
    let last = proof.column.labels.last().and_then(|key| hash::encode(&proof.data.leaf, key));
    let Some(encoded) = last else { return Err(Problem::Missing.into()) };
    let of = "the data plus the last label";
    same(&proof.replica.leaf, &encoded, of).map_err(|f| f.in_field("leaf").in_field("comm_r_last_proof"))
}

/// Checks all challenges in parallel.
fn each_challenge(
    c1: &C1,
    check: impl Fn(&ChallengeProof) -> Result<(), Fault> + Sync + Send,
) -> Result<(), Fault> {
    each(places(c1).into_par_iter(), |(k, i, proof)| check(proof).map_err(|fault| in_challenge(fault, k, i)))
}

/// Every challenge, with its partition and its place there.
fn places(c1: &C1) -> Vec<(usize, usize, &ChallengeProof)> {
    let partition = |(k, proofs): (usize, _)| {
        let proofs: &Vec<ChallengeProof> = proofs;
        proofs.iter().enumerate().map(move |(i, proof)| (k, i, proof))
    };
    c1.partitions.iter().enumerate().flat_map(partition).collect()
}

fn in_challenge(fault: Fault, partition: usize, challenge: usize) -> Fault {
    fault.in_element(challenge).in_element(partition).in_field("vanilla_proofs")
}
