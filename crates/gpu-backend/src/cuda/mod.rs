//! NVIDIA's devices, by the driver's API.
//!
//! The driver is loaded when the first device is asked for, so that one program
//! runs with and without one. Kernels are the fatbins that `cargo xtask kernels`
//! makes, embedded where they were there at build time, or what a [`Family`](crate::Family)
//! brings itself.
//!
//! Device memory is one range of addresses a handle, as large as its limit, that
//! physical memory is put behind as it is first needed and which stays there: once
//! a prover has run, nothing is allocated from the driver any more.

#![allow(unsafe_code, reason = "the driver's functions take pointers and handles")]

mod buffer;
mod device;
mod driver;
mod event;
mod kernel;
mod memory;
mod stream;

pub use buffer::{CudaBuffer, CudaPinned};
pub use device::CudaDevice;
pub use event::CudaEvent;
pub use kernel::CudaKernel;
pub use stream::CudaStream;

use crate::{Backend, DeviceInfo, Error};

/// NVIDIA's devices.
#[derive(Debug, Clone, Copy)]
pub struct Cuda;

impl Backend for Cuda {
    const NAME: &'static str = "cuda";

    type Device = CudaDevice;
    type Stream = CudaStream;
    type Event = CudaEvent;
    type Buffer = CudaBuffer;
    type Pinned = CudaPinned;
    type Kernel = CudaKernel;

    fn devices() -> Result<Vec<DeviceInfo>, Error> {
        (0..driver::count()?).map(driver::describe).collect()
    }

    fn open(index: u16, limit: Option<u64>) -> Result<CudaDevice, Error> {
        CudaDevice::open(index, limit)
    }
}
