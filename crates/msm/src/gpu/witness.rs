//! Sums over a witness: of the bases of variables that are 1, and multiples of those of wide ones.

use std::marker::PhantomData;
use std::ops::Range;

use cuzk_gpu_backend::{Arg, Backend, Buffer, Grid, Stream};
use cuzk_values::{DeviceBases, DeviceWitness};

use super::plan::{Load, MAX_POINTS, PICK_THREADS};
use super::queue::{Ones, Queue, Terms};
use super::{DeviceCurve, Pending, Plan, QueryDensity, Workspace};
use crate::MsmError;

/// A sum over a witness: the part of a query that is there.
struct OfQuery<'a, B: Backend, C: DeviceCurve> {
    witness: &'a DeviceWitness<B::Buffer>,
    density: &'a QueryDensity<B>,
    bases: &'a DeviceBases<B::Buffer, C::Affine>,
    inputs: u64,
    wide: u64,
    /// Words of bits.
    words: u64,
}

impl<'a, B: Backend, C: DeviceCurve> OfQuery<'a, B, C> {
    /// What belongs together.
    fn new(
        witness: &'a DeviceWitness<B::Buffer>,
        density: &'a QueryDensity<B>,
        bases: &'a DeviceBases<B::Buffer, C::Affine>,
    ) -> Result<Self, MsmError> {
        let inputs = witness.inputs.bytes() / 32;
        let wide = (witness.wide.bytes() / 32).min(witness.wide_at.bytes() / 4);
        let words = witness.aux.div_ceil(64) as u64;
        let fits = |what, bits, variables| match bits == variables {
            true => Ok(()),
            false => Err(MsmError::Density { what, bits, variables }),
        };
        fits("inputs", density.inputs, inputs as usize)?;
        fits("auxiliary variables", density.aux, witness.aux)?;
        fits("auxiliary variables", (witness.ones.bytes() / 8).min(words) as usize, words as usize)?;
        let (range, there) = (bases.range(), bases.points().bytes() / C::AFFINE);
        if range.end > density.bases || (range.len() as u64) > there.min(MAX_POINTS) {
            return Err(MsmError::Lengths { bases: there as usize, scalars: density.bases });
        }
        Ok(Self { witness, density, bases, inputs, wide, words })
    }

    fn load(&self) -> Load {
        let bases = self.bases.range().len() as u64;
        Load { terms: (self.inputs + self.wide).min(bases), bases }
    }

    fn queue(
        &self,
        workspace: &Workspace<B>,
        stream: &B::Stream,
        plan: &Plan,
    ) -> Result<Pending<B, C>, MsmError> {
        let memory = &*workspace.scratch.lock();
        let (kernels, sizes) = (C::kernels(workspace), plan.sizes::<C>());
        let queue = Queue { plan, sizes, kernels, memory, stream, curve: PhantomData };
        let (mut slots, end) = (Vec::new(), self.load().bases);
        for start in (0..end).step_by(plan.ones.max(1) as usize) {
            self.sum(&queue, start..end.min(start + plan.ones))?;
            slots.push(workspace.results.fetch(stream, &memory.results, queue.left())?);
        }
        Pending::new(stream, *plan, slots)
    }

    /// Queues the part of some bases, of those that are there.
    fn sum(&self, queue: &Queue<'_, B, C>, part: Range<u64>) -> Result<(), MsmError> {
        let Self { witness, density, bases, inputs, wide, words } = *self;
        let Queue { plan, memory, stream, kernels, .. } = queue;
        let (origin, first, len) = (bases.range().start as u64, part.start, part.end - part.start);
        stream.zero(&memory.terms, 0..4)?;
        let args = [
            Arg::U64(inputs),
            Arg::U64(inputs + wide),
            Arg::U64(origin),
            Arg::U64(first),
            Arg::U64(len),
            Arg::Read(&density.words),
            Arg::Read(&density.ranks),
            Arg::Read(&witness.wide_at),
            Arg::Write(&memory.picks),
            Arg::Write(&memory.terms),
        ];
        stream.launch(&kernels.picks, Grid::cover(inputs + wide, PICK_THREADS), &args)?;
        let terms = Terms {
            bases: bases.points(),
            scalars: [&witness.inputs, &witness.wide],
            inputs,
            picked: true,
            first: 0,
            at: 0,
            len: plan.terms.min(len),
        };
        let ones = Ones {
            bits: &witness.ones,
            density: &density.words,
            ranks: &density.ranks,
            words,
            skip: inputs.div_ceil(64),
            origin,
            bases: part,
        };
        queue.sum(&terms, Some(&ones))
    }
}

impl<B: Backend> Workspace<B> {
    /// Queues the sum of a witness's variables times the bases that are there of a query, after what is
    /// queued on `stream`.
    ///
    /// # Errors
    /// [`MsmError::Density`] and [`MsmError::Lengths`] for what does not belong together,
    /// [`MsmError::Limit`] if the memory is too small, and what the device says.
    pub fn witness<C: DeviceCurve>(
        &self,
        stream: &B::Stream,
        witness: &DeviceWitness<B::Buffer>,
        density: &QueryDensity<B>,
        bases: &DeviceBases<B::Buffer, C::Affine>,
    ) -> Result<Pending<B, C>, MsmError> {
        let query = OfQuery::<B, C>::new(witness, density, bases)?;
        let plan = self.plan::<C>(query.load())?;
        query.queue(self, stream, &plan)
    }

    /// As [`witness`](Self::witness), with all that is chosen given.
    ///
    /// # Errors
    /// As there; [`MsmError::Limit`] if the plan wants more memory than there is.
    pub fn witness_by<C: DeviceCurve>(
        &self,
        plan: &Plan,
        stream: &B::Stream,
        witness: &DeviceWitness<B::Buffer>,
        density: &QueryDensity<B>,
        bases: &DeviceBases<B::Buffer, C::Affine>,
    ) -> Result<Pending<B, C>, MsmError> {
        let query = OfQuery::<B, C>::new(witness, density, bases)?;
        let (have, wanted) = (self.scratch.sizes, plan.sizes::<C>());
        let Load { terms, bases } = query.load();
        if !have.hold(&wanted) || plan.ones == 0 || plan.terms < terms.min(plan.ones).min(bases) {
            return Err(MsmError::Limit { limit: have.bytes(), least: have.max(&wanted).bytes() });
        }
        query.queue(self, stream, plan)
    }
}
