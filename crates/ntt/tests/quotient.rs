//! The quotient against its definition and against bellperson's seven transforms.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "only tests are here")]

use std::sync::Arc;

use bellperson::domain::EvaluationDomain;
use cuzk_ntt::{Domain, NttError, Path, Quotient, naive, quotient, quotient_with_c};
use cuzk_pipeline_core::{CancelToken, Cancelled, Cx, Footprint, Stage, Value};
use cuzk_values::{Evals, Poly, Scalar};
use ec_gpu_gen::threadpool::Worker;
use ff::Field;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn random(n: usize, rng: &mut ChaCha8Rng) -> Vec<Scalar> {
    (0..n).map(|_| Scalar::random(&mut *rng)).collect()
}

fn rng() -> ChaCha8Rng {
    let seed = rand::random();
    println!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

fn poly(scalars: &[Scalar]) -> Poly<Evals> {
    Poly::new(scalars.to_vec()).unwrap()
}

fn products(a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
    a.iter().zip(b).map(|(a, b)| *a * b).collect()
}

/// As in `bellperson::groth16::prover`: `(a b - c) / Z` on the coset.
fn bellperson(a: &[Scalar], b: &[Scalar], c: &[Scalar]) -> Vec<Scalar> {
    let worker = Worker::new();
    let [mut a, b, c] = [a, b, c].map(|values| {
        let mut domain = EvaluationDomain::from_coeffs(values.to_vec()).unwrap();
        domain.ifft(&worker, &mut None).unwrap();
        domain.coset_fft(&worker, &mut None).unwrap();
        domain
    });
    a.mul_assign(&worker, &b);
    a.sub_assign(&worker, &c);
    a.divide_by_z_on_coset(&worker);
    a.icoset_fft(&worker, &mut None).unwrap();
    a.into_coeffs()
}

#[test]
fn it_is_the_quotient() {
    let rng = &mut rng();
    for log in 0..=8 {
        let (a, b) = (random(1 << log, rng), random(1 << log, rng));
        let expected = naive::quotient(&a, &b, &products(&a, &b));
        assert_eq!(expected.last(), Some(&Scalar::ZERO));
        for path in Path::available() {
            let domain = Domain::with_path(log, path).unwrap();
            let h = quotient(&domain, poly(&a), poly(&b)).unwrap();
            assert!(h.scalars() == expected, "{path:?}, 2^{log}");
        }
    }
}

#[test]
fn it_is_bellpersons() {
    let rng = &mut rng();
    for log in [0, 1, 5, 6, 7, 10, 11, 14, 15] {
        let (a, b) = (random(1 << log, rng), random(1 << log, rng));
        let (satisfied, not) = (products(&a, &b), random(1 << log, rng));
        let expected = bellperson(&a, &b, &satisfied);
        let expected_not = bellperson(&a, &b, &not);
        for path in Path::available() {
            let domain = Domain::with_path(log, path).unwrap();
            let h = quotient(&domain, poly(&a), poly(&b)).unwrap();
            assert!(h.scalars() == expected, "{path:?}, 2^{log}");
            let h = quotient_with_c(&domain, poly(&a), poly(&b), poly(&not)).unwrap();
            assert!(h.scalars() == expected_not, "{path:?}, 2^{log}, unsatisfied");
        }
    }
}

#[test]
fn lengths_are_checked_first() {
    let domain = Domain::new(7).unwrap();
    let (right, wrong) = (vec![Scalar::ONE; 128], vec![Scalar::ONE; 64]);
    let error = NttError::Length { len: 64, expected: 128 };
    assert_eq!(quotient(&domain, poly(&wrong), poly(&right)).unwrap_err(), error);
    assert_eq!(quotient(&domain, poly(&right), poly(&wrong)).unwrap_err(), error);
    let c = quotient_with_c(&domain, poly(&right), poly(&right), poly(&wrong));
    assert_eq!(c.unwrap_err(), error);
}

#[test]
fn the_stage_declares_its_output_and_stops_when_cancelled() {
    let rng = &mut rng();
    let (a, b) = (random(1 << 9, rng), random(1 << 9, rng));
    let domain = Arc::new(Domain::new(9).unwrap());
    let stage = Quotient::new(domain.clone()).threads(2);
    assert_eq!(stage.name(), "ntt.quotient");
    let h = stage.run(&Cx::detached(), (poly(&a), poly(&b))).unwrap();
    assert_eq!(h.scalars(), quotient(&domain, poly(&a), poly(&b)).unwrap().scalars());
    assert!(h.footprint().fits(Footprint::host(32 << 9)));

    let cancel = CancelToken::default();
    cancel.cancel();
    let stopped = stage.run(&Cx::detached().with_cancel(cancel), (poly(&a), poly(&b)));
    assert_eq!(stopped.unwrap_err(), NttError::Cancelled(Cancelled));
}
