//! The PoRep circuit of each sector size.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use cuzk_pipeline_core::{CancelToken, Cx};
use cuzk_synth::c1::upstream::{WithTree, public_inputs, setup_params, with_tree};
use cuzk_synth::{
    PorepCircuit, SectorShape, Statement, SynthError, WitnessSize, c1, check, fixture, record, witness,
};
use cuzk_testing::circuits::{self, C1_2KIB};
use cuzk_values::{C1, Matrix, PoRepVariant, R1cs, Scalar, Witness};
use ff::Field;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::PoRepConfig;
use filecoin_proofs_api::{ApiVersion, MerkleTreeTrait};
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{StackedCompound, StackedDrg};

fn circuit(shape: SectorShape) -> PorepCircuit {
    PorepCircuit::of_size(shape.sector_size()).unwrap()
}

fn small() -> impl Iterator<Item = SectorShape> {
    SectorShape::ALL.into_iter().filter(|shape| shape.log_nodes <= 10)
}

fn c1_2kib() -> C1 {
    c1::decode(C1_2KIB).unwrap()
}

fn same_rows(one: &Matrix, other: &Matrix) -> bool {
    let rows = one.rows_in(0..one.rows()).zip(other.rows_in(0..other.rows()));
    one.rows() == other.rows() && one.entries() == other.entries() && rows.into_iter().all(|(a, b)| a.eq(b))
}

/// The circuit that is recorded as one challenge and repeated is the one that
/// is recorded whole, with values.
#[test]
fn repeated_challenges_are_the_whole_circuit() {
    let ours = PorepCircuit::of_size(2048).unwrap().record().unwrap();
    let whole = record(circuits::porep_2kib()).unwrap();
    // The whole circuit stores every place.
    assert_eq!(WitnessSize { places: ours.size.wide, ..ours.size }, whole.size);
    let R1cs { coefficients, a, b, c, densities, .. } = &ours.r1cs;
    assert_eq!(coefficients.values(), whole.r1cs.coefficients.values());
    assert_eq!(*densities, whole.r1cs.densities);
    for (ours, whole) in [(a, &whole.r1cs.a), (b, &whole.r1cs.b), (c, &whole.r1cs.c)] {
        assert!(same_rows(ours, whole));
    }
    assert_eq!(ours.r1cs.query_lengths(), whole.r1cs.query_lengths());
}

/// Against the counts of a counting constraint system, which recording would take minutes to give.
#[test]
fn sizes_are_those_counted() {
    let counted =
        [2_685_673, 2_786_423, 2_974_867, 3_075_617, 3_842_449, 3_943_199, 4_420_837, 4_521_587, 130_169_893];
    for (shape, aux) in SectorShape::ALL.into_iter().zip(counted) {
        let size = circuit(shape).witness_size();
        let inputs = if shape.log_nodes < 30 { 40 } else { 328 };
        assert_eq!((size.aux, size.inputs), (aux, inputs), "{shape}");
    }
}

#[test]
fn parameter_files_have_upstreams_names() {
    struct Upstream(SectorShape);
    impl WithTree for Upstream {
        type Output = String;
        fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> String {
            let config = PoRepConfig::new_groth16(self.0.sector_size(), [5; 32], ApiVersion::V1_1_0);
            config.get_cache_params_path::<Tree>().unwrap().file_stem().unwrap().to_string_lossy().into()
        }
    }
    for shape in SectorShape::ALL {
        assert_eq!(circuit(shape).parameter_id().unwrap(), with_tree(shape, Upstream(shape)));
    }
    let id = |size| PorepCircuit::of_size(size).unwrap().parameter_id().unwrap();
    assert!(id(2 << 10).contains("-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138"));
    assert!(id(32 << 30).contains("-merkletree-poseidon_hasher-8-8-0-sha256_hasher-82a357d2"));
}

#[test]
fn a_real_c1_gives_upstreams_witness() {
    let (circuit, c1) = (PorepCircuit::of_size(2048).unwrap(), c1_2kib());
    let ours = circuit.witness(&Cx::detached(), &c1, 0).unwrap();
    assert!(ours == witness(&Cx::detached(), circuits::porep_2kib(), &circuit.witness_size()).unwrap());
    assert_eq!(ours.inputs, circuit.public_inputs(&c1, 0).unwrap());
    assert_eq!(ours.inputs, verifiers_inputs(&c1, 0, PoRepVariant::V1_1));
}

/// What a verifier computes from the commitments, the seed and the graph.
fn verifiers_inputs(c1: &C1, partition: usize, variant: PoRepVariant) -> Vec<Scalar> {
    struct Verifier<'a>(SectorShape, &'a C1, usize, PoRepVariant);
    impl WithTree for Verifier<'_> {
        type Output = Vec<Scalar>;
        fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Vec<Scalar> {
            let Self(shape, c1, k, variant) = self;
            let porep_id = c1::porep_id(shape, variant).unwrap();
            let setup = setup_params(shape, variant, porep_id);
            let params = StackedDrg::<Tree, Sha256Hasher>::setup(&setup).unwrap();
            let inputs = public_inputs(c1, Some(k));
            let inputs =
                StackedCompound::<Tree, Sha256Hasher>::generate_public_inputs(&inputs, &params, Some(k));
            [Scalar::ONE].into_iter().chain(inputs.unwrap()).collect()
        }
    }
    let shape = c1::shape_of(c1).unwrap();
    with_tree(shape, Verifier(shape, c1, partition, variant))
}

fn satisfied(shape: SectorShape, partition: usize) {
    let (circuit, c1) = (circuit(shape), fixture::porep(shape.sector_size(), 7).unwrap());
    let cx = Cx::detached();
    let recording = circuit.record().unwrap();
    assert_eq!(recording.size, circuit.witness_size(), "{shape}");
    let witness = circuit.witness(&cx, &c1, partition).unwrap();
    assert!(witness.aux.wide().len() <= recording.size.wide);
    check(&cx, &recording.r1cs, &witness).unwrap();
    if c1::porep_id(shape, PoRepVariant::V1_1).is_some() {
        assert_eq!(witness.inputs, verifiers_inputs(&c1, partition, PoRepVariant::V1_1));
    }
}

#[test]
fn sparse_sectors_satisfy_the_small_circuits() {
    small().for_each(|shape| satisfied(shape, 0));
}

/// Needs 2 GiB and a minute: `cargo nextest run -p cuzk-synth --release --run-ignored only porep`.
#[test]
#[ignore = "needs 2 GiB and a minute"]
fn sparse_sectors_satisfy_the_middle_circuits() {
    let middle = SectorShape::ALL.into_iter().filter(|shape| (11..30).contains(&shape.log_nodes));
    middle.for_each(|shape| satisfied(shape, 0));
}

/// Needs 2 GiB and a few minutes: `cargo nextest run -p cuzk-synth --release --run-ignored only porep`.
#[test]
#[ignore = "needs 2 GiB and minutes"]
fn a_sparse_sector_of_32_gib_satisfies_its_circuit() {
    satisfied(SectorShape::of_size(32 << 30).unwrap(), 3);
}

#[test]
fn what_does_not_fit_is_refused() {
    let circuit = PorepCircuit::of_size(2048).unwrap();
    let refused = |spoil: &dyn Fn(&mut C1)| {
        let mut c1 = c1_2kib();
        spoil(&mut c1);
        let error = circuit.witness(&Cx::detached(), &c1, 0).unwrap_err();
        assert_eq!(circuit.public_inputs(&c1, 0).unwrap_err().to_string(), error.to_string());
        error.to_string()
    };
    assert_eq!(
        refused(&|c1| c1.sector_size = 4096),
        "sector size 4096 bytes, and the circuit is for sectors of 2048"
    );
    assert_eq!(refused(&|c1| c1.partitions.clear()), "partition 0: the input has 0");
    assert_eq!(
        refused(&|c1| drop(c1.partitions[0].pop())),
        "partitions[0]: 1 challenges, and the circuit has 2"
    );
    assert_eq!(
        refused(&|c1| c1.partitions[0][1].exp_parents[7].labels = Box::new([[0; 32]])),
        "partitions[0][1].exp_parents[7]: 1 labels, and the circuit has 2"
    );
    assert_eq!(
        refused(&|c1| c1.partitions[0][1].data.siblings = Box::new([])),
        "partitions[0][1].data: 0 siblings, and the circuit has 6"
    );
    assert_eq!(
        refused(&|c1| c1.partitions[0][0].replica.tree.log_arity = 0),
        "partitions[0][0].replica: 0 bits of a child's index, and the circuit has 3"
    );
    assert_eq!(
        refused(&|c1| c1.partitions[0][0].column.path.node = 64),
        "partitions[0][0].column: 65 leaves at the least, and the circuit has 64"
    );
    let not_canonical = "a value of 32 bytes is not below the field's modulus";
    assert_eq!(
        refused(&|c1| c1.partitions[0][0].drg_parents[2].path.siblings[3] = [0xff; 32]),
        format!("partitions[0][0].drg_parents[2]: {not_canonical}")
    );
    assert_eq!(refused(&|c1| c1.comm_c = [0xff; 32]), format!("comm_c: {not_canonical}"));

    let cancelled = CancelToken::default();
    cancelled.cancel();
    let cx = Cx::detached().with_cancel(cancelled);
    assert!(matches!(circuit.witness(&cx, &c1_2kib(), 0), Err(SynthError::Cancelled(_))));
}

/// A C1 that contradicts itself gives a witness that [`check`] refuses.
#[test]
fn a_false_statement_violates_a_constraint() {
    let (circuit, cx) = (PorepCircuit::of_size(2048).unwrap(), Cx::detached());
    let r1cs = circuit.record().unwrap().r1cs;
    let spoils: [fn(&mut C1); 2] =
        [|c1| c1.partitions[0][1].exp_parents[1].labels[0][0] ^= 1, |c1| c1.replica_id[0] ^= 1];
    for spoil in spoils {
        let mut c1 = c1_2kib();
        spoil(&mut c1);
        let witness: Witness = circuit.witness(&cx, &c1, 0).unwrap();
        assert!(matches!(check(&cx, &r1cs, &witness), Err(SynthError::Unsatisfied { .. })));
    }
}
