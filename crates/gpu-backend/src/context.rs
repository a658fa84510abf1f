//! A device with its queues.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuzk_pipeline_core::Cx;

use crate::{Backend, Device, Error, Stream};

/// An opened device and its queues: what an engine gives a device's lanes as their handle, and
/// stages get by [`of`](Self::of).
///
/// Stages queue their kernels on [`compute`](Self::compute), one after the other, and return; what
/// they make is used on that queue. Copies from the host go through
/// [`transfer`](Self::transfer), beside the kernels, and [`after_transfers`](Self::after_transfers)
/// puts them in order. Work that needs nothing but what was copied, and leaves most of the device
/// idle, has [`beside`](Self::beside).
pub struct Context<B: Backend> {
    device: B::Device,
    compute: B::Stream,
    beside: B::Stream,
    transfer: B::Stream,
    staging: Mutex<Staging<B>>,
}

/// Two pieces of page-locked memory through which values go to a device: one is filled while the
/// other is on its way.
#[derive(Debug)]
pub struct Staging<B: Backend> {
    pieces: [B::Pinned; 2],
}

impl<B: Backend> Staging<B> {
    /// Bytes of a piece: copies of as much reach the full rate of a bus, and a core writes as much
    /// in milliseconds.
    pub const PIECE: u64 = 8 << 20;

    /// The piece whose copy was queued before the other's.
    #[expect(clippy::should_implement_trait, reason = "it has no end")]
    pub fn next(&mut self) -> &mut B::Pinned {
        self.pieces.rotate_left(1);
        &mut self.pieces[1]
    }
}

impl<B: Backend> Context<B> {
    /// Opens a device of which at most `limit` bytes are used; see [`Backend::open`].
    ///
    /// # Errors
    /// Those of [`Backend::open`] and [`new`](Self::new).
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
    /// Those of [`Device::stream`] and [`Device::pinned`].
    pub fn new(device: B::Device) -> Result<Self, Error> {
        let pieces = [device.pinned(Staging::<B>::PIECE)?, device.pinned(Staging::<B>::PIECE)?];
        let (compute, beside, transfer) = (device.stream()?, device.urgent()?, device.stream()?);
        Ok(Self { compute, beside, transfer, staging: Mutex::new(Staging { pieces }), device })
    }

    /// The device's page-locked memory, for one value from its first copy to its last.
    pub fn staging(&self) -> MutexGuard<'_, Staging<B>> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device.
    pub fn device(&self) -> &B::Device {
        &self.device
    }

    /// The queue of kernels.
    pub fn compute(&self) -> &B::Stream {
        &self.compute
    }

    /// A second queue of kernels, which nothing puts in order with the first: small ones, that run in the
    /// gaps of those on [`compute`](Self::compute).
    pub fn beside(&self) -> &B::Stream {
        &self.beside
    }

    /// The queue of copies from the host, and of kernels that only work on what they bring.
    pub fn transfer(&self) -> &B::Stream {
        &self.transfer
    }

    /// What is queued on [`compute`](Self::compute) and [`beside`](Self::beside) from now on comes after
    /// what is queued on [`transfer`](Self::transfer) now.
    ///
    /// # Errors
    /// [`Error::Lost`].
    pub fn after_transfers(&self) -> Result<(), Error> {
        let copied = self.transfer.record()?;
        self.compute.wait(&copied)?;
        self.beside.wait(&copied)
    }
}

impl<B: Backend> fmt::Debug for Context<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context of {:?}", self.device)
    }
}
