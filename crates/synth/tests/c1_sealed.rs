//! C1s of sectors that upstream has sealed, of every variant.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::Command;

use cuzk_synth::c1::{self, Encoding, Identity};
use cuzk_synth::{SectorShape, fixture};
use cuzk_values::{C1, PoRepVariant};
use filecoin_proofs_api::seal::{self, SealCommitPhase1Output};
use filecoin_proofs_api::{ApiFeature, RegisteredSealProof, SectorId, UnpaddedBytesAmount};
use fs_err::File;

const VARIANTS: [(PoRepVariant, RegisteredSealProof); 4] = [
    (PoRepVariant::V1, RegisteredSealProof::StackedDrg2KiBV1),
    (PoRepVariant::V1_1, RegisteredSealProof::StackedDrg2KiBV1_1),
    (PoRepVariant::Synthetic, RegisteredSealProof::StackedDrg2KiBV1_1_Feat_SyntheticPoRep),
    (PoRepVariant::NonInteractive, RegisteredSealProof::StackedDrg2KiBV1_2_Feat_NonInteractivePoRep),
];
const MINER: u64 = 1001;
const SECTOR: u64 = 42;

/// In a process of its own, since upstream takes the folder of its parents'
/// cache from the environment.
#[test]
fn sealed_sectors_of_every_variant_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "seal_and_read", "--ignored", "--nocapture"])
        .current_dir(folder.path())
        .env("FIL_PROOFS_PARENT_CACHE", folder.path())
        .output()
        .unwrap();
    let said = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(child.status.success(), "{}", said.concat());
}

#[test]
#[ignore = "run by `sealed_sectors_of_every_variant_are_read`"]
fn seal_and_read() {
    for (variant, registered) in VARIANTS {
        let theirs = seal(registered, tempfile::tempdir().unwrap().path());
        let json = serde_json::to_vec(&theirs).unwrap();
        let ours = c1::decode(&json[..]).unwrap();
        assert_eq!(ours.variant, Some(variant));
        c1::check_trees(&ours).unwrap();
        let known = |sector| Identity {
            prover_id: Some(c1::prover_id(MINER)),
            sector_number: Some(sector),
            porep_id: None,
        };
        assert!(c1::check_identity(&ours, &known(SECTOR)).unwrap());
        assert!(c1::check_identity(&ours, &known(SECTOR + 1)).is_err());

        let written = |c1: &C1, encoding| {
            let mut bytes = Vec::new();
            c1::encode(c1, encoding, &mut bytes).unwrap();
            bytes
        };
        assert_eq!(written(&ours, Encoding::ApiJson), json);
        assert_eq!(written(&ours, Encoding::ApiBincode), bincode::serialize(&theirs).unwrap());
        // Without its name the variant is found by the challenges.
        let nameless = c1::decode(&written(&ours, Encoding::ProofsJson)[..]).unwrap();
        assert_eq!(nameless, C1 { variant: None, ..ours });
    }
}

/// All phases up to C1, of a sector of one piece.
fn seal(registered: RegisteredSealProof, cache: &Path) -> SealCommitPhase1Output {
    let unsealed = SectorShape::of_size(2 << 10).unwrap().sector_size() / 128 * 127;
    let data: Vec<u8> = (0..unsealed).map(|i| (i * i % 251) as u8).collect();
    let (staged, sealed) = (cache.join("staged"), cache.join("sealed"));
    let mut file = File::options().read(true).write(true).create_new(true).open(&staged).unwrap();
    let piece = seal::add_piece(registered, &data[..], &mut file, UnpaddedBytesAmount(unsealed), &[]);
    let pieces = [piece.unwrap().0];
    File::create(&sealed).unwrap();

    let (prover, sector, ticket, seed) = (c1::prover_id(MINER), SectorId::from(SECTOR), [1; 32], [2; 32]);
    let phase1 =
        seal::seal_pre_commit_phase1(registered, cache, &staged, &sealed, prover, sector, ticket, &pieces);
    let pre_commit = seal::seal_pre_commit_phase2(phase1.unwrap(), cache, &sealed).unwrap();
    if registered.feature_enabled(ApiFeature::SyntheticPoRep) {
        let pre_commit = pre_commit.clone();
        seal::generate_synth_proofs(cache, &sealed, prover, sector, ticket, pre_commit, &pieces).unwrap();
    }
    seal::seal_commit_phase1(cache, &sealed, prover, sector, ticket, seed, pre_commit, &pieces).unwrap()
}

/// A sparse sector has what a sealed one of its size has, save the values.
#[test]
fn sparse_sectors_are_as_long_as_sealed_ones() {
    let real = c1::decode(&include_bytes!("../../testing/fixtures/c1-2kib.json")[..]).unwrap();
    let sparse = fixture::porep(2 << 10, 1).unwrap();
    let length = |c1| {
        let mut bytes = Vec::new();
        c1::encode(c1, Encoding::ProofsBincode, &mut bytes).unwrap();
        bytes.len()
    };
    assert_eq!(length(&real), length(&sparse));
}
