//! Sectors of 2 KiB that upstream seals and updates.
#![allow(dead_code, reason = "no test needs it all")]

use std::path::Path;

use filecoin_proofs_api::seal;
use filecoin_proofs_api::update::empty_sector_update_encode_into;
use filecoin_proofs_api::{
    ApiFeature, PieceInfo, RegisteredSealProof, RegisteredUpdateProof, SectorId, UnpaddedBytesAmount,
};

pub(crate) const MINER: u64 = 1000;
pub(crate) const TICKET: [u8; 32] = [1; 32];
const UNPADDED: UnpaddedBytesAmount = UnpaddedBytesAmount(2048 / 128 * 127);

/// The miner as the prover sees it: its number as LEB128.
pub(crate) fn prover_id() -> [u8; 32] {
    let mut prover = [0; 32];
    prover[..2].copy_from_slice(&[(MINER & 0x7f | 0x80) as u8, (MINER >> 7) as u8]);
    prover
}

/// Data of a sector of one piece, staged, and the piece.
fn staged(seed: u64, path: &Path) -> [PieceInfo; 1] {
    let data: Vec<u8> = (0..UNPADDED.0).map(|i| (i * (i + seed) % 251) as u8).collect();
    let mut file = std::fs::File::options().read(true).write(true).create_new(true).open(path).unwrap();
    let registered = RegisteredSealProof::StackedDrg2KiBV1_1;
    [seal::add_piece(registered, &data[..], &mut file, UNPADDED, &[]).unwrap().0]
}

/// Seals a sector into `sealed-N` and `cache-N`, and gives its `comm_r`.
pub(crate) fn seal(registered: RegisteredSealProof, number: u64, folder: &Path) -> [u8; 32] {
    let path = |name: &str| folder.join(format!("{name}-{number}"));
    let (staged_path, sealed, cache) = (path("staged"), path("sealed"), path("cache"));
    std::fs::create_dir(&cache).unwrap();
    std::fs::write(&sealed, []).unwrap();
    let pieces = staged(number, &staged_path);
    let prover = prover_id();
    let sector = SectorId::from(number);
    let phase1 = seal::seal_pre_commit_phase1(
        registered,
        &cache,
        &staged_path,
        &sealed,
        prover,
        sector,
        TICKET,
        &pieces,
    );
    let pre_commit = seal::seal_pre_commit_phase2(phase1.unwrap(), &cache, &sealed).unwrap();
    let comm_r = pre_commit.comm_r;
    if registered.feature_enabled(ApiFeature::SyntheticPoRep) {
        seal::generate_synth_proofs(&cache, &sealed, prover, sector, TICKET, pre_commit, &pieces).unwrap();
    }
    comm_r
}

/// Gives a sealed sector data, into `updated` and `update-cache`.
pub(crate) fn update(number: u64, folder: &Path) {
    let path = |name: &str| folder.join(format!("{name}-{number}"));
    let (new, cache, data) = (folder.join("updated"), folder.join("update-cache"), folder.join("data"));
    std::fs::create_dir(&cache).unwrap();
    let pieces = staged(7, &data);
    // Upstream maps the file that it writes.
    std::fs::File::create(&new).unwrap().set_len(2048).unwrap();
    let registered = RegisteredUpdateProof::StackedDrg2KiBV1;
    empty_sector_update_encode_into(registered, &new, &cache, path("sealed"), path("cache"), &data, &pieces)
        .unwrap();
}
