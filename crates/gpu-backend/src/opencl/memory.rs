//! The memory of a handle: its limit, and what was given back for the next buffer of its size.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opencl3::command_queue::{create_command_queue, enqueue_migrate_mem_object, finish};
use opencl3::error_codes as codes;
use opencl3::memory::{CL_MEM_READ_WRITE, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, create_buffer};
use opencl3::types::cl_int;

use super::driver::{self, Context, Event, Queue};
use crate::arena::ALIGN;
use crate::pool::Pool;
use crate::{Error, MemoryKind, MemoryReport};

/// A device's memory, as far as one handle may use it.
pub(super) struct Memory {
    context: Arc<Context>,
    /// For what belongs to no stream: the first touch of memory, maps of page-locked memory.
    pub(super) queue: Queue,
    total: u64,
    /// The most bytes of one buffer.
    largest: u64,
    pool: Mutex<Pool<driver::Memory>>,
}

/// Whether a code says that memory is out.
pub(super) fn is_out(code: cl_int) -> bool {
    matches!(
        code,
        codes::CL_MEM_OBJECT_ALLOCATION_FAILURE
            | codes::CL_OUT_OF_RESOURCES
            | codes::CL_OUT_OF_HOST_MEMORY
            | codes::CL_INVALID_BUFFER_SIZE
    )
}

impl Memory {
    pub(super) fn new(
        context: &Arc<Context>,
        [total, largest]: [u64; 2],
        limit: Option<u64>,
    ) -> Result<Self, Error> {
        // SAFETY: the context lives, and the device is its own.
        let queue = unsafe { create_command_queue(context.raw.0, context.device, 0) };
        let queue = Queue(context.check("clCreateCommandQueue", queue)?);
        let pool = Mutex::new(Pool::new(limit.unwrap_or(total).min(total)));
        Ok(Self { context: context.clone(), queue, total, largest, pool })
    }

    fn pool(&self) -> MutexGuard<'_, Pool<driver::Memory>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At least `bytes`, and how many in fact; `None` where there is no room.
    pub(super) fn take(&self, bytes: u64) -> Result<Option<(driver::Memory, u64)>, Error> {
        self.context.alive()?;
        let Some(len) = bytes.checked_next_multiple_of(ALIGN) else { return Ok(None) };
        let mut pool = self.pool();
        if let Some(again) = pool.again(len) {
            return Ok(Some(again));
        }
        if len > self.largest || len > pool.free() {
            return Ok(None);
        }
        while pool.surplus(len).is_some() {}
        loop {
            match self.create(len) {
                Err(code) if is_out(code) => {
                    if pool.spare().is_none() {
                        return Ok(None);
                    }
                }
                other => {
                    let memory = self.context.check("clCreateBuffer", other)?;
                    pool.took(len);
                    return Ok(Some((memory, len)));
                }
            }
        }
    }

    /// A new memory object. Drivers find the memory behind it when it is first used: that is now, so that
    /// no launch fails for it later.
    fn create(&self, len: u64) -> Result<driver::Memory, cl_int> {
        // SAFETY: the context lives; no memory of the host's is given.
        let memory = driver::Memory(unsafe {
            create_buffer(self.context.raw.0, CL_MEM_READ_WRITE, len as usize, std::ptr::null_mut())?
        });
        // SAFETY: one object, which lives until the queue is done with it.
        let event = unsafe {
            let flags = CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
            enqueue_migrate_mem_object(self.queue.0, 1, &raw const memory.0, flags, 0, std::ptr::null())?
        };
        drop(Event(event));
        finish(self.queue.0)?;
        Ok(memory)
    }

    pub(super) fn give_back(&self, memory: driver::Memory, len: u64) {
        self.pool().keep(memory, len);
    }

    /// OpenCL does not say what others use: what is free here is what this handle does not use.
    pub(super) fn report(&self) -> Result<MemoryReport, Error> {
        self.context.alive()?;
        let pool = self.pool();
        let (used, largest) = (pool.used(), self.largest.min(pool.free()) / ALIGN * ALIGN);
        Ok(MemoryReport::new(self.total, self.total - used, used, largest))
    }

    /// The error that says that `requested` bytes are not to be had.
    pub(super) fn out(&self, kind: MemoryKind, requested: u64) -> Error {
        let device = self.context.id().to_string();
        match kind {
            MemoryKind::Device => {
                let pool = self.pool();
                let (free, limit) = (pool.free(), pool.limit());
                let largest = self.largest.min(free) / ALIGN * ALIGN;
                Error::OutOfMemory { device, kind, requested, free, largest, limit }
            }
            // The driver says neither how much of it there is, nor what is left.
            MemoryKind::Pinned => {
                Error::OutOfMemory { device, kind, requested, free: 0, largest: 0, limit: 0 }
            }
        }
    }
}
