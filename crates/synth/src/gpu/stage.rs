//! The stages of a device. Its handle is a [`Context`].

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cuzk_gpu_backend::{Backend, Context};
use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Placement, Stage};
use cuzk_values::{DeviceWitness, R1cs, Witness};

use super::{DeviceTemplate, OnDeviceEvals, Plan, SCALAR, same, taken, upload};
use crate::{SynthError, WitnessSize};

/// Where [`LoadTemplate`] gets the constraints.
type Load = dyn Fn(&Cx<'_>) -> Result<Arc<R1cs>, SynthError> + Send + Sync;

/// `eval.load`: a circuit's constraints → [`DeviceTemplate`]. A resident: one for each device.
pub struct LoadTemplate<B> {
    load: Arc<Load>,
    plan: Plan,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend> LoadTemplate<B> {
    /// The stage of constraints that are at hand.
    pub fn new(r1cs: Arc<R1cs>) -> Self {
        Self::from(&r1cs.clone(), Arc::new(move |_| Ok(r1cs.clone())))
    }

    /// The stage of constraints that `load` gives when it runs. They are those of `r1cs`, which
    /// says what they take and is not kept: others are [`SynthError::Foreign`]; what `load` holds on the host is not counted here.
    pub fn from(r1cs: &R1cs, load: Arc<Load>) -> Self {
        Self { load, plan: Plan::new(r1cs), backend: PhantomData }
    }
}

impl<B> Clone for LoadTemplate<B> {
    fn clone(&self) -> Self {
        Self { load: self.load.clone(), ..*self }
    }
}

impl<B: Backend> Stage for LoadTemplate<B> {
    type In = ();
    type Out = DeviceTemplate<B>;
    type Error = SynthError;

    fn name(&self) -> Cow<'static, str> {
        "eval.load".into()
    }

    fn kind(&self, error: &SynthError) -> ErrorKind {
        error.kind()
    }

    fn placement(&self) -> Placement {
        Placement::Gpu
    }

    fn cost(&self) -> Cost {
        Cost::free().scratch(Footprint::host(self.plan.scratch)).output(Footprint::device(self.plan.bytes))
    }

    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<Self::Out, SynthError> {
        let context = Context::<B>::of(cx)?;
        let r1cs = (self.load)(cx)?;
        DeviceTemplate::planned(cx, context, &r1cs, &self.plan)
    }
}

impl<B: Backend> fmt::Debug for LoadTemplate<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoadTemplate of {} bytes on {}", self.plan.bytes, B::NAME)
    }
}

/// `witness.upload`: a witness → the same on a device ([`upload`]).
#[derive(Debug, Clone)]
pub struct UploadWitness<B> {
    size: WitnessSize,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend> UploadWitness<B> {
    /// The stage of a circuit with witnesses of this size.
    pub fn new(size: WitnessSize) -> Self {
        Self { size, backend: PhantomData }
    }
}

impl<B: Backend> Stage for UploadWitness<B> {
    type In = Arc<Witness>;
    type Out = DeviceWitness<B::Buffer>;
    type Error = SynthError;

    fn name(&self) -> Cow<'static, str> {
        "witness.upload".into()
    }

    fn kind(&self, error: &SynthError) -> ErrorKind {
        error.kind()
    }

    fn placement(&self) -> Placement {
        Placement::Gpu
    }

    fn cost(&self) -> Cost {
        upload::cost(&self.size)
    }

    fn run(&self, cx: &Cx<'_>, witness: Arc<Witness>) -> Result<Self::Out, SynthError> {
        let context = Context::<B>::of(cx)?;
        same("inputs", witness.inputs.len(), self.size.inputs)?;
        same("auxiliary variables", witness.aux.len(), self.size.aux)?;
        // A circuit that is not known by its writer says how many there are at most.
        same("full-width values", witness.aux.wide().len().max(self.size.wide), self.size.wide)?;
        upload::upload(cx, context, &witness)
    }
}

/// `eval.ab`: a witness and its circuit's constraints → the evaluations of A and B
/// ([`DeviceTemplate::evaluate`]).
pub struct DeviceEval<B> {
    size: WitnessSize,
    log_domain: u32,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend> DeviceEval<B> {
    /// The stage of a circuit with witnesses of this size and a domain of `2^log_domain` points.
    pub fn new(size: WitnessSize, log_domain: u32) -> Self {
        Self { size, log_domain, backend: PhantomData }
    }
}

impl<B> Clone for DeviceEval<B> {
    fn clone(&self) -> Self {
        Self { backend: PhantomData, ..*self }
    }
}

impl<B: Backend> fmt::Debug for DeviceEval<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceEval of 2^{} points on {}", self.log_domain, B::NAME)
    }
}

impl<B: Backend> Stage for DeviceEval<B> {
    type In = (Arc<DeviceWitness<B::Buffer>>, Arc<DeviceTemplate<B>>);
    type Out = (OnDeviceEvals<B>, OnDeviceEvals<B>);
    type Error = SynthError;

    fn name(&self) -> Cow<'static, str> {
        "eval.ab".into()
    }

    fn kind(&self, error: &SynthError) -> ErrorKind {
        error.kind()
    }

    fn placement(&self) -> Placement {
        Placement::Gpu
    }

    fn cost(&self) -> Cost {
        let evals = Footprint::device(taken(SCALAR << self.log_domain));
        let scratch = Footprint::device(DeviceTemplate::<B>::scratch(self.size.inputs, self.size.aux));
        Cost::free().scratch(scratch).output(evals).output(evals)
    }

    fn run(&self, cx: &Cx<'_>, (witness, template): Self::In) -> Result<Self::Out, SynthError> {
        template.check(&self.size, self.log_domain)?;
        template.evaluate(Context::<B>::of(cx)?, &witness)
    }
}
