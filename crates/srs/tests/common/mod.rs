//! Circuits of bellpepper, random ones, and their R1CS by a recorder of a few lines.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "only tests are here")]

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use cuzk_srs::Trapdoor;
use cuzk_values::{Bits, Coefficients, Densities, MatrixBuilder, R1cs, Scalar};
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_core::{OsRng, RngCore, SeedableRng};

pub fn random() -> ChaCha8Rng {
    let seed = OsRng.next_u64();
    println!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// A random circuit. Its terms may repeat and cancel; some coefficients are zero.
#[derive(Debug, Clone)]
pub struct RandomCircuit {
    pub inputs: usize,
    pub aux: usize,
    pub constraints: usize,
    pub seed: u64,
}

impl Circuit<Scalar> for RandomCircuit {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut variables = vec![CS::one()];
        for i in 0..self.inputs {
            variables.push(cs.alloc_input(|| format!("input {i}"), || Ok(Scalar::ZERO))?);
        }
        for i in 0..self.aux {
            variables.push(cs.alloc(|| format!("aux {i}"), || Ok(Scalar::ZERO))?);
        }
        let some = variables.clone();
        let mut lc = |most: u32| {
            let mut lc = LinearCombination::zero();
            for _ in 0..random.next_u32() % (most + 1) {
                let coefficient = match random.next_u32() % 6 {
                    0 => Scalar::ZERO,
                    1 | 2 => Scalar::ONE,
                    3 => -Scalar::ONE,
                    4 => Scalar::from(1 << (random.next_u32() % 40)),
                    _ => Scalar::random(&mut random),
                };
                lc = lc + (coefficient, some[random.next_u32() as usize % some.len()]);
            }
            lc
        };
        // Each auxiliary variable occurs somewhere: in C of a constraint.
        for j in 0..self.constraints {
            let (a, b, c) = (lc(4), lc(2), lc(3));
            let here = variables[1 + self.inputs..].iter().skip(j).step_by(self.constraints);
            let c = here.fold(c, |c, variable| c + (Scalar::from(3), *variable));
            cs.enforce(|| format!("constraint {j}"), |_| a, |_| b, |_| c);
        }
        Ok(())
    }
}

/// The R1CS of a circuit, with a row for each input behind its constraints.
pub fn record(circuit: impl Circuit<Scalar>) -> R1cs {
    let mut recorder = Recorder::default();
    recorder.alloc_input(|| "one", || Ok(Scalar::ONE)).unwrap();
    circuit.synthesize(&mut recorder).unwrap();
    for i in 0..recorder.inputs {
        recorder.enforce(|| "", |lc| lc + Variable(Index::Input(i)), |lc| lc, |lc| lc);
    }
    recorder.finish()
}

type Rows = Vec<Vec<(Index, Scalar)>>;

#[derive(Default)]
struct Recorder {
    inputs: usize,
    aux: usize,
    rows: [Rows; 3],
}

impl Recorder {
    fn finish(self) -> R1cs {
        let mut coefficients = Coefficients::default();
        let (inputs, aux) = (self.inputs, self.aux);
        let mut matrix = |rows: &Rows| {
            let mut builder = MatrixBuilder::default();
            for row in rows {
                let column = |index: &Index| match index {
                    Index::Input(i) => *i as u32,
                    Index::Aux(i) => (inputs + i) as u32,
                };
                let mut row: Vec<_> = row.iter().map(|(index, value)| (column(index), value)).collect();
                row.sort_by_key(|(column, _)| *column);
                for (column, value) in row {
                    builder.entry(column, coefficients.intern(*value));
                }
                builder.end_row();
            }
            builder.build()
        };
        let [a, b, c] = [0, 1, 2].map(|k| matrix(&self.rows[k]));
        let mut densities =
            Densities { a_aux: Bits::zeros(aux), b_inputs: Bits::zeros(inputs), b_aux: Bits::zeros(aux) };
        for (index, _) in self.rows[0].iter().flatten() {
            if let Index::Aux(i) = index {
                densities.a_aux.set(*i);
            }
        }
        for (index, _) in self.rows[1].iter().flatten() {
            match index {
                Index::Input(i) => densities.b_inputs.set(*i),
                Index::Aux(i) => densities.b_aux.set(*i),
            }
        }
        R1cs { inputs, aux, coefficients, a, b, c, densities }
    }
}

impl ConstraintSystem<Scalar> for Recorder {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux += 1;
        Ok(Variable(Index::Aux(self.aux - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs += 1;
        Ok(Variable(Index::Input(self.inputs - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let row = |lc: LinearCombination<Scalar>| {
            let terms = lc.iter().filter(|(_, value)| **value != Scalar::ZERO);
            terms.map(|(variable, value)| (variable.get_unchecked(), *value)).collect()
        };
        let zero = LinearCombination::zero;
        self.rows[0].push(row(a(zero())));
        self.rows[1].push(row(b(zero())));
        self.rows[2].push(row(c(zero())));
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}
    fn pop_namespace(&mut self) {}
    fn get_root(&mut self) -> &mut Self {
        self
    }
}

/// bellperson's parameters of the circuit for the same secrets, as it writes them.
pub fn bellperson(circuit: impl Circuit<Scalar>, t: &Trapdoor) -> Vec<u8> {
    let parameters = bellperson::groth16::generate_parameters::<blstrs::Bls12, _>(
        circuit,
        t.g1.into(),
        t.g2.into(),
        t.alpha,
        t.beta,
        t.gamma,
        t.delta,
        t.tau,
    );
    let mut file = Vec::new();
    parameters.unwrap().write(&mut file).unwrap();
    file
}
