//! Transforms against their definitions and against bellperson, on every instruction set that
//! this CPU has, in pools of one, two and three threads.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "only tests are here")]

use bellperson::domain::EvaluationDomain;
use cuzk_ntt::{Domain, NttError, Path, naive};
use cuzk_values::{Coeffs, Poly, Scalar};
use ec_gpu_gen::threadpool::Worker;
use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn rng() -> ChaCha8Rng {
    let seed = rand::random();
    println!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// Random scalars, sprinkled with 0, 1 and r - 1.
fn scalars(n: usize, rng: &mut ChaCha8Rng) -> Vec<Scalar> {
    let scalar = |rng: &mut ChaCha8Rng| match rng.gen_range(0..8) {
        0 => [Scalar::ZERO, Scalar::ONE, -Scalar::ONE][rng.gen_range(0..3)],
        _ => Scalar::random(rng),
    };
    (0..n).map(|_| scalar(rng)).collect()
}

/// The domain on each instruction set.
fn domains(log: u32) -> impl Iterator<Item = (Path, Domain)> {
    Path::available().into_iter().map(move |path| (path, Domain::with_path(log, path).unwrap()))
}

fn in_pool<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

fn reversed(scalars: &[Scalar]) -> Vec<Scalar> {
    let log = scalars.len().ilog2();
    let at = |i: usize| if log == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - log) };
    (0..scalars.len()).map(|i| scalars[at(i)]).collect()
}

type Transform = fn(&Domain, &mut [Scalar], Scalar) -> Result<(), NttError>;

fn transformed(transform: Transform, domain: &Domain, scalars: &[Scalar], shift: Scalar) -> Vec<Scalar> {
    let mut scalars = scalars.to_vec();
    transform(domain, &mut scalars, shift).unwrap();
    scalars
}

#[test]
fn transforms_are_what_their_definitions_say() {
    let rng = &mut rng();
    for log in 0..=9 {
        let coefficients = scalars(1 << log, rng);
        for shift in [Scalar::ONE, Domain::GENERATOR, Scalar::random(&mut *rng)] {
            let values = naive::ntt(&coefficients, shift);
            for (path, domain) in domains(log) {
                let case = format!("{path:?}, 2^{log}, shift {shift}");
                let (c, v) = (&coefficients, &values);
                assert!(transformed(Domain::coset_ntt, &domain, c, shift) == *v, "ntt, {case}");
                assert!(transformed(Domain::coset_intt, &domain, v, shift) == *c, "intt, {case}");
                let (c_reversed, v_reversed) = (&reversed(c), &reversed(v));
                let to_reversed = transformed(Domain::ntt_to_reversed, &domain, c, shift);
                assert!(to_reversed == *v_reversed, "ntt to reversed, {case}");
                let from_reversed = transformed(Domain::ntt_from_reversed, &domain, c_reversed, shift);
                assert!(from_reversed == *v, "ntt from reversed, {case}");
                let to_reversed = transformed(Domain::intt_to_reversed, &domain, v, shift);
                assert!(to_reversed == *c_reversed, "intt to reversed, {case}");
                let from_reversed = transformed(Domain::intt_from_reversed, &domain, v_reversed, shift);
                assert!(from_reversed == *c, "intt from reversed, {case}");
            }
        }
    }
}

#[test]
fn the_naive_inverse_is_the_inverse() {
    let rng = &mut rng();
    for log in 0..=8 {
        let (coefficients, shift) = (scalars(1 << log, rng), Scalar::random(&mut *rng));
        assert!(naive::intt(&naive::ntt(&coefficients, shift), shift) == coefficients, "2^{log}");
    }
}

#[test]
fn transforms_are_bellpersons() {
    let (rng, worker) = (&mut rng(), Worker::new());
    for log in 10..=16 {
        let input = scalars(1 << log, rng);
        let rival = |transform: &dyn Fn(&mut EvaluationDomain<Scalar>)| {
            let mut domain = EvaluationDomain::from_coeffs(input.clone()).unwrap();
            transform(&mut domain);
            domain.into_coeffs()
        };
        let ntt = rival(&|domain| domain.fft(&worker, &mut None).unwrap());
        let intt = rival(&|domain| domain.ifft(&worker, &mut None).unwrap());
        let coset_ntt = rival(&|domain| domain.coset_fft(&worker, &mut None).unwrap());
        let coset_intt = rival(&|domain| domain.icoset_fft(&worker, &mut None).unwrap());
        for (path, domain) in domains(log) {
            let threads = 1 + log as usize % 3;
            in_pool(threads, || {
                let case = format!("{path:?}, 2^{log}, {threads} threads");
                let (one, g) = (Scalar::ONE, Domain::GENERATOR);
                assert!(transformed(Domain::coset_ntt, &domain, &input, one) == ntt, "ntt, {case}");
                assert!(transformed(Domain::coset_intt, &domain, &input, one) == intt, "intt, {case}");
                assert!(transformed(Domain::coset_ntt, &domain, &input, g) == coset_ntt, "coset ntt, {case}");
                assert!(
                    transformed(Domain::coset_intt, &domain, &input, g) == coset_intt,
                    "coset intt, {case}"
                );
            });
        }
    }
}

#[test]
fn inverses_lead_back() {
    let rng = &mut rng();
    for log in 1..=20 {
        let (input, shift) = (scalars(1 << log, rng), Scalar::random(&mut *rng));
        for (path, domain) in domains(log) {
            for threads in if log > 15 { vec![2] } else { vec![1, 2, 3] } {
                in_pool(threads, || {
                    let case = format!("{path:?}, 2^{log}, {threads} threads");
                    let mut work = input.clone();
                    domain.ntt(&mut work).unwrap();
                    assert!(work != input, "{case}");
                    domain.intt(&mut work).unwrap();
                    assert!(work == input, "{case}");
                    domain.intt_to_reversed(&mut work, Scalar::ONE).unwrap();
                    domain.ntt_from_reversed(&mut work, Scalar::ONE).unwrap();
                    assert!(work == input, "reversed coefficients, {case}");
                    domain.ntt_to_reversed(&mut work, shift).unwrap();
                    domain.intt_from_reversed(&mut work, shift).unwrap();
                    assert!(work == input, "reversed values, {case}");
                });
            }
        }
    }
}

#[test]
fn points_of_long_transforms_are_right() {
    let rng = &mut rng();
    // Two passes of eleven levels, and three passes.
    for log in [18, 21, 22, 23] {
        let input = scalars(1 << log, rng);
        for (path, domain) in domains(log) {
            let values = transformed(Domain::coset_ntt, &domain, &input, Domain::GENERATOR);
            let i = rng.gen_range(0..1_usize << log);
            let x = Domain::GENERATOR * domain.root().pow_vartime([i as u64]);
            assert_eq!(values[i], naive::evaluate(&input, x), "{path:?}, 2^{log}, value {i}");
            let mut back = reversed(&values);
            domain.intt_from_reversed(&mut back, Domain::GENERATOR).unwrap();
            assert!(back == input, "{path:?}, 2^{log}");
        }
    }
}

#[test]
fn instruction_sets_agree_on_edge_values() {
    let edges = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2), Scalar::from(u64::MAX)];
    for log in [6, 7, 10, 11, 13] {
        let n = 1 << log;
        let mut inputs: Vec<Vec<Scalar>> = edges.iter().map(|edge| vec![*edge; n]).collect();
        inputs.push((0..n).map(|i| edges[i % edges.len()]).collect());
        inputs.push((0..n).map(|i| if i == n - 1 { -Scalar::ONE } else { Scalar::ZERO }).collect());
        for input in inputs {
            for transform in [Domain::ntt_to_reversed, Domain::ntt_from_reversed, Domain::intt_to_reversed] {
                let mut outputs = domains(log)
                    .map(|(_, domain)| transformed(transform, &domain, &input, Domain::GENERATOR));
                let portable = outputs.next().unwrap();
                // Equal bytes: both reduce fully.
                let bytes = |scalars: &[Scalar]| -> Vec<u64> {
                    scalars.iter().flat_map(|scalar| blst::blst_fr::from(*scalar).l).collect()
                };
                assert!(outputs.all(|output| bytes(&output) == bytes(&portable)), "2^{log}");
                let back = |output: &[Scalar]| {
                    let domain = Domain::with_path(log, Path::Portable).unwrap();
                    transformed(Domain::intt_from_reversed, &domain, output, Domain::GENERATOR)
                };
                if transform as usize == Domain::ntt_to_reversed as Transform as usize {
                    assert!(back(&portable) == input, "2^{log}");
                }
            }
        }
    }
}

#[test]
fn transforms_are_linear() {
    let rng = &mut rng();
    for (path, domain) in domains(12) {
        let (a, b) = (scalars(1 << 12, rng), scalars(1 << 12, rng));
        let k = Scalar::random(&mut *rng);
        let sum: Vec<Scalar> = a.iter().zip(&b).map(|(a, b)| *a * k + b).collect();
        let [a, b, sum] = [a, b, sum].map(|x| transformed(Domain::coset_ntt, &domain, &x, Domain::GENERATOR));
        assert!(a.iter().zip(&b).zip(&sum).all(|((a, b), sum)| *a * k + b == *sum), "{path:?}");
    }
}

#[test]
fn bases_are_types() {
    let coefficients = scalars(64, &mut rng());
    let domain = Domain::new(6).unwrap();
    let poly = || Poly::<Coeffs>::new(coefficients.clone()).unwrap();
    let values = domain.evaluate(poly()).unwrap();
    assert_eq!(values.scalars(), naive::ntt(&coefficients, Scalar::ONE));
    assert_eq!(domain.interpolate(values).unwrap().scalars(), coefficients);
    let values = domain.evaluate_on_coset(poly(), Domain::GENERATOR).unwrap();
    assert_eq!(values.scalars(), naive::ntt(&coefficients, Domain::GENERATOR));
    let back = domain.interpolate_from_coset(values, Domain::GENERATOR).unwrap();
    assert_eq!(back.scalars(), coefficients);
}

#[test]
fn what_cannot_be_transformed_is_refused() {
    assert_eq!(Domain::new(33).unwrap_err(), NttError::LogLen { log_len: 33, max: 32 });
    for log in [0, 3, 8] {
        let domain = Domain::new(log).unwrap();
        let n = domain.len();
        for len in [0, n - 1, n + 1, 2 * n] {
            let wrong = Err(NttError::Length { len, expected: n });
            let mut scalars = vec![Scalar::ONE; len];
            assert_eq!(domain.ntt(&mut scalars), wrong);
            assert_eq!(domain.coset_intt(&mut scalars, Domain::GENERATOR), wrong);
            assert_eq!(domain.ntt_from_reversed(&mut scalars, Scalar::ONE), wrong);
            assert_eq!(domain.reverse(&mut scalars), wrong);
        }
        let mut scalars = vec![Scalar::ONE; n];
        assert_eq!(domain.coset_intt(&mut scalars, Scalar::ZERO), Err(NttError::ZeroShift));
        // The other way round all points are 0.
        domain.coset_ntt(&mut scalars, Scalar::ZERO).unwrap();
        assert_eq!(scalars, vec![Scalar::ONE; n]);
    }
}
