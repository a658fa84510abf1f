//! Points from and to the bytes of a parameter file.

use std::sync::atomic::{AtomicUsize, Ordering};

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

#[cfg(target_arch = "x86_64")]
mod lanes;

use crate::Fault;
use crate::format::{G1_BYTES, G2_BYTES};
#[cfg(target_arch = "x86_64")]
use crate::lanes::Ifma;

/// Points that are decoded together.
pub(crate) const GROUP: usize = 8;

/// A point as a parameter file stores it.
pub trait Point: PrimeCurveAffine + Send + Sync + 'static + sealed::Vectorised {
    /// Bytes of a stored point.
    const BYTES: usize;

    /// The point that is stored in [`BYTES`](Self::BYTES) bytes: flags, canonical
    /// coordinates and the curve's equation are checked, the subgroup is not.
    ///
    /// # Errors
    /// What is wrong.
    ///
    /// # Panics
    /// If there are fewer bytes or more.
    fn decode(bytes: &[u8]) -> Result<Self, Fault>;

    /// Stores the point.
    ///
    /// # Panics
    /// If there are fewer bytes or more.
    fn encode(&self, bytes: &mut [u8]);

    /// Whether the point, which is on the curve, is in the subgroup of order r.
    fn in_subgroup(&self) -> bool;
}

mod sealed {
    /// Seals [`Point`](super::Point), and knows what is faster than one point at a time.
    pub trait Vectorised: Sized {
        /// The points of a group by vector instructions: `None` without them, and where
        /// there is a fault in a point.
        fn decode_group(bytes: &[u8]) -> Option<[Self; super::GROUP]>;
    }
}

macro_rules! point {
    ($point:ty, $bytes:expr, $lanes:ident) => {
        impl sealed::Vectorised for $point {
            #[cfg(target_arch = "x86_64")]
            fn decode_group(bytes: &[u8]) -> Option<[Self; GROUP]> {
                lanes::$lanes(Ifma::detect()?, bytes)
            }
            #[cfg(not(target_arch = "x86_64"))]
            fn decode_group(_: &[u8]) -> Option<[Self; GROUP]> {
                None
            }
        }

        impl Point for $point {
            const BYTES: usize = $bytes;

            fn decode(bytes: &[u8]) -> Result<Self, Fault> {
                let bytes: &[u8; $bytes] = bytes.try_into().expect("the bytes of one point");
                if bytes[0] & FLAGS != 0 {
                    return Err(flag_fault(bytes[0]));
                }
                // Not checked for the subgroup; the coordinates and the equation are.
                Option::from(Self::from_uncompressed_unchecked(bytes)).ok_or_else(|| coordinate_fault(bytes))
            }

            fn encode(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_uncompressed());
            }

            fn in_subgroup(&self) -> bool {
                self.is_torsion_free().into()
            }
        }
    };
}
point!(G1Affine, G1_BYTES, g1);
point!(G2Affine, G2_BYTES, g2);

/// Compressed, infinity, larger `y`: the encoding of zkcrypto's `bls12_381`, `notes/serialization.rs`.
const FLAGS: u8 = 0b1110_0000;
const INFINITY: u8 = 0b0100_0000;

/// The modulus of the base field, big-endian.
const MODULUS: [u8; 48] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64,
    0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab,
    0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

fn flag_fault(first: u8) -> Fault {
    if first & FLAGS == INFINITY { Fault::Infinity } else { Fault::Flag }
}

/// Of coordinates that are no point. Where `x` is zero there is none in the subgroup,
/// and blst says so when it decodes.
fn coordinate_fault(bytes: &[u8]) -> Fault {
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let (x, y) = bytes.split_at(bytes.len() / 2);
    match bytes.chunks(48).all(|coordinate| coordinate < MODULUS.as_slice()) {
        false => Fault::NotCanonical,
        true if is_zero(x) && !is_zero(y) => Fault::NotInSubgroup,
        true => Fault::NotOnCurve,
    }
}

/// Decodes a row of points on the caller's rayon pool.
///
/// # Errors
/// The first point that is not one, and why.
pub(crate) fn decode_all<P: Point>(bytes: &[u8]) -> Result<Vec<P>, (usize, Fault)> {
    let count = bytes.len() / P::BYTES;
    let mut groups = Vec::with_capacity(count.div_ceil(GROUP));
    decode_append(bytes, &mut groups)?;
    Ok(flatten(groups, count))
}

/// Decodes a row of points behind others. The last group of a row that does not
/// fill it ends with generators, so only the last row may be such a one.
pub(crate) fn decode_append<P: Point>(
    bytes: &[u8],
    groups: &mut Vec<[P; GROUP]>,
) -> Result<(), (usize, Fault)> {
    let group_bytes = GROUP * P::BYTES;
    let first_bad = AtomicUsize::new(usize::MAX);
    let decode = |(index, bytes): (usize, &[u8])| {
        decode_group(bytes).unwrap_or_else(|_| {
            first_bad.fetch_min(index, Ordering::Relaxed);
            [P::identity(); GROUP]
        })
    };
    let full = bytes.par_chunks_exact(group_bytes);
    let rest = full.remainder();
    let count = full.len();
    groups.par_extend(full.enumerate().with_min_len(32).map(decode));
    if !rest.is_empty() {
        let mut padded = vec![0; group_bytes];
        padded[..rest.len()].copy_from_slice(rest);
        padded[rest.len()..].chunks_exact_mut(P::BYTES).for_each(|hole| P::generator().encode(hole));
        groups.push(decode((count, &padded)));
    }
    match first_bad.into_inner() {
        usize::MAX => Ok(()),
        group => Err(fault_at_or_after::<P>(bytes, group * GROUP)),
    }
}

/// The points of groups, without the last one's padding.
pub(crate) fn flatten<P>(groups: Vec<[P; GROUP]>, count: usize) -> Vec<P> {
    let mut points = groups.into_flattened();
    points.truncate(count);
    points
}

/// Checks a row of points as [`decode_all`] does, and keeps none.
pub(crate) fn check_all<P: Point>(bytes: &[u8]) -> Result<(), (usize, Fault)> {
    let group_bytes = GROUP * P::BYTES;
    let bad = |bytes: &[u8]| {
        let full = bytes.len() == group_bytes;
        if full { decode_group::<P>(bytes).is_err() } else { first_fault::<P>(bytes, 0).is_some() }
    };
    match bytes.par_chunks(group_bytes).with_min_len(32).position_first(bad) {
        None => Ok(()),
        Some(group) => Err(fault_at_or_after::<P>(bytes, group * GROUP)),
    }
}

fn first_fault<P: Point>(bytes: &[u8], from: usize) -> Option<(usize, Fault)> {
    let mut points = bytes.chunks_exact(P::BYTES).enumerate().skip(from);
    points.find_map(|(index, point)| Some((index, P::decode(point).err()?)))
}

/// Names the fault of a group that has one.
fn fault_at_or_after<P: Point>(bytes: &[u8], from: usize) -> (usize, Fault) {
    first_fault::<P>(bytes, from).unwrap_or((from, Fault::NotOnCurve))
}

fn decode_group<P: Point>(bytes: &[u8]) -> Result<[P; GROUP], Fault> {
    if let Some(points) = P::decode_group(bytes) {
        return Ok(points);
    }
    let mut points = [P::identity(); GROUP];
    for (point, bytes) in points.iter_mut().zip(bytes.chunks_exact(P::BYTES)) {
        *point = P::decode(bytes)?;
    }
    Ok(points)
}

#[cfg(test)]
mod tests;
