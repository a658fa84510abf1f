//! Filecoin's four circuits at 2 KiB, held against the definition and against bellperson.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::util_cs::witness_cs::WitnessCS;
use cuzk_pipeline_core::{CancelToken, Cx};
use cuzk_synth::{SynthError, WitnessSize, check, eval_ab, eval_c, naive, record, witness};
use cuzk_testing::circuits;
use cuzk_values::{CompactScalars, Matrix, R1cs, Scalar, Witness};
use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a counting constraint system of another prover's authors has counted
/// (millions of entries to two digits).
struct Counts {
    inputs: usize,
    aux: usize,
    rows: usize,
    log_domain: u32,
    entries: [&'static str; 3],
    a_aux: usize,
    b_aux: usize,
    /// The bytes of the parameter file.
    parameters: usize,
}

fn counts(r1cs: &R1cs) -> Counts {
    let millions = |matrix: &Matrix| &*format!("{:.2}", matrix.entries() as f64 / 1e6).leak();
    let lengths = r1cs.query_lengths();
    let g1 = lengths.inputs + lengths.h + lengths.l + lengths.a + lengths.b;
    // A verifying key has three points of each group; six vectors have a count.
    let parameters = 96 * (3 + g1) + 192 * (3 + lengths.b) + 4 * 6;
    Counts {
        inputs: r1cs.inputs,
        aux: r1cs.aux,
        rows: r1cs.constraints(),
        log_domain: r1cs.log_domain(),
        entries: [&r1cs.a, &r1cs.b, &r1cs.c].map(millions),
        a_aux: r1cs.densities.a_aux.count_ones(),
        b_aux: r1cs.densities.b_aux.count_ones(),
        parameters,
    }
}

/// All that is asked of a circuit and a witness that satisfies it.
fn suite(circuit: impl Circuit<Scalar> + Clone, known: &Counts) {
    let recording = record(circuit.clone()).unwrap();
    let (r1cs, size) = (&recording.r1cs, &recording.size);
    let found = counts(r1cs);
    assert_eq!((found.inputs, found.aux, found.rows), (known.inputs, known.aux, known.rows));
    assert_eq!(found.entries, known.entries);
    assert_eq!((found.a_aux, found.b_aux), (known.a_aux, known.b_aux));
    assert_eq!((found.log_domain, found.parameters), (known.log_domain, known.parameters));
    assert_eq!(r1cs.densities.b_inputs.iter_ones().collect::<Vec<_>>(), [0]);

    let ours = witness(&Cx::detached(), circuit.clone(), size).unwrap();
    let aux: Vec<Scalar> = ours.aux.iter().collect();
    assert_eq!((ours.inputs.len(), aux.len()), (size.inputs, size.aux));
    assert!(ours.aux.wide().len() <= size.wide);
    let mut rival = WitnessCS::<Scalar>::new();
    circuit.clone().synthesize(&mut rival).unwrap();
    // Its inputs are not compared: PoSt's circuit joins several of it, and it counts a ONE for each.
    assert!(aux == rival.aux_slice());

    let cx = Cx::detached();
    let defined = naive::assign(circuit).unwrap();
    assert!(defined.inputs == ours.inputs && defined.aux == aux);
    let (a, b) = eval_ab(&cx, r1cs, &ours).unwrap();
    let c = eval_c(&cx, r1cs, &ours).unwrap();
    for (evals, defined) in [(a, defined.a), (b, defined.b), (c, defined.c)] {
        assert_eq!(evals.log_len(), r1cs.log_domain());
        let (rows, padding) = evals.scalars().split_at(r1cs.constraints());
        assert!(rows == defined);
        assert!(padding.iter().all(|scalar| *scalar == Scalar::ZERO));
    }

    check(&cx, r1cs, &ours).unwrap();
    changes_are_found(r1cs, &ours.inputs, &aux);
    others_are_refused(r1cs, &ours);
}

/// Changes variables, and asks for the first row that a plain evaluation finds violated.
fn changes_are_found(r1cs: &R1cs, inputs: &[Scalar], aux: &[Scalar]) {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // One variable; then several, so that the violations are far from each other.
    for changes in [1, 20] {
        let mut z = [inputs, aux].concat();
        for _ in 0..changes {
            let column = rng.gen_range(1..z.len());
            z[column] = Scalar::ONE - z[column];
        }
        let value = |matrix: &Matrix, row| {
            let terms = matrix.row(row);
            let values = r1cs.coefficients.values();
            terms.map(|(column, index)| z[column as usize] * values[index as usize]).sum::<Scalar>()
        };
        let violated = (0..r1cs.constraints())
            .map(|row| (row, value(&r1cs.a, row), value(&r1cs.b, row), value(&r1cs.c, row)))
            .find(|(_, a, b, c)| a * b != *c);
        let (inputs, aux) = z.split_at(r1cs.inputs);
        let changed = Witness { inputs: inputs.to_vec(), aux: aux.iter().copied().collect() };
        for _ in 0..3 {
            match check(&Cx::detached(), r1cs, &changed) {
                Err(SynthError::Unsatisfied { row, a, b, c }) => assert_eq!(Some((row, a, b, c)), violated),
                found => panic!("{found:?}, and {violated:?} is violated"),
            }
        }
    }
}

fn others_are_refused(r1cs: &R1cs, witness: &Witness) {
    let cx = Cx::detached();
    let short = Witness { inputs: witness.inputs.clone(), aux: CompactScalars::default() };
    let refused = SynthError::Foreign { what: "auxiliary variables", found: 0, expected: r1cs.aux };
    assert_eq!(eval_ab(&cx, r1cs, &short).unwrap_err().to_string(), refused.to_string());

    let cancelled = CancelToken::default();
    cancelled.cancel();
    let cx = cx.with_cancel(cancelled);
    assert!(matches!(eval_ab(&cx, r1cs, witness), Err(SynthError::Cancelled(_))));
    assert!(matches!(check(&cx, r1cs, witness), Err(SynthError::Cancelled(_))));
}

#[test]
fn porep_2kib() {
    let known = Counts {
        inputs: 40,
        aux: 2_685_673,
        rows: 2_687_961,
        log_domain: 22,
        entries: ["6.42", "2.69", "5.82"],
        a_aux: 2_674_908,
        b_aux: 685_521,
        parameters: 1_114_707_768,
    };
    suite(circuits::porep_2kib(), &known);
}

#[test]
fn winning_post_2kib() {
    let known = Counts {
        inputs: 133,
        aux: 91_674,
        rows: 90_883,
        log_domain: 17,
        entries: ["0.62", "0.09", "0.11"],
        a_aux: 69_300,
        b_aux: 66_792,
        parameters: 47_299_128,
    };
    suite(circuits::winning_post_2kib(), &known);
}

#[test]
fn window_post_2kib() {
    let known = Counts {
        inputs: 23,
        aux: 22_128,
        rows: 21_889,
        log_domain: 15,
        entries: ["0.15", "0.02", "0.03"],
        a_aux: 16_770,
        b_aux: 16_028,
        parameters: 11_501_496,
    };
    suite(circuits::window_post_2kib(), &known);
}

#[test]
fn empty_sector_update_2kib() {
    let known = Counts {
        inputs: 5,
        aux: 1_703_569,
        rows: 1_705_044,
        log_domain: 21,
        entries: ["4.03", "1.71", "3.62"],
        a_aux: 1_697_189,
        b_aux: 444_403,
        parameters: 655_789_464,
    };
    suite(circuits::empty_sector_update_2kib(), &known);
}

#[test]
fn a_missing_value_is_an_error() {
    struct Missing;
    impl Circuit<Scalar> for Missing {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            cs.alloc(|| "", || Err(SynthesisError::AssignmentMissing)).map(drop)
        }
    }
    let size = WitnessSize { inputs: 1, aux: 1, wide: 1, places: 1 };
    assert!(matches!(witness(&Cx::detached(), Missing, &size), Err(SynthError::Synthesis(_))));
    assert_eq!(record(Missing).unwrap().size, size);
}

#[test]
fn a_cancelled_synthesis_stops() {
    struct Endless(CancelToken);
    impl Circuit<Scalar> for Endless {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            (0..).try_for_each(|i| {
                if i == 100_000 {
                    self.0.cancel();
                }
                assert!(i < 200_000, "it goes on");
                cs.alloc(|| "", || Ok(Scalar::ONE)).map(drop)
            })
        }
    }
    let (cancel, size) = (CancelToken::default(), WitnessSize { inputs: 1, aux: 1, wide: 0, places: 0 });
    let cx = Cx::detached().with_cancel(cancel.clone());
    assert!(matches!(witness(&cx, Endless(cancel), &size), Err(SynthError::Cancelled(_))));
}
