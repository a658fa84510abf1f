//! Native witnesses, against those of upstream's circuits, bit for bit.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use bellpepper_core::{Circuit, ConstraintSystem};
use bellperson::util_cs::witness_cs::WitnessCS;
use cuzk_pipeline_core::{CancelToken, Cx};
use cuzk_synth::c1::upstream::{WithTree, with_tree};
use cuzk_synth::{
    PorepCircuit, PostCircuit, SectorShape, SnapCircuit, Statement, SynthError, c1, check, fixture, post,
    snap,
};
use cuzk_values::{C1, PoRepVariant, Post, PostKind, PostSector, Scalar, Snap, Witness};
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use rayon::prelude::*;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{ComponentPrivateInputs, FallbackPoStCircuit, FallbackPoStCompound};
use storage_proofs_update::EmptySectorUpdateCompound;

const SEEDS: [u64; 3] = [1, 2, 3];

/// Upstream's `WitnessCS` of the circuit of an input's partition.
trait Upstream: Statement {
    fn upstream(input: &Self::Input, partition: usize) -> WitnessCS<Scalar>;
}

fn synthesize(circuit: impl Circuit<Scalar>) -> WitnessCS<Scalar> {
    let mut cs = WitnessCS::new();
    circuit.synthesize(&mut cs).unwrap();
    cs
}

/// One sector after the other, as `FallbackPoStCircuit` does for provers. For a
/// `WitnessCS` it makes several and joins them, and leaves a ONE of each among
/// the inputs.
fn synthesize_sectors<Tree: 'static + MerkleTreeTrait>(
    circuit: &FallbackPoStCircuit<Tree>,
) -> WitnessCS<Scalar> {
    let mut cs = WitnessCS::new();
    circuit.sectors.iter().for_each(|sector| sector.synthesize(&mut cs).unwrap());
    cs
}

struct Of<'a, I>(&'a I, usize);

impl WithTree for Of<'_, C1> {
    type Output = WitnessCS<Scalar>;
    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let Self(c1, k) = self;
        let shape = c1::shape_of(c1).unwrap();
        let setup = c1::upstream::setup_params(shape, PoRepVariant::V1_1, [0; 32]);
        let params = StackedDrg::<Tree, Sha256Hasher>::setup(&setup).unwrap();
        let inputs = c1::upstream::public_inputs(c1, Some(k));
        let proofs = c1::upstream::partition_proofs::<Tree>(c1, k).unwrap();
        synthesize(
            StackedCompound::<Tree, Sha256Hasher>::circuit(&inputs, (), &proofs, &params, None).unwrap(),
        )
    }
}

impl WithTree for Of<'_, Post> {
    type Output = WitnessCS<Scalar>;
    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let post = self.0;
        let params = post::upstream::public_params(post::shape_of(post).unwrap(), post.version);
        let inputs = post::upstream::public_inputs(post);
        let proof = post::upstream::partition_proof::<Tree>(post).unwrap();
        let circuit = FallbackPoStCompound::<Tree>::circuit(
            &inputs,
            ComponentPrivateInputs::default(),
            &proof,
            &params,
            None,
        );
        synthesize_sectors(&circuit.unwrap())
    }
}

impl WithTree for Of<'_, Snap> {
    type Output = WitnessCS<Scalar>;
    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let Self(snap, k) = self;
        let params = snap::upstream::public_params(snap).unwrap();
        let inputs = snap::upstream::public_inputs(snap, k);
        let proof = snap::upstream::partition_proof::<Tree>(snap, k).unwrap();
        synthesize(EmptySectorUpdateCompound::<Tree>::circuit(&inputs, (), &proof, &params, None).unwrap())
    }
}

impl Upstream for PorepCircuit {
    fn upstream(c1: &C1, partition: usize) -> WitnessCS<Scalar> {
        with_tree(c1::shape_of(c1).unwrap(), Of(c1, partition))
    }
}

impl Upstream for PostCircuit {
    fn upstream(post: &Post, partition: usize) -> WitnessCS<Scalar> {
        with_tree(post::shape_of(post).unwrap().sector, Of(post, partition))
    }
}

impl Upstream for SnapCircuit {
    fn upstream(snap: &Snap, partition: usize) -> WitnessCS<Scalar> {
        with_tree(snap::shape_of(snap).unwrap().sector, Of(snap, partition))
    }
}

fn equal<S: Upstream>(statement: S, input: &S::Input, partition: usize) {
    let ours = statement.witness(&Cx::detached(), input, partition).unwrap();
    let theirs = S::upstream(input, partition);
    assert_equal(&ours, theirs.inputs_slice(), theirs.aux_slice());
    assert_eq!(ours.inputs, statement.public_inputs(input, partition).unwrap());

    let size = statement.witness_size();
    assert_eq!(
        (ours.inputs.len(), ours.aux.len(), ours.aux.wide().len()),
        (size.inputs, size.aux, size.wide)
    );
}

fn assert_equal(ours: &Witness, inputs: &[Scalar], aux: &[Scalar]) {
    let different = ours.inputs.iter().zip(inputs).position(|(ours, theirs)| ours != theirs);
    assert_eq!((ours.inputs.len(), different), (inputs.len(), None), "the first public input that differs");
    assert_eq!(ours.aux.len(), aux.len(), "auxiliary variables");
    let different = ours.aux.iter().zip(aux).position(|(ours, theirs)| ours != *theirs);
    assert_eq!(different, None, "the first auxiliary variable that differs, of {}", aux.len());
}

fn sizes(range: std::ops::RangeInclusive<u8>) -> impl Iterator<Item = u64> {
    let within = SectorShape::ALL.into_iter().filter(move |shape| range.contains(&shape.log_nodes));
    within.map(SectorShape::sector_size)
}

fn porep(size: u64, seed: u64, partition: usize) {
    println!("PoRep of {size} bytes, seed {seed}, partition {partition}");
    equal(PorepCircuit::of_size(size).unwrap(), &fixture::porep(size, seed).unwrap(), partition);
}

fn posts(size: u64, seed: u64) {
    println!("PoSts of {size} bytes, seed {seed}");
    let window = PostCircuit::of_size(PostKind::Window, size).unwrap();
    equal(window, &fixture::window_post(size, seed).unwrap(), 0);
    equal(window, &fixture::SparsePost::new(PostKind::Window, size, seed).unwrap().sectors(1).build(), 0);
    winning_post(size, seed);
}

fn winning_post(size: u64, seed: u64) {
    let winning = PostCircuit::of_size(PostKind::Winning, size).unwrap();
    equal(winning, &fixture::winning_post(size, seed).unwrap(), 0);
}

fn snap(size: u64, seed: u64, partition: usize) {
    println!("SnapDeals of {size} bytes, seed {seed}, partition {partition}");
    let fixture = fixture::SparseSnap::new(size, seed).unwrap().high_bits(seed as usize % 6).build();
    equal(SnapCircuit::of_size(size).unwrap(), &fixture, partition);
}

#[test]
fn porep_small() {
    sizes(6..=10).zip(0..).for_each(|(size, seed)| porep(size, seed, 0));
}

#[test]
fn posts_small() {
    sizes(6..=10).zip(0..).for_each(|(size, seed)| posts(size, seed));
}

#[test]
fn snap_small() {
    sizes(6..=10).zip(0..).for_each(|(size, seed)| snap(size, seed, 0));
}

/// Minutes: `cargo nextest run --release -p cuzk-synth --run-ignored only witness`.
#[test]
#[ignore = "minutes"]
fn all_below_32_gib() {
    for size in sizes(6..=29) {
        for seed in SEEDS {
            porep(size, seed, 0);
            posts(size, seed);
            if SnapCircuit::of_size(size).is_some() {
                let partitions = fixture::snap(size, 0).unwrap().partitions.len();
                snap(size, seed, seed as usize % partitions);
            }
        }
    }
}

/// 10 GiB and minutes: `cargo nextest run --release -p cuzk-synth --run-ignored only witness`.
#[test]
#[ignore = "10 GiB and minutes"]
fn porep_32_gib() {
    porep(32 << 30, 1, 7);
}

/// Minutes: `cargo nextest run --release -p cuzk-synth --run-ignored only witness`.
#[test]
#[ignore = "8 GiB and minutes"]
fn snap_32_gib() {
    snap(32 << 30, 1, 13);
}

#[test]
fn winning_post_32_gib() {
    winning_post(32 << 30, 1);
    winning_post(64 << 30, 2);
}

/// All 2,349 sectors, a few at a time: 4 GB of variables each way. Minutes:
/// `cargo nextest run --release -p cuzk-synth --run-ignored only witness`.
#[test]
#[ignore = "minutes"]
fn window_post_32_gib() {
    let size = 32 << 30;
    let circuit = PostCircuit::of_size(PostKind::Window, size).unwrap();
    window_post_by_sectors(circuit, &fixture::window_post(size, 1).unwrap(), 0..circuit.sectors());
}

/// Parts that are written over one another are the parts of the whole.
#[test]
fn window_post_in_parts() {
    let post = fixture::window_post(32 << 10, 5).unwrap();
    let circuit = PostCircuit::of_size(PostKind::Window, 32 << 10).unwrap();
    let whole = circuit.witness(&Cx::detached(), &post, 0).unwrap();
    for at_once in 1..=3 {
        let (mut inputs, mut aux) = (vec![Scalar::from(1)], Vec::new());
        circuit
            .witness_in_parts(&Cx::detached(), &post, at_once.try_into().unwrap(), |sectors, part| {
                assert_eq!(part.inputs.len(), sectors.len() * (1 + circuit.challenges()));
                inputs.extend_from_slice(&part.inputs);
                aux.extend(part.aux.iter());
                Ok(())
            })
            .unwrap();
        assert!(inputs == whole.inputs && aux.iter().copied().eq(whole.aux.iter()), "{at_once} at once");
    }
}

/// Some of its sectors.
#[test]
fn window_post_32_gib_in_parts() {
    let size = 32 << 30;
    let circuit = PostCircuit::of_size(PostKind::Window, size).unwrap();
    let post = fixture::SparsePost::new(PostKind::Window, size, 1).unwrap().sectors(9).build();
    window_post_by_sectors(circuit, &post, 3..14);
}

fn window_post_by_sectors(circuit: PostCircuit, post: &Post, sectors: std::ops::Range<usize>) {
    const AT_ONCE: usize = 7;
    let starts: Vec<_> = sectors.clone().step_by(AT_ONCE).collect();
    let inputs = starts.into_par_iter().map(|first| {
        let some = first..(first + AT_ONCE).min(sectors.end);
        let ours = circuit.witness_of_sectors(&Cx::detached(), post, some.clone()).unwrap();
        let sector = |i: usize| post.sectors[i.min(post.sectors.len() - 1)].clone();
        let theirs = sectors_upstream(post, some.map(sector).collect());
        // The first input is ONE.
        assert_equal(&ours, &theirs.inputs_slice()[1..], theirs.aux_slice());
        ours.inputs
    });
    let inputs: Vec<_> = inputs.collect::<Vec<_>>().concat();
    let of_sector = 1 + circuit.challenges();
    let stated = circuit.public_inputs(post, 0).unwrap().split_off(1);
    assert_eq!(inputs, stated[of_sector * sectors.start..of_sector * sectors.end]);
}

/// Upstream's circuit with some sectors.
fn sectors_upstream(post: &Post, sectors: Vec<PostSector>) -> WitnessCS<Scalar> {
    struct Sectors<'a>(&'a Post, usize);
    impl WithTree for Sectors<'_> {
        type Output = WitnessCS<Scalar>;
        fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
            let Self(post, count) = self;
            let mut proof = post::upstream::partition_proof::<Tree>(post).unwrap();
            proof.sectors.truncate(count);
            let mut params = post::upstream::public_params(post::shape_of(post).unwrap(), post.version);
            params.sector_count = count;
            let inputs = post::upstream::public_inputs(post);
            let circuit = FallbackPoStCompound::<Tree>::circuit(
                &inputs,
                ComponentPrivateInputs::default(),
                &proof,
                &params,
                None,
            );
            synthesize_sectors(&circuit.unwrap())
        }
    }
    let count = sectors.len();
    let post = Post { sectors, ..post.clone_without_sectors() };
    with_tree(post::shape_of(&post).unwrap().sector, Sectors(&post, count))
}

/// A post but for its sectors.
trait WithoutSectors {
    fn clone_without_sectors(&self) -> Post;
}

impl WithoutSectors for Post {
    fn clone_without_sectors(&self) -> Post {
        Post { sectors: Vec::new(), ..*self }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let circuit = PostCircuit::of_size(PostKind::Window, 2048).unwrap();
    let refused = |spoil: &dyn Fn(&mut Post)| {
        let mut post = fixture::window_post(2048, 1).unwrap();
        spoil(&mut post);
        let error = circuit.witness(&Cx::detached(), &post, 0).unwrap_err();
        assert_eq!(circuit.public_inputs(&post, 0).unwrap_err().to_string(), error.to_string());
        error.to_string()
    };
    assert_eq!(
        refused(&|post| post.kind = PostKind::Winning),
        "a winning-post, and the circuit is for a window-post"
    );
    assert_eq!(refused(&|post| post.sectors.clear()), "sectors: 0 sectors, and the circuit has 1");
    assert_eq!(
        refused(&|post| post.sectors.extend_from_within(..)),
        "sectors: 4 sectors, and the circuit has 2"
    );
    assert_eq!(
        refused(&|post| post.sectors[1].challenges[9].siblings[3] = [0xff; 32]),
        "sectors[1].challenges[9]: a value of 32 bytes is not below the field's modulus"
    );
    assert_eq!(
        refused(&|post| post.sectors[1].challenges[9].node = 64),
        "sectors[1].challenges[9]: 65 leaves at the least, and the circuit has 64"
    );
    let partition = circuit.witness(&Cx::detached(), &fixture::window_post(2048, 1).unwrap(), 1);
    assert_eq!(partition.unwrap_err().to_string(), "partition 1: the input has 1");

    let circuit = SnapCircuit::of_size(2048).unwrap();
    let refused = |spoil: &dyn Fn(&mut Snap)| {
        let mut snap = fixture::snap(2048, 1).unwrap();
        spoil(&mut snap);
        circuit.witness(&Cx::detached(), &snap, 0).unwrap_err().to_string()
    };
    assert_eq!(refused(&|snap| snap.high_bits = 9), "high_bits: 9 bits, and the circuit has 1");
    assert_eq!(refused(&|snap| snap.partitions.clear()), "partitions: 0 partitions, and the circuit has 1");
    assert_eq!(
        refused(&|snap| snap.partitions[0].apex_leaves = Box::new([])),
        "partitions[0]: 0 apex leaves, and the circuit has 8"
    );
    assert_eq!(
        refused(&|snap| drop(snap.partitions[0].challenges.pop())),
        "partitions[0]: 9 challenges, and the circuit has 10"
    );
    assert_eq!(
        refused(&|snap| snap.partitions[0].challenges[7].data.siblings = Box::new([])),
        "partitions[0].challenges[7].data: 0 siblings, and the circuit has 6"
    );

    let cancelled = CancelToken::default();
    cancelled.cancel();
    let cx = Cx::detached().with_cancel(cancelled);
    assert!(matches!(
        circuit.witness(&cx, &fixture::snap(2048, 1).unwrap(), 0),
        Err(SynthError::Cancelled(_))
    ));
}

/// The circuits' constraints hold, and one that a false input violates is found.
#[test]
fn fixtures_satisfy_the_recorded_circuits() {
    fn satisfied<S: Statement>(statement: S, input: &mut S::Input, spoil: fn(&mut S::Input)) {
        let cx = Cx::detached();
        let circuit: cuzk_synth::FilecoinCircuit = statement.into();
        let recording = circuit.record().unwrap();
        assert_eq!(recording.size, statement.witness_size());
        check(&cx, &recording.r1cs, &statement.witness(&cx, input, 0).unwrap()).unwrap();
        spoil(input);
        let error = check(&cx, &recording.r1cs, &statement.witness(&cx, input, 0).unwrap());
        assert!(matches!(error, Err(SynthError::Unsatisfied { .. })));
    }
    for kind in [PostKind::Window, PostKind::Winning] {
        let mut post = fixture::SparsePost::new(kind, 2048, 5).unwrap().build();
        let circuit = PostCircuit::of_size(kind, 2048).unwrap();
        satisfied(circuit, &mut post, |post| post.sectors[0].challenges[3].leaf[0] ^= 1);
    }
    let circuit = SnapCircuit::of_size(2048).unwrap();
    satisfied(circuit, &mut fixture::snap(2048, 5).unwrap(), |snap| {
        snap.partitions[0].challenges[3].old.leaf[0] ^= 1;
    });
}
