//! SnapDeals: `EmptySectorUpdateCircuit` of storage-proofs-update 19.1.0.

use filecoin_hashers::poseidon::PoseidonHasher;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::parameter_cache::{CacheableParameters, VERSION};
use storage_proofs_update::{EmptySectorUpdateCompound, PublicParams};

use super::Blank;
use crate::c1::upstream::{WithTree, with_tree};
use crate::{Recording, SectorShape, SnapShape, SynthError, record_blocks};

/// The circuit that proves one partition of an update of a sector (SnapDeals), for
/// sectors of one size: the commitments, the leaves of the data's apex, the
/// challenges' bits, then challenges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SnapCircuit {
    shape: SnapShape,
}

impl SnapCircuit {
    /// The circuit for sectors of `sector_size` bytes, if there are such and
    /// they can be updated. Sectors of 1 GiB cannot.
    pub fn of_size(sector_size: u64) -> Option<Self> {
        SnapShape::of_size(sector_size).map(|shape| Self { shape })
    }

    /// The sectors' shape.
    pub fn shape(&self) -> SectorShape {
        self.shape.sector
    }

    /// The update's shape.
    pub fn snap_shape(&self) -> SnapShape {
        self.shape
    }

    /// Challenges in each partition.
    pub fn challenges(&self) -> usize {
        self.shape.challenges
    }

    /// Partitions of a proof.
    pub fn partitions(&self) -> usize {
        self.shape.partitions
    }

    /// The stem of the names of the circuit's parameter files, as
    /// `v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-3b7f44a9…`.
    pub fn parameter_id(&self) -> String {
        with_tree(self.shape(), ParameterId(self.public_params()))
    }

    /// The circuit's constraints, its challenges stored once. The header draws
    /// the bits of all challenges, so that each challenge uses other variables
    /// of the header.
    ///
    /// # Errors
    /// [`SynthError::Synthesis`], [`SynthError::R1cs`] and [`SynthError::Unequal`],
    /// which no sector size is known to cause.
    pub fn record(&self) -> Result<Recording, SynthError> {
        record_blocks(Blank::snap(*self), challenge_of)
    }

    pub(super) fn public_params(&self) -> PublicParams {
        PublicParams::from_sector_size(self.shape().sector_size())
    }
}

/// The challenge that a namespace belongs to: all of a challenge's end in
/// `(c_index=7)` or, for its siblings, in `(c_index=7, tree_row=…)`.
fn challenge_of(namespace: &str) -> Option<u32> {
    let (_, rest) = namespace.split_once("(c_index=")?;
    rest.split([',', ')']).next()?.parse().ok()
}

struct ParameterId(PublicParams);

impl WithTree for ParameterId {
    type Output = String;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> String {
        let id = EmptySectorUpdateCompound::<Tree>::cache_identifier(&self.0);
        format!("v{VERSION}-{id}")
    }
}
