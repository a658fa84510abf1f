//! The host as a device: the backend that says what the others mean.
//!
//! It is there for tests and for reading, not for speed. Memory is counted as on a device: a size
//! and a limit. Streams are as lazy as the contract allows: nothing that
//! is queued happens before somebody waits for it, and then only what the wait needs. So code that
//! forgets a wait or an event fails here every time, where a device lets it pass most of the time.
//! Fresh buffers hold garbage for the same reason. There are no threads: work runs on the thread
//! that waits.
//!
//! [`HostDevice::inject`] makes allocations fail, launches fail, or the device die, at a chosen call.

mod buffer;
mod device;
mod event;
mod kernel;
mod memory;
mod stream;
#[cfg(test)]
mod tests;

pub use buffer::{HostBuffer, HostPinned};
pub use device::{Fault, HostConfig, HostDevice};
pub use event::HostEvent;
pub use kernel::{HostArg, HostFn, HostKernel};
pub use stream::HostStream;

use crate::{Backend, DeviceInfo, Error};

/// The host as a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host;

impl Backend for Host {
    const NAME: &'static str = "host";

    type Device = HostDevice;
    type Stream = HostStream;
    type Event = HostEvent;
    type Buffer = HostBuffer;
    type Pinned = HostPinned;
    type Kernel = HostKernel;

    fn devices() -> Result<Vec<DeviceInfo>, Error> {
        Ok(vec![HostConfig::default().info()])
    }

    fn open(index: u16, limit: Option<u64>) -> Result<HostDevice, Error> {
        if index > 0 {
            return Err(Error::NoDevice { backend: Self::NAME, index, count: 1 });
        }
        Ok(HostDevice::new(&HostConfig { limit, ..HostConfig::default() }))
    }
}
