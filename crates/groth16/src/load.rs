//! The stages that load what proofs share: a circuit's constraints, its parameters.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Stage, Value as _};
use cuzk_srs::{Load, ParameterFile, Query};
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
        let at_hand = self.at_hand.lock().unwrap_or_else(PoisonError::into_inner).take();
        match at_hand {
            Some(r1cs) => Ok(r1cs),
            None => Ok(cx.install(|| (self.load)())?.r1cs),
        }
    }
}
