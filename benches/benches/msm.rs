//! `msm.h`, `msm.l`, `msm.b2`: sums of multiples in G1 and G2, by full-width scalars as the
//! quotient's are, and by a witness, nearly all of which is 0 or 1.
//!
//! The rival is blst's Pippenger, on all CPUs. arkworks and bellperson race, on one CPU
//! and on two, in `benches/rivals`, a workspace of its own.

use blst::{MultiPoint, blst_p1_affine, blst_p2_affine};
use criterion::{Criterion, criterion_group, criterion_main};
use cuzk_benches::{group, points, pool, scalars};
use cuzk_msm::{Density, G1, G2, msm, msm_compact};
use cuzk_values::{Bases, CompactScalars, G1Projective, G2Projective, Scalar};
use ff::{Field, PrimeField};

fn g1(criterion: &mut Criterion) {
    for log in [12, 16, 18] {
        let mut group = group(criterion, &format!("msm.g1/2^{log}"), 1 << log);
        let (points, scalars) = (points::<G1Projective>(1 << log), scalars::<Scalar>(1 << log));
        for threads in [1, 2] {
            let pool = pool(threads);
            group.bench_function(format!("cpu/{threads}"), |b| {
                b.iter(|| pool.install(|| msm::<G1>(&points, &scalars).expect("as many points as scalars")));
            });
        }
        let (points, scalars): (Vec<blst_p1_affine>, _) =
            (points.iter().map(|point| *point.as_ref()).collect(), bytes(&scalars));
        group.bench_function("blst", |b| b.iter(|| points.mult(&scalars, Scalar::NUM_BITS as usize)));
        group.finish();
    }
}

fn g2(criterion: &mut Criterion) {
    let mut group = group(criterion, "msm.g2/2^14", 1 << 14);
    let (points, scalars) = (points::<G2Projective>(1 << 14), scalars::<Scalar>(1 << 14));
    for threads in [1, 2] {
        let pool = pool(threads);
        group.bench_function(format!("cpu/{threads}"), |b| {
            b.iter(|| pool.install(|| msm::<G2>(&points, &scalars).expect("as many points as scalars")));
        });
    }
    let (points, scalars): (Vec<blst_p2_affine>, _) =
        (points.iter().map(|point| *point.as_ref()).collect(), bytes(&scalars));
    group.bench_function("blst", |b| b.iter(|| points.mult(&scalars, Scalar::NUM_BITS as usize)));
    group.finish();
}

/// One variable in 77 is full-width, as in a PoRep; the others are 0 and 1 in equal parts.
fn witness(criterion: &mut Criterion) {
    const LOG: u32 = 18;
    let mut group = group(criterion, &format!("msm.g1.witness/2^{LOG}"), 1 << LOG);
    let points = points::<G1Projective>(1 << LOG);
    let variables: Vec<Scalar> = scalars::<Scalar>(1 << LOG)
        .into_iter()
        .enumerate()
        .map(|(i, scalar)| match i % 77 {
            0 => scalar,
            i if i % 2 == 0 => Scalar::ZERO,
            _ => Scalar::ONE,
        })
        .collect();
    let (dense, compact) = (points.clone(), variables.iter().copied().collect::<CompactScalars>());
    let bases = Bases::new(points);
    for threads in [1, 2] {
        let pool = pool(threads);
        group.bench_function(format!("compact/cpu/{threads}"), |b| {
            let sum = || msm_compact::<G1>(&bases, &[], &compact, Density::Full, &|| Ok(()));
            b.iter(|| pool.install(|| sum().expect("as many bases as variables")));
        });
        group.bench_function(format!("cpu/{threads}"), |b| {
            b.iter(|| pool.install(|| msm::<G1>(&dense, &variables).expect("as many points as variables")));
        });
    }
    let (points, scalars): (Vec<blst_p1_affine>, _) =
        (dense.iter().map(|point| *point.as_ref()).collect(), bytes(&variables));
    group.bench_function("blst", |b| b.iter(|| points.mult(&scalars, Scalar::NUM_BITS as usize)));
    group.finish();
}

/// Scalars as blst takes them.
fn bytes(scalars: &[Scalar]) -> Vec<u8> {
    scalars.iter().flat_map(Scalar::to_bytes_le).collect()
}

criterion_group!(benches, g1, g2, witness);
criterion_main!(benches);
