//! `ntt`: one forward transform in place, natural order in and out.

use std::process::ExitCode;

use ark_ff::{BigInteger, PrimeField as _};
use ark_poly::{EvaluationDomain as _, Radix2EvaluationDomain};
use bellperson::domain::EvaluationDomain;
use blstrs::Scalar;
use criterion::Criterion;
use cuzk_ntt::{Domain, Path};
use cuzk_rivals::{Race, full_width, on_one_and_two, to_ark_scalars};
use ec_gpu_gen::threadpool::Worker;

type ArkDomain = Radix2EvaluationDomain<ark_bls12_381::Fr>;

/// How many outputs are compared.
const COMPARED: usize = 1 << 10;

fn main() -> ExitCode {
    on_one_and_two(|criterion, cpus| {
        for log in [18, 20, 22] {
            ntt(criterion, log, cpus);
        }
    })
}

/// Each transforms its own output again and again: the time does not depend on the values.
fn ntt(criterion: &mut Criterion, log: u32, cpus: usize) {
    let n = 1_usize << log;
    let mut race = Race::new(criterion, format!("ntt/2^{log}/{cpus}-cpu"));
    let sample = |scalars: &[Scalar]| -> Vec<[u8; 32]> {
        scalars.iter().step_by(n / COMPARED).map(Scalar::to_bytes_le).collect()
    };
    // The slowest path first, the best of this CPU last.
    for path in Path::available() {
        race.enter(
            &format!("cuzk-{path:?}").to_lowercase(),
            || (Domain::with_path(log, path).expect("a domain of this size"), full_width(n)),
            |(domain, scalars)| domain.ntt(scalars).expect("as many scalars as points"),
            |(_, scalars), ()| sample(scalars),
        );
    }
    race.enter(
        "bellperson",
        || EvaluationDomain::from_coeffs(full_width(n)).expect("a domain of this size"),
        |domain| domain.fft(&Worker::new(), &mut None).expect("a CPU transform"),
        |domain, ()| sample(domain.as_ref()),
    );
    race.enter(
        "arkworks",
        || (ArkDomain::new(n).expect("a domain of this size"), to_ark_scalars(&full_width(n))),
        |(domain, scalars)| domain.fft_in_place(scalars),
        |(_, scalars), ()| {
            let bytes =
                |scalar: &ark_bls12_381::Fr| scalar.into_bigint().to_bytes_le().try_into().expect("32 bytes");
            scalars.iter().step_by(n / COMPARED).map(bytes).collect()
        },
    );
}
