//! One operation, several who do it.

use std::cell::LazyCell;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode};

/// A criterion group whose functions must all give the same `O`.
pub struct Race<'c, O> {
    group: BenchmarkGroup<'c, WallTime>,
    result: Option<O>,
}

impl<'c, O: PartialEq> Race<'c, O> {
    /// A group of ten samples each, for runs of milliseconds to seconds.
    pub fn new(criterion: &'c mut Criterion, name: String) -> Self {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(500));
        Self { group, result: None }
    }

    /// Times `run` on an input that is made before, unless the command line leaves
    /// `name` out. `output` is what others' outputs are compared with, before the clock starts.
    ///
    /// # Panics
    /// If another contender got another output.
    pub fn enter<I, R>(
        &mut self,
        name: &str,
        input: impl FnOnce() -> I,
        mut run: impl FnMut(&mut I) -> R,
        output: impl Fn(&I, R) -> O,
    ) {
        let Self { group, result } = self;
        let mut input = LazyCell::new(input);
        let mut compared = false;
        group.bench_function(name, |bencher| {
            let input = LazyCell::force_mut(&mut input);
            if !compared {
                let done = run(input);
                let output = output(input, done);
                match result {
                    Some(others) => assert!(*others == output, "{name} gets another result"),
                    None => *result = Some(output),
                }
                compared = true;
            }
            bencher.iter(|| run(input));
        });
    }
}
