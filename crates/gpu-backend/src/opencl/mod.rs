//! Devices of any vendor, by OpenCL 1.2.
//!
//! The loader is opened when the first device is asked for, so that one program runs
//! with and without one. Kernels are source text, which the driver compiles when the first
//! kernel of a [`Family`](crate::Family) is asked for; what it made is kept in a folder, if one is
//! given ([`OpenCl::cache_in`]).
//!
//! A buffer is a memory object of its own. What was dropped is kept for the next buffer of
//! its size: once a prover has run, nothing is allocated from the driver any more.

#![allow(unsafe_code, reason = "the driver's functions take pointers and handles")]

mod buffer;
mod device;
mod driver;
mod event;
mod kernel;
mod memory;
mod program;
mod stream;

use std::path::PathBuf;

pub use buffer::{OpenClBuffer, OpenClPinned};
pub use device::OpenClDevice;
pub use event::OpenClEvent;
pub use kernel::OpenClKernel;
pub use stream::OpenClStream;

use crate::{Backend, DeviceInfo, Error};

/// Devices with an OpenCL driver: GPUs, and CPUs where they are welcome.
#[derive(Debug, Clone, Copy)]
pub struct OpenCl;

impl OpenCl {
    /// From now on CPUs are devices of this process too, after all GPUs. They are for tests: the
    /// crates' own code for CPUs is faster.
    pub fn accept_cpus() {
        driver::accept_cpus();
    }

    /// From now on compiled kernels are kept in files of this folder, one for each device, version of
    /// its driver and family. Files that are damaged or another's are made again.
    pub fn cache_in(folder: impl Into<PathBuf>) {
        program::cache_in(folder.into());
    }
}

impl Backend for OpenCl {
    const NAME: &'static str = "opencl";

    type Device = OpenClDevice;
    type Stream = OpenClStream;
    type Event = OpenClEvent;
    type Buffer = OpenClBuffer;
    type Pinned = OpenClPinned;
    type Kernel = OpenClKernel;

    fn devices() -> Result<Vec<DeviceInfo>, Error> {
        Ok(driver::devices()?.into_iter().map(|found| found.info).collect())
    }

    fn open(index: u16, limit: Option<u64>) -> Result<OpenClDevice, Error> {
        OpenClDevice::open(index, limit)
    }
}
