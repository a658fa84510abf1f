//! The names of the registered seal proofs.

use cuzk_values::PoRepVariant;

use crate::SectorShape;

/// `filecoin_proofs_api::RegisteredSealProof`, in the order of its declaration:
/// the five published sector sizes of each variant.
pub(super) const SEAL_PROOFS: [&str; 20] = [
    "StackedDrg2KiBV1",
    "StackedDrg8MiBV1",
    "StackedDrg512MiBV1",
    "StackedDrg32GiBV1",
    "StackedDrg64GiBV1",
    "StackedDrg2KiBV1_1",
    "StackedDrg8MiBV1_1",
    "StackedDrg512MiBV1_1",
    "StackedDrg32GiBV1_1",
    "StackedDrg64GiBV1_1",
    "StackedDrg2KiBV1_1_Feat_SyntheticPoRep",
    "StackedDrg8MiBV1_1_Feat_SyntheticPoRep",
    "StackedDrg512MiBV1_1_Feat_SyntheticPoRep",
    "StackedDrg32GiBV1_1_Feat_SyntheticPoRep",
    "StackedDrg64GiBV1_1_Feat_SyntheticPoRep",
    "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep",
    "StackedDrg8MiBV1_2_Feat_NonInteractivePoRep",
    "StackedDrg512MiBV1_2_Feat_NonInteractivePoRep",
    "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep",
    "StackedDrg64GiBV1_2_Feat_NonInteractivePoRep",
];

/// `filecoin_proofs_api::seal::VanillaSealProof`: the names of `V1`, whatever the variant.
pub(super) const VANILLA_PROOFS: [&str; 5] =
    ["StackedDrg2KiBV1", "StackedDrg8MiBV1", "StackedDrg512MiBV1", "StackedDrg32GiBV1", "StackedDrg64GiBV1"];

/// The published sector sizes in that order, in nodes, as powers of two.
const LOG_NODES: [u8; 5] = [6, 18, 24, 30, 31];

const VARIANTS: [PoRepVariant; 4] =
    [PoRepVariant::V1, PoRepVariant::V1_1, PoRepVariant::Synthetic, PoRepVariant::NonInteractive];

/// The name of the registered seal proof, as `StackedDrg32GiBV1_1`. There is
/// none for 4 KiB, 16 KiB, 32 KiB, 16 MiB and 1 GiB.
pub fn seal_proof_name(shape: SectorShape, variant: PoRepVariant) -> Option<&'static str> {
    seal_proof_index(shape, variant).map(|i| SEAL_PROOFS[i])
}

/// The `porep_id` of a registered seal proof: its position in the list, as 8
/// bytes little-endian, and zeros (`filecoin-proofs-api`, `registry.rs`).
pub fn porep_id(shape: SectorShape, variant: PoRepVariant) -> Option<[u8; 32]> {
    let mut id = [0; 32];
    id[0] = seal_proof_index(shape, variant)? as u8;
    Some(id)
}

pub(super) fn size_index(shape: SectorShape) -> Option<usize> {
    LOG_NODES.iter().position(|log_nodes| *log_nodes == shape.log_nodes)
}

pub(super) fn seal_proof_index(shape: SectorShape, variant: PoRepVariant) -> Option<usize> {
    Some(LOG_NODES.len() * variant as usize + size_index(shape)?)
}

/// The sector's nodes, as a power of two, and the variant.
pub(super) fn seal_proof(index: usize) -> (usize, PoRepVariant) {
    (LOG_NODES[index % LOG_NODES.len()].into(), VARIANTS[index / LOG_NODES.len()])
}
