//! The prover's sums on devices: one witness goes there, five points come back.
//!
//! Stages queue their kernels and return; what is made on a device is used there. Only `msm.join`
//! waits, so that the next partition's witness is uploaded, and its kernels are queued, while those of
//! this one run.

mod plan;

use std::sync::Arc;

use cuzk_gpu_backend::{Backend, Family, Kind, Visit};
use cuzk_msm::gpu::{
    DeviceDensity, DeviceMsmA, DeviceMsmB1, DeviceMsmB2, DeviceMsmH, DeviceMsmL, Join, LoadDensity,
    LoadWorkspace,
};
use cuzk_msm::{G1, G2};
use cuzk_ntt::gpu::{DeviceQuotient, DeviceQuotients, LoadQuotients};
use cuzk_pipeline_core::{Builder, Cx, Shared};
use cuzk_srs::Query;
use cuzk_srs::gpu::{DevicePoint, LoadBases, MakeStaging, Staging};
use cuzk_synth::gpu::{DeviceEval, DeviceTemplate, LoadTemplate, UploadWitness};
use cuzk_values::{Bases, Densities, DeviceBases, Srs, Witness};

use crate::graph::SumPorts;
use crate::load::LoadCircuit;
use crate::{Groth16Error, Sizes};

pub use plan::{DevicePlan, Room};

/// How a circuit's five sums are made on devices of one backend.
pub trait Accelerator: Send + Sync {
    /// The backend.
    fn backend(&self) -> Kind;

    /// How a device's memory is shared out.
    fn plan(&self) -> &DevicePlan;

    /// Adds the stages from a witness to its sums.
    fn sums<'g>(&self, g: &mut Builder<'g>, witness: Shared<'g, Witness>) -> SumPorts<'g>;
}

/// The families of kernels that proofs on a device need.
pub fn families() -> [&'static str; 5] {
    let [g1, g2] = cuzk_msm::gpu::families();
    [&cuzk_synth::gpu::FAMILY, &cuzk_ntt::gpu::FAMILY, &cuzk_srs::gpu::FAMILY, g1, g2].map(Family::name)
}

/// How a device's memory is to be shared out.
pub(crate) enum Planned {
    /// As suits this room.
    Within(Room),
    /// Like this.
    As(DevicePlan),
}

/// What an accelerator is made of.
pub(crate) struct Parts<'a> {
    pub(crate) kind: Kind,
    pub(crate) plan: Planned,
    pub(crate) sizes: Sizes,
    pub(crate) densities: Arc<Densities>,
    pub(crate) circuit: &'a LoadCircuit,
    /// The parameters, and their key among an engine's residents.
    pub(crate) srs: Srs,
    pub(crate) key: Arc<str>,
}

impl Visit for Parts<'_> {
    type Out = Result<Arc<dyn Accelerator>, Groth16Error>;

    fn visit<B: Backend>(self) -> Self::Out {
        Ok(Arc::new(OnDevice::<B>::new(self)?))
    }
}

/// See [`Accelerator`].
struct OnDevice<B: Backend> {
    kind: Kind,
    plan: DevicePlan,
    sizes: Sizes,
    template: LoadTemplate<B>,
    densities: LoadDensity<B>,
    workspace: LoadWorkspace<B>,
    beside: Option<LoadWorkspace<B>>,
    srs: Srs,
    /// Of the circuit, and of its parameters, among an engine's residents.
    keys: [Arc<str>; 2],
}

impl<B: Backend> OnDevice<B> {
    fn new(parts: Parts<'_>) -> Result<Self, Groth16Error> {
        let Parts { kind, plan, sizes, densities, circuit, srs, key } = parts;
        let source = circuit.clone();
        let load = Arc::new(move |cx: &Cx<'_>| source.take(cx).map(Arc::new));
        let (template, constraints) =
            circuit.look(|r1cs| (LoadTemplate::<B>::from(r1cs, load), DeviceTemplate::<B>::bytes(r1cs)))?;
        let tables = DeviceDensity::<B>::bytes(&densities) + DeviceQuotients::<B>::bytes(sizes.log_domain);
        let plan = match plan {
            Planned::Within(room) => DevicePlan::new(&sizes, constraints + tables, room)?,
            Planned::As(plan) => plan,
        };
        Ok(Self {
            kind,
            workspace: LoadWorkspace::new(plan.workspace)?,
            beside: plan.beside.map(LoadWorkspace::new).transpose()?.map(LoadWorkspace::beside),
            plan,
            sizes,
            template,
            densities: LoadDensity::new(densities),
            srs,
            keys: [circuit.key(), key],
        })
    }

    /// The points of a query, as the plan has them: resident, or streamed piece by piece.
    fn bases<'g, P: DevicePoint>(
        &self,
        g: &mut Builder<'g>,
        (query, bases): (Query, &Bases<P>),
    ) -> Vec<Shared<'g, DeviceBases<B::Buffer, P>>> {
        let ranges = self.plan.ranges(query);
        let load = |range| LoadBases::<B, P>::new(format!("srs.{}", query.name()), bases.clone(), range);
        match ranges {
            [whole] => {
                let key = format!("{} of {}", query.name(), self.keys[1]);
                vec![g.resident(key, load(whole.clone()).resident())]
            }
            pieces => pieces
                .iter()
                .map(|piece| {
                    let staging = g.resident("points", MakeStaging::<B>::new(Staging::<B>::PIECE));
                    let points = g.stage(load(piece.clone()), staging);
                    g.share(points)
                })
                .collect(),
        }
    }
}

impl<B: Backend> Accelerator for OnDevice<B> {
    fn backend(&self) -> Kind {
        self.kind
    }

    fn plan(&self) -> &DevicePlan {
        &self.plan
    }

    fn sums<'g>(&self, g: &mut Builder<'g>, witness: Shared<'g, Witness>) -> SumPorts<'g> {
        let Sizes { log_domain, witness: size, .. } = self.sizes;
        let circuit = &self.keys[0];
        let template = g.resident(circuit.clone(), self.template.clone());
        let density = g.resident(circuit.clone(), self.densities.clone());
        let workspace = g.resident(format!("{circuit}: {:?}", self.plan.workspace), self.workspace.clone());
        // Sums over a witness are many small kernels, which run while those of `h` fill the device.
        let beside = self.beside.as_ref().map_or(workspace, |beside| {
            g.resident(format!("{circuit}: {:?} beside", self.plan.beside), beside.clone())
        });
        let quotients = g.resident(format!("2^{log_domain}"), LoadQuotients::<B>::new(log_domain));

        let on_device = g.stage(UploadWitness::<B>::new(size), witness);
        let on_device = g.share(on_device);
        let (a, b) = g.stage(DeviceEval::<B>::new(size, log_domain), (on_device, template));
        let h = g.stage(DeviceQuotient::<B>::new(log_domain), (a, b, quotients));
        let h = g.share(h);

        // Each piece of a query is multiplied as it comes.
        macro_rules! sum {
            (
                $curve:ident, $stage:ident, $query:expr, $bases:expr,
                $workspace:expr, $scalars:expr $(, $density:expr)?
            ) => {{
                let pieces = self.bases(g, ($query, &$bases));
                let sum = |bases| g.stage($stage::<B>::default(), ($scalars, bases, $($density,)? $workspace));
                let sums: Vec<_> = pieces.into_iter().map(sum).collect();
                g.stage(Join::<B, $curve>::default(), sums)
            }};
        }
        (
            sum!(G1, DeviceMsmH, Query::H, self.srs.h, workspace, h),
            sum!(G1, DeviceMsmL, Query::L, self.srs.l, beside, on_device, density),
            sum!(G1, DeviceMsmA, Query::A, self.srs.a, beside, on_device, density),
            sum!(G1, DeviceMsmB1, Query::BG1, self.srs.b_g1, beside, on_device, density),
            sum!(G2, DeviceMsmB2, Query::BG2, self.srs.b_g2, beside, on_device, density),
        )
    }
}
