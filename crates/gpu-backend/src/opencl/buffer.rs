//! Bytes on a device, and page-locked bytes.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use cuzk_pipeline_core::{Footprint, Value};
use opencl3::command_queue::{enqueue_map_buffer, enqueue_unmap_mem_object, finish};
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, create_buffer};
use opencl3::types::{CL_TRUE, cl_mem};

use super::device::Inner;
use super::memory::is_out;
use super::{OpenClDevice, OpenClEvent, driver};
use crate::{Buffer, Error, Event, MemoryKind, Pinned};

/// Bytes of a device's memory.
pub(super) struct Bytes {
    pub(super) device: Arc<Inner>,
    pub(super) len: u64,
    /// None for no bytes; and how many it has.
    memory: Option<(driver::Memory, u64)>,
}

impl Bytes {
    /// The memory object, or null for no bytes.
    pub(super) fn raw(&self) -> cl_mem {
        self.memory.as_ref().map_or(std::ptr::null_mut(), |(memory, _)| memory.0)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // Work that is queued holds what it uses, so that nothing uses this any more.
        if let Some((memory, len)) = self.memory.take() {
            self.device.memory.give_back(memory, len);
        }
    }
}

/// Bytes of an [`OpenClDevice`].
#[derive(Clone)]
pub struct OpenClBuffer(pub(super) Arc<Bytes>);

impl OpenClBuffer {
    pub(super) fn new(device: &OpenClDevice, len: u64) -> Result<Self, Error> {
        let inner = &device.0;
        if len == 0 {
            inner.context.alive()?;
            return Ok(Self(Arc::new(Bytes { device: inner.clone(), len, memory: None })));
        }
        let mut taken = inner.memory.take(len)?;
        if taken.is_none() {
            // Queued work may hold what was dropped.
            inner.drain()?;
            taken = inner.memory.take(len)?;
        }
        let memory = Some(taken.ok_or_else(|| inner.memory.out(MemoryKind::Device, len))?);
        Ok(Self(Arc::new(Bytes { device: inner.clone(), len, memory })))
    }
}

impl Buffer for OpenClBuffer {
    fn bytes(&self) -> u64 {
        self.0.len
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Value for OpenClBuffer {
    fn footprint(&self) -> Footprint {
        Footprint::device(self.0.len)
    }
}

impl fmt::Debug for OpenClBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenClBuffer({} bytes of {})", self.0.len, self.0.device.context.id())
    }
}

/// Memory of the driver's that the host sees as long as this lives. Drivers lock its pages.
pub(super) struct Locked {
    pub(super) device: Arc<Inner>,
    /// None for no bytes.
    memory: Option<driver::Memory>,
    pub(super) bytes: NonNull<u8>,
    pub(super) len: usize,
}

// SAFETY: it is memory like any other; who reads and writes it when is `OpenClPinned`'s care.
unsafe impl Send for Locked {}
// SAFETY: as above.
unsafe impl Sync for Locked {}

impl Locked {
    fn new(device: &Arc<Inner>, len: u64) -> Result<Self, Error> {
        let (context, queue) = (&device.context, &device.memory.queue);
        let out = || device.memory.out(MemoryKind::Pinned, len);
        context.alive()?;
        let len = usize::try_from(len).ok().filter(|len| isize::try_from(*len).is_ok()).ok_or_else(out)?;
        let mut locked = Self { device: device.clone(), memory: None, bytes: NonNull::dangling(), len: 0 };
        if len == 0 {
            return Ok(locked);
        }
        let (flags, map) = (CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, CL_MAP_READ | CL_MAP_WRITE);
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the context lives, and the memory while it is mapped, which the call waits for.
        let mapped = unsafe {
            create_buffer(context.raw.0, flags, len, std::ptr::null_mut()).map(driver::Memory).and_then(
                |memory| {
                    let none = std::ptr::null();
                    let event =
                        enqueue_map_buffer(queue.0, memory.0, CL_TRUE, map, 0, len, &mut pointer, 0, none)?;
                    drop(driver::Event(event));
                    Ok(memory)
                },
            )
        };
        let memory = match mapped {
            Err(code) if is_out(code) => return Err(out()),
            other => context.check("clEnqueueMapBuffer", other)?,
        };
        let bytes = NonNull::new(pointer.cast::<u8>()).ok_or_else(out)?;
        (locked.memory, locked.bytes, locked.len) = (Some(memory), bytes, len);
        // SAFETY: there are so many bytes there; nobody else knows of them yet.
        unsafe { locked.bytes.write_bytes(0, len) };
        Ok(locked)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let Some(memory) = &self.memory else { return };
        let (queue, pointer) = (self.device.memory.queue.0, self.bytes.as_ptr().cast());
        // SAFETY: it was mapped there once, and queued work holds what it uses.
        if let Ok(event) = unsafe { enqueue_unmap_mem_object(queue, memory.0, pointer, 0, std::ptr::null()) }
        {
            drop(driver::Event(event));
            let _ = finish(queue);
        }
    }
}

/// Page-locked bytes that an [`OpenClDevice`] reads and writes by itself.
pub struct OpenClPinned {
    pub(super) locked: Arc<Locked>,
    /// The last copy of each stream that may not be done yet.
    copies: Mutex<Vec<OpenClEvent>>,
}

impl OpenClPinned {
    pub(super) fn new(device: &OpenClDevice, len: u64) -> Result<Self, Error> {
        Ok(Self { locked: Arc::new(Locked::new(&device.0, len)?), copies: Mutex::default() })
    }

    /// Remembers that a copy was queued before `event`, which stands for earlier ones of its stream.
    pub(super) fn copied(&self, event: OpenClEvent) {
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

impl Pinned for OpenClPinned {
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

impl Value for OpenClPinned {
    fn footprint(&self) -> Footprint {
        Footprint::pinned(Pinned::bytes(self))
    }
}

impl fmt::Debug for OpenClPinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenClPinned({} bytes of {})", self.locked.len, self.locked.device.context.id())
    }
}
