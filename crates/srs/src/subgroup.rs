//! Whether many points are in the subgroup of order r, for little more than their sum.
//!
//! A point of the curve outside the subgroup makes a random subset's sum leave it
//! with probability at least 1/2, so that `k` independent subsets that all stay
//! inside leave a chance of 2^-k (the random subset test of Bellare, Garay and
//! Rabin, "Fast batch verification for modular exponentiation and digital
//! signatures", EUROCRYPT 1998, section 4, here with the quotient group in place of
//! an equation). [`BITS`] subsets at once take one addition a point: each point is
//! added to the bucket of a random number of `BITS` bits, and subset `i` is the
//! buckets whose number has bit `i`.

use group::{Curve, Group};
use rand_chacha::ChaCha8Rng;
use rand_core::{OsRng, RngCore, SeedableRng};
use rayon::prelude::*;

use crate::Point;

/// Subsets a round.
const BITS: usize = 10;
/// Rounds: a bad point passes with probability `2^-(ROUNDS * BITS)`, which is 2^-40.
const ROUNDS: usize = 4;
/// Fewer points are tested one by one: the buckets would cost more.
const FEW: usize = 1 << BITS;
/// Points that share buckets.
const CHUNK: usize = 1 << 15;

/// # Errors
/// The first point that is not in the subgroup.
pub(crate) fn all_in_subgroup<P: Point>(points: &[P]) -> Result<(), usize> {
    let stays = |chunk: &[P]| match chunk.len() {
        FEW.. => (0..ROUNDS).into_par_iter().all(|_| subsets_stay(chunk)),
        _ => chunk.par_iter().all(Point::in_subgroup),
    };
    match points.par_chunks(CHUNK).position_first(|chunk| !stays(chunk)) {
        None => Ok(()),
        Some(chunk) => {
            let start = chunk * CHUNK;
            let first = points[start..].par_iter().position_first(|point| !point.in_subgroup());
            Err(start + first.unwrap_or(0))
        }
    }
}

fn subsets_stay<P: Point>(points: &[P]) -> bool {
    let mut seed = [0; 32];
    OsRng.fill_bytes(&mut seed);
    let mut random = ChaCha8Rng::from_seed(seed);
    let mut buckets = vec![P::Curve::identity(); 1 << BITS];
    for point in points {
        buckets[random.next_u32() as usize >> (32 - BITS)] += point;
    }
    // The upper half is the subset of the top bit; folded onto the lower half, it
    // leaves the other bits' subsets to be found in the same way.
    while buckets.len() > 1 {
        let upper = buckets.split_off(buckets.len() / 2);
        let subset = upper.iter().fold(P::Curve::identity(), |sum, bucket| sum + bucket);
        if !bool::from(subset.is_identity()) && !subset.to_affine().in_subgroup() {
            return false;
        }
        buckets.iter_mut().zip(&upper).for_each(|(bucket, upper)| *bucket += upper);
    }
    true
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
    use ff::Field;
    use group::prime::PrimeCurveAffine;

    use super::*;

    /// A point of the curve that is not in the subgroup, as nearly all are not.
    fn outside_g1(random: &mut ChaCha8Rng) -> G1Affine {
        loop {
            let mut bytes = [0; 48];
            random.fill_bytes(&mut bytes);
            bytes[0] = bytes[0] & 0x1f | 0x80;
            let point = Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes));
            if let Some(point) = point.filter(|point| !point.in_subgroup()) {
                return point;
            }
        }
    }

    /// The point (0, 2), of order 3: the smallest there is, which hides most easily.
    fn of_order_three() -> G1Affine {
        let x = G1Affine::generator().x();
        let one = x * x.invert().unwrap();
        // blst refuses to decode it.
        G1Affine::from_raw_unchecked(x + -x, one + one, false)
    }

    #[test]
    fn one_bad_point_among_many_is_found() {
        let seed = OsRng.next_u64();
        println!("seed {seed}");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let good: Vec<_> = (0..40).map(|_| G1Projective::random(&mut random).to_affine()).collect();
        let three = of_order_three();
        assert!(bool::from(three.is_on_curve()) && !three.in_subgroup());
        assert_eq!(three.to_curve().double() + three, G1Projective::identity());
        let nearly_good = (three + good[0].to_curve()).to_affine();
        for len in [0, 1, 5, FEW - 1, FEW, 3 * FEW + 7, CHUNK + FEW + 1] {
            let mut points: Vec<G1Affine> = good.iter().copied().cycle().take(len).collect();
            assert_eq!(all_in_subgroup(&points), Ok(()));
            if len == 0 {
                continue;
            }
            for bad in [outside_g1(&mut random), three, nearly_good] {
                let at = random.next_u32() as usize % len;
                let good = std::mem::replace(&mut points[at], bad);
                assert_eq!(all_in_subgroup(&points), Err(at), "{len}");
                points[at] = good;
            }
        }
        let g2 = G2Projective::random(&mut random).to_affine();
        assert_eq!(all_in_subgroup::<G2Affine>(&vec![g2; 2 * FEW]), Ok(()));
    }

    /// Bad points that cancel in the sum of all do not in random subsets' sums.
    #[test]
    fn bad_points_do_not_hide_each_other() {
        let three = of_order_three();
        let points = [three, -three].repeat(FEW);
        assert_eq!(all_in_subgroup(&points), Err(0));
    }
}
