//! What a circuit's template and a partition's witness take on a device, and its evaluations, which
//! are held against the CPU's.
//!
//! `cargo run --release -p cuzk-synth --features cuda,opencl --example gpu_eval -- [--opencl] porep-32GiB [CIRCUITS]`
//!
//! Circuits are kept as files in the folder `CIRCUITS`. Times of the device are medians of nine after
//! two, by events; those of the upload and of the load are the host's, until the device is done.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::time::{Duration, Instant};

use cuzk_gpu_backend::{Backend, Buffer, Context, Cuda, Device, Event, OpenCl, Stream};
use cuzk_pipeline_core::{Cx, Value as _};
use cuzk_synth::gpu::{DeviceTemplate, upload};
use cuzk_synth::template::Store;
use cuzk_synth::{Evaluator, FilecoinCircuit, Side, Statement, fixture};
use cuzk_values::{Evals, OnDevice, Poly, R1cs, Scalar, Witness};
use ff::Field;

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// Rows that are compared at once.
const ROWS: usize = 1 << 20;

fn main() -> Result<()> {
    let (options, args): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|arg| arg.starts_with('-'));
    let mut args = args.into_iter();
    let circuit: FilecoinCircuit = args.next().unwrap_or_else(|| "porep-8MiB".into()).parse()?;
    let start = Instant::now();
    let r1cs = match args.next() {
        Some(folder) => Store::new(folder).load_or_record(circuit)?.recording.r1cs,
        None => circuit.record()?.r1cs,
    };
    println!("{circuit}: constraints in {:.2?}", start.elapsed());
    let start = Instant::now();
    let witness = witness(circuit)?;
    println!("  witness of {} bytes in {:.2?}", witness.footprint().host, start.elapsed());
    if options.iter().any(|option| option == "--opencl") {
        measure::<OpenCl>(&r1cs, &witness)
    } else {
        measure::<Cuda>(&r1cs, &witness)
    }
}

fn witness(circuit: FilecoinCircuit) -> Result<Witness> {
    let (cx, size) = (Cx::detached(), circuit.shape().sector_size());
    Ok(match circuit {
        FilecoinCircuit::Porep(circuit) => circuit.witness(&cx, &fixture::porep(size, 1)?, 0)?,
        FilecoinCircuit::Snap(circuit) => circuit.witness(&cx, &fixture::snap(size, 1)?, 0)?,
        FilecoinCircuit::Post(circuit) => {
            circuit.witness(&cx, &fixture::SparsePost::new(circuit.kind(), size, 1)?.build(), 0)?
        }
    })
}

/// The median of nine, after two.
fn median(mut f: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut times = (0..11).map(|_| f()).collect::<Result<Vec<_>>>()?;
    times.drain(..2);
    times.sort();
    Ok(times[4])
}

fn measure<B: Backend>(r1cs: &R1cs, witness: &Witness) -> Result<()> {
    let (cx, context) = (Cx::detached(), Context::<B>::open(0, None)?);
    let start = Instant::now();
    let template = DeviceTemplate::<B>::new(&context, r1cs)?;
    context.transfer().sync()?;
    let bytes = template.footprint().device;
    println!("  template of {bytes} bytes loaded in {:.2?}", start.elapsed());
    let uploaded = median(|| {
        let start = Instant::now();
        upload(&cx, &context, witness)?;
        context.transfer().sync()?;
        Ok(start.elapsed())
    })?;
    let on_device = upload(&cx, &context, witness)?;
    context.transfer().sync()?;
    let evaluated = median(|| {
        let start = context.compute().record()?;
        template.evaluate(&context, &on_device)?;
        Ok(context.compute().record()?.since(&start)?)
    })?;
    let info = context.device().info();
    println!(
        "  {} rows, {} + {} entries; uploaded in {uploaded:.2?}, evaluated in {evaluated:.2?} on {} ({})",
        r1cs.constraints(),
        r1cs.a.entries(),
        r1cs.b.entries(),
        info.name,
        info.driver,
    );
    let (a, b) = template.evaluate(&context, &on_device)?;
    let start = Instant::now();
    for (side, evals) in [(Side::A, a), (Side::B, b)] {
        compare(&cx, &context, &Evaluator::new(r1cs, witness)?, side, &evals)?;
    }
    println!("  equal to the CPU's, compared in {:.2?}", start.elapsed());
    Ok(())
}

fn compare<B: Backend>(
    cx: &Cx<'_>,
    context: &Context<B>,
    cpu: &Evaluator<'_>,
    side: Side,
    evals: &Poly<Evals, OnDevice<B::Buffer>>,
) -> Result<()> {
    let rows = ROWS.min(evals.len());
    let (mut expected, mut got) = (vec![Scalar::ZERO; rows], vec![[0_u64; 4]; rows]);
    for first in (0..evals.len()).step_by(rows) {
        cpu.evaluate(cx, side, first, &mut expected)?;
        let at = evals.buffer().bytes() / evals.len() as u64 * first as u64;
        context.compute().download(evals.buffer(), at, bytemuck::cast_slice_mut(&mut got))?;
        let wrong = expected.iter().zip(&got).position(|(a, b)| blst::blst_fr::from(*a).l != *b);
        if let Some(wrong) = wrong {
            return Err(format!("{side:?}: row {} is wrong", first + wrong).into());
        }
    }
    Ok(())
}
