//! Points in the streams of a device.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opencl3::event::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_PROFILING_COMMAND_END, get_event_data,
    get_event_profiling_data, wait_for_events,
};

use super::driver::{self, Context, number};
use crate::{Error, Event};

/// A marker in a queue.
pub(super) struct Point {
    pub(super) raw: driver::Event,
    pub(super) context: Arc<Context>,
}

impl Point {
    /// Whether everything before it is done.
    pub(super) fn is_done(&self) -> Result<bool, Error> {
        let call = "clGetEventInfo";
        self.context.alive()?;
        let status =
            self.context.check(call, get_event_data(self.raw.0, CL_EVENT_COMMAND_EXECUTION_STATUS))?;
        // Negative: the error with which the work ended.
        match number(&status) as i32 {
            code if code < 0 => self.context.waited(call, Err(code)),
            status => Ok(status == CL_COMPLETE),
        }
    }

    fn sync(&self) -> Result<(), Error> {
        self.context.alive()?;
        self.context.waited("clWaitForEvents", wait_for_events(&[self.raw.0]))
    }

    /// Nanoseconds on the device's clock.
    fn time(&self) -> Result<u64, Error> {
        let time = get_event_profiling_data(self.raw.0, CL_PROFILING_COMMAND_END);
        self.context.check("clGetEventProfilingInfo", time).map(|time| number(&time))
    }
}

/// A point in an [`OpenClStream`](super::OpenClStream).
#[derive(Clone)]
pub struct OpenClEvent {
    pub(super) point: Arc<Point>,
    /// Which stream it is in.
    pub(super) stream: usize,
}

impl Event for OpenClEvent {
    fn is_done(&self) -> Result<bool, Error> {
        self.point.is_done()
    }

    fn sync(&self) -> Result<(), Error> {
        self.point.sync()
    }

    fn since(&self, earlier: &Self) -> Result<Duration, Error> {
        self.sync()?;
        earlier.sync()?;
        self.point.context.owns("since", &earlier.point.context)?;
        Ok(Duration::from_nanos(self.point.time()?.saturating_sub(earlier.point.time()?)))
    }
}

impl fmt::Debug for OpenClEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenClEvent(of {})", self.point.context.id())
    }
}
