//! `ntt`, `ntt.quotient`: the transforms and the pass made of them, by threads.
//!
//! The naive line is the definition, n² products, on a length it has patience for.
//! bellperson and arkworks race in `benches/rivals`, a workspace of its own.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use cuzk_benches::{group, pool, scalars};
use cuzk_ntt::{Domain, naive, quotient};
use cuzk_values::{Evals, Poly, Scalar};
use ff::Field;

fn transform(criterion: &mut Criterion) {
    let shift = Scalar::from(7);
    for log in [10, 18, 20, 22] {
        let mut group = group(criterion, &format!("ntt/2^{log}"), 1 << log);
        let domain = Domain::new(log).expect("a domain of this size");
        let mut values: Vec<Scalar> = scalars(1 << log);
        for threads in [1, 2] {
            let pool = pool(threads);
            group.bench_function(format!("cpu/{threads}"), |b| {
                b.iter(|| pool.install(|| domain.ntt(&mut values).expect("as many as points")));
            });
            group.bench_function(format!("coset/cpu/{threads}"), |b| {
                b.iter(|| pool.install(|| domain.coset_ntt(&mut values, shift).expect("as many as points")));
            });
        }
        if log == 10 {
            group.bench_function("naive/1", |b| b.iter(|| naive::ntt(&values, Scalar::ONE)));
        }
        group.finish();
    }
}

fn whole_quotient(criterion: &mut Criterion) {
    for log in [10, 18, 20] {
        let mut group = group(criterion, &format!("ntt.quotient/2^{log}"), 1 << log);
        let domain = Domain::new(log).expect("a domain of this size");
        let values: Vec<Scalar> = scalars(1 << log);
        for threads in [1, 2] {
            let pool = pool(threads);
            let inputs = || [(); 2].map(|()| Poly::<Evals>::new(values.clone()).expect("a power of two"));
            group.bench_function(format!("cpu/{threads}"), |b| {
                b.iter_batched(
                    inputs,
                    |[a, b]| pool.install(|| quotient(&domain, a, b).expect("evaluations on the domain")),
                    BatchSize::PerIteration,
                );
            });
        }
        if log == 10 {
            let c: Vec<_> = values.iter().map(Field::square).collect();
            group.bench_function("naive/1", |b| b.iter(|| naive::quotient(&values, &values, &c)));
        }
        group.finish();
    }
}

criterion_group!(benches, transform, whole_quotient);
criterion_main!(benches);
