//! `finalize` and `verify`: the ends of a partition.
//!
//! The rival of `verify` is bellperson's `verify_proof`, on the same real 32 GiB proof.

use std::hint::black_box;

use bellperson::groth16::{self as rival, prepare_verifying_key, verify_proof};
use criterion::{Criterion, criterion_group, criterion_main};
use cuzk_groth16::{Blinding, PreparedVerifyingKey, Sums, assemble};
use cuzk_testing::prf::{Prf, SEAL_32GIB_X10};
use cuzk_values::{G1Projective, G2Projective, Scalar, VerifyingKey};
use group::Group as _;

fn finalize(criterion: &mut Criterion) {
    let file = Prf::seal(SEAL_32GIB_X10);
    let g1 = G1Projective::generator();
    let sums = Sums { h: g1, l: g1.double(), a: -g1, b_g1: g1.double(), b_g2: G2Projective::generator() };
    let blinding = Blinding { r: Scalar::from(3), s: -Scalar::from(5) };
    criterion.bench_function("finalize/cpu", |b| b.iter(|| assemble(&file.vk, black_box(&sums), blinding)));

    let mut group = criterion.benchmark_group("verify");
    let (proof, inputs) = &file.proofs[0];
    let key = PreparedVerifyingKey::new(&file.vk);
    group.bench_function("cpu/32GiB", |b| {
        b.iter(|| key.verify(0, black_box(proof), inputs).expect("it verifies"));
    });
    let theirs = prepare_verifying_key(&rival_key(&file.vk));
    let rival_proof = rival::Proof { a: proof.a, b: proof.b, c: proof.c };
    group.bench_function("bellperson/32GiB", |b| {
        b.iter(|| assert!(verify_proof(&theirs, black_box(&rival_proof), &inputs[1..]).expect("inputs fit")));
    });
    group.finish();
}

fn rival_key(vk: &VerifyingKey) -> rival::VerifyingKey<blstrs::Bls12> {
    let VerifyingKey { alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, ic } = vk.clone();
    rival::VerifyingKey { alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, ic }
}

criterion_group!(benches, finalize);
criterion_main!(benches);
