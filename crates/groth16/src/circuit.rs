//! A circuit to prove: its constraints, and what follows from them.

use std::sync::Arc;

use cuzk_synth::{PorepCircuit, Recording, SynthError, WitnessSize};
use cuzk_values::{Densities, QueryLengths, R1cs};

/// Makes a circuit's constraints.
pub(crate) type Record = dyn Fn() -> Result<Recording, SynthError> + Send + Sync;

/// A circuit's constraints, and the way to make them again.
pub struct Circuit {
    pub(crate) id: Arc<str>,
    pub(crate) record: Arc<Record>,
    pub(crate) r1cs: R1cs,
    pub(crate) sizes: Sizes,
    pub(crate) densities: Arc<Densities>,
}

/// The sizes of a circuit, which fix what its stages cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// `k` of the domain of `2^k` points.
    pub log_domain: u32,
    /// The size of each witness.
    pub witness: WitnessSize,
    /// Points of each query.
    pub queries: QueryLengths,
}

impl Circuit {
    /// Records a circuit. `id` is its name among an engine's resident values;
    /// an engine that has let the constraints go calls `record` again.
    ///
    /// # Errors
    /// Those of `record`.
    pub fn new(
        id: impl Into<Arc<str>>,
        record: impl Fn() -> Result<Recording, SynthError> + Send + Sync + 'static,
    ) -> Result<Self, SynthError> {
        let Recording { r1cs, size } = record()?;
        let sizes = Sizes { log_domain: r1cs.log_domain(), witness: size, queries: r1cs.query_lengths() };
        let densities = Arc::new(r1cs.densities.clone());
        Ok(Self { id: id.into(), record: Arc::new(record), r1cs, sizes, densities })
    }

    /// Records a PoRep circuit.
    ///
    /// # Errors
    /// [`SynthError`], which no sector size is known to cause.
    pub fn porep(circuit: PorepCircuit) -> Result<Self, SynthError> {
        Self::new(circuit.parameter_id()?, move || circuit.record())
    }

    /// The constraints.
    pub fn r1cs(&self) -> &R1cs {
        &self.r1cs
    }

    /// What fixes the costs of its stages.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }
}
