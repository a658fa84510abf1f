//! Vanilla proofs of spacetime, held against upstream's serde and upstream's checks.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::time::Instant;

use cuzk_pipeline_core::Cx;
use cuzk_synth::c1::upstream::{WithTree, with_tree};
use cuzk_synth::fixture::{self, SparsePost};
use cuzk_synth::input::{self, Input, InputError, Layer, Layers};
use cuzk_synth::post::{self, Encoding, Known, upstream};
use cuzk_synth::registered::PostProof;
use cuzk_synth::{PostShape, Recording, SectorShape, record};
use cuzk_values::{Post, PostKind, PostVersion};
use filecoin_proofs::constants::{
    DefaultTreeHasher, SectorShape2KiB, SectorShape4KiB, SectorShape16KiB, SectorShape32KiB,
    WINDOW_POST_SECTOR_COUNT,
};
use filecoin_proofs::{FallbackPoStSectorProof, MerkleTreeTrait, PoStConfig, PoStType, SectorSize};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_post::fallback::{
    ComponentPrivateInputs, FallbackPoSt, FallbackPoStCompound, Proof, PublicInputs, SectorProof,
};

const KINDS: [PostKind; 2] = [PostKind::Window, PostKind::Winning];

fn sparse(kind: PostKind, shape: SectorShape, seed: u64) -> SparsePost {
    SparsePost::new(kind, shape.sector_size(), seed).unwrap()
}

fn encode(post: &Post, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    post::encode(post, encoding, &mut bytes).unwrap();
    bytes
}

/// What a caller knows who has the bare forms.
fn known(post: &Post) -> Known {
    Known {
        version: Some(post.version),
        prover_id: Some(post.prover_id),
        randomness: Some(post.randomness),
        partition: Some(post.partition),
        ..Known::default()
    }
}

/// Upstream's check before a SNARK; `Err` is a refusal too.
struct Verify<'a>(&'a Post);

impl WithTree for Verify<'_> {
    type Output = bool;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = DefaultTreeHasher>>(self) -> bool {
        let post = self.0;
        let params = upstream::public_params(post::shape_of(post).unwrap(), post.version);
        let proof = upstream::partition_proof::<Tree>(post).unwrap();
        FallbackPoSt::<Tree>::verify(&params, &upstream::public_inputs(post), &proof).unwrap_or(false)
    }
}

fn upstream_accepts(post: &Post) -> bool {
    with_tree(post::shape_of(post).unwrap().sector, Verify(post))
}

/// Ours: what is checked on reading, and the trees.
fn accepts(post: &Post) -> Result<(), InputError> {
    post::check_trees(&post::decode(&encode(post, Encoding::Json)[..], &Known::default())?)
}

#[test]
fn shapes_are_upstreams() {
    for shape in SectorShape::ALL {
        let window = PostShape::new(shape, PostKind::Window);
        let count = WINDOW_POST_SECTOR_COUNT.read().unwrap()[&shape.sector_size()];
        assert_eq!((window.sectors, window.challenges), (count, 10));
        let winning = PostShape::new(shape, PostKind::Winning);
        assert_eq!((winning.circuit_sectors(), winning.circuit_challenges()), (66, 1));
    }
}

#[test]
fn registered_proofs_have_upstreams_names_and_numbers() {
    use filecoin_proofs_api::RegisteredPoStProof;
    for number in 0..15 {
        let ours = PostProof::of_number(number).unwrap();
        let name = ours.name().unwrap();
        let theirs: RegisteredPoStProof = serde_json::from_str(&format!("\"{name}\"")).unwrap();
        assert_eq!(theirs as u64, number);
        assert_eq!((ours.number(), PostProof::of_name(name)), (Some(number), Some(ours)));
        let PoStConfig {
            sector_size: SectorSize(size), challenge_count, sector_count, typ, api_version, ..
        } = theirs.as_v1_config();
        let shape = PostShape::of_size(size, ours.kind).unwrap();
        assert_eq!(
            (shape.sector, shape.challenges, shape.sectors),
            (ours.shape, challenge_count, sector_count)
        );
        assert_eq!(typ == PoStType::Winning, ours.kind == PostKind::Winning);
        assert_eq!(api_version == ApiVersion::V1_2_0, ours.version == PostVersion::V1_1);
    }
    assert_eq!(PostProof::of_number(15), None);
    let go = PostProof::of_name("RegisteredPoStProof_StackedDrgWindow32GiBV1_1").unwrap();
    assert_eq!(go.number(), Some(13));
    assert_eq!(PostProof::of_name("StackedDrgWinning32GiBV1_1"), None);
}

#[test]
fn upstream_accepts_every_test_size() {
    for shape in SectorShape::ALL.into_iter().filter(|shape| shape.log_nodes < 30) {
        for seed in 0..2 {
            for kind in KINDS {
                let post = sparse(kind, shape, seed).miner(seed << 40).first_sector(seed << 50);
                for post in [post, post.legacy(), post.legacy().partition(3), post.sectors(1)] {
                    let made = post.build();
                    assert!(upstream_accepts(&made), "{shape}: {post:?}");
                    accepts(&made).unwrap_or_else(|e| panic!("{shape}: {post:?}: {e}"));
                }
            }
        }
    }
}

#[test]
fn upstream_accepts_winning_posts_of_production_sizes() {
    for log_nodes in [30, 31] {
        let post = sparse(PostKind::Winning, SectorShape::of_nodes(log_nodes).unwrap(), 1).build();
        assert!(upstream_accepts(&post));
        accepts(&post).unwrap();
    }
}

/// A full partition: 2,349 sectors. A minute of a core, most of it upstream's.
/// `cargo nextest run --release -p cuzk-synth --test post --run-ignored only --no-capture`
#[test]
#[ignore = "a minute of a core"]
fn upstream_accepts_a_full_partition() {
    for log_nodes in [30, 31] {
        let shape = SectorShape::of_nodes(log_nodes).unwrap();
        let start = Instant::now();
        let post = sparse(PostKind::Window, shape, 1).build();
        println!("{shape}: built in {:.2?}", start.elapsed());
        assert_eq!(post.sectors.len(), PostShape::new(shape, PostKind::Window).sectors);
        for encoding in [Encoding::Json, Encoding::Bincode] {
            let bytes = encode(&post, encoding);
            let start = Instant::now();
            assert_eq!(post::decode(&bytes[..], &known(&post)).unwrap(), post);
            println!("{shape}: decoded {} bytes of {encoding} in {:.2?}", bytes.len(), start.elapsed());
        }
        let start = Instant::now();
        post::check_trees(&post).unwrap();
        println!("{shape}: check_trees {:.2?}", start.elapsed());
        let start = Instant::now();
        assert!(upstream_accepts(&post));
        println!("{shape}: verified by upstream in {:.2?}", start.elapsed());
    }
}

/// The sectors' proofs in upstream's types, before a partition is made of them.
fn theirs<Tree>(post: &Post) -> Vec<FallbackPoStSectorProof<Tree>>
where
    Tree: 'static + MerkleTreeTrait<Hasher = DefaultTreeHasher>,
{
    let Proof { sectors } = upstream::partition_proof::<Tree>(post).unwrap();
    let mut sectors = sectors.into_iter();
    let proof = |ours: &cuzk_values::PostSector| {
        let mut merged: SectorProof<Tree::Proof> = sectors.next().unwrap();
        while merged.inclusion_proofs.len() < ours.challenges.len() {
            merged.inclusion_proofs.extend(sectors.next().unwrap().inclusion_proofs);
        }
        FallbackPoStSectorProof {
            sector_id: ours.number.into(),
            comm_r: ours.comm_r.into(),
            vanilla_proof: Proof { sectors: vec![merged] },
        }
    };
    post.sectors.iter().map(proof).collect()
}

#[test]
fn trees_of_every_kind_are_written_as_upstream_writes_them() {
    fn same<Tree: 'static + MerkleTreeTrait<Hasher = DefaultTreeHasher>>(size: u64) {
        for kind in KINDS {
            let post = SparsePost::new(kind, size, 5).unwrap().build();
            let bytes: Vec<Vec<u8>> =
                theirs::<Tree>(&post).iter().map(|proof| bincode::serialize(proof).unwrap()).collect();
            assert!(encode(&post, Encoding::Bincode) == bytes.concat(), "{size}, {kind:?}");
            // Upstream reads them too.
            let _: FallbackPoStSectorProof<Tree> = bincode::deserialize(&bytes[0]).unwrap();
        }
    }
    same::<SectorShape2KiB>(2 << 10);
    same::<SectorShape4KiB>(4 << 10);
    same::<SectorShape16KiB>(16 << 10);
    same::<SectorShape32KiB>(32 << 10);
}

#[test]
fn every_encoding_compressed_or_not_gives_the_same_back() {
    for shape in SectorShape::ALL {
        for kind in KINDS {
            // Numbers whose bytes look like text and like gzip.
            for number in [1, u64::from(b'{'), u64::from(b'<'), 0x08_8b1f, 0xfd2f_b528] {
                let post = sparse(kind, shape, 11).sectors(1).first_sector(number).legacy().build();
                for encoding in [Encoding::Json, Encoding::List, Encoding::Bincode] {
                    let bytes = encode(&post, encoding);
                    let known = if encoding == Encoding::Json { Known::default() } else { known(&post) };
                    let (mut layers, zipped) = (Layers::default(), zstd::encode_all(&bytes[..], 1).unwrap());
                    assert!(post::decode_noting(&bytes[..], &known, &mut layers).unwrap() == post);
                    assert_eq!(layers, Layers(vec![Layer::Post(encoding)]));
                    assert!(post::decode(&zipped[..], &known).unwrap() == post);
                    let any = input::Known { post: known, ..input::Known::default() };
                    assert_eq!(
                        input::decode_noting(&bytes[..], &any, &mut layers).unwrap(),
                        Input::Post(post.clone())
                    );
                    assert_eq!(layers, Layers(vec![Layer::Post(encoding)]));
                }
            }
        }
    }
}

/// One change at a time: what upstream refuses we refuse. What it accepts we
/// accept too, unless the circuit would not.
#[test]
fn what_upstream_refuses_is_refused() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    println!("seed 7");
    for kind in KINDS {
        for shape in [0, 3].map(|i| SectorShape::ALL[i]) {
            let post = sparse(kind, shape, 3).legacy().build();
            for round in 0..60 {
                let mut changed = post.clone();
                let sector = rng.gen_range(0..changed.sectors.len());
                let (others, version) = (changed.sectors[0].clone(), PostVersion::V1_1);
                let s = &mut changed.sectors[sector];
                let n = rng.gen_range(0..s.challenges.len());
                let path = &mut s.challenges[n];
                let what = round % 10;
                match what {
                    0 => s.number += 1,
                    1 => s.comm_r[0] ^= 1,
                    2 => s.comm_c[0] ^= 1,
                    3 => s.comm_r_last[0] ^= 1,
                    4 => path.leaf[0] ^= 1,
                    5 => {
                        let i = rng.gen_range(0..path.siblings.len());
                        path.siblings[i][rng.gen_range(0..31)] ^= 1 << rng.gen_range(0..8);
                    }
                    6 => path.node ^= 1 << rng.gen_range(0..shape.log_nodes),
                    7 => changed.randomness[0] ^= 1,
                    // A WinningPoSt has one version.
                    8 if kind == PostKind::Window => changed.version = version,
                    _ => changed.sectors[sector].challenges = others.challenges,
                }
                let (theirs, ours) = (upstream_accepts(&changed), accepts(&changed));
                assert_eq!(ours.is_ok(), theirs, "{kind:?}, {shape}, change {what}: {ours:?}");
            }
            assert!(accepts(&post).is_ok());
        }
    }
}

#[test]
fn challenges_are_upstreams() {
    for seed in 0..50_u64 {
        println!("seed {seed}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let shape = SectorShape::ALL[rng.gen_range(0..10)];
        let (mut randomness, sector, index) = ([0; 32], rng.r#gen(), rng.r#gen());
        rng.fill(&mut randomness[..31]);
        let params = upstream::public_params(PostShape::new(shape, PostKind::Window), PostVersion::V1);
        let theirs = storage_proofs_post::fallback::generate_leaf_challenge(
            &params,
            filecoin_hashers::poseidon::PoseidonDomain::from(randomness),
            sector,
            index,
        );
        assert_eq!(u64::from(post::challenge(&randomness, sector, index, shape.log_nodes)), theirs);
    }
}

#[test]
fn a_seed_gives_the_same_post_and_another_another() {
    let one = fixture::window_post(2 << 10, 1).unwrap();
    assert_eq!(one, fixture::window_post(2 << 10, 1).unwrap());
    assert_ne!(one, fixture::window_post(2 << 10, 2).unwrap());
    assert!(matches!(fixture::winning_post(1 << 10, 1), Err(InputError::SectorSize { bytes: 1024 })));
}

/// A sparse PoSt satisfies upstream's circuit.
struct Satisfy<'a>(&'a Post);

impl WithTree for Satisfy<'_> {
    type Output = ();

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = DefaultTreeHasher>>(self) {
        let post = self.0;
        let params = upstream::public_params(post::shape_of(post).unwrap(), post.version);
        let proof = upstream::partition_proof::<Tree>(post).unwrap();
        let inputs = upstream::public_inputs(post);
        let blank = FallbackPoStCompound::<Tree>::blank_circuit(&params);
        let Recording { r1cs, size } = record(blank).unwrap();
        let k = Some(post.partition as usize);
        // It takes the sectors of all partitions, and chooses those of `k`.
        let sectors = vec![inputs.sectors[0].clone(); post.partition as usize * params.sector_count];
        let inputs = PublicInputs { sectors: [sectors, inputs.sectors].concat(), ..inputs };
        let circuit =
            FallbackPoStCompound::<Tree>::circuit(&inputs, ComponentPrivateInputs {}, &proof, &params, k)
                .unwrap();
        let witness = cuzk_synth::witness(&Cx::detached(), circuit, &size).unwrap();
        cuzk_synth::check(&Cx::detached(), &r1cs, &witness).unwrap();
        let public = FallbackPoStCompound::<Tree>::generate_public_inputs(&inputs, &params, k).unwrap();
        assert!(witness.inputs[1..] == public);
    }
}

#[test]
fn sparse_posts_satisfy_the_circuits() {
    for shape in SectorShape::ALL.into_iter().take(4) {
        for kind in KINDS {
            with_tree(shape, Satisfy(&sparse(kind, shape, 1).build()));
        }
        with_tree(
            shape,
            Satisfy(&sparse(PostKind::Window, shape, 2).sectors(1).legacy().partition(2).build()),
        );
    }
}
