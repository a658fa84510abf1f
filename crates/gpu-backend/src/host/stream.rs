//! Queues of work that happen when somebody waits.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::event::Point;
use super::kernel::{self, Queued};
use super::{Host, HostBuffer, HostDevice, HostEvent, HostKernel, HostPinned};
use crate::bounds::apart;
use crate::{Arg, Device, Error, Grid, Kernel, Stream};

/// A queue of a [`HostDevice`]. What is left in it when it is dropped happens then.
pub struct HostStream {
    device: HostDevice,
    id: u64,
}

/// All queues of a device, and whether it is lost.
pub(super) struct Queues {
    device: Arc<str>,
    streams: BTreeMap<u64, VecDeque<Op>>,
    next: u64,
    lost: Option<Error>,
    /// Pieces of work until the device dies.
    fuse: Option<u64>,
}

enum Op {
    /// A piece of work, and the call that queued it.
    Work(&'static str, Box<dyn FnOnce() + Send>),
    /// The stream passes this point.
    Pass(Arc<Point>),
    /// The stream stops until this point is passed.
    Wait(Arc<Point>),
}

impl Queues {
    pub(super) fn new(device: Arc<str>) -> Self {
        Self { device, streams: BTreeMap::new(), next: 0, lost: None, fuse: None }
    }

    pub(super) fn alive(&self) -> Result<(), Error> {
        self.lost.clone().map_or(Ok(()), Err)
    }

    pub(super) fn lose_after(&mut self, pieces: u64) {
        self.fuse = Some(pieces);
    }

    /// Lets everything happen that comes before `goal`, in the order of streams and waits.
    pub(super) fn reach(&mut self, goal: &Arc<Point>) {
        while !goal.happened() && self.advance(goal) {}
    }

    /// Lets one thing happen without which `goal` is not reached; `false` if there is none.
    pub(super) fn advance(&mut self, goal: &Arc<Point>) -> bool {
        let mut goal = goal.clone();
        // Who waits stands behind a point that was queued before, so that this ends.
        while let Some(Op::Wait(other)) = self.streams.get(&goal.stream).and_then(VecDeque::front) {
            if goal.happened() || other.happened() {
                break;
            }
            goal = other.clone();
        }
        let op = if goal.happened() {
            None
        } else {
            self.streams.get_mut(&goal.stream).and_then(VecDeque::pop_front)
        };
        match op {
            None => return false,
            Some(Op::Wait(_)) => {}
            Some(Op::Pass(point)) => {
                let _ = point.passed.set(Instant::now());
            }
            Some(Op::Work(call, work)) => self.work(call, work),
        }
        true
    }

    /// Does a piece of work, unless the device is lost or it is now.
    fn work(&mut self, call: &'static str, work: Box<dyn FnOnce() + Send>) {
        if self.lost.is_some() {
            return;
        }
        let lost = match self.fuse {
            Some(0) => Some("a fault was injected".to_owned()),
            _ => catch_unwind(AssertUnwindSafe(work)).err().map(|panic| text(&*panic)),
        };
        self.fuse = self.fuse.map(|pieces| pieces.saturating_sub(1));
        self.lost = lost.map(|text| Error::Lost { device: self.device.to_string(), call, code: 0, text });
    }

    /// Lets everything happen that is queued.
    pub(super) fn drain(&mut self) {
        let ids: Vec<_> = self.streams.keys().copied().collect();
        for id in ids {
            self.finish(id);
        }
    }

    fn finish(&mut self, stream: u64) {
        let end = self.pass(stream);
        self.reach(&end);
    }

    fn push(&mut self, stream: u64, op: Op) {
        self.streams.entry(stream).or_default().push_back(op);
    }

    fn pass(&mut self, stream: u64) -> Arc<Point> {
        let point = Arc::new(Point { stream, passed: OnceLock::new() });
        self.push(stream, Op::Pass(point.clone()));
        point
    }
}

fn text(panic: &(dyn Any + Send)) -> String {
    let str = panic.downcast_ref::<&str>().map(ToString::to_string);
    str.or_else(|| panic.downcast_ref().cloned()).unwrap_or_else(|| "a kernel panicked".into())
}

impl HostStream {
    pub(super) fn new(device: &HostDevice) -> Result<Self, Error> {
        let mut queues = device.queues();
        queues.alive()?;
        let id = queues.next;
        queues.next += 1;
        queues.streams.insert(id, VecDeque::new());
        Ok(Self { device: device.clone(), id })
    }

    fn queue(&self, call: &'static str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        let mut queues = self.device.queues();
        queues.alive()?;
        queues.push(self.id, Op::Work(call, Box::new(work)));
        Ok(())
    }

    /// Whether a kernel may be given these arguments together.
    fn check(&self, kernel: &HostKernel, args: &[Arg<'_, Host>]) -> Result<(), Error> {
        kernel.signature.check(args)?;
        for arg in args {
            if let Arg::Read(buffer) | Arg::Write(buffer) = arg {
                self.device.owns("launch", &buffer.device)?;
            }
        }
        Ok(())
    }
}

impl Stream<Host> for HostStream {
    fn upload(&self, from: &[u8], to: &HostBuffer, at: u64) -> Result<(), Error> {
        self.device.owns("upload", &to.device)?;
        let range = to.bytes.span("upload", at, from.len())?;
        let (from, to) = (from.to_vec(), to.clone());
        self.queue("upload", move || to.bytes.write().get()[range].copy_from_slice(&from))
    }

    fn download(&self, from: &HostBuffer, at: u64, to: &mut [u8]) -> Result<(), Error> {
        self.device.owns("download", &from.device)?;
        let range = from.bytes.span("download", at, to.len())?;
        self.sync()?;
        to.copy_from_slice(&from.bytes.read().get()[range]);
        Ok(())
    }

    fn upload_pinned(
        &self,
        from: &HostPinned,
        range: Range<u64>,
        to: &HostBuffer,
        at: u64,
    ) -> Result<(), Error> {
        let call = "upload_pinned";
        self.device.owns(call, &to.device)?;
        self.device.owns(call, from.device.id())?;
        let source = from.bytes.range(call, &range)?;
        let target = to.bytes.span(call, at, source.len())?;
        let (bytes, to) = (from.bytes.clone(), to.clone());
        let work = move || to.bytes.write().get()[target].copy_from_slice(&bytes.read().get()[source]);
        self.queue(call, work)?;
        from.copied(self.record()?);
        Ok(())
    }

    fn download_pinned(
        &self,
        from: &HostBuffer,
        range: Range<u64>,
        to: &mut HostPinned,
        at: u64,
    ) -> Result<(), Error> {
        let call = "download_pinned";
        self.device.owns(call, &from.device)?;
        self.device.owns(call, to.device.id())?;
        let source = from.bytes.range(call, &range)?;
        let target = to.bytes.span(call, at, source.len())?;
        let (from, bytes) = (from.clone(), to.bytes.clone());
        let work = move || bytes.write().get()[target].copy_from_slice(&from.bytes.read().get()[source]);
        self.queue(call, work)?;
        to.copied(self.record()?);
        Ok(())
    }

    fn copy(&self, from: &HostBuffer, range: Range<u64>, to: &HostBuffer, at: u64) -> Result<(), Error> {
        self.device.owns("copy", &from.device)?;
        self.device.owns("copy", &to.device)?;
        let source = from.bytes.range("copy", &range)?;
        let target = to.bytes.span("copy", at, source.len())?;
        let (from, to) = (from.clone(), to.clone());
        if !Arc::ptr_eq(&from.bytes, &to.bytes) {
            let work =
                move || to.bytes.write().get()[target].copy_from_slice(&from.bytes.read().get()[source]);
            return self.queue("copy", work);
        }
        apart("copy", &range, &(at..at + (range.end - range.start)))?;
        self.queue("copy", move || to.bytes.write().get().copy_within(source, target.start))
    }

    fn zero(&self, buffer: &HostBuffer, range: Range<u64>) -> Result<(), Error> {
        self.device.owns("zero", &buffer.device)?;
        let range = buffer.bytes.range("zero", &range)?;
        let buffer = buffer.clone();
        self.queue("zero", move || buffer.bytes.write().get()[range].fill(0))
    }

    fn launch(&self, kernel: &HostKernel, grid: Grid, args: &[Arg<'_, Host>]) -> Result<(), Error> {
        self.check(kernel, args)?;
        let info = self.device.info();
        let refused = if grid.total() == 0 || grid.threads > kernel.max_threads() {
            Some("no such number of threads")
        } else if grid.shared > info.max_shared {
            Some("too much shared memory")
        } else {
            self.device.launch_fails().then_some("a fault was injected")
        };
        if let Some(text) = refused {
            let (kernel, device, text) = (kernel.name(), self.device.id().to_string(), text.into());
            return Err(Error::Launch { kernel, device, grid, code: 0, text });
        }
        let (function, args) = (kernel.function, args.iter().map(Queued::new).collect::<Vec<_>>());
        self.queue(kernel.name(), move || kernel::run(function, grid, &args))
    }

    fn record(&self) -> Result<HostEvent, Error> {
        let mut queues = self.device.queues();
        queues.alive()?;
        Ok(HostEvent { point: queues.pass(self.id), device: self.device.clone() })
    }

    fn wait(&self, event: &HostEvent) -> Result<(), Error> {
        self.device.owns("wait", event.device.id())?;
        let mut queues = self.device.queues();
        queues.alive()?;
        queues.push(self.id, Op::Wait(event.point.clone()));
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        let mut queues = self.device.queues();
        queues.finish(self.id);
        queues.alive()
    }
}

impl Drop for HostStream {
    fn drop(&mut self) {
        let mut queues = self.device.queues();
        queues.finish(self.id);
        queues.streams.remove(&self.id);
    }
}

impl fmt::Debug for HostStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostStream({} of {})", self.id, self.device.id())
    }
}
