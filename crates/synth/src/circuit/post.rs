//! The proofs of spacetime: `FallbackPoStCircuit` of storage-proofs-post 19.1.0.

use cuzk_values::PostKind;
use filecoin_hashers::poseidon::PoseidonHasher;
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::parameter_cache::{CacheableParameters, VERSION};
use storage_proofs_post::fallback::{FallbackPoStCircuit, FallbackPoStCompound, PublicParams};

use super::Blank;
use crate::c1::upstream::{WithTree, with_tree};
use crate::{PostShape, Recording, SectorShape, SynthError, record_repeating};

/// The circuit that proves one partition of a WindowPoSt, or a WinningPoSt, for
/// sectors of one size: equal sectors, with challenges each.
///
/// WinningPoSt's challenges are all in one sector, which the circuit lays out as
/// so many sectors of one challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PostCircuit {
    kind: PostKind,
    shape: SectorShape,
}

impl PostCircuit {
    /// The circuit for sectors of `sector_size` bytes, if there are such.
    pub fn of_size(kind: PostKind, sector_size: u64) -> Option<Self> {
        SectorShape::of_size(sector_size).map(|shape| Self { kind, shape })
    }

    /// Which of the two proofs.
    pub fn kind(&self) -> PostKind {
        self.kind
    }

    /// The sectors' shape.
    pub fn shape(&self) -> SectorShape {
        self.shape
    }

    /// The partition's shape.
    pub fn post_shape(&self) -> PostShape {
        PostShape::new(self.shape, self.kind)
    }

    /// Sectors that the circuit is laid out for.
    pub fn sectors(&self) -> usize {
        self.post_shape().circuit_sectors()
    }

    /// Challenges in each of these.
    pub fn challenges(&self) -> usize {
        self.post_shape().circuit_challenges()
    }

    /// The stem of the names of the circuit's parameter files, as
    /// `v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-0377ded6…`.
    pub fn parameter_id(&self) -> String {
        with_tree(self.shape, ParameterId(self.public_params()))
    }

    /// The circuit's constraints, its sectors stored once.
    ///
    /// # Errors
    /// [`SynthError::Synthesis`] and [`SynthError::R1cs`], which no sector size
    /// is known to cause.
    pub fn record(&self) -> Result<Recording, SynthError> {
        record_repeating(Blank::post(*self, 0), Blank::post(*self, 1), self.sectors() as u32)
    }

    pub(super) fn public_params(&self) -> PublicParams {
        PublicParams {
            sector_size: self.shape.sector_size(),
            challenge_count: self.challenges(),
            sector_count: self.sectors(),
            // Says how challenges are drawn, which the circuit does not look at.
            api_version: ApiVersion::V1_1_0,
        }
    }
}

struct ParameterId(PublicParams);

impl WithTree for ParameterId {
    type Output = String;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> String {
        type Compound<Tree> = FallbackPoStCompound<Tree>;
        let id =
            <Compound<Tree> as CacheableParameters<FallbackPoStCircuit<Tree>, _>>::cache_identifier(&self.0);
        format!("v{VERSION}-{id}")
    }
}
