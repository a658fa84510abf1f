//! Filecoin's circuits: parameters and constraints.

mod blank;
mod filecoin;
mod post;
mod snap;
mod upstream;

use crate::c1::upstream::with_tree;
use crate::{Recording, SectorShape, SynthError, record_repeating};
use upstream::ParameterId;

pub use blank::Blank;
pub use filecoin::{FilecoinCircuit, ParseCircuitError};
pub use post::PostCircuit;
pub use snap::SnapCircuit;

/// The circuit that proves one partition of a PoRep, for sectors of one size: the
/// commitments, then challenges.
///
/// All variants (`V1`, `V1_1`, synthetic, non-interactive) of a sector size have
/// the same circuit and parameters; they differ in the challenges, and in how
/// many partitions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PorepCircuit {
    shape: SectorShape,
}

impl PorepCircuit {
    /// The circuit for sectors of `sector_size` bytes, if there are such.
    pub fn of_size(sector_size: u64) -> Option<Self> {
        SectorShape::of_size(sector_size).map(|shape| Self { shape })
    }

    /// The sectors' shape.
    pub fn shape(&self) -> SectorShape {
        self.shape
    }

    /// The stem of the names of the circuit's parameter files, as
    /// `v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-82a357d2…`.
    ///
    /// # Errors
    /// [`SynthError::Upstream`], which no sector size is known to cause.
    pub fn parameter_id(&self) -> Result<String, SynthError> {
        with_tree(self.shape, ParameterId(self.shape))
    }

    /// The circuit's constraints, its challenges stored once.
    ///
    /// # Errors
    /// [`SynthError::Synthesis`], [`SynthError::Upstream`] and
    /// [`SynthError::R1cs`], which no sector size is known to cause.
    pub fn record(&self) -> Result<Recording, SynthError> {
        record_repeating(
            Blank::porep(self.shape, 0),
            Blank::porep(self.shape, 1),
            self.shape.challenges as u32,
        )
    }
}
