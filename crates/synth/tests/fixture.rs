//! Sparse sectors, judged by upstream.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::time::Instant;

use cuzk_synth::c1;
use cuzk_synth::c1::upstream::{WithTree, partition_proofs, public_inputs, with_tree};
use cuzk_synth::fixture::SparsePorep;
use cuzk_synth::input::InputError;
use cuzk_synth::{SectorShape, fixture};
use cuzk_values::{C1, PoRepVariant};
use filecoin_proofs::constants::{DefaultPieceHasher, DefaultTreeHasher};
use filecoin_proofs::parameters::public_params;
use filecoin_proofs::{MerkleTreeTrait, PoRepConfig, PoRepProofPartitions, SectorSize};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::StackedDrg;

/// Upstream's own check of all vanilla proofs.
struct VerifyAllPartitions<'a> {
    c1: &'a C1,
    sector: SparsePorep,
}

impl WithTree for VerifyAllPartitions<'_> {
    type Output = bool;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = DefaultTreeHasher>>(self) -> bool {
        let Self { c1, sector } = self;
        let config = PoRepConfig {
            sector_size: SectorSize(c1.sector_size),
            partitions: PoRepProofPartitions(c1.partitions.len() as u8),
            porep_id: sector.porep_id(),
            api_version: match sector.variant() {
                PoRepVariant::V1 => ApiVersion::V1_0_0,
                _ => ApiVersion::V1_1_0,
            },
            api_features: vec![],
        };
        let params = public_params::<Tree>(&config).unwrap();
        let inputs = public_inputs(c1, None);
        let partition = |k| partition_proofs::<Tree>(c1, k).unwrap();
        let proofs: Vec<_> = (0..c1.partitions.len()).map(partition).collect();
        StackedDrg::<Tree, DefaultPieceHasher>::verify_all_partitions(&params, &inputs, &proofs).unwrap()
    }
}

fn accepted(sector: SparsePorep, shape: SectorShape) -> C1 {
    let c1 = sector.build().unwrap();
    assert!(with_tree(shape, VerifyAllPartitions { c1: &c1, sector }), "{shape}: {sector:?}");
    c1
}

fn sector(shape: SectorShape, seed: u64) -> SparsePorep {
    SparsePorep::new(shape.sector_size(), seed).unwrap()
}

#[test]
fn upstream_accepts_every_test_size() {
    for shape in SectorShape::ALL.into_iter().filter(|shape| shape.log_nodes < 30) {
        for seed in 0..3 {
            accepted(sector(shape, seed), shape);
        }
        accepted(sector(shape, 3).legacy(), shape);
    }
}

/// In a sector of 64 nodes challenges meet each other's parents, and node 1.
#[test]
fn upstream_accepts_many_small_sectors() {
    let shape = SectorShape::ALL[0];
    let mut first_nodes = 0;
    for seed in 0..300 {
        let c1 = accepted(sector(shape, seed).miner(seed).sector_number(seed << 40), shape);
        first_nodes += c1.partitions[0].iter().filter(|proof| proof.challenge() == 1).count();
    }
    assert!(first_nodes > 0);
}

#[test]
fn upstream_accepts_32gib() {
    production(SectorShape::of_nodes(30).unwrap());
}

#[test]
fn upstream_accepts_64gib() {
    production(SectorShape::of_nodes(31).unwrap());
}

fn production(shape: SectorShape) {
    let start = Instant::now();
    let sector = sector(shape, 1);
    let c1 = sector.build().unwrap();
    println!("{shape}: built in {:.2?}", start.elapsed());
    let start = Instant::now();
    assert!(with_tree(shape, VerifyAllPartitions { c1: &c1, sector }));
    println!("{shape}: verified by upstream in {:.2?}", start.elapsed());

    let start = Instant::now();
    c1::check_trees(&c1).unwrap();
    println!("{shape}: check_trees {:.2?}", start.elapsed());

    let mut bytes = Vec::new();
    c1::encode(&c1, c1::Encoding::LotusJson, &mut bytes).unwrap();
    let start = Instant::now();
    assert_eq!(c1::decode(&bytes[..]).unwrap(), c1);
    println!("{shape}: decoded {} bytes in {:.2?}", bytes.len(), start.elapsed());
}

#[test]
fn a_seed_gives_the_same_sector_and_another_another() {
    let shape = SectorShape::ALL[4];
    let one = sector(shape, 1).build().unwrap();
    assert_eq!(one, fixture::porep(shape.sector_size(), 1).unwrap());
    assert_ne!(one.comm_d, sector(shape, 2).build().unwrap().comm_d);
    let moved = sector(shape, 1).sector_number(2).build().unwrap();
    assert_eq!(one.comm_d, moved.comm_d);
    assert_ne!(one.replica_id, moved.replica_id);
    let known = c1::Identity { prover_id: Some(c1::prover_id(1000)), ..Default::default() };
    assert!(c1::check_identity(&one, &known).unwrap());
}

#[test]
fn sizes_that_do_not_exist_are_refused() {
    for bytes in [0, 1, 1 << 10, (1 << 11) + 1, 1 << 37, u64::MAX] {
        assert!(matches!(fixture::porep(bytes, 0), Err(InputError::SectorSize { bytes: b }) if b == bytes));
    }
}
