//! Random circuits: what is recorded, evaluated and repeated, against the
//! definition and against bellperson's generator.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use bellperson::groth16::generate_random_parameters;
use blstrs::Bls12;
use cuzk_pipeline_core::Cx;
use cuzk_synth::{Recording, WitnessSize, eval_ab, eval_c, naive, record, record_repeating, witness};
use cuzk_values::{Matrix, Scalar};
use ff::Field;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A header and some equal sub-circuits, whose constraints come from one seed
/// and whose values from another. No value is right.
#[derive(Clone, Copy)]
struct Random {
    seed: u64,
    values: u64,
    copies: usize,
}

impl Circuit<Scalar> for Random {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut values = ChaCha8Rng::seed_from_u64(self.values);
        let mut header = vec![CS::one()];
        part(cs, &mut ChaCha8Rng::seed_from_u64(self.seed), &mut values, &mut header)?;
        for _ in 0..self.copies {
            part(cs, &mut ChaCha8Rng::seed_from_u64(self.seed + 1), &mut values, &mut header.clone())?;
        }
        Ok(())
    }
}

/// Some inputs, some auxiliary variables, and constraints on all `known`.
fn part<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    shape: &mut ChaCha8Rng,
    values: &mut ChaCha8Rng,
    known: &mut Vec<Variable>,
) -> Result<(), SynthesisError> {
    for _ in 0..shape.gen_range(0..4) {
        known.push(cs.alloc_input(|| "input", || Ok(value(values)))?);
    }
    for _ in 0..shape.gen_range(1..80) {
        let own = cs.alloc(|| "wide", || Ok(value(values)))?;
        known.push(own);
        // bellperson's generator refuses a variable that has no constraint.
        cs.enforce(|| "", |lc| lc + own, |lc| lc + CS::one(), |lc| lc + own);
    }
    for _ in 0..shape.gen_range(0..60) {
        let [a, b, c] = [(); 3].map(|()| terms(shape, known));
        cs.enforce(|| "", |lc| sum(lc, &a), |lc| sum(lc, &b), |lc| sum(lc, &c));
    }
    Ok(())
}

fn value(rng: &mut ChaCha8Rng) -> Scalar {
    match rng.gen_range(0..4) {
        0 => Scalar::ZERO,
        1 | 2 => Scalar::ONE,
        _ => Scalar::random(rng),
    }
}

fn terms(rng: &mut ChaCha8Rng, known: &[Variable]) -> Vec<(Scalar, Variable)> {
    let mut terms = Vec::new();
    for _ in 0..rng.gen_range(0..9) {
        let coefficient = match rng.gen_range(0..9) {
            0 => Scalar::ZERO,
            1 | 2 => Scalar::ONE,
            3 => -Scalar::ONE,
            4 => Scalar::from(2),
            5 => Scalar::from(rng.gen_range(3..1 << 33)),
            6 => -Scalar::from((1 << 31) - rng.gen_range(0..2)),
            7 => Scalar::from(2).pow_vartime([rng.gen_range(32..254)]),
            _ => Scalar::random(&mut *rng),
        };
        let variable = *known.choose(rng).unwrap();
        terms.push((coefficient, variable));
        if rng.gen_bool(0.2) {
            // The two cancel.
            terms.push((-coefficient, variable));
        }
    }
    terms
}

fn sum(lc: LinearCombination<Scalar>, terms: &[(Scalar, Variable)]) -> LinearCombination<Scalar> {
    terms.iter().fold(lc, |lc, term| lc + *term)
}

fn seeds() -> impl Iterator<Item = u64> {
    let first = rand::random::<u32>().into();
    println!("seeds from {first}");
    first..first + 40
}

fn rows(matrix: &Matrix) -> Vec<Vec<(u32, u32)>> {
    matrix.rows_in(0..matrix.rows()).map(Iterator::collect).collect()
}

#[test]
fn evaluations_are_those_of_the_definition() {
    let cx = Cx::detached();
    for seed in seeds() {
        let circuit = Random { seed, values: seed + 7, copies: 2 };
        let Recording { r1cs, size } = record(circuit).unwrap();
        let witness = witness(&cx, circuit, &size).unwrap();
        let defined = naive::assign(circuit).unwrap();
        assert_eq!(witness.inputs, defined.inputs);
        assert!(witness.aux.iter().eq(defined.aux.iter().copied()));
        let (a, b) = eval_ab(&cx, &r1cs, &witness).unwrap();
        let c = eval_c(&cx, &r1cs, &witness).unwrap();
        for (evals, defined) in [(a, defined.a), (b, defined.b), (c, defined.c)] {
            assert_eq!(evals.scalars()[..defined.len()], defined, "seed {seed}");
            assert_eq!(evals.len(), defined.len().next_power_of_two());
        }
    }
}

#[test]
fn a_repeated_recording_is_the_whole() {
    let cx = Cx::detached();
    for seed in seeds() {
        for copies in [1, 2, 5] {
            let [header, first, all] = [0, 1, copies].map(|copies| Random { seed, values: 0, copies });
            let repeated = record_repeating(header, first, copies as u32).unwrap();
            let whole = record(all).unwrap();
            let size = repeated.size;
            assert_eq!(WitnessSize { places: size.wide, ..size }, whole.size);
            let (repeated, whole) = (repeated.r1cs, whole.r1cs);
            assert_eq!(repeated.coefficients.values(), whole.coefficients.values());
            assert_eq!(repeated.densities, whole.densities);
            for (ours, theirs) in [(&repeated.a, &whole.a), (&repeated.b, &whole.b), (&repeated.c, &whole.c)]
            {
                assert_eq!(rows(ours), rows(theirs), "seed {seed}, {copies} copies");
                assert_eq!(ours.entries(), theirs.entries());
            }
            let size = record(all).unwrap().size;
            let witness = witness(&cx, Random { values: seed, ..all }, &size).unwrap();
            let [(a, b), (c, d)] = [&repeated, &whole].map(|r1cs| eval_ab(&cx, r1cs, &witness).unwrap());
            assert!(a.scalars() == c.scalars() && b.scalars() == d.scalars());
        }
    }
}

/// Which variables have a base is what the generator of parameters says.
#[test]
fn densities_are_those_of_bellpersons_generator() {
    for seed in seeds().take(6) {
        let circuit = Random { seed, values: seed, copies: 2 };
        let parameters =
            generate_random_parameters::<Bls12, _, _>(circuit, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
        let lengths = record(circuit).unwrap().r1cs.query_lengths();
        assert_eq!(lengths.inputs, parameters.vk.ic.len());
        assert_eq!(lengths.h, parameters.h.len());
        assert_eq!(lengths.l, parameters.l.len());
        assert_eq!(lengths.a, parameters.a.len(), "seed {seed}");
        assert_eq!((lengths.b, lengths.b), (parameters.b_g1.len(), parameters.b_g2.len()), "seed {seed}");
    }
}
