//! `cuzk prove`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use cuzk_groth16::{Blinding, Proofs, Residence};
use cuzk_pipeline_core::limits::format_bytes;
use cuzk_pipeline_core::trace::Timeline;
use cuzk_pipeline_core::{Engine, Graph, Observer, Options, RunError, Value};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::json;

use super::inspect::hex;
use crate::args::{ProveOptions, Proving};
use crate::devices::Made;
use crate::failure::{Classify as _, Failure};
use crate::files::{self, shown};
use crate::params::Chosen;
use crate::printer::Printer;
use crate::source::Source;
use crate::usage::Usage;
use crate::{circuits, constraints, devices, interrupt, machine, progress, source};

/// How wide the text timeline is.
const COLUMNS: usize = 100;

pub(crate) fn run<I: Args + Source>(printer: Printer, args: &Proving<I>) -> Result<(), Failure> {
    let start = Instant::now();
    let Proving { input: source, options: args } = args;
    files::check_writable(&[source.path()], args.out.iter().chain(&args.trace))?;
    let given = source::provable(printer, source)?;
    let (statement, shape, partitions) = (given.statement, given.shape, given.partitions());
    printer.note(&format!("{}: {}", source.path().display(), given.what));
    let chosen = Chosen::of(&args.params, statement)?;
    chosen.announce(printer);
    let used = [Some(chosen.params()), Some(chosen.key()), circuits::path(&args.circuits, chosen.circuit)];
    let used: Vec<&Path> = used.iter().flatten().map(PathBuf::as_path).collect();
    files::check_writable(&used, args.out.iter().chain(&args.trace))?;
    let timeline = Arc::new(Timeline::new());
    let stages = Arc::new(progress::Stages::new(printer));
    let devices = devices::open(printer, &args.machine.devices)?;
    let observers: Vec<Arc<dyn Observer>> = vec![timeline.clone(), stages.clone()];
    let prover = chosen.prover(printer, &args.circuits, Residence::File)?;
    let (prover, devices) = devices::choose(printer, devices, prover)?;
    let engine = machine::engine(printer, &args.machine, devices.as_ref(), observers)?;
    let blindings = blindings(args, partitions);
    let proofs = Proofs::new(&prover, statement, partitions, &blindings).or_bug()?;
    stages.expect(proofs.graph().stages().count());

    let label = source.path().display().to_string();
    let failure = |error| chosen.run_failure(&args.machine, error);
    let mut made = Made::on(devices.as_ref());
    let proof = interrupt::heeded(|| {
        let input = Arc::new(given.input);
        if args.check_constraints {
            let check = constraints::check(&prover, statement, partitions).or_bug()?;
            stages.expect(check.stages().count());
            let label = format!("{label}, its constraints");
            finished(&engine, check, input.clone(), &label).map_err(failure)?;
        }
        let attempt = proofs.submit(&engine, &input, Options::new().label(label));
        interrupt::cancels(&attempt.run().cancel_token());
        let mut told = devices::told(printer, |run| interrupt::cancels(&run.cancel_token()));
        let again = |error: &_, run: &_, cpu| {
            made.again(cpu);
            told(error, run, cpu);
        };
        attempt.wait(again).map_err(failure)
    });
    drop(stages);
    let traced = args.trace.as_deref().map(|path| files::write(path, timeline.trace().chrome().as_bytes()));
    let proof = proof?;
    let bytes = proof.to_bytes();
    if let Some(path) = &args.out {
        let kept = || format!("the proof, so that it is not lost: {}", hex(&bytes));
        files::write(path, &bytes).map_err(|failure| failure.hint(kept()))?;
    }

    traced.transpose()?;

    let (seconds, usage) = (start.elapsed().as_secs_f64(), Usage::now());
    let trace = timeline.trace();
    let json = json!({
        "proof": hex(&bytes),
        "file": args.out.as_deref().map(shown),
        "kind": chosen.circuit.statement(),
        "partitions": partitions,
        "sector_size": shape.sector_size(),
        "verified": true,
        "backend": made.backend,
        "attempts_lost": made.lost,
        "insecure_parameters": chosen.insecure,
        "seconds": seconds,
        "cpu_seconds": usage.cpu.as_secs_f64(),
        "peak_rss_bytes": usage.peak_rss,
        "stages": machine::stage_totals(&trace),
    });
    let mut text = match &args.out {
        Some(path) => format!("{}: {} bytes, verified", path.display(), bytes.len()),
        None => hex(&bytes),
    };
    if args.timeline {
        text = format!("{}\n{text}", trace.gantt(COLUMNS));
    }
    printer.note(&format!(
        "proved and verified in {seconds:.1} s, {:.1} CPU-seconds, peak RSS {}",
        usage.cpu.as_secs_f64(),
        format_bytes(usage.peak_rss)
    ));
    printer.result(&json, &text)
}

/// Runs a graph to its end, or to an interrupt.
fn finished<I: Value, O: Value>(
    engine: &Engine,
    graph: Graph<I, O>,
    input: I,
    label: &str,
) -> Result<O, RunError> {
    let run = engine.submit_with(&Arc::new(graph), input, Options::new().label(label));
    interrupt::cancels(&run.cancel_token());
    run.wait()
}

/// r and s of each partition, where a seed gives them.
fn blindings(args: &ProveOptions, partitions: usize) -> Vec<Blinding> {
    let Some(seed) = args.insecure_blinding_seed else { return Vec::new() };
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..partitions).map(|_| Blinding::random(&mut rng)).collect()
}
