//! What all proofs of one circuit share.

use std::sync::Arc;

use cuzk_gpu_backend::Kind;
use cuzk_ntt::Domain;
use cuzk_pipeline_core::{Builder, Shared};
use cuzk_values::{Densities, QueryLengths, R1cs, Srs};

use crate::circuit::{Circuit, Sizes};
use crate::device::{Accelerator, DevicePlan, Parts, Planned, Room};
use crate::load::{LoadCircuit, LoadSrs, Parameters};
use crate::{Groth16Error, PreparedVerifyingKey};

/// A prover of one circuit with one set of parameters. The graphs that are made
/// of it share its constraints and its parameters, which an engine keeps as
/// resident values.
#[derive(Clone)]
pub struct Prover {
    sizes: Sizes,
    densities: Arc<Densities>,
    domain: Arc<Domain>,
    key: Option<Arc<PreparedVerifyingKey>>,
    load_circuit: LoadCircuit,
    load_srs: LoadSrs,
    accelerator: Option<Arc<dyn Accelerator>>,
}

impl Prover {
    /// A prover.
    ///
    /// # Errors
    /// [`Groth16Error::WrongParameters`] where the parameters are another circuit's.
    pub fn new(circuit: Circuit, parameters: Parameters) -> Result<Self, Groth16Error> {
        let (sizes, densities) = (circuit.sizes, circuit.densities.clone());
        let facts = parameters.facts();
        if let Some((_, given)) = &facts {
            same_lengths(given, &sizes.queries)?;
        }
        Ok(Self {
            sizes,
            densities,
            domain: Arc::new(Domain::new(sizes.log_domain)?),
            key: facts.map(|(key, _)| Arc::new(PreparedVerifyingKey::new(key))),
            load_srs: LoadSrs::new(parameters),
            load_circuit: LoadCircuit::new(circuit),
            accelerator: None,
        })
    }

    /// The same prover on devices of a backend, of each of which its proofs may use so much.
    ///
    /// # Errors
    /// [`Groth16Error::Device`] where the backend is not part of this build;
    /// [`Groth16Error::Msm`] where there is no room for a sum; [`Groth16Error::NoParameters`].
    pub fn on(&self, kind: Kind, room: Room) -> Result<Self, Groth16Error> {
        self.accelerated(kind, Planned::Within(room))
    }

    /// The same with the use of each device's memory given.
    ///
    /// # Errors
    /// As [`on`](Self::on).
    pub fn on_with(&self, kind: Kind, plan: DevicePlan) -> Result<Self, Groth16Error> {
        self.accelerated(kind, Planned::As(plan))
    }

    fn accelerated(&self, kind: Kind, plan: Planned) -> Result<Self, Groth16Error> {
        let parts = Parts {
            kind,
            plan,
            sizes: self.sizes,
            densities: self.densities.clone(),
            circuit: &self.load_circuit,
            srs: self.load_srs.in_place().ok_or(Groth16Error::NoParameters)?,
            key: self.load_srs.key(),
        };
        let accelerator = Some(kind.visit(parts)??);
        Ok(Self { accelerator, ..self.clone() })
    }

    /// The same prover on the CPU.
    #[must_use]
    pub fn on_cpu(&self) -> Self {
        Self { accelerator: None, ..self.clone() }
    }

    /// What makes its sums, if the CPU does not.
    pub fn accelerator(&self) -> Option<&dyn Accelerator> {
        self.accelerator.as_deref()
    }

    /// What fixes the costs of its stages.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Which variables occur in A and B.
    pub fn densities(&self) -> Arc<Densities> {
        self.densities.clone()
    }

    /// The domain of its constraints.
    pub fn domain(&self) -> Arc<Domain> {
        self.domain.clone()
    }

    /// The verifying key; `None` where the parameters are [`Parameters::Absent`].
    pub fn key(&self) -> Option<Arc<PreparedVerifyingKey>> {
        self.key.clone()
    }

    /// Adds the circuit's constraints to a graph, as a value that all runs share.
    pub fn load_circuit<'g>(&self, g: &mut Builder<'g>) -> Shared<'g, R1cs> {
        g.resident(self.load_circuit.key(), self.load_circuit.clone())
    }

    /// Adds the parameters to a graph, as a value that all runs share.
    pub fn load_srs<'g>(&self, g: &mut Builder<'g>) -> Shared<'g, Srs> {
        g.resident(self.load_srs.key(), self.load_srs.clone())
    }
}

fn same_lengths(given: &QueryLengths, expected: &QueryLengths) -> Result<(), Groth16Error> {
    let pairs = [
        ("ic", given.inputs, expected.inputs),
        ("h", given.h, expected.h),
        ("l", given.l, expected.l),
        ("a", given.a, expected.a),
        ("b_g1", given.b, expected.b),
    ];
    match pairs.into_iter().find(|(_, given, expected)| given != expected) {
        Some((query, given, expected)) => Err(Groth16Error::WrongParameters { query, given, expected }),
        None => Ok(()),
    }
}
