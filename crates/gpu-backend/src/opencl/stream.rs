//! Queues of work, and what it holds.

use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::ops::Range;
use std::ptr::{from_ref, null};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opencl3::command_queue::{
    CL_QUEUE_PROFILING_ENABLE, create_command_queue, enqueue_barrier_with_wait_list, enqueue_copy_buffer,
    enqueue_fill_buffer, enqueue_marker_with_wait_list, enqueue_nd_range_kernel, enqueue_read_buffer,
    enqueue_write_buffer, finish, flush,
};
use opencl3::kernel::set_kernel_arg;
use opencl3::types::{CL_FALSE, cl_command_queue, cl_event, cl_int, cl_kernel};

use super::driver::{self, Context, Queue};
use super::event::Point;
use super::{OpenCl, OpenClBuffer, OpenClDevice, OpenClEvent, OpenClKernel, OpenClPinned};
use crate::bounds::{apart, span, within};
use crate::{Arg, Buffer, Error, Grid, Kernel, Pinned, Stream};

/// What queued work uses is looked at, to be let go of, after so many pieces of it.
const PIECES: usize = 32;

type Hold = Arc<dyn Any + Send + Sync>;

/// The driver's queue, and what is queued in it.
pub(super) struct Flight {
    raw: Queue,
    context: Arc<Context>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// What was queued after the last mark uses.
    since: Vec<Hold>,
    /// Marks in the queue, and what was queued before each uses.
    marked: VecDeque<(Arc<Point>, Vec<Hold>)>,
}

impl Flight {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks this point of the queue. Work up to it starts by itself: other queues may wait for it.
    fn mark(&self) -> Result<Arc<Point>, Error> {
        let context = self.context.clone();
        // SAFETY: the queue lives; the marker waits for all that is in it.
        let marker = unsafe { enqueue_marker_with_wait_list(self.raw.0, 0, null()) };
        let raw = driver::Event(context.check("clEnqueueMarkerWithWaitList", marker)?);
        context.check("clFlush", flush(self.raw.0))?;
        Ok(Arc::new(Point { raw, context }))
    }

    /// Queues `work`, and keeps what it uses until it is done. The lock is held all the
    /// while: who waits lets go only of what is queued.
    fn queue(
        &self,
        uses: impl IntoIterator<Item = Hold>,
        work: impl FnOnce(cl_command_queue) -> Result<cl_event, cl_int>,
    ) -> Result<Result<(), cl_int>, Error> {
        self.context.alive()?;
        let mut held = self.held();
        if held.since.len() >= PIECES {
            let (mark, since) = (self.mark()?, std::mem::take(&mut held.since));
            held.marked.push_back((mark, since));
            while held.marked.front().is_some_and(|(mark, _)| mark.is_done().unwrap_or(false)) {
                held.marked.pop_front();
            }
        }
        held.since.extend(uses);
        Ok(work(self.raw.0).map(|event| drop(driver::Event(event))))
    }

    /// Waits for everything that is queued, and lets go of what it used.
    pub(super) fn sync(&self) -> Result<(), Error> {
        // What others queue from now on is not among this, and stays held.
        let held = std::mem::take(&mut *self.held());
        let result = self.context.alive().and_then(|()| self.context.waited("clFinish", finish(self.raw.0)));
        drop(held);
        result
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        // What its work holds is let go of after it.
        let _ = finish(self.raw.0);
    }
}

/// A queue of an [`OpenClDevice`]. When it is dropped, what is left in it is waited for.
pub struct OpenClStream {
    device: OpenClDevice,
    flight: Arc<Flight>,
}

impl OpenClStream {
    pub(super) fn new(device: &OpenClDevice) -> Result<Self, Error> {
        let context = &device.0.context;
        context.alive()?;
        // SAFETY: the context lives, and the device is its own.
        let raw = unsafe { create_command_queue(context.raw.0, context.device, CL_QUEUE_PROFILING_ENABLE) };
        let raw = Queue(context.check("clCreateCommandQueue", raw)?);
        let flight = Arc::new(Flight { raw, context: context.clone(), held: Mutex::default() });
        let mut flights = device.0.flights.lock().unwrap_or_else(PoisonError::into_inner);
        flights.retain(|flight| flight.strong_count() > 0);
        flights.push(Arc::downgrade(&flight));
        drop(flights);
        Ok(Self { device: device.clone(), flight })
    }

    fn context(&self) -> &Arc<Context> {
        &self.device.0.context
    }

    /// Whether buffers are this device's and not of another handle.
    fn owns(&self, call: &'static str, buffer: &OpenClBuffer) -> Result<(), Error> {
        self.context().owns(call, &buffer.0.device.context)
    }

    /// Holds `uses`, and queues `work`.
    fn queue(
        &self,
        call: &'static str,
        uses: impl IntoIterator<Item = Hold>,
        work: impl FnOnce(cl_command_queue) -> Result<cl_event, cl_int>,
    ) -> Result<(), Error> {
        let result = self.flight.queue(uses, work)?;
        self.context().check(call, result)
    }
}

impl Stream<OpenCl> for OpenClStream {
    fn upload(&self, from: &[u8], to: &OpenClBuffer, at: u64) -> Result<(), Error> {
        self.owns("upload", to)?;
        let target = span("upload", at, from.len() as u64, to.bytes())?;
        if from.is_empty() {
            return self.context().alive();
        }
        // The driver reads when the copy's turn comes, or waits for that: it reads a copy of ours.
        let (from, to, at) = (Arc::new(from.to_vec()), to.0.clone(), target.start as usize);
        // SAFETY: both ends lie in live memory, which is held and which nobody changes.
        self.queue("clEnqueueWriteBuffer", [from.clone() as Hold, to.clone() as Hold], |queue| unsafe {
            enqueue_write_buffer(queue, to.raw(), CL_FALSE, at, from.len(), from.as_ptr().cast(), 0, null())
        })
    }

    fn download(&self, from: &OpenClBuffer, at: u64, to: &mut [u8]) -> Result<(), Error> {
        self.owns("download", from)?;
        let source = span("download", at, to.len() as u64, from.bytes())?;
        if !to.is_empty() {
            let (from, at) = (from.0.clone(), source.start as usize);
            // SAFETY: both ends lie in live memory, the buffer's held; `to` is borrowed until the work is done below.
            self.queue("clEnqueueReadBuffer", [from.clone() as Hold], |queue| unsafe {
                enqueue_read_buffer(
                    queue,
                    from.raw(),
                    CL_FALSE,
                    at,
                    to.len(),
                    to.as_mut_ptr().cast(),
                    0,
                    null(),
                )
            })?;
        }
        self.flight.sync()
    }

    fn upload_pinned(
        &self,
        from: &OpenClPinned,
        range: Range<u64>,
        to: &OpenClBuffer,
        at: u64,
    ) -> Result<(), Error> {
        let call = "upload_pinned";
        self.owns(call, to)?;
        self.context().owns(call, &from.locked.device.context)?;
        let source = within(call, &range, from.bytes())?;
        let len = (source.end - source.start) as usize;
        let target = span(call, at, len as u64, to.bytes())?;
        if len == 0 {
            return self.context().alive();
        }
        let (to, at) = (to.0.clone(), target.start as usize);
        let uses = [to.clone() as Hold, from.locked.clone() as Hold];
        // SAFETY: both ends lie in live memory, which is held; the bytes are changed only after the event below.
        self.queue("clEnqueueWriteBuffer", uses, |queue| unsafe {
            let from = from.locked.bytes.add(source.start as usize);
            enqueue_write_buffer(queue, to.raw(), CL_FALSE, at, len, from.as_ptr().cast(), 0, null())
        })?;
        from.copied(self.record()?);
        Ok(())
    }

    fn download_pinned(
        &self,
        from: &OpenClBuffer,
        range: Range<u64>,
        to: &mut OpenClPinned,
        at: u64,
    ) -> Result<(), Error> {
        let call = "download_pinned";
        self.owns(call, from)?;
        self.context().owns(call, &to.locked.device.context)?;
        let source = within(call, &range, from.bytes())?;
        let len = (source.end - source.start) as usize;
        let target = span(call, at, len as u64, to.bytes())?;
        if len == 0 {
            return self.context().alive();
        }
        let (from, at) = (from.0.clone(), source.start as usize);
        let uses = [from.clone() as Hold, to.locked.clone() as Hold];
        // SAFETY: both ends lie in live memory, which is held; the bytes are looked at only after the event below.
        self.queue("clEnqueueReadBuffer", uses, |queue| unsafe {
            let to = to.locked.bytes.add(target.start as usize);
            enqueue_read_buffer(queue, from.raw(), CL_FALSE, at, len, to.as_ptr().cast(), 0, null())
        })?;
        to.copied(self.record()?);
        Ok(())
    }

    fn copy(&self, from: &OpenClBuffer, range: Range<u64>, to: &OpenClBuffer, at: u64) -> Result<(), Error> {
        self.owns("copy", from)?;
        self.owns("copy", to)?;
        let source = within("copy", &range, from.bytes())?;
        let target = span("copy", at, source.end - source.start, to.bytes())?;
        if from.is_same(to) {
            apart("copy", &source, &target)?;
        }
        let len = (source.end - source.start) as usize;
        if len == 0 {
            return self.context().alive();
        }
        let (from, to) = (from.0.clone(), to.0.clone());
        let uses = [from.clone() as Hold, to.clone() as Hold];
        let (source, target) = (source.start as usize, target.start as usize);
        // SAFETY: both ends lie in live memory, which is held, and do not overlap.
        self.queue("clEnqueueCopyBuffer", uses, |queue| unsafe {
            enqueue_copy_buffer(queue, from.raw(), to.raw(), source, target, len, 0, null())
        })
    }

    fn zero(&self, buffer: &OpenClBuffer, range: Range<u64>) -> Result<(), Error> {
        self.owns("zero", buffer)?;
        let range = within("zero", &range, buffer.bytes())?;
        let (at, len) = (range.start as usize, (range.end - range.start) as usize);
        if len == 0 {
            return self.context().alive();
        }
        let pattern = [0_u8; 16];
        // Places are multiples of the pattern's size, which drivers like large.
        let size = if (at | len) % 16 == 0 { 16 } else { 1 };
        let to = buffer.0.clone();
        // SAFETY: the range lies in live memory, which is held; the pattern is read by the call.
        self.queue("clEnqueueFillBuffer", [to.clone() as Hold], |queue| unsafe {
            enqueue_fill_buffer(queue, to.raw(), pattern.as_ptr().cast(), size, at, len, 0, null())
        })
    }

    fn launch(&self, kernel: &OpenClKernel, grid: Grid, args: &[Arg<'_, OpenCl>]) -> Result<(), Error> {
        kernel.signature.check(args)?;
        self.context().owns("launch", &kernel.device.context)?;
        let mut uses: Vec<Hold> = vec![kernel.function.clone()];
        for arg in args {
            if let Arg::Read(buffer) | Arg::Write(buffer) = arg {
                self.owns("launch", buffer)?;
                uses.push(buffer.0.clone());
            }
        }
        let refused = |code, text| {
            let (kernel, device) = (kernel.name(), self.context().id().to_string());
            Err(Error::Launch { kernel, device, grid, code, text })
        };
        if grid.total() == 0 || grid.threads > kernel.max_threads() {
            let text = format!("it runs with 1 to {} threads a block", kernel.max_threads());
            return refused(0, text);
        }
        let shared = self.device.0.info.max_shared;
        if grid.shared > shared {
            return refused(0, format!("a block has at most {shared} bytes of shared memory"));
        }
        let [x, y, z] = grid.blocks.map(|blocks| blocks as usize);
        let threads = grid.threads as usize;
        let (global, local) = ([x * threads, y, z], [threads, 1, 1]);
        let raw = kernel.function.raw.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the kernel lives, and is nobody else's while it is locked.
        let set = unsafe { set_args(raw.0, kernel, grid, args) };
        // SAFETY: the arguments are as many and of such kinds as the kernel takes, which the signature says
        // and was checked; buffers and code are held until the work is done.
        let result = self.flight.queue(uses, |queue| unsafe {
            set?;
            enqueue_nd_range_kernel(queue, raw.0, 3, null(), global.as_ptr(), local.as_ptr(), 0, null())
        })?;
        match self.context().check(kernel.name(), result) {
            Err(Error::Call { code, text, .. }) => refused(code, text),
            other => other,
        }
    }

    fn record(&self) -> Result<OpenClEvent, Error> {
        self.context().alive()?;
        Ok(OpenClEvent { point: self.flight.mark()?, stream: self.flight.raw.0.addr() })
    }

    fn wait(&self, event: &OpenClEvent) -> Result<(), Error> {
        self.context().owns("wait", &event.point.context)?;
        let raw = event.point.raw.0;
        // SAFETY: both live, and are of one context.
        self.queue("clEnqueueBarrierWithWaitList", [event.point.clone() as Hold], |queue| unsafe {
            enqueue_barrier_with_wait_list(queue, 1, &raw const raw)
        })
    }

    fn sync(&self) -> Result<(), Error> {
        self.flight.sync()
    }
}

/// Sets a kernel's arguments, each read by the call: a buffer is two, its memory and how many elements it
/// has; shared memory is the last, where the kernel takes it.
///
/// # Safety
/// The kernel is locked; the arguments fit its signature.
unsafe fn set_args(
    raw: cl_kernel,
    kernel: &OpenClKernel,
    grid: Grid,
    args: &[Arg<'_, OpenCl>],
) -> Result<(), cl_int> {
    let mut index = 0;
    let mut set = |size: usize, value: *const c_void| {
        // SAFETY: the value has so many bytes; null stands for shared memory.
        let result = unsafe { set_kernel_arg(raw, index, size, value) };
        index += 1;
        result
    };
    for (arg, param) in args.iter().zip(kernel.signature.params) {
        match arg {
            Arg::U32(n) => set(4, from_ref(n).cast())?,
            Arg::U64(n) => set(8, from_ref(n).cast())?,
            Arg::Value(bytes) => set(bytes.len(), bytes.as_ptr().cast())?,
            Arg::Read(buffer) | Arg::Write(buffer) => {
                let (memory, elements) = (buffer.0.raw(), buffer.bytes() / param.element());
                set(size_of_val(&memory), from_ref(&memory).cast())?;
                set(8, from_ref(&elements).cast())?;
            }
        }
    }
    if kernel.function.takes_shared {
        set(grid.shared.max(1) as usize, null())?;
    }
    Ok(())
}

impl fmt::Debug for OpenClStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenClStream({:p} of {})", self.flight.raw.0, self.context().id())
    }
}
