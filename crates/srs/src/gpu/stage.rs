//! The stage that brings points to a device.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::cast_slice_mut;
use cuzk_gpu_backend::{Arg, Backend, Context, Device, Grid, Pinned, Stream};
use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Placement, Stage};
use cuzk_values::{Bases, BasesError, DeviceBases, EncodedPoints};
use rayon::prelude::*;

use super::DevicePoint;
use super::kernels::FAMILY;
use super::staging::Staging;
use crate::SrsError;

/// Points that one thread writes at once.
const POINTS: usize = 1 << 10;

/// Some points of a query to the memory of a device, through the [`Staging`] that arrives.
///
/// Everything is queued on the context's transfer queue, beside the kernels of other stages:
/// piece after piece is read by all threads into the one half of the staging while the other is
/// copied; in the end one kernel decodes them all where they lie. One, and not one a piece:
/// kernels of other stages may keep it from the device for long, and copies behind it would
/// wait, too. The stage waits for its own queue only, for the four bytes that say whether all
/// points are sound; no other stage sees a point before that.
pub struct LoadBases<B, P> {
    name: Cow<'static, str>,
    bases: Bases<P>,
    range: Range<usize>,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend, P: DevicePoint> LoadBases<B, P> {
    /// The points `range` of a query, by a stage `name`, as `srs.h`.
    pub fn new(name: impl Into<Cow<'static, str>>, bases: Bases<P>, range: Range<usize>) -> Self {
        Self { name: name.into(), bases, range, backend: PhantomData }
    }

    /// The same as a resident of the engine, which needs nothing of a run: it locks memory for itself.
    pub fn resident(self) -> LoadResident<B, P> {
        LoadResident(self)
    }

    /// Bytes of the points.
    fn bytes(&self) -> u64 {
        (self.range.len() * P::BYTES) as u64
    }

    fn load(
        &self,
        cx: &Cx<'_>,
        context: &Context<B>,
        staging: &Staging<B>,
    ) -> Result<DeviceBases<B::Buffer, P>, SrsError> {
        let Range { start, end } = self.range;
        if start > end || end > self.bases.len() {
            return Err(BasesError::Range { start, end, len: self.bases.len() }.into());
        }
        let (device, transfer) = (context.device(), context.transfer());
        let encoded = self.bases.encoded();
        let points = device.buffer(self.bytes())?;
        let mut slots = staging.slots();
        let piece = staging.piece() / P::BYTES;
        for first in self.range.clone().step_by(piece) {
            cx.checkpoint()?;
            let part = first..end.min(first + piece);
            let (at, len) = ((first - start) * P::BYTES, part.len() * P::BYTES);
            let slot = slots.next();
            slot.write(|bytes| cx.install(|| self.read(encoded, part, &mut bytes[..len])))??;
            transfer.upload_pinned(slot, 0..len as u64, &points, at as u64)?;
        }
        if encoded.is_some() && !self.range.is_empty() {
            self.decode(context, &points, &slots.first_bad)?;
        }
        context.after_transfers()?;
        Ok(DeviceBases::new(points, self.range.clone()))
    }

    /// Points of the host as they go to the device.
    fn read(
        &self,
        encoded: Option<&dyn EncodedPoints>,
        part: Range<usize>,
        bytes: &mut [u8],
    ) -> Result<(), BasesError> {
        if let Some(encoded) = encoded {
            return encoded.read(part, bytes);
        }
        let points = self.bases.points(part)?;
        let pairs = bytes.par_chunks_exact_mut(P::BYTES).zip(&*points).with_min_len(POINTS);
        pairs.for_each(|(bytes, point)| point.write(bytes));
        Ok(())
    }

    /// Decodes and checks the points, and waits for the verdict.
    fn decode(
        &self,
        context: &Context<B>,
        points: &B::Buffer,
        first_bad: &B::Buffer,
    ) -> Result<(), SrsError> {
        let (device, transfer) = (context.device(), context.transfer());
        let kernel = device.kernel(&FAMILY, P::KERNEL)?;
        let mut complement = [0_u32];
        transfer.zero(first_bad, 0..size_of_val(&complement) as u64)?;
        let grid = Grid::cover(self.range.len() as u64, 128);
        transfer.launch(&kernel, grid, &[Arg::Write(points), Arg::Write(first_bad)])?;
        transfer.download(first_bad, 0, cast_slice_mut(&mut complement))?;
        if complement == [0] {
            return Ok(());
        }
        // The host says what is wrong with it, if it is wrong there, too.
        let index = self.range.start + !complement[0] as usize;
        self.bases.points(index..index + 1)?;
        Err(SrsError::Spoilt { index, device: device.info().id() })
    }
}

impl<B: Backend, P: DevicePoint> Stage for LoadBases<B, P> {
    type In = Arc<Staging<B>>;
    type Out = DeviceBases<B::Buffer, P>;
    type Error = SrsError;

    fn name(&self) -> Cow<'static, str> {
        self.name.clone()
    }
    fn kind(&self, error: &SrsError) -> ErrorKind {
        error.kind()
    }
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    fn cost(&self) -> Cost {
        Cost::free().output(Footprint::device(self.bytes()))
    }
    fn run(&self, cx: &Cx<'_>, staging: Arc<Staging<B>>) -> Result<Self::Out, SrsError> {
        self.load(cx, Context::of(cx)?, &staging)
    }
}

/// A [`LoadBases`] as a resident of the engine.
pub struct LoadResident<B, P>(LoadBases<B, P>);

impl<B: Backend, P: DevicePoint> Stage for LoadResident<B, P> {
    type In = ();
    type Out = DeviceBases<B::Buffer, P>;
    type Error = SrsError;

    fn name(&self) -> Cow<'static, str> {
        self.0.name()
    }
    fn kind(&self, error: &SrsError) -> ErrorKind {
        error.kind()
    }
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    fn cost(&self) -> Cost {
        self.0.cost().scratch(Staging::<B>::bytes(Staging::<B>::PIECE))
    }
    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<Self::Out, SrsError> {
        let context = Context::<B>::of(cx)?;
        self.0.load(cx, context, &Staging::new(context.device(), Staging::<B>::PIECE)?)
    }
}

impl<B, P: 'static> fmt::Debug for LoadBases<B, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: points {:?} of {:?}", self.name, self.range, self.bases)
    }
}
