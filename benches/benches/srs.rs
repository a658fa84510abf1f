//! `srs`: points of a parameter file decoded beside `blst_p*_deserialize`, whole files
//! checked, and test parameters made beside bellperson's generator.

use std::hint::black_box;

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::{Bls12, G1Affine, G2Affine};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cuzk_srs::{
    Depth, G1_BYTES, G2_BYTES, ParameterFile, Query, Setup, Trapdoor, check, unwatched, write_parameters,
};
use cuzk_values::{Bits, Coefficients, Densities, MatrixBuilder, R1cs, Scalar};
use ff::Field;
use tempfile::TempDir;

/// `x_{i+1} = x_i^2`, and the last one is public.
struct Squares(usize);

impl Circuit<Scalar> for Squares {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let last = cs.alloc_input(|| "last", || Ok(Scalar::ZERO))?;
        let mut x = cs.alloc(|| "first", || Ok(Scalar::ZERO))?;
        for _ in 1..self.0 {
            let square = cs.alloc(|| "square", || Ok(Scalar::ZERO))?;
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            x = square;
        }
        cs.enforce(|| "last", |lc| lc + x, |lc| lc + CS::one(), |lc: LinearCombination<_>| lc + last);
        Ok(())
    }
}

/// The R1CS of [`Squares`].
fn squares(aux: usize) -> R1cs {
    let mut coefficients = Coefficients::default();
    let one = coefficients.intern(Scalar::ONE);
    let [mut a, mut b, mut c] = [(); 3].map(|()| MatrixBuilder::default());
    let mut row = |entries: [Option<usize>; 3]| {
        for (matrix, column) in [&mut a, &mut b, &mut c].into_iter().zip(entries) {
            if let Some(column) = column {
                matrix.entry(column as u32, one);
            }
            matrix.end_row();
        }
    };
    (2..=aux).for_each(|x| row([Some(x), Some(x), Some(x + 1)]));
    row([Some(1 + aux), Some(0), Some(1)]);
    row([Some(0), None, None]);
    row([Some(1), None, None]);
    let mut b_inputs = Bits::zeros(2);
    b_inputs.set(0);
    let mut b_aux = Bits::ones(aux - 1);
    b_aux.push(false);
    let densities = Densities { a_aux: Bits::ones(aux), b_inputs, b_aux };
    R1cs { inputs: 2, aux, coefficients, a: a.build(), b: b.build(), c: c.build(), densities }
}

fn made(aux: usize) -> (TempDir, ParameterFile) {
    let folder = tempfile::tempdir().expect("a folder");
    let r1cs = squares(aux);
    let setup = Setup {
        folder: folder.path(),
        stem: "squares",
        sector_size: 0,
        official_names: false,
        replace: false,
    };
    let made = setup.run(&r1cs, &Trapdoor::from_seed(1), &mut unwatched).expect("parameters");
    let file = ParameterFile::open(&made.params, &r1cs.query_lengths()).expect("the parameters just made");
    (folder, file)
}

fn decode(c: &mut Criterion) {
    let (_folder, file) = made(1 << 13);
    let (srs, count) = (file.srs(), 1 << 13);
    let bytes = std::fs::read(file.path()).expect("the parameters just made");
    let stored = |query| &bytes[file.layout().section(query).start as usize..];
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut group = c.benchmark_group("srs.decode");
    group.throughput(Throughput::Elements(count as u64));

    group.bench_function("g1/cpu/2^13", |b| {
        one.install(|| b.iter(|| black_box(srs.l.points(0..count)).is_ok()));
    });
    // Nothing but `blst_p1_deserialize` when the point is sound.
    group.bench_function("g1/blst/2^13", |b| {
        let (points, _) = stored(Query::L).as_chunks::<G1_BYTES>();
        b.iter(|| {
            let decode = |bytes| G1Affine::from_uncompressed_unchecked(bytes).expect("sound");
            points[..count].iter().map(decode).collect::<Vec<_>>()
        });
    });
    group.bench_function("g2/cpu/2^13", |b| {
        one.install(|| b.iter(|| black_box(srs.b_g2.points(0..count)).is_ok()));
    });
    // Nothing but `blst_p2_deserialize` when the point is sound.
    group.bench_function("g2/blst/2^13", |b| {
        let (points, _) = stored(Query::BG2).as_chunks::<G2_BYTES>();
        b.iter(|| {
            let decode = |bytes| G2Affine::from_uncompressed_unchecked(bytes).expect("sound");
            points[..count].iter().map(decode).collect::<Vec<_>>()
        });
    });
    group.finish();
}

fn checks(c: &mut Criterion) {
    let (_folder, file) = made(1 << 13);
    let mut group = c.benchmark_group("srs.check");
    group.sample_size(10).throughput(Throughput::Bytes(file.layout().file_bytes()));
    for (name, depth, digest) in [
        ("curve/2^13", Depth::Curve, false),
        ("curve+digest/2^13", Depth::Curve, true),
        ("subgroup/2^13", Depth::Subgroup, false),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| check(file.path(), None, depth, digest, &mut unwatched).expect("sound"));
        });
    }
    group.finish();
}

fn setup(c: &mut Criterion) {
    let aux = 1 << 10;
    let (r1cs, t) = (squares(aux), Trapdoor::from_seed(1));
    let mut group = c.benchmark_group("srs.setup");
    group.sample_size(10).throughput(Throughput::Elements(aux as u64));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    group.bench_function("cpu/2^10", |b| {
        b.iter(|| {
            one.install(|| write_parameters(&r1cs, &t, &mut Vec::new(), &mut unwatched)).expect("parameters")
        });
    });
    group.bench_function("bellperson/2^10", |b| {
        b.iter(|| {
            let (g1, g2) = (t.g1.into(), t.g2.into());
            let parameters = bellperson::groth16::generate_parameters::<Bls12, _>(
                Squares(aux),
                g1,
                g2,
                t.alpha,
                t.beta,
                t.gamma,
                t.delta,
                t.tau,
            );
            parameters.expect("parameters").write(&mut Vec::new()).expect("written");
        });
    });
    let large = squares(1 << 16);
    group.throughput(Throughput::Elements(1 << 16));
    group.bench_function("cpu/2^16", |b| {
        b.iter(|| {
            one.install(|| write_parameters(&large, &t, &mut Vec::new(), &mut unwatched)).expect("parameters")
        });
    });
    group.finish();
}

criterion_group!(benches, decode, checks, setup);
criterion_main!(benches);
