//! The groups, and inputs in them.

use blst::{blst_fp, blst_fp2, blst_fr, blst_p1, blst_p2};
use blstrs::{G1Projective, G2Projective, Scalar};
use cuzk_msm::gpu::{DeviceCurve, base_bytes};
use cuzk_msm::{G1, G2};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rayon::prelude::*;

/// A group that both multiply in.
pub(crate) trait BenchCurve:
    DeviceCurve<
        Affine: PrimeCurveAffine<Curve = Self::Projective>,
        Projective: Curve<AffineRepr = Self::Affine> + Group<Scalar = Scalar>,
    >
{
    /// Its name.
    const TITLE: &'static str;
    /// Bytes of a base.
    const BYTES: usize;
    /// What sppark's functions are called: to make, to run, to free.
    const SPPARK: [&'static str; 3];
    /// The sum that sppark's words are.
    fn theirs(words: &[u64; 36]) -> Self::Projective;
}

fn fp(words: &[u64]) -> blst_fp {
    blst_fp { l: std::array::from_fn(|i| words[i]) }
}

fn fp2(words: &[u64]) -> blst_fp2 {
    blst_fp2 { fp: [fp(words), fp(&words[6..])] }
}

impl BenchCurve for G1 {
    const TITLE: &'static str = "msm_g1";
    const BYTES: usize = 96;
    const SPPARK: [&'static str; 3] = ["sppark_g1_new", "sppark_g1_run", "sppark_g1_free"];
    fn theirs(words: &[u64; 36]) -> G1Projective {
        let mut sum = G1Projective::identity();
        *sum.as_mut() = blst_p1 { x: fp(words), y: fp(&words[6..]), z: fp(&words[12..]) };
        sum
    }
}

impl BenchCurve for G2 {
    const TITLE: &'static str = "msm_g2";
    const BYTES: usize = 192;
    const SPPARK: [&'static str; 3] = ["sppark_g2_new", "sppark_g2_run", "sppark_g2_free"];
    fn theirs(words: &[u64; 36]) -> G2Projective {
        let mut sum = G2Projective::identity();
        *sum.as_mut() = blst_p2 { x: fp2(words), y: fp2(&words[12..]), z: fp2(&words[24..]) };
        sum
    }
}

/// Sebastiano Vigna's splitmix64.
fn splitmix(i: u64) -> u64 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// `n` Montgomery forms below 2^254, which is below the order.
pub(crate) fn scalars(n: usize) -> Vec<[u64; 4]> {
    let form = |i| {
        let mut words = [0, 1, 2, 3].map(|word| splitmix(4 * i + word));
        words[3] >>= 2;
        words
    };
    (0..n as u64).into_par_iter().map(form).collect()
}

/// Points that one thread makes at once.
const ROW: usize = 1 << 10;

/// The multiple of the generator of which bases are multiples.
fn step<C: BenchCurve>() -> C::Projective {
    C::Projective::generator() * Scalar::from(0x1234_5678_9abc_def1)
}

/// `n` different bases, `i + 1` times a point, as they are on devices.
pub(crate) fn bases<C: BenchCurve>(n: usize) -> Vec<u8> {
    let step = step::<C>();
    let mut bytes = vec![0; n * C::BYTES];
    bytes.par_chunks_mut(ROW * C::BYTES).enumerate().for_each(|(row, bytes)| {
        let first = step * Scalar::from((row * ROW) as u64 + 1);
        let count = bytes.len() / C::BYTES;
        let sums: Vec<_> = std::iter::successors(Some(first), |sum| Some(*sum + step)).take(count).collect();
        let mut affine = vec![C::Affine::identity(); count];
        C::Projective::batch_normalize(&sums, &mut affine);
        let pairs = bytes.chunks_exact_mut(C::BYTES).zip(&affine);
        pairs.for_each(|(bytes, point)| bytes.copy_from_slice(&base_bytes::<C>(point)));
    });
    bytes
}

/// The sum of the multiples of these bases.
pub(crate) fn expected<C: BenchCurve>(scalars: &[[u64; 4]]) -> C::Projective {
    let terms = scalars.par_iter().enumerate();
    let total = terms.map(|(i, words)| Scalar::from(blst_fr { l: *words }) * Scalar::from(i as u64 + 1));
    step::<C>() * total.sum::<Scalar>()
}
