//! Bytes on a device, and page-locked bytes.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUresult};
use cuzk_pipeline_core::{Footprint, Value};

use super::device::Inner;
use super::memory::Piece;
use super::{CudaDevice, CudaEvent};
use crate::{Buffer, Error, Event, MemoryKind, Pinned};

/// A block of a device's memory.
pub(super) struct Bytes {
    pub(super) device: Arc<Inner>,
    pub(super) address: u64,
    pub(super) len: u64,
    piece: Option<Piece>,
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // Work that is queued holds what it uses, so that nothing uses this any more.
        if let Some(piece) = self.piece.take() {
            self.device.memory.give_back(piece);
        }
    }
}

/// Bytes of a [`CudaDevice`].
#[derive(Clone)]
pub struct CudaBuffer(pub(super) Arc<Bytes>);

impl CudaBuffer {
    pub(super) fn new(device: &CudaDevice, len: u64) -> Result<Self, Error> {
        let inner = &device.0;
        let (memory, context) = (&inner.memory, &inner.context);
        let mut taken = memory.take(context, len)?;
        if taken.is_none() {
            // Queued work may hold what was dropped.
            inner.drain()?;
            taken = memory.take(context, len)?;
        }
        let piece = taken.ok_or_else(|| memory.out(context, MemoryKind::Device, len))?;
        Ok(Self(Arc::new(Bytes { device: inner.clone(), address: piece.address, len, piece: Some(piece) })))
    }
}

impl Buffer for CudaBuffer {
    fn bytes(&self) -> u64 {
        self.0.len
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Value for CudaBuffer {
    fn footprint(&self) -> Footprint {
        Footprint::device(self.0.len)
    }
}

impl fmt::Debug for CudaBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaBuffer({} bytes of {})", self.0.len, self.0.device.context.id())
    }
}

/// Page-locked memory of the driver's.
pub(super) struct Locked {
    pub(super) device: Arc<Inner>,
    pub(super) bytes: NonNull<u8>,
    pub(super) len: usize,
}

// SAFETY: it is memory like any other; who reads and writes it when is `CudaPinned`'s care.
unsafe impl Send for Locked {}
// SAFETY: as above.
unsafe impl Sync for Locked {}

impl Drop for Locked {
    fn drop(&mut self) {
        if self.len > 0 {
            self.device.context.enter_anyway();
            // SAFETY: it was allocated by `cuMemHostAlloc`, and queued work holds what it uses.
            let _ = unsafe { sys::cuMemFreeHost(self.bytes.as_ptr().cast()) };
        }
    }
}

/// Page-locked bytes that a [`CudaDevice`] reads and writes by itself.
pub struct CudaPinned {
    pub(super) locked: Arc<Locked>,
    /// The last copy of each stream that may not be done yet.
    copies: Mutex<Vec<CudaEvent>>,
}

impl CudaPinned {
    pub(super) fn new(device: &CudaDevice, len: u64) -> Result<Self, Error> {
        let (inner, out) = (&device.0, || device.0.memory.out(&device.0.context, MemoryKind::Pinned, len));
        inner.context.enter()?;
        let bytes =
            usize::try_from(len).ok().filter(|bytes| isize::try_from(*bytes).is_ok()).ok_or_else(out)?;
        let mut pointer = std::ptr::null_mut();
        if bytes > 0 {
            // SAFETY: the pointer is to a place that lives through the call.
            match unsafe { sys::cuMemHostAlloc(&raw mut pointer, bytes, sys::CU_MEMHOSTALLOC_PORTABLE) } {
                CUresult::CUDA_ERROR_OUT_OF_MEMORY => return Err(out()),
                other => inner.context.check("cuMemHostAlloc", other)?,
            }
        }
        let pointer = NonNull::new(pointer.cast::<u8>()).unwrap_or(NonNull::dangling());
        // SAFETY: there are so many bytes there, or none are written; nobody else knows of them yet.
        unsafe { pointer.write_bytes(0, bytes) };
        let locked = Arc::new(Locked { device: inner.clone(), bytes: pointer, len: bytes });
        Ok(Self { locked, copies: Mutex::default() })
    }

    /// Remembers that a copy was queued before `event`, which stands for earlier ones of its stream.
    pub(super) fn copied(&self, event: CudaEvent) {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        copies.retain(|copy| copy.stream != event.stream);
        copies.push(event);
    }

    /// Waits for all copies.
    fn settle(&self) -> Result<(), Error> {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        // A copy that cannot be waited for stays here: the bytes are not shown while it may happen.
        while let Some(copy) = copies.last() {
            copy.sync()?;
            copies.pop();
        }
        self.locked.device.context.alive()
    }
}

impl Pinned for CudaPinned {
    fn bytes(&self) -> u64 {
        self.locked.len as u64
    }

    fn read<R>(&self, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        self.settle()?;
        let Locked { bytes, len, .. } = &*self.locked;
        // SAFETY: they are initialised; copies to them are done, and others need `&mut self`.
        Ok(f(unsafe { std::slice::from_raw_parts(bytes.as_ptr(), *len) }))
    }

    fn write<R>(&mut self, f: impl FnOnce(&mut [u8]) -> R) -> Result<R, Error> {
        self.settle()?;
        let Locked { bytes, len, .. } = &*self.locked;
        // SAFETY: they are initialised; copies from and to them are done, and others need `self`.
        Ok(f(unsafe { std::slice::from_raw_parts_mut(bytes.as_ptr(), *len) }))
    }
}

impl Value for CudaPinned {
    fn footprint(&self) -> Footprint {
        Footprint::pinned(Pinned::bytes(self))
    }
}

impl fmt::Debug for CudaPinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaPinned({} bytes of {})", self.locked.len, self.locked.device.context.id())
    }
}
