//! Sums against their definition and against blst's Pippenger, on the scalars and
//! points that break provers, with every arithmetic that this CPU has.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use cuzk_msm::{Arithmetic, Curve, Density, G1, G2, MsmError, msm, msm_bases, msm_compact, msm_with, naive};
use cuzk_pipeline_core::Cancelled;
use cuzk_values::{Bases, Bits, CompactScalars};
use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

const SEED: u64 = 0xb15_381;

/// `n` points, of which equal ones, opposite ones and infinity are a part.
fn points<C: Curve>(n: usize, rng: &mut ChaCha20Rng) -> Vec<C::Affine>
where
    C::Projective: group::Curve<AffineRepr = C::Affine>,
    C::Affine: PrimeCurveAffine + std::ops::Neg<Output = C::Affine>,
{
    let mut point = C::Projective::random(&mut *rng);
    let mut points = Vec::with_capacity(n);
    for i in 0..n {
        point = point.double();
        let last = points.last().copied();
        points.push(match (rng.next_u32() % 16, last) {
            (0, _) => C::Affine::identity(),
            (1, Some(last)) => last,
            (2, Some(last)) => -last,
            _ if i % 7 == 6 => (point + C::Projective::generator()).to_affine(),
            _ => point.to_affine(),
        });
    }
    points
}

/// Rows of scalars of each kind that matters.
fn rows(n: usize, rng: &mut ChaCha20Rng) -> Vec<(&'static str, Vec<Scalar>)> {
    let mut row = |name, scalar: &mut dyn FnMut(usize, &mut ChaCha20Rng) -> Scalar| {
        (name, (0..n).map(|i| scalar(i, rng)).collect())
    };
    let one = Scalar::ONE;
    vec![
        row("random", &mut |_, r| Scalar::random(r)),
        row("zeros", &mut |_, _| Scalar::ZERO),
        row("ones", &mut |_, _| one),
        row("r - 1", &mut |_, _| -one),
        row("one hot bucket", &mut |_, _| Scalar::from(0x1234_5678_9abc)),
        row("small", &mut |_, r| Scalar::from(u64::from(r.next_u32() % 65_536))),
        row("short, of both signs", &mut |i, r| {
            let short = Scalar::from(r.next_u64());
            if i % 2 == 0 { short } else { -short }
        }),
        row("99 % ones", &mut |_, r| if r.next_u32() % 100 == 0 { Scalar::random(r) } else { one }),
        row("bits", &mut |_, r| Scalar::from(u64::from(r.next_u32() % 2))),
    ]
}

fn arithmetics() -> impl Iterator<Item = Arithmetic> {
    [Arithmetic::Portable, Arithmetic::Avx512Ifma].into_iter().filter(|a| a.is_available())
}

fn against_the_definition<C: Curve>(sizes: &[usize])
where
    C::Projective: group::Curve<AffineRepr = C::Affine>,
    C::Affine: PrimeCurveAffine + std::ops::Neg<Output = C::Affine>,
{
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    for &n in sizes {
        let bases = points::<C>(n, &mut rng);
        for (name, scalars) in rows(n, &mut rng) {
            let want = bases.iter().zip(&scalars).fold(C::Projective::identity(), |sum, (base, scalar)| {
                let base: C::Projective = (*base).into();
                sum + base * *scalar
            });
            for arithmetic in arithmetics() {
                let sum = msm_with::<C>(arithmetic, &bases, &scalars).expect("lengths that fit");
                assert!(sum == want, "{n} {name} by {arithmetic:?} in {}, seed {SEED:#x}", C::NAME);
            }
        }
    }
}

#[test]
fn g1_equals_its_definition() {
    against_the_definition::<G1>(&[0, 1, 2, 3, 5, 8, 31, 33, 255, 257, 1000]);
}

#[test]
fn g2_equals_its_definition() {
    against_the_definition::<G2>(&[0, 1, 2, 3, 9, 63, 65, 300]);
}

#[test]
fn all_points_equal_and_opposite() {
    let point = G1Affine::generator();
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let scalars: Vec<Scalar> = (0..3000).map(|_| Scalar::random(&mut rng)).collect();
    let total: Scalar = scalars.iter().sum();
    for arithmetic in arithmetics() {
        let sum = msm_with::<G1>(arithmetic, &vec![point; 3000], &scalars).unwrap();
        assert_eq!(sum, G1Projective::generator() * total, "{arithmetic:?}");
        let both: Vec<G1Affine> = (0..3000).map(|i| if i % 2 == 0 { point } else { -point }).collect();
        let sum = msm_with::<G1>(arithmetic, &both, &vec![scalars[0]; 3000]).unwrap();
        assert_eq!(sum, G1Projective::identity(), "{arithmetic:?}");
    }
}

#[test]
fn g1_and_g2_equal_blst() {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    for n in [1 << 10, (1 << 12) - 1, (1 << 13) + 1, 1 << 14] {
        let g1: Vec<G1Affine> = points::<G1>(n, &mut rng).into_iter().map(or_generator).collect();
        let scalars: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
        let projective: Vec<G1Projective> = g1.iter().map(G1Projective::from).collect();
        assert_eq!(msm::<G1>(&g1, &scalars).unwrap(), G1Projective::multi_exp(&projective, &scalars), "{n}");
    }
    let g2: Vec<G2Affine> = points::<G2>(1 << 11, &mut rng).into_iter().map(or_generator).collect();
    let scalars: Vec<Scalar> = g2.iter().map(|_| Scalar::random(&mut rng)).collect();
    let projective: Vec<G2Projective> = g2.iter().map(G2Projective::from).collect();
    assert_eq!(msm::<G2>(&g2, &scalars).unwrap(), G2Projective::multi_exp(&projective, &scalars));
}

/// blst's Pippenger takes no infinity.
fn or_generator<P: PrimeCurveAffine>(point: P) -> P {
    if bool::from(point.is_identity()) { P::generator() } else { point }
}

#[test]
fn compact_scalars_with_densities_equal_dense_ones() {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    for n in [0, 1, 64, 1000, 5001] {
        let inputs: Vec<Scalar> = (0..7).map(|i| Scalar::from(i % 3)).collect();
        let (_, dense) = rows(n, &mut rng).swap_remove(7);
        let aux: CompactScalars = dense.iter().copied().collect();
        let of_inputs: Bits = (0..7).map(|i| i % 2 == 0).collect();
        let of_aux: Bits = (0..n).map(|_| rng.next_u32() % 4 != 0).collect();
        let map = Density::Map { inputs: Some(&of_inputs), aux: &of_aux };
        let kept =
            |bits: &Bits, row: &[Scalar]| -> Vec<Scalar> { bits.iter_ones().map(|i| row[i]).collect() };
        let some = [kept(&of_inputs, &inputs), kept(&of_aux, &dense)].concat();
        for (density, scalars) in [(Density::Full, [inputs.clone(), dense.clone()].concat()), (map, some)] {
            let points = points::<G1>(scalars.len(), &mut rng);
            let want = naive::msm::<G1>(&points, &scalars);
            let bases = Bases::new(points);
            let sum = msm_compact::<G1>(&bases, &inputs, &aux, density, &|| Ok(())).unwrap();
            assert_eq!(sum, want, "{n} {density:?}, seed {SEED:#x}");
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let points = vec![G1Affine::generator(); 3];
    let scalars = vec![Scalar::ONE; 4];
    assert_eq!(msm::<G1>(&points, &scalars), Err(MsmError::Lengths { bases: 3, scalars: 4 }));
    let bases = Bases::new(points);
    let end = msm_bases::<G1>(&bases, &scalars, &|| Ok(()));
    assert_eq!(end, Err(MsmError::Lengths { bases: 3, scalars: 4 }));
    let aux: CompactScalars = scalars.iter().copied().collect();
    let map = Density::Map { inputs: None, aux: &Bits::ones(5) };
    let end = msm_compact::<G1>(&bases, &[], &aux, map, &|| Ok(()));
    assert_eq!(end, Err(MsmError::Density { what: "auxiliary variables", bits: 5, variables: 4 }));
    let end = msm_bases::<G1>(&bases, &scalars[..3], &|| Err(Cancelled));
    assert_eq!(end, Err(MsmError::Cancelled(Cancelled)));
}
