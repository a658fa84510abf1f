//! Sums on a device, of bases and scalars that are there.
//!
//! Signed digits of large windows, sorted by bucket; buckets summed by threads of equal
//! work, whatever the scalars are; running sums of the buckets in levels that fill the
//! card. Kernels are in `crates/gpu-backend/kernels/msm`, and their forms for the host define them.
//!
//! On a device a base is what blst keeps: its affine coordinates in Montgomery form, 96 bytes in
//! G1, infinity as (0, 0). A scalar is its 32 bytes in Montgomery form.
//!
//! A sum is queued and is [`Pending`] then. [`GpuMsm`] has kernels and memory for one plan, a
//! [`Workspace`] for all sums of a circuit in both groups.

mod density;
mod family;
mod group;
mod host;
mod pending;
mod plan;
mod queue;
mod scratch;
mod stage;
mod witness;
mod workspace;

use std::marker::PhantomData;
use std::sync::Arc;

use cuzk_gpu_backend::{Backend, Buffer, Device, Family};
pub use density::{DeviceDensity, QueryDensity};
pub use group::{DeviceCurve, base_bytes, scalar_bytes};
pub use pending::Pending;
use pending::Results;
pub use plan::Plan;
use queue::{Kernels, Queue, Terms};
use scratch::Scratch;
pub use stage::{
    DeviceMsmA, DeviceMsmB1, DeviceMsmB2, DeviceMsmH, DeviceMsmL, Join, LoadDensity, LoadWorkspace,
};
pub use workspace::{Extent, Workspace};

use crate::MsmError;

/// The kernels of both groups.
pub fn families() -> [&'static Family; 2] {
    [&family::MSM_G1, &family::MSM_G2]
}

/// A multiplication on a device: its kernels and its memory, for sums of up to some length.
///
/// What is queued with one of these goes to one stream at a time: its memory is reused.
#[derive(Debug)]
pub struct GpuMsm<B: Backend, C: DeviceCurve> {
    plan: Plan,
    kernels: Kernels<B>,
    scratch: Scratch<B>,
    results: Arc<Results<B>>,
    curve: PhantomData<fn() -> C>,
}

impl<B: Backend, C: DeviceCurve> GpuMsm<B, C> {
    /// Kernels and memory for sums of up to `len` terms, of at most `limit` bytes.
    ///
    /// # Errors
    /// [`MsmError::Limit`] if no plan is that small, and what the device says.
    pub fn new(device: &B::Device, len: u64, limit: u64) -> Result<Self, MsmError> {
        let plan = Plan::new::<C>(len, limit, device.info().units)?;
        Self::with_plan(device, plan)
    }

    /// As [`new`](Self::new), with all that is chosen given.
    ///
    /// # Errors
    /// What the device says.
    pub fn with_plan(device: &B::Device, plan: Plan) -> Result<Self, MsmError> {
        let sizes = plan.sizes::<C>();
        Ok(Self {
            plan,
            kernels: Kernels::new::<C>(device)?,
            scratch: Scratch::new(device, &sizes)?,
            results: Results::new(device, sizes.results, 0)?,
            curve: PhantomData,
        })
    }

    /// What was chosen.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Queues `sum_i scalars_(at + i) bases_(first + i)` over `i < len`, after what is queued on
    /// `stream`.
    ///
    /// Scalars and bases of any kind are welcome: zeros, infinity, equal and opposite ones.
    ///
    /// # Errors
    /// [`MsmError::Lengths`] if a buffer ends before, or there are more terms than was
    /// planned for; and what the device says.
    pub fn queue(
        &self,
        stream: &B::Stream,
        [bases, scalars]: [&B::Buffer; 2],
        [first, at]: [u64; 2],
        len: u64,
    ) -> Result<Pending<B, C>, MsmError> {
        let part = Part { bases, scalars, first, at, len };
        part.queue(stream, &self.plan, &self.kernels, &self.scratch, &self.results)
    }

    /// The same, and [waits](Pending::wait) for it.
    ///
    /// # Errors
    /// As [`queue`](Self::queue).
    pub fn multiply(
        &self,
        stream: &B::Stream,
        buffers: [&B::Buffer; 2],
        starts: [u64; 2],
        len: u64,
    ) -> Result<C::Projective, MsmError> {
        self.queue(stream, buffers, starts, len)?.wait()
    }
}

/// Bases from `first` on with scalars from `at` on.
struct Part<'a, B: Backend> {
    bases: &'a B::Buffer,
    scalars: &'a B::Buffer,
    first: u64,
    at: u64,
    len: u64,
}

impl<B: Backend> Part<'_, B> {
    /// Whether they are there, in a number that a plan is for.
    fn check<C: DeviceCurve>(&self, most: u64) -> Result<(), MsmError> {
        let &Self { bases, scalars, first, at, len } = self;
        let (points, terms) = (bases.bytes() / C::AFFINE, scalars.bytes() / 32);
        let fits = |start: u64, have| start.checked_add(len).is_some_and(|end| end <= have);
        if fits(first, points) && fits(at, terms) && len <= most && first <= plan::MAX_POINTS - len {
            return Ok(());
        }
        Err(MsmError::Lengths { bases: points as usize, scalars: at.saturating_add(len) as usize })
    }

    fn queue<C: DeviceCurve>(
        &self,
        stream: &B::Stream,
        plan: &Plan,
        kernels: &Kernels<B>,
        scratch: &Scratch<B>,
        results: &Arc<Results<B>>,
    ) -> Result<Pending<B, C>, MsmError> {
        self.check::<C>(plan.len)?;
        let &Self { bases, scalars, first, at, len } = self;
        let memory = &*scratch.lock();
        let queue =
            Queue::<B, C> { plan, sizes: plan.sizes::<C>(), kernels, memory, stream, curve: PhantomData };
        let chunk = |chunk: std::ops::Range<u64>| {
            let (first, at) = (first + chunk.start, at + chunk.start);
            let scalars = [scalars; 2];
            let len = chunk.end - chunk.start;
            queue.sum(&Terms { bases, scalars, inputs: 0, picked: false, first, at, len }, None)?;
            results.fetch(stream, &memory.results, queue.left())
        };
        let slots = plan.chunks(len).into_iter().map(chunk).collect::<Result<_, _>>()?;
        Pending::new(stream, *plan, slots)
    }
}
