//! The stages that load what proofs share: a circuit's constraints, its parameters.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Stage, Value as _};
use cuzk_srs::{Load, ParameterFile, Query};
use cuzk_synth::SynthError;
use cuzk_values::{QueryLengths, R1cs, Srs, VerifyingKey};

use crate::Groth16Error;
use crate::circuit::{self, Circuit};

/// Where the points of the parameters are while proofs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Residence {
    /// In their file, decoded block by block at each use: least memory.
    #[default]
    File,
    /// In memory, decoded once: for many proofs.
    Memory,
}

/// Where a prover's parameters come from.
#[derive(Debug, Clone)]
pub enum Parameters {
    /// A file, opened for the circuit.
    File(Arc<ParameterFile>, Residence),
    /// At hand.
    Given(Box<Srs>),
    /// Nowhere: graphs of such a prover are drawn, and fail when they are run.
    Absent,
}

impl Parameters {
    /// The verifying key, and the points of each query.
    pub(crate) fn facts(&self) -> Option<(&VerifyingKey, QueryLengths)> {
        match self {
            Self::File(file, _) => Some((file.verifying_key(), *file.layout().lengths())),
            Self::Given(srs) => Some((&srs.vk, srs.lengths())),
            Self::Absent => None,
        }
    }

    /// The points, where they are: nothing is loaded.
    fn in_place(&self) -> Option<Srs> {
        match self {
            Self::File(file, _) => Some(file.srs()),
            Self::Given(srs) => Some(Srs::clone(srs)),
            Self::Absent => None,
        }
    }

    /// A key for the resident value: one for each file, and for each that is given.
    fn key(&self) -> Arc<str> {
        static GIVEN: AtomicU64 = AtomicU64::new(0);
        match self {
            Self::File(file, residence) => format!("{} ({residence:?})", file.path().display()).into(),
            Self::Given(_) => format!("parameters {}", GIVEN.fetch_add(1, Ordering::Relaxed)).into(),
            Self::Absent => "no parameters".into(),
        }
    }

    fn footprint(&self) -> Footprint {
        match self {
            Self::File(file, Residence::Memory) => Footprint::host(file.resident_bytes(&Query::ALL)),
            Self::File(file, Residence::File) => file.srs().footprint(),
            Self::Given(srs) => srs.footprint(),
            Self::Absent => Footprint::ZERO,
        }
    }
}

/// `srs.load`: the parameters.
#[derive(Clone)]
pub(crate) struct LoadSrs {
    key: Arc<str>,
    parameters: Parameters,
}

impl LoadSrs {
    pub(crate) fn new(parameters: Parameters) -> Self {
        Self { key: parameters.key(), parameters }
    }

    pub(crate) fn key(&self) -> Arc<str> {
        self.key.clone()
    }

    /// See [`Parameters::in_place`].
    pub(crate) fn in_place(&self) -> Option<Srs> {
        self.parameters.in_place()
    }
}

impl Stage for LoadSrs {
    type In = ();
    type Out = Srs;
    type Error = Groth16Error;

    fn name(&self) -> Cow<'static, str> {
        "srs.load".into()
    }
    fn kind(&self, error: &Groth16Error) -> ErrorKind {
        error.kind()
    }
    fn cost(&self) -> Cost {
        Cost::free().output(self.parameters.footprint())
    }
    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<Srs, Groth16Error> {
        match &self.parameters {
            Parameters::File(file, Residence::Memory) => Ok(Load::new(file.clone(), Query::ALL).run(cx, ())?),
            Parameters::File(file, Residence::File) => Ok(file.srs()),
            Parameters::Given(srs) => Ok(Srs::clone(srs)),
            Parameters::Absent => Err(Groth16Error::NoParameters),
        }
    }
}

/// What unpacking a template takes beside four bits a variable for the densities: the
/// file, and nine windows of zstd at once.
const UNPACKING: u64 = 12 << 20;

/// `circuit.load`: the circuit's constraints. The first load hands over those
/// that are at hand already, to know the graph's costs; one after an eviction
/// loads or records them again.
#[derive(Clone)]
pub(crate) struct LoadCircuit {
    key: Arc<str>,
    weight: Footprint,
    scratch: Footprint,
    load: Arc<circuit::Load>,
    at_hand: Arc<Mutex<Option<R1cs>>>,
}

impl LoadCircuit {
    pub(crate) fn new(circuit: Circuit) -> Self {
        let Circuit { id, load, r1cs, .. } = circuit;
        let scratch = Footprint::host(UNPACKING + (r1cs.inputs + r1cs.aux) as u64 / 2);
        Self { key: id, weight: r1cs.footprint(), scratch, load, at_hand: Arc::new(Mutex::new(Some(r1cs))) }
    }

    pub(crate) fn key(&self) -> Arc<str> {
        self.key.clone()
    }

    /// The constraints: those at hand, the first time, or loaded or recorded again.
    pub(crate) fn take(&self, cx: &Cx<'_>) -> Result<R1cs, SynthError> {
        let at_hand = self.at_hand().take();
        at_hand.map_or_else(|| Ok(cx.install(|| (self.load)())?.r1cs), Ok)
    }

    /// Looks at the constraints, which stay at hand.
    pub(crate) fn look<T>(&self, f: impl FnOnce(&R1cs) -> T) -> Result<T, SynthError> {
        let mut at_hand = self.at_hand();
        let r1cs = match at_hand.take() {
            Some(r1cs) => r1cs,
            None => (self.load)()?.r1cs,
        };
        Ok(f(at_hand.insert(r1cs)))
    }

    fn at_hand(&self) -> MutexGuard<'_, Option<R1cs>> {
        self.at_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stage for LoadCircuit {
    type In = ();
    type Out = R1cs;
    type Error = Groth16Error;

    fn name(&self) -> Cow<'static, str> {
        "circuit.load".into()
    }
    fn kind(&self, error: &Groth16Error) -> ErrorKind {
        error.kind()
    }
    fn cost(&self) -> Cost {
        Cost::free().scratch(self.scratch).output(self.weight)
    }
    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<R1cs, Groth16Error> {
        Ok(self.take(cx)?)
    }
}
