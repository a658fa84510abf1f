//! Values in the memory of a device.
//!
//! `Buf` is a buffer of one backend: this crate knows no device, only that its bytes weigh
//! something. What a value holds may still be on its way there; it is used after that on the
//! device's queues, never on the host.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use cuzk_pipeline_core::{Footprint, Value};

use crate::Memory;

/// The memory of a device whose buffers are `Buf`: scalars of 32 bytes, little-endian Montgomery
/// forms, as blst's `blst_fr`.
pub struct OnDevice<Buf>(PhantomData<fn() -> Buf>);

impl<Buf: Value> Memory for OnDevice<Buf> {
    type Scalars = Buf;
    fn footprint(scalars: &Buf) -> Footprint {
        scalars.footprint()
    }
}

/// A [`Witness`](crate::Witness) on a device.
#[derive(Debug, Clone)]
pub struct DeviceWitness<Buf> {
    /// The public inputs as scalars, ONE first.
    pub inputs: Buf,
    /// A bit for each auxiliary variable, lowest first in words of 64: whether it is 1. The bits
    /// of wide variables, and those past the last variable, are zero.
    pub ones: Buf,
    /// The positions of the wide auxiliary variables, ascending, of 4 bytes.
    pub wide_at: Buf,
    /// Their values as scalars.
    pub wide: Buf,
    /// How many auxiliary variables.
    pub aux: usize,
}

impl<Buf: Value> Value for DeviceWitness<Buf> {
    fn footprint(&self) -> Footprint {
        let Self { inputs, ones, wide_at, wide, .. } = self;
        [inputs, ones, wide_at, wide].iter().fold(Footprint::ZERO, |sum, part| sum + part.footprint())
    }
}

/// Consecutive points of a query on a device: affine coordinates in Montgomery form, as blst's
/// `blst_p1_affine` and `blst_p2_affine`, infinity as zeros.
#[derive(Clone)]
pub struct DeviceBases<Buf, G> {
    points: Buf,
    range: Range<usize>,
    group: PhantomData<fn() -> G>,
}

impl<Buf, G> DeviceBases<Buf, G> {
    /// The points `range` of a query, of which `points` holds as many.
    pub fn new(points: Buf, range: Range<usize>) -> Self {
        Self { points, range, group: PhantomData }
    }

    /// The points.
    pub fn points(&self) -> &Buf {
        &self.points
    }

    /// Which points of their query these are.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

impl<Buf, G> fmt::Debug for DeviceBases<Buf, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bases {:?} on a device", self.range)
    }
}

impl<Buf: Value, G: 'static> Value for DeviceBases<Buf, G> {
    fn footprint(&self) -> Footprint {
        self.points.footprint()
    }
}
