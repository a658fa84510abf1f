//! Criterion benches of the workspace, one file a stage.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};
use ff::Field;
use group::Curve;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::ThreadPool;

/// `n` scalars, the same every time.
pub fn scalars<F: Field>(n: usize) -> Vec<F> {
    let mut random = ChaCha8Rng::seed_from_u64(n as u64);
    std::iter::repeat_with(|| F::random(&mut random)).take(n).collect()
}

/// `n` distinct points in a row: s·g, (s + 1)·g, …
pub fn points<C: Curve<AffineRepr: Clone>>(n: usize) -> Vec<C::AffineRepr> {
    let mut at = C::random(ChaCha8Rng::seed_from_u64(n as u64));
    let row: Vec<C> = std::iter::repeat_with(|| {
        at += C::generator();
        at
    })
    .take(n)
    .collect();
    let mut affine = vec![C::identity().to_affine(); n];
    C::batch_normalize(&row, &mut affine);
    affine
}

/// A pool of `threads`.
///
/// # Panics
/// If the system has no thread to give.
pub fn pool(threads: usize) -> ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// A group of ten samples each, for runs of milliseconds to seconds over `elements`.
pub fn group<'c>(criterion: &'c mut Criterion, name: &str, elements: usize) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(500));
    group.throughput(Throughput::Elements(elements as u64));
    group
}
