//! Queries in the memory of a device.
//!
//! A parameter file's points go to the device as they are stored, and become there what sums
//! want: affine coordinates in Montgomery form, as blst's `blst_p1_affine` and `blst_p2_affine`.
//! They are checked on the way as the CPU checks them, and what is wrong with the first bad one
//! is said in the same words. Points that are decoded in the host's memory go as they are.
//!
//! [`LoadBases`] brings a range of a query through a [`Staging`]: whole queries stay as a
//! resident ([`LoadBases::resident`]), parts of those that are too large for that come with
//! each run, as many at once as the engine's memory allows.

mod kernels;
mod stage;
mod staging;

use blstrs::{G1Affine, G2Affine};
use bytemuck::cast_slice;

use crate::Point;

pub use kernels::FAMILY;
pub use stage::{LoadBases, LoadResident};
pub use staging::{MakeStaging, Staging};

/// A point that there are kernels for.
pub trait DevicePoint: Point {
    /// The name of the kernel that decodes a row of them.
    const KERNEL: &'static str;

    /// Writes the affine coordinates in Montgomery form, x before y and c0 before c1, limbs from
    /// the lowest on; zeros for infinity.
    ///
    /// # Panics
    /// If there are fewer bytes than [`BYTES`](Point::BYTES) or more.
    fn write(&self, bytes: &mut [u8]);
}

impl DevicePoint for G1Affine {
    const KERNEL: &'static str = "points_g1";

    fn write(&self, bytes: &mut [u8]) {
        let point = self.as_ref();
        bytes.copy_from_slice(cast_slice(&[point.x, point.y].map(|x| x.l)));
    }
}

impl DevicePoint for G2Affine {
    const KERNEL: &'static str = "points_g2";

    fn write(&self, bytes: &mut [u8]) {
        let point = self.as_ref();
        bytes.copy_from_slice(cast_slice(&[point.x, point.y].map(|x| x.fp.map(|c| c.l))));
    }
}
