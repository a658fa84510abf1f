//! A pipeline of one's own: a circuit that is not Filecoin's, our prover in the
//! middle, and a stage of one's own at the end.
//!
//! The circuit says "I know an x with x³ + x + 5 = y"; the stage behind the prover
//! names the proof by its digest.
//!
//! Run it with `cargo run --release -p cuzk-groth16 --example custom_pipeline`.

#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;
use std::sync::Arc;

use bellpepper_core::{Circuit as BellpepperCircuit, ConstraintSystem, SynthesisError};
use cuzk_groth16::graph;
use cuzk_groth16::{Circuit, Parameters, Prover, Residence};
use cuzk_pipeline_core::{Cancelled, Cost, Cx, Engine, Footprint, Graph, Value, stage_fn};
use cuzk_srs::{ParameterFile, Trapdoor, unwatched, write_parameters};
use cuzk_values::{PartitionProof, Scalar, Witness};

/// "I know an x with x³ + x + 5 = y", of which y is public.
#[derive(Clone)]
struct Cubic {
    x: Option<Scalar>,
}

impl BellpepperCircuit<Scalar> for Cubic {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let value = |v: Option<Scalar>| v.ok_or(SynthesisError::AssignmentMissing);
        let square = self.x.map(|x| x * x);
        let cube = self.x.map(|x| x * x * x);
        let y = self.x.map(|x| x * x * x + x + Scalar::from(5));
        let x = cs.alloc(|| "x", || value(self.x))?;
        let x2 = cs.alloc(|| "x²", || value(square))?;
        let x3 = cs.alloc(|| "x³", || value(cube))?;
        let y = cs.alloc_input(|| "y", || value(y))?;
        cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + x2);
        cs.enforce(|| "cube", |lc| lc + x2, |lc| lc + x, |lc| lc + x3);
        let sum = |lc| lc + x3 + x + (Scalar::from(5), CS::one());
        cs.enforce(|| "sum", sum, |lc| lc + CS::one(), |lc| lc + y);
        Ok(())
    }
}

/// A proof and its name: the noun of the stage below.
struct Named {
    name: String,
    proof: PartitionProof,
}

impl Value for Named {
    fn footprint(&self) -> Footprint {
        Footprint::host(self.name.capacity() as u64)
    }
}

fn name(proof: PartitionProof) -> Named {
    let digest = blake2b_simd::blake2b(&proof.to_bytes());
    Named { name: digest.to_hex()[..16].to_owned(), proof }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The circuit, and test parameters for it, in Filecoin's own file format.
    let circuit = Circuit::new("cubic", || cuzk_synth::record(Cubic { x: None }))?;
    let size = circuit.sizes().witness;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("cubic.params");
    let mut file = std::fs::File::create(&path)?;
    write_parameters(circuit.r1cs(), &Trapdoor::from_seed(1), &mut file, &mut unwatched)?;
    let file = ParameterFile::open(&path, &circuit.sizes().queries)?;
    let prover = Prover::new(circuit, Parameters::File(Arc::new(file), Residence::Memory))?;

    // The graph: our prover, then the stage of one's own.
    let graph: Graph<Witness, Named> = Graph::build(|g, witness| {
        let witness = g.share(witness);
        let proof = graph::prove(g, &prover, witness, 0, None);
        let cost = Cost::free().output(Footprint::host(16));
        let stage = stage_fn("proof.name", cost, |_, proof| Ok::<_, NameError>(name(proof)));
        Ok(g.stage(stage, proof))
    })?;

    let engine = Engine::builder().budget(Footprint::host(1 << 30)).build()?;
    let witness = cuzk_synth::witness(&Cx::detached(), Cubic { x: Some(Scalar::from(3)) }, &size)?;
    let named = engine.submit(&Arc::new(graph), witness).wait()?;
    println!(
        "proof {} of y = 35 is verified; A starts with {:02x?}",
        named.name,
        &named.proof.to_bytes()[..4]
    );
    Ok(())
}

/// What can go wrong while a proof is named: that the run is cancelled.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct NameError(#[from] Cancelled);
