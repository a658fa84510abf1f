//! An opened device.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::driver::{self, Context, Program};
use super::memory::Memory;
use super::stream::Flight;
use super::{OpenCl, OpenClBuffer, OpenClKernel, OpenClPinned, OpenClStream, program};
use crate::{Backend, Device, DeviceInfo, Error, Family, MemoryReport};

/// A device with an OpenCL driver, opened.
#[derive(Clone)]
pub struct OpenClDevice(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) info: DeviceInfo,
    pub(super) memory: Memory,
    /// What is queued, by stream.
    pub(super) flights: Mutex<Vec<Weak<Flight>>>,
    programs: Mutex<HashMap<&'static str, Arc<Program>>>,
    pub(super) context: Arc<Context>,
}

impl OpenClDevice {
    pub(super) fn open(index: u16, limit: Option<u64>) -> Result<Self, Error> {
        let devices = driver::devices()?;
        let count = devices.len();
        let absent = Error::NoDevice { backend: OpenCl::NAME, index, count };
        let found = devices.into_iter().nth(index.into()).ok_or(absent)?;
        let context = Arc::new(Context::new(&found)?);
        let memory = Memory::new(&context, [found.info.memory, found.largest], limit)?;
        let (flights, programs) = (Mutex::default(), Mutex::default());
        Ok(Self(Arc::new(Inner { info: found.info, context, memory, flights, programs })))
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

impl Device<OpenCl> for OpenClDevice {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn memory(&self) -> Result<MemoryReport, Error> {
        self.0.memory.report()
    }

    fn stream(&self) -> Result<OpenClStream, Error> {
        OpenClStream::new(self)
    }

    fn buffer(&self, bytes: u64) -> Result<OpenClBuffer, Error> {
        OpenClBuffer::new(self, bytes)
    }

    fn pinned(&self, bytes: u64) -> Result<OpenClPinned, Error> {
        OpenClPinned::new(self, bytes)
    }

    fn kernel(&self, family: &'static Family, name: &str) -> Result<OpenClKernel, Error> {
        let absent =
            || Error::NoKernel { family: family.name(), kernel: name.to_owned(), backend: OpenCl::NAME };
        let (signature, source) = family.signature(name).zip(family.opencl_source()).ok_or_else(absent)?;
        self.0.context.alive()?;
        let mut programs = self.0.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match programs.entry(family.name()) {
            Entry::Occupied(built) => built.get().clone(),
            Entry::Vacant(absent) => {
                let built = program::build(&self.0.context, &self.0.info, family.name(), source)?;
                absent.insert(Arc::new(built)).clone()
            }
        };
        drop(programs);
        OpenClKernel::new(&self.0, family.name(), &program, signature)?.ok_or_else(absent)
    }
}

impl fmt::Debug for OpenClDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenClDevice({})", self.0.context.id())
    }
}
