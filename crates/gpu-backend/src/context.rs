//! A device with its queues.

use std::fmt;

use cuzk_pipeline_core::Cx;

use crate::{Backend, Device, Error, Stream};

/// An opened device and two queues: what an engine gives a device's lanes as their handle, and
/// stages get by [`of`](Self::of).
///
/// Stages queue their kernels on [`compute`](Self::compute), one after the other, and return; what
/// they make is used on that queue. Copies from the host go through
/// [`transfer`](Self::transfer), beside the kernels, and [`after_transfers`](Self::after_transfers)
/// puts the two in order.
pub struct Context<B: Backend> {
    device: B::Device,
    compute: B::Stream,
    transfer: B::Stream,
}

impl<B: Backend> Context<B> {
    /// Opens a device of which at most `limit` bytes are used; see [`Backend::open`].
    ///
    /// # Errors
    /// Those of [`Backend::open`] and [`Device::stream`].
    pub fn open(index: u16, limit: Option<u64>) -> Result<Self, Error> {
        Self::new(B::open(index, limit)?)
    }

    /// The context of the device that a stage runs on.
    ///
    /// # Errors
    /// [`Error::NoContext`] where the stage's place has none of this backend.
    pub fn of<'a>(cx: &Cx<'a>) -> Result<&'a Self, Error> {
        cx.device().ok_or_else(|| Error::NoContext { backend: B::NAME, place: cx.place() })
    }

    /// A device that is open already.
    ///
    /// # Errors
    /// Those of [`Device::stream`].
    pub fn new(device: B::Device) -> Result<Self, Error> {
        Ok(Self { compute: device.stream()?, transfer: device.stream()?, device })
    }

    /// The device.
    pub fn device(&self) -> &B::Device {
        &self.device
    }

    /// The queue of kernels.
    pub fn compute(&self) -> &B::Stream {
        &self.compute
    }

    /// The queue of copies from the host, and of kernels that only work on what they bring.
    pub fn transfer(&self) -> &B::Stream {
        &self.transfer
    }

    /// What is queued on [`compute`](Self::compute) from now on comes after what is queued on
    /// [`transfer`](Self::transfer) now.
    ///
    /// # Errors
    /// [`Error::Lost`].
    pub fn after_transfers(&self) -> Result<(), Error> {
        self.compute.wait(&self.transfer.record()?)
    }
}

impl<B: Backend> fmt::Debug for Context<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context of {:?}", self.device)
    }
}
