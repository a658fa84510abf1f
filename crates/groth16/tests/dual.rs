//! A proof on two backends, stage by stage: a stage whose result differs is named.

#![allow(clippy::unwrap_used, reason = "tests")]

mod case;

use std::sync::Arc;

use case::Case;
use cuzk_gpu_backend::suite::open;
use cuzk_gpu_backend::{Backend, Context, Device as _, Host};
use cuzk_msm::gpu::{
    DeviceMsmA, DeviceMsmB1, DeviceMsmB2, DeviceMsmH, DeviceMsmL, Extent, Join, LoadDensity, LoadWorkspace,
};
use cuzk_msm::{G1, G2, Sum};
use cuzk_ntt::NttError;
use cuzk_ntt::gpu::{DeviceQuotient, LoadQuotients, download};
use cuzk_pipeline_core::{
    Builder, Cancelled, Cost, Cx, Device, Engine, Footprint, Graph, Placement, Port, Value, stage_fn,
};
use cuzk_srs::gpu::LoadBases;
use cuzk_synth::gpu::{DeviceEval, LoadTemplate, UploadWitness};
use cuzk_values::{Basis, G1Projective, G2Projective, OnDevice, Poly, Scalar};

/// More than anything here takes on the host.
const SMALL: Footprint = Footprint::host(1 << 20);

/// What a stage made, as it is on the host.
#[derive(Debug, PartialEq)]
enum Made {
    Scalars(&'static str, Vec<Scalar>),
    G1(&'static str, G1Projective),
    G2(&'static str, G2Projective),
}

impl Made {
    fn name(&self) -> &'static str {
        match self {
            Self::Scalars(name, _) | Self::G1(name, _) | Self::G2(name, _) => name,
        }
    }
}

impl Value for Made {
    fn footprint(&self) -> Footprint {
        let scalars = if let Self::Scalars(_, scalars) = self { size_of_val(&scalars[..]) } else { 0 };
        Footprint::host((size_of::<Self>() + scalars) as u64)
    }
}

/// All that was made.
struct All(Vec<Made>);

impl Value for All {
    fn footprint(&self) -> Footprint {
        self.0.iter().fold(Footprint::ZERO, |sum, made| sum + made.footprint())
    }
}

/// Everything that the stages of a proof make on a backend's device, in their order.
fn stages<B: Backend>(case: &Case, device: B::Device) -> Vec<Made> {
    let (sizes, srs) = (case.prover.sizes(), case.file.srs());
    let (size, log) = (sizes.witness, sizes.log_domain);
    let extent = Extent {
        terms: sizes.queries.h as u64,
        bases: sizes.queries.a.max(sizes.queries.l) as u64,
        wide: (size.inputs + size.wide) as u64,
        limit: 1 << 30,
        sums: 16,
        units: device.info().units,
    };
    let graph = Graph::build(|g, witness| {
        let witness = g.share_arc(witness);
        let template = g.resident("template", LoadTemplate::<B>::new(case.r1cs.clone()));
        let density = g.resident("density", LoadDensity::<B>::new(case.densities.clone()));
        let workspace = g.resident("workspace", LoadWorkspace::<B>::new(extent).unwrap());
        let quotients = g.resident("quotients", LoadQuotients::<B>::new(log));

        let mut made = Vec::new();
        let on_device = g.stage(UploadWitness::<B>::new(size), witness);
        let on_device = g.share(on_device);
        let (a, b) = g.stage(DeviceEval::<B>::new(size, log), (on_device, template));
        let (a, b) = (tap::<B, _>(g, &mut made, "a", a, log), tap::<B, _>(g, &mut made, "b", b, log));
        let h = g.stage(DeviceQuotient::<B>::new(log), (a, b, quotients));
        let h = tap::<B, _>(g, &mut made, "h", h, log);
        let h = g.share(h);

        macro_rules! sum {
            ($curve:ident, $stage:ident, $bases:expr, $scalars:expr $(, $density:expr)?) => {{
                let bases = $bases.clone();
                let range = 0..bases.len();
                let bases = g.resident(stringify!($stage), LoadBases::<B, _>::new("srs", bases, range).resident());
                let sum = g.stage($stage::<B>::default(), ($scalars, bases, $($density,)? workspace));
                let sum = g.stage(Join::<B, $curve>::default(), vec![sum]);
                let name = stringify!($stage);
                let note = |_: &Cx<'_>, Sum(sum)| Ok::<_, Cancelled>(Made::$curve(name, sum));
                made.push(g.stage(stage_fn(name, Cost::free().output(SMALL), note), sum));
            }};
        }
        sum!(G1, DeviceMsmH, srs.h, h);
        sum!(G1, DeviceMsmL, srs.l, on_device, density);
        sum!(G1, DeviceMsmA, srs.a, on_device, density);
        sum!(G1, DeviceMsmB1, srs.b_g1, on_device, density);
        sum!(G2, DeviceMsmB2, srs.b_g2, on_device, density);
        let all = |_: &Cx<'_>, made| Ok::<_, Cancelled>(All(made));
        Ok(g.stage(stage_fn("all", Cost::free().output(SMALL), all), made))
    });
    let context = Arc::new(Context::<B>::new(device).unwrap());
    let device = Device::new(0, 4 << 30).handle(context);
    let budget = Footprint { host: 4 << 30, pinned: 256 << 20, device: 0 };
    let engine = Engine::builder().budget(budget).device(device).build().unwrap();
    engine.submit(&Arc::new(graph.unwrap()), case.witness.clone()).wait().unwrap().0
}

/// Gives a polynomial on, and notes what it is.
fn tap<'g, B: Backend, Of: Basis>(
    g: &mut Builder<'g>,
    made: &mut Vec<Port<'g, Made>>,
    name: &'static str,
    poly: Port<'g, Poly<Of, OnDevice<B::Buffer>>>,
    log_len: u32,
) -> Port<'g, Poly<Of, OnDevice<B::Buffer>>> {
    let on_device = Footprint::device(32 << log_len);
    let cost = Cost::free().output(on_device).in_place(on_device).output(SMALL);
    let tap = stage_fn(name, cost, move |cx: &Cx<'_>, poly: Poly<Of, OnDevice<B::Buffer>>| {
        let scalars = download::<B>(Context::<B>::of(cx)?.compute(), poly.buffer())?;
        Ok::<_, NttError>((poly, Made::Scalars(name, scalars)))
    });
    let (poly, scalars) = g.stage(tap.at(Placement::Gpu), poly);
    made.push(scalars);
    poly
}

/// Both backends make the same of every stage.
fn dual<A: Backend, B: Backend>() {
    let (Some(one), Some(other)) = (open::<A>(), open::<B>()) else { return };
    let case = Case::new();
    let (one, other) = (stages::<A>(&case, one), stages::<B>(&case, other));
    assert_eq!(one.len(), 8);
    let differ = one.iter().zip(&other).find(|(one, other)| one != other);
    assert_eq!(differ.map(|(one, _)| one.name()), None, "{} and {} differ here", A::NAME, B::NAME);
}

#[test]
fn two_hosts_agree() {
    dual::<Host, Host>();
}

#[cfg(feature = "cuda")]
#[test]
fn a_card_agrees_with_the_host() {
    dual::<Host, cuzk_gpu_backend::Cuda>();
}

#[cfg(feature = "opencl")]
#[test]
fn opencl_agrees_with_the_host() {
    cuzk_gpu_backend::OpenCl::accept_cpus();
    dual::<Host, cuzk_gpu_backend::OpenCl>();
}
