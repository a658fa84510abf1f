//! The tables of [`fixed_base`](super::fixed_base), eight points at once.

use blst::blst_fp;
use blstrs::{G1Affine, G2Affine};

use super::fixed_base::{FixedBase, Table, window};
use crate::Point;
use crate::lanes::{Coordinate, Fp2, Fp8, Ifma, Limbs, WORDS, Xy, times_power_of_two};

/// From the Montgomery form to the number.
const TO_NUMBER: Limbs = times_power_of_two(1, 0);

pub(super) fn g1(ifma: Ifma, base: &G1Affine, count: usize) -> impl FixedBase + use<> {
    let read = move |point: &G1Affine| {
        let [x, y] = packed(ifma, [point.as_ref().x, point.as_ref().y]);
        Xy { x, y }
    };
    let write = move |points: &Xy<Fp8>, bytes: &mut [u8]| {
        store(ifma, &points.x, bytes, G1Affine::BYTES, 0);
        store(ifma, &points.y, bytes, G1Affine::BYTES, 48);
    };
    Table::new(base, window(count), read, write)
}

pub(super) fn g2(ifma: Ifma, base: &G2Affine, count: usize) -> impl FixedBase + use<> {
    let read = move |point: &G2Affine| {
        let (x, y) = (point.as_ref().x.fp, point.as_ref().y.fp);
        let [x0, x1, y0, y1] = packed(ifma, [x[0], x[1], y[0], y[1]]);
        Xy { x: Fp2 { c0: x0, c1: x1 }, y: Fp2 { c0: y0, c1: y1 } }
    };
    let write = move |points: &Xy<Fp2<Fp8>>, bytes: &mut [u8]| {
        store(ifma, &points.x.c1, bytes, G2Affine::BYTES, 0);
        store(ifma, &points.x.c0, bytes, G2Affine::BYTES, 48);
        store(ifma, &points.y.c1, bytes, G2Affine::BYTES, 96);
        store(ifma, &points.y.c0, bytes, G2Affine::BYTES, 144);
    };
    Table::new(base, window(count), read, write)
}

fn packed<const N: usize>(ifma: Ifma, elements: [blst_fp; N]) -> [Limbs; N] {
    let mut lanes = [blst_fp::default(); 8];
    lanes[..N].copy_from_slice(&elements);
    let mut packed = [Limbs::default(); N];
    packed.iter_mut().zip(Fp8::from_blst(ifma, &lanes).lanes()).for_each(|(packed, lane)| *packed = lane);
    packed
}

/// Stores a coordinate of each point, big-endian, at byte `at` of the point.
fn store(ifma: Ifma, coordinates: &Fp8, bytes: &mut [u8], point_bytes: usize, at: usize) {
    let words = coordinates.mul(&Fp8::splat(ifma, &TO_NUMBER)).words();
    for (lane, point) in bytes.chunks_exact_mut(point_bytes).enumerate() {
        let (chunks, _) = point[at..at + 8 * WORDS].as_chunks_mut::<8>();
        for (word, chunk) in words.iter().rev().zip(chunks) {
            *chunk = word[lane].to_be_bytes();
        }
    }
}
