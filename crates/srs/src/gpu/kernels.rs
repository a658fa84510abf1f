//! The kernel family `points`, and what its kernels do.

use blstrs::{G1Affine, G2Affine};
use bytemuck::cast_slice_mut;
use cuzk_gpu_backend::Param::Write;
use cuzk_gpu_backend::host::HostArg;
use cuzk_gpu_backend::{Family, Grid, Signature};

use super::DevicePoint;
use crate::format::{G1_BYTES, G2_BYTES};

/// Bytes of what says which point is bad.
pub(super) const FIRST_BAD: u64 = size_of::<u32>() as u64;

/// `kernels/points.cu` and `points.cl`: a row of stored points, each to its coordinates, in place.
pub static FAMILY: Family = Family::new(
    "points",
    &[
        Signature { name: G1Affine::KERNEL, params: &[Write(G1_BYTES as u64), Write(FIRST_BAD)] },
        Signature { name: G2Affine::KERNEL, params: &[Write(G2_BYTES as u64), Write(FIRST_BAD)] },
    ],
)
.host(&[(G1Affine::KERNEL, decode::<G1Affine>), (G2Affine::KERNEL, decode::<G2Affine>)]);

/// What a point becomes that is none is not defined. `first_bad` becomes the greatest of itself and
/// the complements of their indices, none of which is zero: a file counts a query's points in 32 bits.
fn decode<P: DevicePoint>(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::Write(points), HostArg::Write(first_bad)] = args else { unreachable!("the signature") };
    let first_bad: &mut u32 = &mut cast_slice_mut(first_bad)[0];
    for (index, bytes) in (0_u32..).zip(points.chunks_exact_mut(P::BYTES)) {
        match P::decode(bytes) {
            Ok(point) => point.write(bytes),
            Err(_) => *first_bad = (*first_bad).max(!index),
        }
    }
}
