//! An opened device.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::driver::{self, Context};
use super::kernel::Module;
use super::memory::Memory;
use super::stream::Flight;
use super::{Cuda, CudaBuffer, CudaKernel, CudaPinned, CudaStream};
use crate::{Backend, Device, DeviceInfo, Error, Family, MemoryReport};

/// One of NVIDIA's devices, opened.
#[derive(Clone)]
pub struct CudaDevice(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) info: DeviceInfo,
    pub(super) context: Arc<Context>,
    pub(super) memory: Memory,
    /// What is queued, by stream.
    pub(super) flights: Mutex<Vec<Weak<Flight>>>,
    modules: Mutex<HashMap<&'static str, Arc<Module>>>,
}

impl CudaDevice {
    pub(super) fn open(index: u16, limit: Option<u64>) -> Result<Self, Error> {
        let info = driver::describe(index)?;
        let context = Arc::new(Context::new(index)?);
        let memory = Memory::new(&context, limit)?;
        let (flights, modules) = (Mutex::default(), Mutex::default());
        Ok(Self(Arc::new(Inner { info, context, memory, flights, modules })))
    }
}

impl Inner {
    /// Waits until everything that is queued is done, so that it holds nothing any more.
    pub(super) fn drain(&self) -> Result<(), Error> {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        flights.retain(|flight| flight.strong_count() > 0);
        let flights: Vec<_> = flights.iter().filter_map(Weak::upgrade).collect();
        flights.iter().try_for_each(|flight| flight.sync())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: streams wait for their work before they go, and all hold this.
        unsafe { self.memory.free(&self.context) };
    }
}

impl Device<Cuda> for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn memory(&self) -> Result<MemoryReport, Error> {
        self.0.memory.report(&self.0.context)
    }

    fn stream(&self) -> Result<CudaStream, Error> {
        CudaStream::new(self, false)
    }

    fn urgent(&self) -> Result<CudaStream, Error> {
        CudaStream::new(self, true)
    }

    fn buffer(&self, bytes: u64) -> Result<CudaBuffer, Error> {
        CudaBuffer::new(self, bytes)
    }

    fn pinned(&self, bytes: u64) -> Result<CudaPinned, Error> {
        CudaPinned::new(self, bytes)
    }

    fn kernel(&self, family: &'static Family, name: &str) -> Result<CudaKernel, Error> {
        let absent =
            || Error::NoKernel { family: family.name(), kernel: name.to_owned(), backend: Cuda::NAME };
        let (signature, image) = family.signature(name).zip(family.cuda_image()).ok_or_else(absent)?;
        let mut modules = self.0.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let module = match modules.entry(family.name()) {
            Entry::Occupied(loaded) => loaded.get().clone(),
            Entry::Vacant(absent) => {
                absent.insert(Arc::new(Module::load(&self.0.context, family.name(), image)?)).clone()
            }
        };
        CudaKernel::new(&self.0, module, signature)?.ok_or_else(absent)
    }
}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaDevice({})", self.0.context.id())
    }
}
