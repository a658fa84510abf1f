#![allow(clippy::print_stdout, reason = "the seed is told")]

use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Scalars at both ends of the field, and others.
fn scalars(rng: &mut impl Rng, count: usize) -> Vec<Scalar> {
    let edge = |i| [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2), Scalar::from(u64::MAX)][i];
    (0..count)
        .map(|_| if rng.gen_bool(0.2) { edge(rng.gen_range(0..5)) } else { Scalar::random(&mut *rng) })
        .collect()
}

struct Operations;

impl<L: Lanes> Job<L> for Operations {
    #[inline(always)]
    fn run(self, lanes: L) {
        let seed = 20_261_130;
        println!("seed {seed}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for terms in 1..=MAX_DOT {
            for _ in 0..50 {
                check(lanes, &mut rng, terms);
            }
        }
    }
}

fn check<L: Lanes>(lanes: L, rng: &mut ChaCha8Rng, terms: usize) {
    let n = L::LANES;
    let a = scalars(rng, n * terms);
    let w = scalars(rng, terms);
    let fixed: Vec<_> = w.iter().map(L::fixed).collect();
    let v: Vec<_> = (0..terms).map(|i| lanes.gather(&a, i, terms)).collect();
    let stored = |v| {
        let mut out = vec![Scalar::ZERO; n];
        lanes.scatter(v, &mut out, 0, 1);
        out
    };
    let per_lane = |of: &dyn Fn(&[Scalar]) -> Scalar| a.chunks(terms).map(of).collect::<Vec<_>>();

    // Factors as large as they may be: sums of several products.
    let grown: Vec<_> = v
        .iter()
        .map(|v| (0..4).fold(lanes.fold(*v), |sum, _| lanes.add_product(sum, &lanes.factor(*v), &fixed[0])))
        .collect();
    let factors: Vec<_> = grown.iter().map(|v| lanes.factor(*v)).collect();
    let times = Scalar::ONE + w[0] * Scalar::from(4);
    let dot = |a: &[Scalar]| a.iter().zip(&w).map(|(a, w)| a * times * w).sum();
    assert_eq!(stored(lanes.dot(&factors, &fixed)), per_lane(&dot));
    assert_eq!(stored(lanes.canonical(grown[0])), per_lane(&|a| a[0] * times));

    let last = terms - 1;
    assert_eq!(stored(lanes.times(v[0], v[last])), per_lane(&|a| a[0] * a[last]));
    let canonical = lanes.canonical(lanes.dot(&factors, &fixed));
    assert_eq!(stored(lanes.times(canonical, v[0])), per_lane(&|a| dot(a) * a[0]));
    assert_eq!(stored(fixed[last].mul(lanes, v[0])), per_lane(&|a| a[0] * w[last]));
    let (sum, difference) = lanes.add_sub(v[0], lanes.all(&w[0]));
    assert_eq!(stored(sum), per_lane(&|a| a[0] + w[0]));
    assert_eq!(stored(difference), per_lane(&|a| a[0] - w[0]));
}

#[test]
fn portable_lanes_are_the_field() {
    Portable.vectorize(Operations);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn ifma_lanes_are_the_field() {
    match Ifma::detect() {
        Some(ifma) => ifma.vectorize(Operations),
        None => println!("this CPU has no AVX-512 IFMA: not tested"),
    }
}
