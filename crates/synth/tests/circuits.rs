//! Filecoin's circuits of all statements and sector sizes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::time::Instant;

use cuzk_pipeline_core::Value as _;
use cuzk_synth::c1::upstream::{WithTree, with_tree};
use cuzk_synth::{FilecoinCircuit, Recording, SectorShape, WitnessSize, record};
use cuzk_values::{Matrix, PostKind, R1cs};
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_proofs::{PoStConfig, PoStType};
use filecoin_proofs_api::{ApiVersion, MerkleTreeTrait};

fn circuit(name: &str) -> FilecoinCircuit {
    name.parse().unwrap()
}

/// What a counting constraint system of other authors has counted of the whole circuits (millions
/// of entries to as many digits as they gave).
struct Counts {
    name: &'static str,
    inputs: usize,
    aux: usize,
    rows: usize,
    entries: [f64; 3],
    densities: [usize; 2],
}

const fn counts(
    name: &'static str,
    inputs: usize,
    aux: usize,
    rows: usize,
    entries: [f64; 3],
    densities: [usize; 2],
) -> Counts {
    Counts { name, inputs, aux, rows, entries, densities }
}

const COUNTED: [Counts; 16] = [
    counts("porep-2KiB", 40, 2_685_673, 2_687_961, [6.42, 2.69, 5.82], [2_674_908, 685_521]),
    counts("porep-4KiB", 40, 2_786_423, 2_788_773, [6.70, 2.79, 6.03], [2_773_158, 716_039]),
    counts("porep-16KiB", 40, 2_974_867, 2_977_213, [7.16, 2.98, 6.43], [2_959_930, 766_963]),
    counts("porep-32KiB", 40, 3_075_617, 3_078_025, [7.44, 3.08, 6.63], [3_058_180, 797_481]),
    counts("porep-8MiB", 40, 3_842_449, 3_844_969, [9.39, 3.85, 8.23], [3_814_996, 1_011_289]),
    counts("porep-16MiB", 40, 3_943_199, 3_945_781, [9.66, 3.95, 8.44], [3_913_246, 1_041_807]),
    counts("porep-512MiB", 40, 4_420_837, 4_423_473, [10.87, 4.43, 9.44], [4_385_040, 1_174_173]),
    counts("porep-1GiB", 40, 4_521_587, 4_524_285, [11.15, 4.53, 9.65], [4_483_290, 1_204_691]),
    counts("porep-32GiB", 328, 130_169_893, 130_278_869, [309.4, 130.3, 282.7], [129_753_292, 33_112_281]),
    counts("winning-post-2KiB", 133, 91_674, 90_883, [0.62, 0.09, 0.11], [69_300, 66_792]),
    counts("winning-post-32GiB", 133, 375_210, 370_723, [2.55, 0.38, 0.47], [284_196, 272_184]),
    counts("window-post-2KiB", 23, 22_128, 21_889, [0.15, 0.02, 0.03], [16_770, 16_028]),
    counts(
        "window-post-32GiB",
        25_840,
        126_902_376,
        125_305_057,
        [862.4, 127.4, 157.4],
        [96_179_805, 91_925_766],
    ),
    counts("snap-2KiB", 5, 1_703_569, 1_705_044, [4.03, 1.71, 3.62], [1_697_189, 444_403]),
    counts("snap-8MiB", 5, 9_998_039, 10_007_508, [23.3, 10.0, 21.3], [9_981_015, 2_567_921]),
    counts("snap-32GiB", 5, 80_978_488, 81_049_504, [190.4, 81.1, 172.2], [80_743_581, 20_983_607]),
];

fn counted(known: &Counts) {
    let started = Instant::now();
    let Recording { r1cs, size } = circuit(known.name).record().unwrap();
    let repeat = r1cs.a.repeat();
    println!(
        "{}: {:.1} s, {} bytes, {} coefficients, {} arguments",
        known.name,
        started.elapsed().as_secs_f64(),
        r1cs.footprint().host,
        r1cs.coefficients.values().len(),
        repeat.arguments(0).len(),
    );
    assert_eq!((r1cs.inputs, r1cs.aux, r1cs.constraints()), (known.inputs, known.aux, known.rows));
    assert_eq!((size.inputs, size.aux), (known.inputs, known.aux));
    let half_digit = if known.rows < 10_000_000 { 0.005_001 } else { 0.050_001 };
    for (matrix, known) in [&r1cs.a, &r1cs.b, &r1cs.c].into_iter().zip(known.entries) {
        assert!((matrix.entries() as f64 / 1e6 - known).abs() <= half_digit, "{}", matrix.entries());
    }
    let densities = &r1cs.densities;
    assert_eq!([&densities.a_aux, &densities.b_aux].map(cuzk_values::Bits::count_ones), known.densities);
    assert_eq!(densities.b_inputs.iter_ones().collect::<Vec<_>>(), [0]);
    assert_eq!(repeat.count as usize, circuit(known.name).blocks().0);
}

/// The circuits of at most `2^22` constraints.
#[test]
fn small_circuits_have_the_sizes_counted() {
    COUNTED.iter().filter(|known| known.rows < 2_700_000).for_each(counted);
}

/// The others:
/// `cargo nextest run --release -p cuzk-synth --test circuits --run-ignored only --no-capture`
#[test]
#[ignore = "a minute"]
fn large_circuits_have_the_sizes_counted() {
    COUNTED.iter().filter(|known| known.rows >= 2_700_000).for_each(counted);
}

fn same_rows(one: &Matrix, other: &Matrix) -> bool {
    let mut rows = one.rows_in(0..one.rows()).zip(other.rows_in(0..other.rows()));
    one.rows() == other.rows() && one.entries() == other.entries() && rows.all(|(a, b)| a.eq(b))
}

/// What is stored once equals upstream's circuit, synthesised and stored whole.
fn whole(circuit: FilecoinCircuit) {
    let ours = circuit.record().unwrap();
    let whole = record(circuit.blank()).unwrap();
    // The whole circuit stores every place.
    assert_eq!(WitnessSize { places: ours.size.wide, ..ours.size }, whole.size, "{circuit}");
    assert_eq!((whole.r1cs.a.repeat().rows.len(), whole.r1cs.a.repeat().count), (0, 1));
    let R1cs { coefficients, a, b, c, densities, .. } = &ours.r1cs;
    assert_eq!(coefficients.values(), whole.r1cs.coefficients.values(), "{circuit}");
    for (ours, whole) in [(a, &whole.r1cs.a), (b, &whole.r1cs.b), (c, &whole.r1cs.c)] {
        assert!(same_rows(ours, whole), "{circuit}");
    }
    assert_eq!(*densities, whole.r1cs.densities, "{circuit}");
}

/// The 2 KiB PoRep is in `porep.rs`.
#[test]
fn the_smallest_templates_are_the_whole_circuits() {
    whole(circuit("snap-2KiB"));
    let posts = FilecoinCircuit::all().filter(|circuit| matches!(circuit, FilecoinCircuit::Post(_)));
    posts.filter(|circuit| circuit.shape().log_nodes <= 10).for_each(whole);
}

/// All circuits of at most 2^24 constraints:
/// `cargo nextest run --release -p cuzk-synth --test circuits --run-ignored only --no-capture`
#[test]
#[ignore = "minutes"]
fn templates_are_the_whole_circuits() {
    for circuit in FilecoinCircuit::all() {
        let large = circuit.shape().log_nodes >= 30;
        let winning =
            matches!(circuit, FilecoinCircuit::Post(circuit) if circuit.kind() == PostKind::Winning);
        let huge_update = matches!(circuit, FilecoinCircuit::Snap(_)) && circuit.shape().log_nodes > 19;
        if winning || !large && !huge_update {
            whole(circuit);
            println!("{circuit}");
        }
    }
}

#[test]
fn parameter_files_of_posts_have_upstreams_names() {
    struct Upstream(PoStConfig);
    impl WithTree for Upstream {
        type Output = String;
        fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> String {
            let path = self.0.get_cache_params_path::<Tree>().unwrap();
            path.file_stem().unwrap().to_string_lossy().into()
        }
    }
    let sectors = |shape: SectorShape| {
        let known = filecoin_proofs::constants::WINDOW_POST_SECTOR_COUNT.read().unwrap();
        known[&shape.sector_size()]
    };
    for shape in SectorShape::ALL {
        let config = |typ, challenge_count, sector_count| PoStConfig {
            typ,
            priority: false,
            challenge_count,
            sector_count,
            sector_size: shape.sector_size().into(),
            api_version: ApiVersion::V1_2_0,
        };
        let window =
            config(PoStType::Window, filecoin_proofs::constants::WINDOW_POST_CHALLENGE_COUNT, sectors(shape));
        let winning = config(
            PoStType::Winning,
            filecoin_proofs::constants::WINNING_POST_CHALLENGE_COUNT,
            filecoin_proofs::constants::WINNING_POST_SECTOR_COUNT,
        );
        for (name, config) in [("window-post", window), ("winning-post", winning)] {
            let ours = circuit(&format!("{name}-{shape}")).parameter_id().unwrap();
            assert_eq!(ours, with_tree(shape, Upstream(config)));
        }
    }
}

/// The names in filecoin-proofs' `parameters.json`, shortened.
#[test]
fn parameter_files_have_the_published_names() {
    for (name, published) in [
        (
            "porep-32GiB",
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-82a357d2",
        ),
        (
            "porep-64GiB",
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-96f1b4a0",
        ),
        ("window-post-32GiB", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-0377ded6"),
        ("winning-post-32GiB", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-559e581f"),
        ("window-post-64GiB", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-2627e400"),
        ("winning-post-64GiB", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-b6209862"),
        ("snap-32GiB", "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-3b7f44a9"),
        ("snap-64GiB", "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-102e1444"),
    ] {
        assert!(circuit(name).parameter_id().unwrap().starts_with(published), "{name}");
    }
}
