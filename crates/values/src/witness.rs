//! The assignment of a circuit's variables.

use cuzk_pipeline_core::{Footprint, Value};

use crate::{CompactScalars, Scalar};

/// The values of a circuit's variables, in the order of their allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Witness {
    /// The public inputs. The first is the constant ONE.
    pub inputs: Vec<Scalar>,
    /// The auxiliary (private) variables.
    pub aux: CompactScalars,
}

impl Value for Witness {
    fn footprint(&self) -> Footprint {
        self.aux.footprint() + Footprint::host(32 * self.inputs.capacity() as u64)
    }
}
