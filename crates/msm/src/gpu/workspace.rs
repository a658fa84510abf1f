//! What all sums of a circuit share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cuzk_gpu_backend::{Backend, Context, Device};
use cuzk_pipeline_core::{Footprint, Value};

use super::pending::Results;
use super::plan::Load;
use super::queue::Kernels;
use super::scratch::{Scratch, Sizes};
use super::{DeviceCurve, Part, Pending, Plan};
use crate::{G1, G2, MsmError};

/// The largest sums that a workspace is for, and what it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Terms of full width in G1.
    pub terms: u64,
    /// Bases of a query that are summed over a witness, at once.
    pub bases: u64,
    /// Variables of full width, and inputs, of a witness.
    pub wide: u64,
    /// Bytes of the device.
    pub limit: u64,
    /// Chunks of sums that are under way at once: each has a place for its result in page-locked memory.
    pub sums: u32,
    /// Multiprocessors of the device.
    pub units: u32,
}

impl Extent {
    /// The memory for the best plans that fit the limit together.
    fn sizes(&self) -> Result<Sizes, MsmError> {
        let &Self { terms, bases, wide, limit, units, .. } = self;
        let full = Load { terms, bases: 0 };
        let witness = Load { terms: wide.min(bases), bases };
        let mut least = u64::MAX;
        // The sum of full width may have to leave the others some of the limit.
        for parts in [8, 7, 6, 4, 2, 1] {
            let sizes = enough::<G1>(None, full, limit - limit / 8 * (8 - parts), units)
                .and_then(|sizes| enough::<G1>(Some(&sizes), witness, limit, units))
                .and_then(|sizes| enough::<G2>(Some(&sizes), witness, limit, units));
            match sizes {
                Ok(sizes) => return Ok(sizes),
                Err(bytes) if bytes > limit => least = least.min(bytes),
                Err(_) => {}
            }
        }
        Err(MsmError::Limit { limit, least })
    }

    /// What a workspace takes.
    ///
    /// # Errors
    /// [`MsmError::Limit`] if nothing is small enough.
    pub fn footprint(&self) -> Result<Footprint, MsmError> {
        let sizes = self.sizes()?;
        Ok(Footprint::device(sizes.bytes()) + Footprint::pinned(u64::from(self.sums) * sizes.results))
    }
}

/// Sizes that are enough for the best plan of a load, and for others; or the least bytes that would be.
fn enough<C: DeviceCurve>(other: Option<&Sizes>, load: Load, limit: u64, units: u32) -> Result<Sizes, u64> {
    let both = |sizes: &Sizes| other.map_or(*sizes, |other| other.max(sizes));
    let mut least = u64::MAX;
    let fits = |sizes: &Sizes| {
        let bytes = both(sizes).bytes();
        least = least.min(bytes);
        bytes <= limit
    };
    let plan = Plan::best::<C>(load, fits, units);
    plan.map(|plan| both(&plan.sizes::<C>())).ok_or(least)
}

/// Kernels of both groups, and memory that all sums of a circuit use in turn.
///
/// Sums may be queued by several threads: one after the other, each as a whole. All of them go to one
/// stream, whose order keeps them apart on the device: for stages it is [`Context::compute`], or
/// [`Context::beside`] for a workspace that is [so](Self::beside).
#[derive(Debug)]
pub struct Workspace<B: Backend> {
    units: u32,
    beside: bool,
    pub(super) g1: Kernels<B>,
    pub(super) g2: Kernels<B>,
    pub(super) scratch: Scratch<B>,
    pub(super) results: Arc<Results<B>>,
    /// What was chosen for the loads that came.
    plans: Mutex<HashMap<(&'static str, Load), Plan>>,
}

impl<B: Backend> Workspace<B> {
    /// Kernels, and the [bytes](Extent::footprint) of an extent.
    ///
    /// # Errors
    /// [`MsmError::Limit`] if nothing is small enough, and what the device says.
    pub fn new(context: &Context<B>, extent: Extent) -> Result<Self, MsmError> {
        Self::of(context, &extent.sizes()?, extent.sums, extent.units)
    }

    /// As [`new`](Self::new), for [`witness_by`](Self::witness_by) with one plan.
    ///
    /// # Errors
    /// What the device says.
    pub fn with_plan<C: DeviceCurve>(context: &Context<B>, plan: &Plan) -> Result<Self, MsmError> {
        Self::of(context, &plan.sizes::<C>(), 1, context.device().info().units)
    }

    fn of(context: &Context<B>, sizes: &Sizes, sums: u32, units: u32) -> Result<Self, MsmError> {
        let device = context.device();
        Ok(Self {
            units,
            beside: false,
            g1: Kernels::new::<G1>(device)?,
            g2: Kernels::new::<G2>(device)?,
            scratch: Scratch::new(device, sizes)?,
            results: Results::new(device, sizes.results, sums)?,
            plans: Mutex::default(),
        })
    }

    /// The same for stages that queue on [`Context::beside`].
    #[must_use]
    pub fn beside(self) -> Self {
        Self { beside: true, ..self }
    }

    /// The stream of all sums of stages.
    pub(super) fn stream<'c>(&self, context: &'c Context<B>) -> &'c B::Stream {
        if self.beside { context.beside() } else { context.compute() }
    }

    /// The best plan within the memory that there is.
    pub(super) fn plan<C: DeviceCurve>(&self, load: Load) -> Result<Plan, MsmError> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(&(C::NAME, load)) {
            return Ok(*plan);
        }
        let mut least = u64::MAX;
        let fits = |sizes: &Sizes| {
            least = least.min(self.scratch.sizes.max(sizes).bytes());
            self.scratch.sizes.hold(sizes)
        };
        let plan = Plan::best::<C>(load, fits, self.units)
            .ok_or(MsmError::Limit { limit: self.scratch.sizes.bytes(), least })?;
        plans.insert((C::NAME, load), plan);
        Ok(plan)
    }

    /// As [`GpuMsm::queue`](super::GpuMsm::queue), for up to as many terms as there is memory for.
    ///
    /// # Errors
    /// [`MsmError::Lengths`] if a buffer ends before; and what the device says.
    pub fn queue<C: DeviceCurve>(
        &self,
        stream: &B::Stream,
        [bases, scalars]: [&B::Buffer; 2],
        [first, at]: [u64; 2],
        len: u64,
    ) -> Result<Pending<B, C>, MsmError> {
        let part = Part { bases, scalars, first, at, len };
        part.check::<C>(len)?;
        let plan = self.plan::<C>(Load { terms: len, bases: 0 })?;
        part.queue(stream, &plan, C::kernels(self), &self.scratch, &self.results)
    }
}

impl<B: Backend> Value for Workspace<B> {
    fn footprint(&self) -> Footprint {
        self.scratch.footprint() + self.results.footprint()
    }
}
