//! Page-locked memory through which points go to a device.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuzk_gpu_backend::{Backend, Buffer, Context, Device, Pinned};
use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Placement, Stage, Value};

use super::kernels::FIRST_BAD;
use crate::SrsError;
use crate::format::G2_BYTES;

/// Two buffers of page-locked memory, of which one is filled while the other is copied to the
/// device: made once a device, since the driver takes long to lock pages, and used by one load
/// after the other.
pub struct Staging<B: Backend> {
    piece: usize,
    slots: Mutex<Slots<B>>,
}

pub(super) struct Slots<B: Backend> {
    /// The one whose copy was queued first is the first.
    pinned: [B::Pinned; 2],
    /// The complement of the index of the first bad point, on the device; zero if all are sound.
    pub(super) first_bad: B::Buffer,
}

impl<B: Backend> Staging<B> {
    /// Bytes of a buffer that suits: on an H200's host, whose bus brings 55 GB/s, 16 threads
    /// load 45 GB/s by as much at a time, 36 by half of it and 22 by a quarter.
    pub const PIECE: usize = 32 << 20;

    /// Two buffers of `piece` bytes, at least a point.
    ///
    /// # Errors
    /// [`SrsError::Device`].
    pub fn new(device: &B::Device, piece: usize) -> Result<Self, SrsError> {
        let piece = piece.max(G2_BYTES);
        let pinned = || device.pinned(piece as u64);
        let slots = Slots { pinned: [pinned()?, pinned()?], first_bad: device.buffer(FIRST_BAD)? };
        Ok(Self { piece, slots: Mutex::new(slots) })
    }

    /// The bytes of one with buffers of `piece` bytes.
    pub fn bytes(piece: usize) -> Footprint {
        Footprint { pinned: 2 * piece.max(G2_BYTES) as u64, device: FIRST_BAD, ..Footprint::ZERO }
    }

    /// Bytes of a buffer.
    pub fn piece(&self) -> usize {
        self.piece
    }

    /// The buffers, for one load from its first copy to the last.
    pub(super) fn slots(&self) -> MutexGuard<'_, Slots<B>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Backend> Slots<B> {
    /// The buffer that will be free first.
    pub(super) fn next(&mut self) -> &mut B::Pinned {
        self.pinned.rotate_left(1);
        &mut self.pinned[1]
    }
}

impl<B: Backend> fmt::Debug for Staging<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Staging of {} bytes twice", self.piece)
    }
}

impl<B: Backend> Value for Staging<B> {
    fn footprint(&self) -> Footprint {
        let Slots { pinned, first_bad } = &*self.slots();
        let pinned = pinned.iter().map(Pinned::bytes).sum();
        Footprint { pinned, device: first_bad.bytes(), ..Footprint::ZERO }
    }
}

/// `srs.staging`: a [`Staging`] for the device, as a resident of the engine.
pub struct MakeStaging<B> {
    piece: usize,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend> MakeStaging<B> {
    /// One with buffers of `piece` bytes; see [`Staging::PIECE`].
    pub fn new(piece: usize) -> Self {
        Self { piece, backend: PhantomData }
    }
}

impl<B: Backend> Stage for MakeStaging<B> {
    type In = ();
    type Out = Staging<B>;
    type Error = SrsError;

    fn name(&self) -> Cow<'static, str> {
        "srs.staging".into()
    }
    fn kind(&self, error: &SrsError) -> ErrorKind {
        error.kind()
    }
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    fn cost(&self) -> Cost {
        Cost::free().output(Staging::<B>::bytes(self.piece))
    }
    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<Staging<B>, SrsError> {
        Staging::new(Context::<B>::of(cx)?.device(), self.piece)
    }
}
