//! The traits that a backend fills. They say what every device can do, and
//! the least that callers may rely on:
//!
//! * **Streams are ordered, and only streams are.** What is queued on one stream happens in that
//!   order. Two streams have no order but what [`Stream::wait`] gives them, and queued work may
//!   start as late as the caller's next wait for it.
//! * **Calls that queue return at once.** [`Stream::sync`], [`Event::sync`], [`Stream::download`],
//!   [`Pinned::read`] and [`Pinned::write`] wait; nothing else does, but an allocation may wait for
//!   queued work whose buffers were dropped, before it says that memory is out.
//! * **Handles may be dropped at any time.** Memory goes back once the work that was queued with it is done.
//! * **What the caller can get wrong is checked when it is queued**: bounds, overlaps, the number
//!   and kinds of a kernel's arguments, handles of another device. What only the device can tell
//!   is [`Error::Lost`], at the next wait; a lost device stays lost.
//! * **A race between streams** on device memory that no event orders gives wrong numbers, never
//!   wrong memory: bytes of a buffer reach the host only through a copy.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use cuzk_pipeline_core::Value;

use crate::{Arg, DeviceInfo, Error, Family, Grid, MemoryReport};

/// A way to drive devices: the types that belong together, and how to get the first of them.
///
/// Code that runs on any of them is generic over `B: Backend`; an operation that has kernels of
/// its own declares them beside itself, as `trait NttOps: Backend`.
pub trait Backend: Sized + Send + Sync + fmt::Debug + 'static {
    /// The name in reports and errors: `cuda`, `opencl`, `host`.
    const NAME: &'static str;

    /// One opened device.
    type Device: Device<Self>;
    /// A queue of work.
    type Stream: Stream<Self>;
    /// A point in a stream.
    type Event: Event;
    /// Bytes on a device.
    type Buffer: Buffer;
    /// Page-locked bytes on the host.
    type Pinned: Pinned;
    /// A function that runs on a device.
    type Kernel: Kernel;

    /// The devices of this backend, in the order of their [`DeviceInfo::index`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there is no driver or no device.
    fn devices() -> Result<Vec<DeviceInfo>, Error>;

    /// Opens a device. Through this handle and its clones at most `limit` bytes of device memory
    /// are allocated; `None` stands for all that the device has.
    ///
    /// # Errors
    /// [`Error::Unavailable`], and [`Error::NoDevice`] for an index that there is not.
    fn open(index: u16, limit: Option<u64>) -> Result<Self::Device, Error>;
}

/// An opened device. Clones are the same device with the same limit.
pub trait Device<B: Backend>: Clone + Send + Sync + fmt::Debug + 'static {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// Its memory, now.
    ///
    /// # Errors
    /// [`Error::Lost`].
    fn memory(&self) -> Result<MemoryReport, Error>;

    /// A new queue of work.
    ///
    /// # Errors
    /// [`Error::Lost`], or [`Error::Call`] where the driver has no more.
    fn stream(&self) -> Result<B::Stream, Error>;

    /// A queue whose kernels get what becomes free of the device before those of [`stream`](Self::stream)'s
    /// queues do, where the driver lets one ask for that.
    ///
    /// # Errors
    /// As [`stream`](Self::stream).
    fn urgent(&self) -> Result<B::Stream, Error> {
        self.stream()
    }

    /// `bytes` of device memory; what they hold is not defined. None is no error.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and [`Error::Lost`].
    fn buffer(&self, bytes: u64) -> Result<B::Buffer, Error>;

    /// `bytes` of page-locked host memory, all zero.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and [`Error::Lost`].
    fn pinned(&self, bytes: u64) -> Result<B::Pinned, Error>;

    /// A kernel of a family. The first one of a family loads it, which may take long (a driver
    /// that compiles takes tens of seconds); later ones are found.
    ///
    /// # Errors
    /// [`Error::NoKernel`], [`Error::Compile`] and [`Error::Lost`].
    fn kernel(&self, family: &'static Family, name: &str) -> Result<B::Kernel, Error>;
}

/// A queue of work on one device. All offsets, lengths and ranges are bytes.
pub trait Stream<B: Backend>: Send + Sync + fmt::Debug + 'static {
    /// Copies from pageable host memory, which was read when this returns.
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::OtherDevice`] and [`Error::Lost`].
    fn upload(&self, from: &[u8], to: &B::Buffer, at: u64) -> Result<(), Error>;

    /// Copies to pageable host memory, after everything that is queued here. Waits.
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::OtherDevice`] and [`Error::Lost`].
    fn download(&self, from: &B::Buffer, at: u64, to: &mut [u8]) -> Result<(), Error>;

    /// Queues a copy of `range` of page-locked memory to `to` from `at` on.
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::OtherDevice`] and [`Error::Lost`].
    fn upload_pinned(
        &self,
        from: &B::Pinned,
        range: Range<u64>,
        to: &B::Buffer,
        at: u64,
    ) -> Result<(), Error>;

    /// Queues a copy of `range` of a buffer to page-locked memory from `at` on.
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::OtherDevice`] and [`Error::Lost`].
    fn download_pinned(
        &self,
        from: &B::Buffer,
        range: Range<u64>,
        to: &mut B::Pinned,
        at: u64,
    ) -> Result<(), Error>;

    /// Queues a copy of `range` of a buffer to `to` from `at` on. Within one buffer the two may
    /// not overlap.
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::Overlap`], [`Error::OtherDevice`] and [`Error::Lost`].
    fn copy(&self, from: &B::Buffer, range: Range<u64>, to: &B::Buffer, at: u64) -> Result<(), Error>;

    /// Queues the setting of `range` to zero.
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::OtherDevice`] and [`Error::Lost`].
    fn zero(&self, buffer: &B::Buffer, range: Range<u64>) -> Result<(), Error>;

    /// Queues a kernel. A buffer that the kernel writes may be only one of its arguments.
    ///
    /// # Errors
    /// [`Error::Argument`] and [`Error::Launch`] name the kernel; [`Error::OtherDevice`] and [`Error::Lost`].
    fn launch(&self, kernel: &B::Kernel, grid: Grid, args: &[Arg<'_, B>]) -> Result<(), Error>;

    /// Marks the point after everything that is queued here.
    ///
    /// # Errors
    /// [`Error::Lost`], or [`Error::Call`] where the driver has no more events.
    fn record(&self) -> Result<B::Event, Error>;

    /// What is queued here from now on happens after `event`, which may be of another stream of
    /// the same device.
    ///
    /// # Errors
    /// [`Error::OtherDevice`] and [`Error::Lost`].
    fn wait(&self, event: &B::Event) -> Result<(), Error>;

    /// Waits until everything that is queued here is done.
    ///
    /// # Errors
    /// [`Error::Lost`].
    fn sync(&self) -> Result<(), Error>;
}

/// A point in a stream. Clones are the same point.
pub trait Event: Clone + Send + Sync + fmt::Debug + 'static {
    /// Whether everything before it is done. Does not wait; asked again and again, it comes true.
    ///
    /// # Errors
    /// [`Error::Lost`].
    fn is_done(&self) -> Result<bool, Error>;

    /// Waits until everything before it is done.
    ///
    /// # Errors
    /// [`Error::Lost`].
    fn sync(&self) -> Result<(), Error>;

    /// The time on the device from `earlier` to this; zero if this one came first. Waits for both.
    ///
    /// # Errors
    /// [`Error::Lost`].
    fn since(&self, earlier: &Self) -> Result<Duration, Error>;
}

/// Bytes on a device. Clones are the same bytes.
pub trait Buffer: Clone + Value + Sync + fmt::Debug {
    /// Bytes.
    fn bytes(&self) -> u64;

    /// Whether these are the same bytes, not equal ones.
    fn is_same(&self, other: &Self) -> bool;
}

/// Page-locked bytes on the host, which a device reads and writes by itself.
pub trait Pinned: Value + Sync + fmt::Debug {
    /// Bytes.
    fn bytes(&self) -> u64;

    /// Shows the bytes, after every queued copy to or from them.
    ///
    /// # Errors
    /// [`Error::Lost`].
    fn read<R>(&self, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error>;

    /// Gives the bytes to be changed, after every queued copy to or from them.
    ///
    /// # Errors
    /// [`Error::Lost`].
    fn write<R>(&mut self, f: impl FnOnce(&mut [u8]) -> R) -> Result<R, Error>;
}

/// A function that runs on a device. Clones are the same function.
pub trait Kernel: Clone + Send + Sync + fmt::Debug + 'static {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The most threads that a block of it may have.
    fn max_threads(&self) -> u32;
}
