//! Points in the streams of a device.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::sys::{self, CUevent, CUresult};

use super::driver::Context;
use crate::{Error, Event};

/// The driver's event.
pub(super) struct Point {
    pub(super) raw: CUevent,
    pub(super) context: Arc<Context>,
}

// SAFETY: an event may be used from any thread, and from several at once.
unsafe impl Send for Point {}
// SAFETY: as above.
unsafe impl Sync for Point {}

impl Point {
    /// A new event; without `timed` it tells no time, and costs less.
    pub(super) fn new(context: &Arc<Context>, timed: bool) -> Result<Self, Error> {
        context.enter()?;
        let sleep = sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32;
        let untimed = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a place that lives through the call.
        let result = unsafe { sys::cuEventCreate(&raw mut raw, sleep | if timed { 0 } else { untimed }) };
        context.check("cuEventCreate", result)?;
        Ok(Self { raw, context: context.clone() })
    }

    /// Whether everything before it is done.
    pub(super) fn is_done(&self) -> Result<bool, Error> {
        self.context.enter()?;
        // SAFETY: the event lives as long as `self`.
        match unsafe { sys::cuEventQuery(self.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => self.context.check("cuEventQuery", other).map(|()| true),
        }
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        self.context.enter_anyway();
        // SAFETY: nobody else has it; the driver lets work that waits for it come to its end.
        let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}

/// A point in a [`CudaStream`](super::CudaStream).
#[derive(Clone)]
pub struct CudaEvent {
    pub(super) point: Arc<Point>,
    /// Which stream it is in.
    pub(super) stream: usize,
}

impl Event for CudaEvent {
    fn is_done(&self) -> Result<bool, Error> {
        self.point.is_done()
    }

    fn sync(&self) -> Result<(), Error> {
        self.point.context.enter()?;
        // SAFETY: the event lives as long as `self`.
        self.point.context.check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.point.raw) })
    }

    fn since(&self, earlier: &Self) -> Result<Duration, Error> {
        self.sync()?;
        earlier.sync()?;
        self.point.context.owns("since", &earlier.point.context)?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: the pointer is to a number that lives through the call, both events live and are done.
        let result =
            unsafe { sys::cuEventElapsedTime(&raw mut milliseconds, earlier.point.raw, self.point.raw) };
        self.point.context.check("cuEventElapsedTime", result)?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}

impl fmt::Debug for CudaEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaEvent(of {})", self.point.context.id())
    }
}
