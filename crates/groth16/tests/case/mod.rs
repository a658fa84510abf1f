//! A small circuit of bits and values of full width, with its parameters and a witness.

#![allow(dead_code, reason = "each test uses its part")]
#![allow(unreachable_pub, clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use bellpepper_core::{Circuit as BellpepperCircuit, ConstraintSystem, SynthesisError};
use cuzk_groth16::{Circuit, Parameters, Prover, Residence};
use cuzk_pipeline_core::Cx;
use cuzk_srs::{ParameterFile, Trapdoor, unwatched, write_parameters};
use cuzk_values::{Densities, R1cs, Scalar, Witness};
use ff::Field;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

pub const SEED: u64 = 0x6b_5eed;

/// Bits, squares of full width, and rows that have many of both.
#[derive(Clone)]
pub struct Mixed {
    seed: Option<u64>,
}

const BITS: usize = 300;
const SQUARES: usize = 40;

impl BellpepperCircuit<Scalar> for Mixed {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = self.seed.map(ChaCha20Rng::seed_from_u64);
        let value = |v: Option<Scalar>| v.ok_or(SynthesisError::AssignmentMissing);
        let mut sum = rng.as_ref().map(|_| Scalar::ZERO);
        let mut bits = Vec::new();
        for i in 0..BITS {
            let bit = rng.as_mut().map(|rng| Scalar::from(u64::from(rand_core::RngCore::next_u32(rng) % 2)));
            let var = cs.alloc(|| format!("bit {i}"), || value(bit))?;
            cs.enforce(|| format!("{i} is a bit"), |lc| lc + var, |lc| lc + CS::one() - var, |lc| lc);
            sum = sum.zip(bit).map(|(sum, bit)| sum + bit * Scalar::from(i as u64 + 3));
            bits.push(var);
        }
        let mut wide = rng.as_mut().map(Scalar::random);
        let mut var = cs.alloc(|| "wide", || value(wide))?;
        for i in 0..SQUARES {
            let square = wide.map(|x| x.square());
            let next = cs.alloc(|| format!("square {i}"), || value(square))?;
            cs.enforce(|| format!("{i} is a square"), |lc| lc + var, |lc| lc + var, |lc| lc + next);
            (wide, var) = (square, next);
        }
        let public = sum.zip(wide).map(|(sum, wide)| sum * wide);
        let input = cs.alloc_input(|| "public", || value(public))?;
        let all =
            |lc| bits.iter().enumerate().fold(lc, |lc, (i, bit)| lc + (Scalar::from(i as u64 + 3), *bit));
        cs.enforce(|| "public", all, |lc| lc + var, |lc| lc + input);
        Ok(())
    }
}

/// A prover on the CPU, its witness and its parameters' folder.
pub struct Case {
    pub prover: Prover,
    pub witness: Arc<Witness>,
    pub file: Arc<ParameterFile>,
    pub r1cs: Arc<R1cs>,
    pub densities: Arc<Densities>,
    _folder: tempfile::TempDir,
}

impl Case {
    pub fn new() -> Self {
        let circuit = Circuit::new("mixed", || cuzk_synth::record(Mixed { seed: None })).unwrap();
        let size = circuit.sizes().witness;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mixed.params");
        let mut file = std::fs::File::create(&path).unwrap();
        write_parameters(circuit.r1cs(), &Trapdoor::from_seed(1), &mut file, &mut unwatched).unwrap();
        let file = Arc::new(ParameterFile::open(&path, &circuit.sizes().queries).unwrap());
        let witness = cuzk_synth::witness(&Cx::detached(), Mixed { seed: Some(SEED) }, &size).unwrap();
        let prover = Prover::new(circuit, Parameters::File(file.clone(), Residence::File)).unwrap();
        let r1cs = cuzk_synth::record(Mixed { seed: None }).unwrap().r1cs;
        let densities = Arc::new(r1cs.densities.clone());
        Self { prover, witness: Arc::new(witness), file, r1cs: Arc::new(r1cs), densities, _folder: folder }
    }
}
