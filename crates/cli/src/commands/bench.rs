//! `cuzk bench`: throughput, latency, memory, and where the time goes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk_groth16::{Attempt, Proofs, Residence};
use cuzk_pipeline_core::Options;
use cuzk_pipeline_core::limits::format_bytes;
use cuzk_pipeline_core::trace::{Timeline, format_duration};
use serde_json::json;

use crate::args::Bench;
use crate::devices::Made;
use crate::failure::{Classify as _, Failure};
use crate::params::Chosen;
use crate::printer::Printer;
use crate::progress::Meter;
use crate::usage::Usage;
use crate::{devices, interrupt, machine, source};

pub(crate) fn run(printer: Printer, args: &Bench) -> Result<(), Failure> {
    // From a file that is in memory by then.
    let given = source::provable(printer, &args.input)?;
    let decoded = times(DECODES, || source::provable(printer, &args.input).map(drop))?;
    let chosen = Chosen::of(&args.params, given.statement)?;
    chosen.announce(printer);
    let timeline = Arc::new(Timeline::new());
    let devices = devices::open(printer, &args.machine.devices)?;
    let prover = chosen.prover(printer, &args.circuits, Residence::File)?;
    let (prover, devices) = devices::choose(printer, devices, prover)?;
    let engine = machine::engine(printer, &args.machine, devices.as_ref(), vec![timeline.clone()])?;
    let partitions = given.partitions();
    let proofs = Proofs::new(&prover, given.statement, partitions, &[]).or_bug()?;
    let input = Arc::new(given.input);
    let (count, concurrency) = (args.count as usize, args.concurrency as usize);

    let meter = Meter::steps(printer, "proofs");
    let (before, start) = (Usage::now(), Instant::now());
    let mut latencies = Vec::with_capacity(count);
    let mut made = Made::on(devices.as_ref());
    let mut running: VecDeque<(Instant, Attempt<'_, _>)> = VecDeque::new();
    interrupt::heeded(|| {
        for i in 0..count + concurrency {
            if (i >= concurrency || i >= count)
                && let Some((submitted, run)) = running.pop_front()
            {
                // Every proof is verified within its run.
                let mut told = devices::told(printer, |run| interrupt::cancels(&run.cancel_token()));
                let again = |error: &_, run: &_, cpu| {
                    made.again(cpu);
                    told(error, run, cpu);
                };
                run.wait(again).map_err(|e| chosen.run_failure(&args.machine, e))?;
                latencies.push(submitted.elapsed());
                meter.set(latencies.len() as u64, count as u64);
            }
            if i < count {
                let options = Options::new().label(format!("proof {i}"));
                let run = proofs.submit(&engine, &input, options);
                interrupt::cancels(&run.run().cancel_token());
                running.push_back((Instant::now(), run));
            }
        }
        Ok(())
    })?;
    drop(meter);
    let (wall, usage) = (start.elapsed(), Usage::now());
    let cpu = usage.cpu.saturating_sub(before.cpu).as_secs_f64();
    latencies.sort();

    let trace = timeline.trace();
    let seconds = |d: Duration| d.as_secs_f64();
    let per_minute = 60.0 * count as f64 / seconds(wall);
    let percentiles = [50, 90, 99].map(|p| percentile(&latencies, p));
    let [p50, p90, p99] = percentiles.map(seconds);
    let json = json!({
        "count": count,
        "concurrency": concurrency,
        "partitions": partitions,
        "sector_size": given.shape.sector_size(),
        "verified": count,
        "backend": made.backend,
        "attempts_lost": made.lost,
        "seconds": seconds(wall),
        "proofs_per_minute": per_minute,
        "cpu_seconds_per_proof": cpu / count as f64,
        "decode_seconds": { "p50": seconds(percentile(&decoded, 50)), "count": DECODES },
        "latency_seconds": { "p50": p50, "p90": p90, "p99": p99,
            "min": seconds(percentile(&latencies, 0)), "max": seconds(percentile(&latencies, 100)) },
        "peak_rss_bytes": usage.peak_rss,
        "stages": machine::stage_totals(&trace),
    });
    let text = format!(
        "{count} proofs, {concurrency} at once, all verified\n  \
         throughput  {per_minute:.2} proofs a minute\n  \
         latency     p50 {}, p90 {}, p99 {}\n  \
         decoding    {} before it\n  \
         CPU         {:.2} s a proof\n  peak RSS    {}\n\n{}",
        format_duration(percentiles[0]),
        format_duration(percentiles[1]),
        format_duration(percentiles[2]),
        format_duration(percentile(&decoded, 50)),
        cpu / count as f64,
        format_bytes(usage.peak_rss),
        trace.table(),
    );
    printer.result(&json, &text)
}

/// How often the input is decoded to time that.
const DECODES: usize = 3;

/// How long something takes, so often, in ascending order.
fn times<E>(count: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<Vec<Duration>, E> {
    let one = |_| {
        let start = Instant::now();
        work().map(|()| start.elapsed())
    };
    let mut times = (0..count).map(one).collect::<Result<Vec<_>, _>>()?;
    times.sort();
    Ok(times)
}

/// The least value that `percent` of the sorted values do not exceed (nearest rank).
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (percent * sorted.len()).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let sorted: Vec<_> = (1..=10).map(Duration::from_secs).collect();
        let of = |p| percentile(&sorted, p).as_secs();
        assert_eq!([0, 1, 50, 90, 99, 100].map(of), [1, 1, 5, 9, 10, 10]);
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}
