//! Bytes that pretend to be on a device, and bytes that pretend to be page-locked.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cuzk_pipeline_core::{Footprint, Value};

use super::memory::Lease;
use super::{HostDevice, HostEvent};
use crate::bounds;
use crate::{Buffer, Error, Event, MemoryKind, Pinned};

/// What a fresh buffer is full of: nobody may count on zeros.
const GARBAGE: u128 = u128::from_ne_bytes([0xa5; 16]);

/// Bytes that are aligned as the elements of any kernel, and the lease that counts them.
#[derive(Debug)]
pub(super) struct Bytes {
    words: RwLock<Vec<u128>>,
    len: usize,
    _lease: Lease,
}

impl Bytes {
    fn new(device: &HostDevice, kind: MemoryKind, bytes: u64, fill: u128) -> Result<Arc<Self>, Error> {
        let lease = device.take(kind, bytes)?;
        let mut words = Vec::new();
        let len = usize::try_from(bytes).ok().filter(|len| words.try_reserve_exact(len.div_ceil(16)).is_ok());
        let len = len.ok_or_else(|| device.out(kind, bytes))?;
        words.resize(len.div_ceil(16), fill);
        Ok(Arc::new(Self { words: RwLock::new(words), len, _lease: lease }))
    }

    pub(super) fn read(&self) -> ReadBytes<'_> {
        ReadBytes(self.words.read().unwrap_or_else(PoisonError::into_inner), self.len)
    }

    pub(super) fn write(&self) -> WriteBytes<'_> {
        WriteBytes(self.words.write().unwrap_or_else(PoisonError::into_inner), self.len)
    }

    /// `range` as indices, if there are such bytes.
    pub(super) fn range(&self, call: &'static str, range: &Range<u64>) -> Result<Range<usize>, Error> {
        let range = bounds::within(call, range, self.len as u64)?;
        Ok(range.start as usize..range.end as usize)
    }

    /// `len` bytes from `at` on as indices, if there are such.
    pub(super) fn span(&self, call: &'static str, at: u64, len: usize) -> Result<Range<usize>, Error> {
        let range = bounds::span(call, at, len as u64, self.len as u64)?;
        Ok(range.start as usize..range.end as usize)
    }
}

/// The bytes, to be read.
pub(super) struct ReadBytes<'a>(RwLockReadGuard<'a, Vec<u128>>, usize);

impl ReadBytes<'_> {
    pub(super) fn get(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

/// The bytes, to be written.
pub(super) struct WriteBytes<'a>(RwLockWriteGuard<'a, Vec<u128>>, usize);

impl WriteBytes<'_> {
    pub(super) fn get(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.0)[..self.1]
    }
}

/// Bytes of a [`HostDevice`].
#[derive(Clone)]
pub struct HostBuffer {
    pub(super) bytes: Arc<Bytes>,
    pub(super) device: Arc<str>,
}

impl HostBuffer {
    pub(super) fn new(device: &HostDevice, bytes: u64) -> Result<Self, Error> {
        let bytes = Bytes::new(device, MemoryKind::Device, bytes, GARBAGE)?;
        Ok(Self { bytes, device: device.id().clone() })
    }
}

impl Buffer for HostBuffer {
    fn bytes(&self) -> u64 {
        self.bytes.len as u64
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
    }
}

impl Value for HostBuffer {
    fn footprint(&self) -> Footprint {
        Footprint::device(Buffer::bytes(self))
    }
}

impl fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer({} bytes of {})", self.bytes.len, self.device)
    }
}

/// Bytes that copies of a [`HostDevice`] read and write.
pub struct HostPinned {
    pub(super) bytes: Arc<Bytes>,
    pub(super) device: HostDevice,
    /// The last copy of each stream that may not have happened yet.
    copies: Mutex<Vec<HostEvent>>,
}

impl HostPinned {
    pub(super) fn new(device: &HostDevice, bytes: u64) -> Result<Self, Error> {
        let bytes = Bytes::new(device, MemoryKind::Pinned, bytes, 0)?;
        Ok(Self { bytes, device: device.clone(), copies: Mutex::default() })
    }

    /// Remembers that a copy was queued before `event`, which stands for earlier ones of its stream.
    pub(super) fn copied(&self, event: HostEvent) {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        copies.retain(|copy| !copy.happened() && copy.point.stream != event.point.stream);
        copies.push(event);
    }

    fn settle(&self) -> Result<(), Error> {
        let copies = std::mem::take(&mut *self.copies.lock().unwrap_or_else(PoisonError::into_inner));
        copies.iter().try_for_each(Event::sync)?;
        self.device.alive()
    }
}

impl Pinned for HostPinned {
    fn bytes(&self) -> u64 {
        self.bytes.len as u64
    }

    fn read<R>(&self, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        self.settle()?;
        Ok(f(self.bytes.read().get()))
    }

    fn write<R>(&mut self, f: impl FnOnce(&mut [u8]) -> R) -> Result<R, Error> {
        self.settle()?;
        Ok(f(self.bytes.write().get()))
    }
}

impl Value for HostPinned {
    fn footprint(&self) -> Footprint {
        Footprint::pinned(Pinned::bytes(self))
    }
}

impl fmt::Debug for HostPinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostPinned({} bytes of {})", self.bytes.len, self.device.id())
    }
}
