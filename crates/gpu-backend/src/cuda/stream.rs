//! Queues of work, and what it holds.

use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{self, CUresult, CUstream};

use super::driver::{self, Context};
use super::event::Point;
use super::{Cuda, CudaBuffer, CudaDevice, CudaEvent, CudaKernel, CudaPinned};
use crate::bounds::{apart, span, within};
use crate::{Arg, Buffer, Error, Grid, Kernel, Pinned, Stream};

/// What queued work uses is looked at, to be let go of, after so many pieces of it.
const PIECES: usize = 32;

type Hold = Arc<dyn Any + Send + Sync>;

/// The driver's stream, and what is queued in it.
pub(super) struct Flight {
    raw: CUstream,
    context: Arc<Context>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// What was queued after the last mark uses.
    since: Vec<Hold>,
    /// Marks in the stream, and what was queued before each uses.
    marked: VecDeque<(Arc<Point>, Vec<Hold>)>,
}

// SAFETY: a stream may be used from any thread, and from several at once.
unsafe impl Send for Flight {}
// SAFETY: as above; what is held is behind a lock.
unsafe impl Sync for Flight {}

impl Flight {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks this point of the stream.
    fn mark(&self, timed: bool) -> Result<Arc<Point>, Error> {
        let point = Point::new(&self.context, timed)?;
        // SAFETY: both live, and are of one context.
        self.context.check("cuEventRecord", unsafe { sys::cuEventRecord(point.raw, self.raw) })?;
        Ok(Arc::new(point))
    }

    /// Queues `work`, and keeps what it uses until it is done. The lock is held all the
    /// while: who waits lets go only of what is queued.
    fn queue(
        &self,
        uses: impl IntoIterator<Item = Hold>,
        work: impl FnOnce(CUstream) -> CUresult,
    ) -> Result<CUresult, Error> {
        self.context.enter()?;
        let mut held = self.held();
        if held.since.len() >= PIECES {
            let (mark, since) = (self.mark(false)?, std::mem::take(&mut held.since));
            held.marked.push_back((mark, since));
            while held.marked.front().is_some_and(|(mark, _)| mark.is_done().unwrap_or(false)) {
                held.marked.pop_front();
            }
        }
        held.since.extend(uses);
        Ok(work(self.raw))
    }

    /// Waits for everything that is queued, and lets go of what it used.
    pub(super) fn sync(&self) -> Result<(), Error> {
        // What others queue from now on is not among this, and stays held.
        let held = std::mem::take(&mut *self.held());
        let result = self.context.enter().and_then(|()| {
            // SAFETY: the stream lives as long as `self`.
            self.context.check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw) })
        });
        match &result {
            Ok(()) | Err(Error::Lost { .. }) => drop(held),
            Err(_) => {
                let mut now = self.held();
                let Held { since, marked } = held;
                now.since.extend(since);
                now.marked.extend(marked);
            }
        }
        result
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.context.enter_anyway();
        // SAFETY: the stream is nobody else's; what its work holds is let go of after it.
        unsafe {
            let _ = sys::cuStreamSynchronize(self.raw);
            let _ = sys::cuStreamDestroy_v2(self.raw);
        }
    }
}

/// A queue of a [`CudaDevice`]. When it is dropped, what is left in it is waited for.
pub struct CudaStream {
    device: CudaDevice,
    flight: Arc<Flight>,
}

impl CudaStream {
    pub(super) fn new(device: &CudaDevice, urgent: bool) -> Result<Self, Error> {
        let context = &device.0.context;
        context.enter()?;
        let mut raw = std::ptr::null_mut();
        let apart = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // The lower, the sooner; 0 is what a stream has by itself.
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: the pointers are to places that live through the call.
        let range = unsafe { sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
        context.check("cuCtxGetStreamPriorityRange", range)?;
        let priority = if urgent { greatest } else { least };
        // SAFETY: the pointer is to a place that lives through the call.
        let made = unsafe { sys::cuStreamCreateWithPriority(&raw mut raw, apart, priority) };
        context.check("cuStreamCreateWithPriority", made)?;
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
    fn owns(&self, call: &'static str, buffer: &CudaBuffer) -> Result<(), Error> {
        self.context().owns(call, &buffer.0.device.context)
    }

    /// Holds `uses`, and queues `work`.
    fn queue(
        &self,
        call: &'static str,
        uses: impl IntoIterator<Item = Hold>,
        work: impl FnOnce(CUstream) -> CUresult,
    ) -> Result<(), Error> {
        let result = self.flight.queue(uses, work)?;
        self.context().check(call, result)
    }
}

impl Stream<Cuda> for CudaStream {
    fn upload(&self, from: &[u8], to: &CudaBuffer, at: u64) -> Result<(), Error> {
        self.owns("upload", to)?;
        let target = span("upload", at, from.len() as u64, to.bytes())?;
        if from.is_empty() {
            return self.context().alive();
        }
        let address = to.0.address + target.start;
        // SAFETY: both ends lie in live memory, the buffer's held; pageable memory has been
        // read when the call returns (the driver's manual, "API synchronization behavior").
        self.queue("cuMemcpyHtoDAsync", [to.0.clone() as Hold], |stream| unsafe {
            sys::cuMemcpyHtoDAsync_v2(address, from.as_ptr().cast(), from.len(), stream)
        })
    }

    fn download(&self, from: &CudaBuffer, at: u64, to: &mut [u8]) -> Result<(), Error> {
        self.owns("download", from)?;
        let source = span("download", at, to.len() as u64, from.bytes())?;
        if !to.is_empty() {
            let address = from.0.address + source.start;
            // SAFETY: both ends lie in live memory, the buffer's held; `to` is borrowed until the work is done below.
            self.queue("cuMemcpyDtoHAsync", [from.0.clone() as Hold], |stream| unsafe {
                sys::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), address, to.len(), stream)
            })?;
        }
        self.flight.sync()
    }

    fn upload_pinned(
        &self,
        from: &CudaPinned,
        range: Range<u64>,
        to: &CudaBuffer,
        at: u64,
    ) -> Result<(), Error> {
        let call = "upload_pinned";
        self.owns(call, to)?;
        self.context().owns(call, &from.locked.device.context)?;
        let source = within(call, &range, from.bytes())?;
        let len = source.end - source.start;
        let target = span(call, at, len, to.bytes())?;
        if len == 0 {
            return self.context().alive();
        }
        let address = to.0.address + target.start;
        let uses = [to.0.clone() as Hold, from.locked.clone() as Hold];
        // SAFETY: both ends lie in live memory, which is held; the bytes are changed only after the event below.
        self.queue("cuMemcpyHtoDAsync", uses, |stream| unsafe {
            let from = from.locked.bytes.add(source.start as usize);
            sys::cuMemcpyHtoDAsync_v2(address, from.as_ptr().cast(), len as usize, stream)
        })?;
        from.copied(self.record()?);
        Ok(())
    }

    fn download_pinned(
        &self,
        from: &CudaBuffer,
        range: Range<u64>,
        to: &mut CudaPinned,
        at: u64,
    ) -> Result<(), Error> {
        let call = "download_pinned";
        self.owns(call, from)?;
        self.context().owns(call, &to.locked.device.context)?;
        let source = within(call, &range, from.bytes())?;
        let len = source.end - source.start;
        let target = span(call, at, len, to.bytes())?;
        if len == 0 {
            return self.context().alive();
        }
        let address = from.0.address + source.start;
        let uses = [from.0.clone() as Hold, to.locked.clone() as Hold];
        // SAFETY: both ends lie in live memory, which is held; the bytes are looked at only after the event below.
        self.queue("cuMemcpyDtoHAsync", uses, |stream| unsafe {
            let to = to.locked.bytes.add(target.start as usize);
            sys::cuMemcpyDtoHAsync_v2(to.as_ptr().cast(), address, len as usize, stream)
        })?;
        to.copied(self.record()?);
        Ok(())
    }

    fn copy(&self, from: &CudaBuffer, range: Range<u64>, to: &CudaBuffer, at: u64) -> Result<(), Error> {
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
        let (source, target) = (from.0.address + source.start, to.0.address + target.start);
        let uses = [from.0.clone() as Hold, to.0.clone() as Hold];
        // SAFETY: both ends lie in live memory, which is held, and do not overlap.
        self.queue("cuMemcpyDtoDAsync", uses, |stream| unsafe {
            sys::cuMemcpyDtoDAsync_v2(target, source, len, stream)
        })
    }

    fn zero(&self, buffer: &CudaBuffer, range: Range<u64>) -> Result<(), Error> {
        self.owns("zero", buffer)?;
        let range = within("zero", &range, buffer.bytes())?;
        let len = (range.end - range.start) as usize;
        if len == 0 {
            return self.context().alive();
        }
        let address = buffer.0.address + range.start;
        // SAFETY: the range lies in live memory, which is held.
        self.queue("cuMemsetD8Async", [buffer.0.clone() as Hold], |stream| unsafe {
            sys::cuMemsetD8Async(address, 0, len, stream)
        })
    }

    fn launch(&self, kernel: &CudaKernel, grid: Grid, args: &[Arg<'_, Cuda>]) -> Result<(), Error> {
        kernel.signature.check(args)?;
        self.context().owns("launch", &kernel.device.context)?;
        let mut uses: Vec<Hold> = vec![kernel.module.clone()];
        // A number takes one word; a buffer two: its address, and how many elements it has.
        let mut words: Vec<u64> = Vec::with_capacity(2 * args.len());
        for (arg, param) in args.iter().zip(kernel.signature.params) {
            match arg {
                Arg::U32(n) => words.push((*n).into()),
                Arg::U64(n) => words.push(*n),
                Arg::Value(_) => {}
                Arg::Read(buffer) | Arg::Write(buffer) => {
                    self.owns("launch", buffer)?;
                    words.extend([buffer.0.address, buffer.bytes() / param.element()]);
                    uses.push(buffer.0.clone());
                }
            }
        }
        let mut words = words.iter();
        let mut next =
            || words.next().map_or(std::ptr::null_mut(), |word| std::ptr::from_ref(word).cast_mut().cast());
        let mut params: Vec<*mut c_void> = Vec::with_capacity(2 * args.len());
        for arg in args {
            match arg {
                Arg::U32(_) | Arg::U64(_) => params.push(next()),
                Arg::Value(bytes) => params.push(bytes.as_ptr().cast_mut().cast()),
                Arg::Read(_) | Arg::Write(_) => params.extend([next(), next()]),
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
        let [x, y, z] = grid.blocks;
        // SAFETY: the arguments are as many and of such kinds as the kernel takes, which the
        // signature says and was checked; a word in memory starts with its lower half, so that
        // a 32-bit number is at its start; buffers and code are held until the work is done.
        let result = self.flight.queue(uses, |stream| unsafe {
            sys::cuLaunchKernel(
                kernel.function,
                x,
                y,
                z,
                grid.threads,
                1,
                1,
                grid.shared,
                stream,
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })?;
        match self.context().check(kernel.name(), result) {
            Err(Error::Call { code, .. }) => refused(code, driver::text(result)),
            other => other,
        }
    }

    fn record(&self) -> Result<CudaEvent, Error> {
        self.context().enter()?;
        Ok(CudaEvent { point: self.flight.mark(true)?, stream: self.flight.raw.addr() })
    }

    fn wait(&self, event: &CudaEvent) -> Result<(), Error> {
        self.context().owns("wait", &event.point.context)?;
        let raw = event.point.raw;
        // SAFETY: both live, and are of one context.
        self.queue("cuStreamWaitEvent", [event.point.clone() as Hold], |stream| unsafe {
            sys::cuStreamWaitEvent(stream, raw, 0)
        })
    }

    fn sync(&self) -> Result<(), Error> {
        self.flight.sync()
    }
}

impl fmt::Debug for CudaStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaStream({:p} of {})", self.flight.raw, self.context().id())
    }
}
