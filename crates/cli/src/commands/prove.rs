//! `cuzk prove`

use std::sync::Arc;
use std::time::Instant;

use cuzk_groth16::{Blinding, Residence, graph};
use cuzk_pipeline_core::Options;
use cuzk_pipeline_core::limits::format_bytes;
use cuzk_pipeline_core::trace::Timeline;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::json;

use super::inspect::hex;
use crate::args::ProvePorep;
use crate::failure::{Classify as _, Failure};
use crate::files::{self, shown};
use crate::params::Chosen;
use crate::printer::Printer;
use crate::units::counted;
use crate::usage::Usage;
use crate::{interrupt, machine, progress, sector};

/// How wide the text timeline is.
const COLUMNS: usize = 100;

pub(crate) fn porep(printer: Printer, args: &ProvePorep) -> Result<(), Failure> {
    let start = Instant::now();
    files::check_writable(Some(&args.c1), args.out.iter().chain(&args.trace))?;
    let sector = sector::read_provable(printer, &args.c1, &args.sector)?;
    let partitions = sector.c1.partitions.len();
    printer.note(&format!(
        "{}: a {} sector, {}",
        args.c1.display(),
        sector.shape,
        counted(partitions, "partition")
    ));
    let chosen = Chosen::porep(&args.params, sector.shape)?;
    chosen.announce(printer);
    let timeline = Arc::new(Timeline::new());
    let stages = Arc::new(progress::Stages::new(printer));
    let engine = machine::engine(printer, &args.machine, vec![timeline.clone(), stages.clone()])?;
    let circuit = sector.circuit()?;
    let prover = chosen.prover(printer, &args.circuits, circuit, Residence::File)?;
    let graph = graph::proof(&prover, circuit, partitions, &blindings(args, partitions)).or_bug()?;
    stages.expect(graph.stages().count());

    let options = Options::new().label(args.c1.display().to_string());
    let proof = interrupt::heeded(|| {
        let run = engine.submit_with(&Arc::new(graph), sector.c1, options);
        interrupt::cancels(&run.cancel_token());
        let ended = run.wait();
        drop(stages);
        ended.map_err(|e| chosen.run_failure(&args.machine, e))
    });
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
        "partitions": partitions,
        "sector_size": sector.shape.sector_size(),
        "verified": true,
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

/// r and s of each partition, where a seed gives them.
fn blindings(args: &ProvePorep, partitions: usize) -> Vec<Blinding> {
    let Some(seed) = args.insecure_blinding_seed else { return Vec::new() };
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..partitions).map(|_| Blinding::random(&mut rng)).collect()
}
