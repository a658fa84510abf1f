//! Updates' vanilla proofs, held against upstream's serde and upstream's checks.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::time::Instant;

use cuzk_pipeline_core::Cx;
use cuzk_synth::c1::upstream::{WithTree, with_tree};
use cuzk_synth::fixture::{self, SparseSnap};
use cuzk_synth::input::{self, Input, InputError, Layer, Layers};
use cuzk_synth::registered::UpdateProof;
use cuzk_synth::snap::{self, Encoding, Known, upstream};
use cuzk_synth::{Recording, SectorShape, SnapShape, SynthError, record};
use cuzk_values::Snap;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_proofs::constants::{SectorShape2KiB, SectorShape4KiB, SectorShape16KiB, SectorShape32KiB};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_update::vanilla::PartitionProof;
use storage_proofs_update::{EmptySectorUpdate, EmptySectorUpdateCompound, constants};

fn shapes() -> impl Iterator<Item = SnapShape> {
    SectorShape::ALL.into_iter().filter_map(SnapShape::new)
}

fn sparse(shape: SnapShape, seed: u64) -> SparseSnap {
    SparseSnap::new(shape.sector.sector_size(), seed).unwrap()
}

fn encode(snap: &Snap, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    snap::encode(snap, encoding, &mut bytes).unwrap();
    bytes
}

/// What a caller knows who has the bare forms.
fn known(snap: &Snap) -> Known {
    Known {
        comm_r_old: Some(snap.comm_r_old),
        comm_r_new: Some(snap.comm_r_new),
        comm_d_new: Some(snap.comm_d_new),
        high_bits: Some(snap.high_bits),
        ..Known::default()
    }
}

/// Upstream's check before a SNARK; `Err` is a refusal too.
struct Verify<'a>(&'a Snap);

impl WithTree for Verify<'_> {
    type Output = bool;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> bool {
        let snap = self.0;
        let partition = |k| upstream::partition_proof::<Tree>(snap, k).unwrap();
        let proofs: Vec<PartitionProof<Tree>> = (0..snap.partitions.len()).map(partition).collect();
        let params = upstream::public_params(snap).unwrap();
        let inputs = upstream::public_inputs(snap, 0);
        EmptySectorUpdate::<Tree>::verify_all_partitions(&params, &inputs, &proofs).unwrap_or(false)
    }
}

fn upstream_accepts(snap: &Snap) -> bool {
    with_tree(snap::shape_of(snap).unwrap().sector, Verify(snap))
}

/// Ours: what is checked on reading, and the trees.
fn accepts(snap: &Snap) -> Result<(), InputError> {
    snap::check_trees(&snap::decode(&encode(snap, Encoding::Json)[..], &Known::default())?)
}

#[test]
fn shapes_are_upstreams() {
    for sector in SectorShape::ALL {
        let nodes = sector.nodes();
        let known = constants::ALLOWED_SECTOR_SIZES.contains(&nodes);
        let Some(shape) = SnapShape::new(sector) else {
            assert!(!known, "{sector}");
            continue;
        };
        assert!(known, "{sector}");
        assert_eq!(shape.partitions, constants::partition_count(nodes));
        assert_eq!(shape.challenges, constants::challenge_count(nodes));
        assert_eq!(shape.apex_leaves, constants::apex_leaf_count(nodes));
        assert_eq!(shape.high_bits.map(|h| h as usize), constants::hs(nodes));
        assert_eq!(shape.default_high_bits() as usize, constants::h_default(nodes));
    }
}

#[test]
fn registered_proofs_have_upstreams_names_and_numbers() {
    use filecoin_proofs_api::RegisteredUpdateProof;
    for number in 0..5 {
        let ours = UpdateProof::of_number(number).unwrap();
        let name = ours.name().unwrap();
        let theirs: RegisteredUpdateProof = serde_json::from_str(&format!("\"{name}\"")).unwrap();
        assert_eq!((theirs as u64, u64::from(theirs.sector_size())), (number, ours.shape.sector_size()));
        assert_eq!((ours.number(), UpdateProof::of_name(name)), (Some(number), Some(ours)));
        let go = format!("RegisteredUpdateProof_{name}");
        assert_eq!(UpdateProof::of_name(&go), Some(ours));
    }
    assert_eq!(UpdateProof::of_number(5), None);
}

#[test]
fn upstream_accepts_every_size() {
    for shape in shapes() {
        let start = Instant::now();
        let snap = sparse(shape, 1).build();
        println!("{}: built in {:.2?}", shape.sector, start.elapsed());
        let start = Instant::now();
        accepts(&snap).unwrap_or_else(|e| panic!("{}: {e}", shape.sector));
        println!("{}: written, read and checked in {:.2?}", shape.sector, start.elapsed());
        // The larger ones differ in their numbers only; the last one has the most.
        if shape.sector.log_nodes <= 19 || shape.sector.log_nodes == 31 {
            assert!(upstream_accepts(&snap), "{}", shape.sector);
        }
    }
}

#[test]
fn every_choice_of_high_bits_is_accepted() {
    for (log_nodes, choices) in [(6, [0, 1, 2, 5]), (18, [0, 1, 2, 3])] {
        let shape = SnapShape::new(SectorShape::of_nodes(log_nodes).unwrap()).unwrap();
        for i in choices {
            let snap = sparse(shape, 9).high_bits(i).build();
            assert_eq!(snap.high_bits, shape.high_bits[i]);
            assert!(upstream_accepts(&snap), "{i}");
            accepts(&snap).unwrap();
        }
    }
}

#[test]
fn trees_of_every_kind_are_written_as_upstream_writes_them() {
    fn same<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(size: u64) {
        let snap = fixture::snap(size, 5).unwrap();
        let partition = |k| upstream::partition_proof::<Tree>(&snap, k).unwrap();
        let bytes: Vec<Vec<u8>> =
            (0..snap.partitions.len()).map(|k| bincode::serialize(&partition(k)).unwrap()).collect();
        assert!(encode(&snap, Encoding::Bincode) == bytes.concat(), "{size}");
        // Upstream reads them too.
        let _: PartitionProof<Tree> = bincode::deserialize(&bytes[0]).unwrap();
    }
    same::<SectorShape2KiB>(2 << 10);
    same::<SectorShape4KiB>(4 << 10);
    same::<SectorShape16KiB>(16 << 10);
    same::<SectorShape32KiB>(32 << 10);
}

#[test]
fn every_encoding_compressed_or_not_gives_the_same_back() {
    for shape in shapes().filter(|shape| shape.sector.log_nodes <= 18) {
        let snap = sparse(shape, 11).build();
        for encoding in [Encoding::Json, Encoding::List, Encoding::Bincode] {
            let bytes = encode(&snap, encoding);
            let known = if encoding == Encoding::Json { Known::default() } else { known(&snap) };
            let (mut layers, zipped) = (Layers::default(), zstd::encode_all(&bytes[..], 1).unwrap());
            assert!(snap::decode_noting(&bytes[..], &known, &mut layers).unwrap() == snap);
            assert_eq!(layers, Layers(vec![Layer::Snap(encoding)]));
            assert!(snap::decode(&zipped[..], &known).unwrap() == snap);
            let any = input::Known { snap: known, ..input::Known::default() };
            assert_eq!(
                input::decode_noting(&bytes[..], &any, &mut layers).unwrap(),
                Input::Snap(snap.clone())
            );
            assert_eq!(layers, Layers(vec![Layer::Snap(encoding)]));
        }
    }
}

/// One change at a time: what upstream refuses we refuse. What it accepts we
/// accept too, save apex leaves that the circuit would not.
#[test]
fn what_upstream_refuses_is_refused() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    println!("seed 7");
    for shape in [0, 3].map(|i| SnapShape::new(SectorShape::ALL[i]).unwrap()) {
        let snap = sparse(shape, 3).build();
        let log_nodes = shape.sector.log_nodes;
        for round in 0..84 {
            let mut changed = snap.clone();
            let k = rng.gen_range(0..changed.partitions.len());
            let partition = &mut changed.partitions[k];
            let apex = rng.gen_range(0..partition.apex_leaves.len());
            let challenge = rng.gen_range(0..partition.challenges.len());
            let challenge = &mut partition.challenges[challenge];
            let path = match round / 14 % 3 {
                0 => &mut challenge.old,
                1 => &mut challenge.data,
                _ => &mut challenge.new,
            };
            let what = round % 14;
            match what {
                0 => changed.comm_r_old[0] ^= 1,
                1 => changed.comm_r_new[0] ^= 1,
                2 => changed.comm_d_new[0] ^= 1,
                3 => changed.comm_c[0] ^= 1,
                4 => changed.root_r_old[0] ^= 1,
                5 => changed.root_r_new[0] ^= 1,
                6 | 7 => path.leaf[0] ^= 1,
                8 | 9 => {
                    let i = rng.gen_range(0..path.siblings.len());
                    path.siblings[i][rng.gen_range(0..31)] ^= 1 << rng.gen_range(0..8);
                }
                10 => path.node ^= 1 << rng.gen_range(0..log_nodes),
                11 => partition.apex_leaves[apex][0] ^= 1,
                12 => partition.apex_leaves.reverse(),
                _ => {
                    let first = partition.challenges[0].clone();
                    partition.challenges[1] = first;
                }
            }
            let (theirs, ours) = (upstream_accepts(&changed), accepts(&changed));
            let only_in_the_circuit = matches!(what, 11 | 12) && ours.is_err();
            assert!(
                ours.is_ok() == theirs || only_in_the_circuit,
                "{}, change {what}: {ours:?}",
                shape.sector
            );
        }
        assert!(accepts(&snap).is_ok());
    }
}

#[test]
fn a_seed_gives_the_same_update_and_another_another() {
    let one = fixture::snap(2 << 10, 1).unwrap();
    assert_eq!(one, fixture::snap(2 << 10, 1).unwrap());
    assert_ne!(one, fixture::snap(2 << 10, 2).unwrap());
    assert!(matches!(fixture::snap(1 << 30, 1), Err(InputError::NoUpdate { bytes: 1_073_741_824 })));
}

/// Upstream's circuit of a partition: its constraints, and an update's witness.
struct Satisfy<'a>(&'a Snap);

impl WithTree for Satisfy<'_> {
    type Output = Result<(), SynthError>;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let snap = self.0;
        let params = upstream::public_params(snap).unwrap();
        let blank = EmptySectorUpdateCompound::<Tree>::blank_circuit(&params);
        let Recording { r1cs, size } = record(blank)?;
        for k in 0..snap.partitions.len() {
            let proof = upstream::partition_proof::<Tree>(snap, k).unwrap();
            let inputs = upstream::public_inputs(snap, k);
            let circuit =
                EmptySectorUpdateCompound::<Tree>::circuit(&inputs, (), &proof, &params, None).unwrap();
            let witness = cuzk_synth::witness(&Cx::detached(), circuit, &size)?;
            cuzk_synth::check(&Cx::detached(), &r1cs, &witness)?;
            let public =
                EmptySectorUpdateCompound::<Tree>::generate_public_inputs(&inputs, &params, None).unwrap();
            assert!(witness.inputs[1..] == public);
        }
        Ok(())
    }
}

/// And apex leaves that upstream's check of the vanilla proof lets pass do not.
#[test]
fn a_sparse_update_satisfies_the_circuit() {
    let snap = fixture::snap(2 << 10, 1).unwrap();
    let shape = SectorShape::ALL[0];
    with_tree(shape, Satisfy(&snap)).unwrap();
    let mut changed = snap.clone();
    changed.partitions[0].apex_leaves.reverse();
    assert!(upstream_accepts(&changed));
    assert!(matches!(with_tree(shape, Satisfy(&changed)), Err(SynthError::Unsatisfied { .. })));
}
