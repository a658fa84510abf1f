//! Sums under way, and the page-locked memory in which they arrive.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cuzk_gpu_backend::{Backend, Device, Event, Pinned, Stream};
use cuzk_pipeline_core::{Footprint, Value};

use super::DeviceCurve;
use super::plan::Plan;
use crate::MsmError;

/// Page-locked memory for what is left of sums, in slots of equal size. Slots come back.
pub(super) struct Results<B: Backend> {
    device: B::Device,
    bytes: u64,
    free: Mutex<Vec<B::Pinned>>,
    /// How many there are.
    slots: AtomicU64,
}

impl<B: Backend> Results<B> {
    /// So many slots of `bytes`. If more are wanted at once, they are made then.
    pub(super) fn new(device: &B::Device, bytes: u64, slots: u32) -> Result<Arc<Self>, MsmError> {
        let free: Result<Vec<_>, _> = (0..slots).map(|_| device.pinned(bytes)).collect();
        Ok(Arc::new(Self {
            device: device.clone(),
            bytes,
            free: Mutex::new(free?),
            slots: AtomicU64::new(slots.into()),
        }))
    }

    pub(super) fn footprint(&self) -> Footprint {
        Footprint::pinned(self.bytes * self.slots.load(Ordering::Relaxed))
    }

    fn take(&self) -> Result<B::Pinned, MsmError> {
        if let Some(pinned) = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(pinned);
        }
        let pinned = self.device.pinned(self.bytes)?;
        self.slots.fetch_add(1, Ordering::Relaxed);
        Ok(pinned)
    }

    /// A slot into which `bytes` of a buffer are copied after what is queued.
    pub(super) fn fetch(
        self: &Arc<Self>,
        stream: &B::Stream,
        from: &B::Buffer,
        bytes: u64,
    ) -> Result<Slot<B>, MsmError> {
        let mut slot = Slot { pinned: Some(self.take()?), results: self.clone() };
        if let Some(pinned) = &mut slot.pinned {
            stream.download_pinned(from, 0..bytes, pinned, 0)?;
        }
        Ok(slot)
    }
}

impl<B: Backend> fmt::Debug for Results<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slots of {} bytes on {:?}", self.bytes, self.device)
    }
}

/// A slot, which goes back when it is dropped: who has it next waits for copies that are under way.
pub(super) struct Slot<B: Backend> {
    pinned: Option<B::Pinned>,
    results: Arc<Results<B>>,
}

impl<B: Backend> Slot<B> {
    fn points<C: DeviceCurve>(&self, count: usize) -> Result<Vec<C::Projective>, MsmError> {
        let words = C::SUM as usize / 8;
        let points = |bytes: &[u8]| {
            let bytes = &bytes[..count * C::SUM as usize];
            bytemuck::cast_slice(bytes).chunks_exact(words).map(C::sum).collect()
        };
        Ok(self.pinned.as_ref().map_or(Ok(Vec::new()), |pinned| pinned.read(points))?)
    }
}

impl<B: Backend> Drop for Slot<B> {
    fn drop(&mut self) {
        if let Some(pinned) = self.pinned.take() {
            self.results.free.lock().unwrap_or_else(PoisonError::into_inner).push(pinned);
        }
    }
}

/// A sum under way: what is left of it on the device when all is done that was queued, on its way to
/// page-locked memory. That memory is its workspace's, and goes back there.
pub struct Pending<B: Backend, C: DeviceCurve> {
    plan: Plan,
    /// One for each chunk.
    slots: Vec<Slot<B>>,
    done: B::Event,
    curve: std::marker::PhantomData<fn() -> C>,
}

impl<B: Backend, C: DeviceCurve> Pending<B, C> {
    /// Its memory is the workspace's. One byte says that it is a device's, so that an engine has
    /// those who wait for it at that device.
    pub const WEIGHT: Footprint = Footprint::device(1);

    /// Chunks by one plan, of which the last was just queued.
    pub(super) fn new(stream: &B::Stream, plan: Plan, slots: Vec<Slot<B>>) -> Result<Self, MsmError> {
        Ok(Self { plan, slots, done: stream.record()?, curve: std::marker::PhantomData })
    }

    /// The point in the stream after the sum.
    pub fn event(&self) -> &B::Event {
        &self.done
    }

    /// Waits for the device, and does the rest: some hundred additions.
    ///
    /// # Errors
    /// What the device says.
    pub fn wait(self) -> Result<C::Projective, MsmError> {
        self.done.sync()?;
        // The rest is linear: it is done once for all chunks.
        let mut total = vec![C::zero(); self.plan.points()];
        for slot in &self.slots {
            let points = slot.points::<C>(total.len())?;
            total.iter_mut().zip(&points).for_each(|(sum, point)| *sum += *point);
        }
        Ok(self.plan.join::<C>(&total))
    }
}

impl<B: Backend, C: DeviceCurve> Value for Pending<B, C> {
    fn footprint(&self) -> Footprint {
        Self::WEIGHT
    }
}

impl<B: Backend, C: DeviceCurve> fmt::Debug for Pending<B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} chunks of a sum in {} under way", self.slots.len(), C::NAME)
    }
}
