//! `cuzk selftest`: a small proof on every device, which must be the CPU's to the byte.
//!
//! Its circuit takes every kernel of a proof: bits and full-width variables, of which some are 0, 1 and -1,
//! long rows and short ones, points in both groups; its parameters stay on the device, and are streamed.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::sync::Arc;
use std::time::Instant;

use cuzk_groth16::device::{DevicePlan, Room};
use cuzk_groth16::{Blinding, Circuit, Groth16Error, Parameters, Prover, Residence, graph};
use cuzk_pipeline_core::{Engine, Footprint, Graph};
use cuzk_srs::{ParameterFile, Trapdoor, unwatched, write_parameters};
use cuzk_synth::{Recording, WitnessSize};
use cuzk_values::{
    Bits, Coefficients, CompactScalars, Matrix, MatrixBuilder, PartitionProof, Places, R1cs, Scalar, Witness,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use serde_json::json;

use crate::args::DeviceOptions;
use crate::devices::{self, Opened, Used};
use crate::failure::{Class, Classify as _, Failure};
use crate::machine;
use crate::printer::Printer;
use crate::units::Memory;

/// Bits, squares in a row, and values of full width that are none.
const BITS: usize = 3000;
const SQUARES: usize = 500;
const EDGES: usize = 3;

/// Bytes of a piece of streamed parameters.
const PIECE: u64 = 32 << 10;

/// What is known to hold: nothing of it is secret.
const SEED: u64 = 0x5e1f;

pub(crate) fn run(printer: Printer, options: &DeviceOptions) -> Result<(), Failure> {
    let all = devices::open_all(printer, options, usize::MAX)?;
    if all.is_empty() {
        return printer
            .result(&json!({ "devices": [] }), "there is no device to test: proofs are made on the CPU");
    }
    let case = Case::new()?;
    let expected = case.proof(&case.prover, None)?.0;
    let (mut list, mut text, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (opened, used) in all.iter().flat_map(|opened| opened.devices.iter().map(move |used| (opened, used)))
    {
        for (what, prover) in case.provers(opened)? {
            let (id, name) = (used.info.id(), &used.info.name);
            let verdict = case.proof(&prover, Some(used)).and_then(|(proof, seconds)| {
                let other =
                    || Failure::new(Class::Device, anyhow::anyhow!("it made another proof than the CPU"));
                if proof == expected { Ok(seconds) } else { Err(other()) }
            });
            match verdict {
                Ok(seconds) => {
                    text.push(format!("{id} ({name}), parameters {what}: right, {seconds:.2} s"));
                    list.push(json!({
                        "device": id, "name": name, "parameters": what, "right": true, "seconds": seconds,
                    }));
                }
                Err(failure) => {
                    text.push(format!("{id} ({name}), parameters {what}: FAILED: {failure}"));
                    failed.push((id, what, failure));
                }
            }
        }
    }
    if failed.is_empty() {
        return printer.result(&json!({ "devices": list }), &text.join("\n"));
    }
    // The failure is the result.
    text.iter().for_each(|line| printer.note(line));
    // One that computes what is wrong comes before one that could not compute.
    failed.sort_by_key(|(_, _, failure)| failure.class != Class::Device);
    let (id, what, failure) = failed.swap_remove(0);
    let error = failure.error.context(format!("{id} failed with its parameters {what}"));
    let hint = if failure.class == Class::Device {
        "prove on others, with --device, or with --backend cpu"
    } else {
        "the device could not be tested; --device-memory says how much of it may be used"
    };
    Err(Failure::new(failure.class, error).hint(hint))
}

/// A circuit, its parameters and a witness.
struct Case {
    prover: Prover,
    witness: Arc<Witness>,
}

impl Case {
    fn new() -> Result<Self, Failure> {
        let (r1cs, witness) = circuit();
        let folder = tempfile::tempdir().or_resource()?;
        let path = folder.path().join("selftest.params");
        let mut file = BufWriter::new(File::create(&path).or_resource()?);
        write_parameters(&r1cs, &Trapdoor::from_seed(SEED), &mut file, &mut unwatched).or_bug()?;
        file.flush().or_resource()?;
        let size = WitnessSize {
            inputs: r1cs.inputs,
            aux: r1cs.aux,
            wide: witness.aux.wide().len(),
            places: witness.aux.wide().len(),
        };
        let load = move || Ok(Recording { r1cs: r1cs.clone(), size });
        let circuit = Circuit::new("selftest", load).or_bug()?;
        let file = ParameterFile::open(&path, &circuit.sizes().queries).or_bug()?;
        let prover = Prover::new(circuit, Parameters::File(Arc::new(file), Residence::File)).or_bug()?;
        // The open file lasts, and an interrupt leaves nothing behind.
        drop(folder);
        Ok(Self { prover, witness: Arc::new(witness) })
    }

    /// Both ways to use a device's memory.
    fn provers(&self, opened: &Opened) -> Result<[(&'static str, Prover); 2], Failure> {
        let room: Room = opened.room();
        let failure = |error: Groth16Error| Failure::new(error.kind().into(), error);
        let streamed = DevicePlan::streamed(&self.prover.sizes(), PIECE, room).or_resource()?;
        Ok([
            ("resident", self.prover.on(opened.kind, room).map_err(failure)?),
            ("streamed", self.prover.on_with(opened.kind, streamed).map_err(failure)?),
        ])
    }

    /// A proof that was verified, and how long a second one took.
    fn proof(&self, prover: &Prover, used: Option<&Used>) -> Result<(PartitionProof, f64), Failure> {
        let blinding = Blinding::random(&mut ChaCha20Rng::seed_from_u64(SEED));
        let graph: Arc<Graph<Arc<Witness>, PartitionProof>> = Arc::new(
            Graph::build(|g, witness| {
                let witness = g.share_arc(witness);
                Ok(graph::prove(g, prover, witness, 0, Some(blinding)))
            })
            .or_bug()?,
        );
        let host = machine::budget(Memory::Auto, machine::threads(None))?.min(2 << 30);
        let pinned = (host / 4).min(256 << 20);
        let budget = Footprint { host: host - pinned, pinned, device: 0 };
        let builder = Engine::builder().budget(budget);
        let builder = used.map_or(Engine::builder().budget(budget), |used| builder.device(used.device()));
        let engine = builder.build().or_resource()?;
        engine.submit(&graph, self.witness.clone()).wait()?;
        let start = Instant::now();
        let proof = engine.submit(&graph, self.witness.clone()).wait()?;
        Ok((proof, start.elapsed().as_secs_f64()))
    }
}

/// See the module.
fn circuit() -> (R1cs, Witness) {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let mut coefficients = Coefficients::default();
    let small: Vec<u32> = (0..=BITS as u64 + 3).map(|n| coefficients.intern(Scalar::from(n))).collect();
    let (one, minus_one) = (small[1], coefficients.intern(-Scalar::from(1)));
    // Columns: ONE and the public input, bits, squares, what is 0, 1 and -1.
    let (bit, wide) = (|i: usize| (2 + i) as u32, |i: usize| (2 + BITS + i) as u32);
    let [mut a, mut b, mut c] = [(); 3].map(|()| MatrixBuilder::default());
    let mut row = |entries: [&[(u32, u32)]; 3]| {
        for (matrix, entries) in [&mut a, &mut b, &mut c].into_iter().zip(entries) {
            entries.iter().for_each(|(column, coefficient)| matrix.entry(*column, *coefficient));
            matrix.end_row();
        }
    };
    for i in 0..BITS {
        row([&[(bit(i), one)], &[(0, one), (bit(i), minus_one)], &[]]);
    }
    for i in 0..SQUARES {
        row([&[(wide(i), one)], &[(wide(i), one)], &[(wide(i + 1), one)]]);
    }
    for i in SQUARES + 1..=SQUARES + EDGES {
        row([&[(wide(i), one)], &[(0, one)], &[(wide(i), one)]]);
    }
    let all: Vec<_> = (0..BITS).map(|i| (bit(i), small[i + 3])).collect();
    row([&all, &[(wide(SQUARES), one)], &[(1, one)]]);
    for input in 0..2 {
        row([&[(input, one)], &[], &[]]);
    }

    let (mut ones, mut sum) = (Bits::with_capacity(BITS), Scalar::from(0));
    for i in 0..BITS {
        let one = rng.next_u32() % 2 == 1;
        ones.push(one);
        sum += Scalar::from(u64::from(one) * (i as u64 + 3));
    }
    let mut squares = vec![Scalar::from(rng.next_u64())];
    (0..SQUARES).for_each(|i| squares.push(squares[i] * squares[i]));
    let public = sum * squares[SQUARES];
    squares.extend([Scalar::from(0), Scalar::from(1), -Scalar::from(1)]);
    let mut places = Places::with_capacity(squares.len());
    for place in BITS..BITS + squares.len() {
        ones.push(false);
        places.push(place as u32);
    }
    let aux = CompactScalars::new(ones, places, squares);
    let matrices: [Matrix; 3] = [a, b, c].map(MatrixBuilder::build);
    let r1cs = R1cs::new(2, aux.len(), coefficients, matrices);
    (r1cs, Witness { inputs: vec![Scalar::from(1), public], aux })
}

#[cfg(test)]
mod tests {
    use cuzk_gpu_backend::Kind;
    use cuzk_pipeline_core::Cx;

    use super::*;

    #[test]
    fn the_witness_satisfies_the_circuit() {
        let (r1cs, witness) = circuit();
        cuzk_synth::check(&Cx::detached(), &r1cs, &witness).unwrap();
    }

    #[test]
    fn what_fits_no_device_is_the_cpus_unless_the_device_was_asked_for() {
        let (case, printer) = (Case::new().unwrap(), Printer::new(false, true));
        let without_room = |chosen| Opened { kind: Kind::Host, devices: Vec::new(), chosen };
        let prover = without_room(false).prover(printer, &case.prover).unwrap();
        assert!(prover.accelerator().is_none());
        let failure = without_room(true).prover(printer, &case.prover).err().unwrap();
        assert_eq!(failure.class, Class::Resource);
    }
}
