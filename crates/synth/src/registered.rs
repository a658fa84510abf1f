//! Filecoin's registered proofs: numbers, names, and what they stand for.
//!
//! The numbers are those of `filecoin-proofs-api` (`registry.rs`, the order of
//! each enum) and of go-state-types (`abi/sector.go`), which agree. The names
//! are those of `filecoin-proofs-api`; where go-state-types has another one it
//! is understood too, with or without its prefix, as in
//! `RegisteredPoStProof_StackedDrgWindow32GiBV1_1`.
//!
//! Each kind has proofs for the five published sector sizes only. The others
//! are told by their size.

use cuzk_values::{PoRepVariant, PostKind, PostVersion};

use crate::SectorShape;

/// The published sector sizes in the order of all numbers, in nodes, as powers of two.
const LOG_NODES: [u8; 5] = [6, 18, 24, 30, 31];

/// How many there are.
const SIZES: usize = LOG_NODES.len();

/// `RegisteredSealProof`: the sector sizes of each variant.
pub(crate) const SEAL_PROOFS: [&str; 4 * SIZES] = [
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

/// `RegisteredPoStProof`: winning, window of version 1, window of version 1.1
/// (which filecoin-proofs-api calls 1.2, and go-state-types 1.1).
const POST_PROOFS: [&str; 3 * SIZES] = [
    "StackedDrgWinning2KiBV1",
    "StackedDrgWinning8MiBV1",
    "StackedDrgWinning512MiBV1",
    "StackedDrgWinning32GiBV1",
    "StackedDrgWinning64GiBV1",
    "StackedDrgWindow2KiBV1",
    "StackedDrgWindow8MiBV1",
    "StackedDrgWindow512MiBV1",
    "StackedDrgWindow32GiBV1",
    "StackedDrgWindow64GiBV1",
    "StackedDrgWindow2KiBV1_2",
    "StackedDrgWindow8MiBV1_2",
    "StackedDrgWindow512MiBV1_2",
    "StackedDrgWindow32GiBV1_2",
    "StackedDrgWindow64GiBV1_2",
];

/// `RegisteredUpdateProof`, and the variants of `filecoin_proofs_api::seal::VanillaSealProof`.
pub(crate) const VANILLA_PROOFS: [&str; SIZES] =
    ["StackedDrg2KiBV1", "StackedDrg8MiBV1", "StackedDrg512MiBV1", "StackedDrg32GiBV1", "StackedDrg64GiBV1"];

const VARIANTS: [PoRepVariant; 4] =
    [PoRepVariant::V1, PoRepVariant::V1_1, PoRepVariant::Synthetic, PoRepVariant::NonInteractive];

const POSTS: [(PostKind, PostVersion); 3] = [
    (PostKind::Winning, PostVersion::V1),
    (PostKind::Window, PostVersion::V1),
    (PostKind::Window, PostVersion::V1_1),
];

/// What a registered seal proof stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealProof {
    /// The sector's shape.
    pub shape: SectorShape,
    /// How it is sealed.
    pub variant: PoRepVariant,
}

/// What a registered proof of spacetime stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostProof {
    /// The sectors' shape.
    pub shape: SectorShape,
    /// Window or winning.
    pub kind: PostKind,
    /// How challenges are drawn; of a WinningPoSt always `V1`.
    pub version: PostVersion,
}

/// What a registered update proof stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateProof {
    /// The sector's shape.
    pub shape: SectorShape,
}

impl SealProof {
    /// By its number, 0 to 19.
    pub fn of_number(number: u64) -> Option<Self> {
        let (group, shape) = split(number, SEAL_PROOFS.len())?;
        Some(Self { shape, variant: VARIANTS[group] })
    }

    /// By its name, as `StackedDrg32GiBV1_1`.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("RegisteredSealProof_").unwrap_or(name);
        let name = name.replace("_Feat_NiPoRep", "_Feat_NonInteractivePoRep");
        Self::of_number(SEAL_PROOFS.iter().position(|known| *known == name)? as u64)
    }

    /// Its number; `None` for a sector size that is not published.
    pub fn number(self) -> Option<u64> {
        seal_proof_index(self.shape, self.variant).map(|index| index as u64)
    }

    /// Its name; `None` for a sector size that is not published.
    pub fn name(self) -> Option<&'static str> {
        seal_proof_name(self.shape, self.variant)
    }
}

impl PostProof {
    /// By its number, 0 to 14.
    pub fn of_number(number: u64) -> Option<Self> {
        let (group, shape) = split(number, POST_PROOFS.len())?;
        let (kind, version) = POSTS[group];
        Some(Self { shape, kind, version })
    }

    /// By its name, as `StackedDrgWindow32GiBV1_2` or, as in Go, `StackedDrgWindow32GiBV1_1`.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("RegisteredPoStProof_").unwrap_or(name);
        let name = name.strip_suffix("V1_1").map_or(name.to_owned(), |start| format!("{start}V1_2"));
        Self::of_number(POST_PROOFS.iter().position(|known| *known == name)? as u64)
    }

    /// Its number; `None` for a sector size that is not published.
    pub fn number(self) -> Option<u64> {
        let of =
            |(kind, version)| kind == self.kind && (kind == PostKind::Winning || version == self.version);
        let group = POSTS.into_iter().position(of)?;
        Some((SIZES * group + size_index(self.shape)?) as u64)
    }

    /// Its name; `None` for a sector size that is not published.
    pub fn name(self) -> Option<&'static str> {
        self.number().map(|number| POST_PROOFS[number as usize])
    }
}

impl UpdateProof {
    /// By its number, 0 to 4.
    pub fn of_number(number: u64) -> Option<Self> {
        split(number, SIZES).map(|(_, shape)| Self { shape })
    }

    /// By its name, as `StackedDrg32GiBV1`.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("RegisteredUpdateProof_").unwrap_or(name);
        Self::of_number(VANILLA_PROOFS.iter().position(|known| *known == name)? as u64)
    }

    /// Its number; `None` for a sector size that is not published.
    pub fn number(self) -> Option<u64> {
        size_index(self.shape).map(|index| index as u64)
    }

    /// Its name; `None` for a sector size that is not published.
    pub fn name(self) -> Option<&'static str> {
        size_index(self.shape).map(|index| VANILLA_PROOFS[index])
    }
}

/// Which group of sizes a number lies in, and which size it is.
fn split(number: u64, count: usize) -> Option<(usize, SectorShape)> {
    let number = usize::try_from(number).ok().filter(|number| *number < count)?;
    Some((number / SIZES, SectorShape::of_nodes(LOG_NODES[number % SIZES].into())?))
}

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

pub(crate) fn size_index(shape: SectorShape) -> Option<usize> {
    LOG_NODES.iter().position(|log_nodes| *log_nodes == shape.log_nodes)
}

pub(crate) fn seal_proof_index(shape: SectorShape, variant: PoRepVariant) -> Option<usize> {
    Some(SIZES * variant as usize + size_index(shape)?)
}

/// The sector's nodes, as a power of two, and the variant.
pub(crate) fn seal_proof(index: usize) -> (usize, PoRepVariant) {
    (LOG_NODES[index % SIZES].into(), VARIANTS[index / SIZES])
}
