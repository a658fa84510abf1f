//! Device memory that is counted as a device counts it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::HostConfig;
use crate::arena::ALIGN;
use crate::pool::Pool;
use crate::{Error, MemoryKind, MemoryReport};

#[derive(Debug)]
pub(super) struct Memory {
    device: String,
    total: u64,
    others: u64,
    pool: Mutex<Pool<()>>,
    pinned_limit: u64,
    pinned: AtomicU64,
}

impl Memory {
    pub(super) fn new(config: &HostConfig, device: String) -> Self {
        let others = config.others.min(config.memory);
        let limit = config.limit.unwrap_or(u64::MAX).min(config.memory - others);
        Self {
            device,
            total: config.memory,
            others,
            pool: Mutex::new(Pool::new(limit / ALIGN * ALIGN)),
            pinned_limit: config.pinned,
            pinned: AtomicU64::new(0),
        }
    }

    fn pool(&self) -> MutexGuard<'_, Pool<()>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn report(&self) -> MemoryReport {
        let (used, free) = {
            let pool = self.pool();
            (pool.used(), pool.free())
        };
        MemoryReport::new(self.total, self.total - self.others - used, used, free)
    }

    /// Device memory, until the lease is dropped.
    pub(super) fn take(self: &Arc<Self>, bytes: u64) -> Result<Lease, Error> {
        let len = bytes.checked_next_multiple_of(ALIGN);
        let mut pool = self.pool();
        let Some(len) = len.filter(|len| *len <= pool.free()) else {
            drop(pool);
            return Err(self.out(MemoryKind::Device, bytes));
        };
        pool.took(len);
        Ok(Lease { memory: self.clone(), held: Held::Device(len) })
    }

    /// Page-locked memory, until the lease is dropped.
    pub(super) fn take_pinned(self: &Arc<Self>, bytes: u64) -> Result<Lease, Error> {
        let sum = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.pinned_limit);
        let taken = self.pinned.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        taken.map_err(|_| self.out(MemoryKind::Pinned, bytes))?;
        Ok(Lease { memory: self.clone(), held: Held::Pinned(bytes) })
    }

    /// The error that says that `requested` bytes are not to be had.
    pub(super) fn out(&self, kind: MemoryKind, requested: u64) -> Error {
        let (free, largest, limit) = match kind {
            MemoryKind::Device => {
                let pool = self.pool();
                (pool.free(), pool.free(), pool.limit())
            }
            MemoryKind::Pinned => {
                let free = self.pinned_limit - self.pinned.load(Ordering::Relaxed);
                (free, free, self.pinned_limit)
            }
        };
        Error::OutOfMemory { device: self.device.clone(), kind, requested, free, largest, limit }
    }
}

/// Memory that is counted as in use until this is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    memory: Arc<Memory>,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Device(u64),
    Pinned(u64),
}

impl Drop for Lease {
    fn drop(&mut self) {
        match self.held {
            Held::Device(bytes) => self.memory.pool().returned(bytes),
            Held::Pinned(bytes) => {
                self.memory.pinned.fetch_sub(bytes, Ordering::Relaxed);
            }
        }
    }
}
