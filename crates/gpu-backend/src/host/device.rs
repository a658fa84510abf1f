//! The device that the host pretends to be.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuzk_pipeline_core::limits::MemoryLimits;

use super::memory::{Lease, Memory};
use super::stream::Queues;
use super::{Host, HostBuffer, HostKernel, HostPinned, HostStream};
use crate::{Backend, Device, DeviceInfo, Error, Family, MemoryKind, MemoryReport};

/// CUDA's limits of a block.
pub(super) const MAX_THREADS: u32 = 1024;
const MAX_SHARED: u32 = 48 << 10;

/// A device as a test wants it.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// Its index, for tests with several.
    pub index: u16,
    /// Bytes of device memory; by default the memory budget of this process.
    pub memory: u64,
    /// Bytes of it that others use.
    pub others: u64,
    /// Bytes that may be allocated; all that is free for `None`.
    pub limit: Option<u64>,
    /// Bytes of page-locked memory that may be allocated.
    pub pinned: u64,
}

impl Default for HostConfig {
    fn default() -> Self {
        let memory = MemoryLimits::detect().budget().unwrap_or(1 << 30);
        Self { index: 0, memory, others: 0, limit: None, pinned: memory }
    }
}

impl HostConfig {
    pub(super) fn info(&self) -> DeviceInfo {
        DeviceInfo {
            arch: std::env::consts::ARCH.into(),
            driver: concat!("cuzk ", env!("CARGO_PKG_VERSION")).into(),
            memory: self.memory,
            max_threads: MAX_THREADS,
            max_shared: MAX_SHARED,
            ..DeviceInfo::new(Host::NAME, self.index, "the host as a device")
        }
    }
}

/// Something that goes wrong, once, after `after` calls that went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An allocation of device or page-locked memory finds none.
    Allocation {
        /// Allocations that go well first.
        after: u64,
    },
    /// A launch is refused.
    Launch {
        /// Launches that go well first.
        after: u64,
    },
    /// The device is lost when it comes to a piece of queued work.
    Loss {
        /// Pieces that go well first: copies, settings to zero, kernels.
        after: u64,
    },
}

/// The host, opened as a device.
#[derive(Clone)]
pub struct HostDevice(Arc<Inner>);

struct Inner {
    info: DeviceInfo,
    /// Its name, and by its address its identity.
    id: Arc<str>,
    memory: Arc<Memory>,
    queues: Mutex<Queues>,
    faults: Mutex<Vec<Fault>>,
}

impl HostDevice {
    /// Opens a device of this kind. Each is one of its own.
    pub fn new(config: &HostConfig) -> Self {
        let info = config.info();
        let id: Arc<str> = info.id().into();
        let memory = Arc::new(Memory::new(config, info.id()));
        let queues = Mutex::new(Queues::new(id.clone()));
        Self(Arc::new(Inner { info, id, memory, queues, faults: Mutex::default() }))
    }

    /// Lets something go wrong later.
    pub fn inject(&self, fault: Fault) {
        match fault {
            Fault::Loss { after } => self.queues().lose_after(after),
            _ => self.0.faults.lock().unwrap_or_else(PoisonError::into_inner).push(fault),
        }
    }

    /// Counts one call for the faults that `left` knows; whether one strikes.
    fn strikes(&self, left: impl Fn(&mut Fault) -> Option<&mut u64>) -> bool {
        let mut faults = self.0.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let mut struck = false;
        faults.retain_mut(|fault| match left(fault) {
            Some(0) => {
                struck = true;
                false
            }
            Some(after) => {
                *after -= 1;
                true
            }
            None => true,
        });
        struck
    }

    pub(super) fn launch_fails(&self) -> bool {
        self.strikes(|fault| if let Fault::Launch { after } = fault { Some(after) } else { None })
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.0.id
    }

    pub(super) fn queues(&self) -> MutexGuard<'_, Queues> {
        self.0.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the device was lost.
    pub(super) fn alive(&self) -> Result<(), Error> {
        self.queues().alive()
    }

    /// Whether a handle of device `other` is this device's.
    pub(super) fn owns(&self, call: &'static str, other: &Arc<str>) -> Result<(), Error> {
        if Arc::ptr_eq(self.id(), other) {
            return Ok(());
        }
        Err(Error::OtherDevice { call, device: self.id().to_string(), other: other.to_string() })
    }

    /// Counts memory as in use. Where there is none, queued work may hold what was dropped, so it
    /// is done first.
    pub(super) fn take(&self, kind: MemoryKind, bytes: u64) -> Result<Lease, Error> {
        self.alive()?;
        if self.strikes(|fault| if let Fault::Allocation { after } = fault { Some(after) } else { None }) {
            return Err(self.out(kind, bytes));
        }
        let take = || match kind {
            MemoryKind::Device => self.0.memory.take(bytes),
            MemoryKind::Pinned => self.0.memory.take_pinned(bytes),
        };
        take().or_else(|_| {
            self.queues().drain();
            self.alive()?;
            take()
        })
    }

    pub(super) fn out(&self, kind: MemoryKind, bytes: u64) -> Error {
        self.0.memory.out(kind, bytes)
    }
}

impl Device<Host> for HostDevice {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn memory(&self) -> Result<MemoryReport, Error> {
        self.alive()?;
        Ok(self.0.memory.report())
    }

    fn stream(&self) -> Result<HostStream, Error> {
        HostStream::new(self)
    }

    fn buffer(&self, bytes: u64) -> Result<HostBuffer, Error> {
        HostBuffer::new(self, bytes)
    }

    fn pinned(&self, bytes: u64) -> Result<HostPinned, Error> {
        HostPinned::new(self, bytes)
    }

    fn kernel(&self, family: &'static Family, name: &str) -> Result<HostKernel, Error> {
        self.alive()?;
        let found = family.signature(name).zip(family.host_fn(name));
        found.map(|(signature, function)| HostKernel { signature, function }).ok_or_else(|| Error::NoKernel {
            family: family.name(),
            kernel: name.to_owned(),
            backend: Host::NAME,
        })
    }
}

impl fmt::Debug for HostDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostDevice({})", self.0.id)
    }
}
