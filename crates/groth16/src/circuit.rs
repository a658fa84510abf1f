//! A circuit to prove: its constraints, and what follows from them.

use std::sync::Arc;

use cuzk_synth::template::{Loaded, Store};
use cuzk_synth::{FilecoinCircuit, Recording, SynthError, WitnessSize};
use cuzk_values::{Densities, QueryLengths, R1cs};

/// Makes or loads a circuit's constraints.
pub(crate) type Load = dyn Fn() -> Result<Recording, SynthError> + Send + Sync;

/// A circuit's constraints, and the way to come by them again.
pub struct Circuit {
    pub(crate) id: Arc<str>,
    pub(crate) load: Arc<Load>,
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
    /// A circuit that is recorded, or loaded, by `load`. `id` is its name among an
    /// engine's resident values; an engine that has let the constraints go calls
    /// `load` again.
    ///
    /// # Errors
    /// Those of `load`.
    pub fn new(
        id: impl Into<Arc<str>>,
        load: impl Fn() -> Result<Recording, SynthError> + Send + Sync + 'static,
    ) -> Result<Self, SynthError> {
        let Recording { r1cs, size } = load()?;
        let sizes = Sizes { log_domain: r1cs.log_domain(), witness: size, queries: r1cs.query_lengths() };
        let densities = Arc::new(r1cs.densities.clone());
        Ok(Self { id: id.into(), load: Arc::new(load), r1cs, sizes, densities })
    }

    /// Records one of Filecoin's circuits.
    ///
    /// # Errors
    /// [`SynthError`], which no circuit is known to cause.
    pub fn filecoin(circuit: impl Into<FilecoinCircuit>) -> Result<Self, SynthError> {
        let circuit = circuit.into();
        Self::new(circuit.parameter_id()?, move || circuit.record())
    }

    /// One of Filecoin's circuits from a store; recorded, and kept there, where the
    /// store has none that can be used. `told` hears of each time that it is loaded.
    ///
    /// # Errors
    /// As [`filecoin`](Self::filecoin).
    pub fn stored(
        circuit: impl Into<FilecoinCircuit>,
        store: Store,
        told: impl Fn(&Loaded) + Send + Sync + 'static,
    ) -> Result<Self, SynthError> {
        let circuit = circuit.into();
        Self::new(circuit.parameter_id()?, move || {
            let loaded = store.load_or_record(circuit)?;
            told(&loaded);
            Ok(loaded.recording)
        })
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
