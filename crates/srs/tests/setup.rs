//! Parameters that this crate makes, held against bellperson's and the definition.
#![allow(clippy::unwrap_used, reason = "only tests are here")]

mod common;

use std::ops::ControlFlow;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use common::{RandomCircuit, bellperson, random, record};
use cuzk_srs::{SrsError, Trapdoor, naive, unwatched, write_parameters};
use cuzk_values::{R1cs, Scalar};
use ff::{Field, PrimeField};
use group::{Curve, Group};
use rand_core::RngCore;

fn made(r1cs: &R1cs, trapdoor: &Trapdoor) -> Result<Vec<u8>, SrsError> {
    let mut file = Vec::new();
    write_parameters(r1cs, trapdoor, &mut file, &mut unwatched)?;
    Ok(file)
}

fn trapdoor(random: &mut impl RngCore) -> Trapdoor {
    let g1: G1Affine = G1Projective::random(&mut *random).to_affine();
    let g2: G2Affine = G2Projective::random(&mut *random).to_affine();
    Trapdoor { g1, g2, ..Trapdoor::random(random) }
}

#[test]
fn equal_bellperson_and_the_definition() {
    let mut random = random();
    for (inputs, aux, constraints) in [
        (0, 1, 1),
        (1, 1, 1),
        (3, 5, 4),
        (2, 9, 5),
        (2, 9, 6),
        (0, 20, 31),
        (0, 20, 32),
        (9, 60, 50),
        (1, 70, 127),
    ] {
        let circuit = RandomCircuit { inputs, aux, constraints, seed: random.next_u64() };
        let (trapdoor, r1cs) = (trapdoor(&mut random), record(circuit.clone()));
        let file = made(&r1cs, &trapdoor).unwrap();
        assert!(file == naive::parameters(&r1cs, &trapdoor), "{circuit:?}");
        assert!(file == bellperson(circuit.clone(), &trapdoor), "{circuit:?}");
    }
}

/// More points than a block of fixed-base multiplication and than a block of the domain.
#[test]
fn equal_bellperson_over_several_blocks() {
    let mut random = random();
    let circuit = RandomCircuit { inputs: 30, aux: 5000, constraints: 4200, seed: random.next_u64() };
    let (trapdoor, r1cs) = (trapdoor(&mut random), record(circuit.clone()));
    assert!(made(&r1cs, &trapdoor).unwrap() == bellperson(circuit, &trapdoor));
}

#[test]
fn seeds_are_stable_and_the_system_gives_new_secrets() {
    let first = Trapdoor::from_seed(42);
    assert_eq!(first.seed, Some(42));
    let secrets = |t: &Trapdoor| [t.alpha, t.beta, t.gamma, t.delta, t.tau];
    assert_eq!(secrets(&first), secrets(&Trapdoor::from_seed(42)));
    let all = [secrets(&first), secrets(&Trapdoor::from_seed(43)), secrets(&Trapdoor::from_os())].concat();
    assert!((0..all.len()).all(|i| !all[..i].contains(&all[i])));
    assert_eq!(Trapdoor::from_os().seed, None);
    // Guards the derivation: parameters of a seed outlive versions.
    let alpha = "Scalar(0x59e348fefa5c92c15a81c927d38e392bd51eafe8904ded5e3f0674a82e6729ae)";
    assert_eq!(first.alpha.to_string(), alpha);
}

fn small() -> RandomCircuit {
    RandomCircuit { inputs: 3, aux: 20, constraints: 25, seed: 1 }
}

#[test]
fn unusable_secrets_are_refused() {
    let r1cs = record(small());
    let good = Trapdoor::from_seed(1);
    let name = |trapdoor: Trapdoor| match made(&r1cs, &trapdoor) {
        Err(SrsError::Trapdoor { name, .. }) => name,
        other => panic!("{:?}", other.map(|file| file.len())),
    };
    assert_eq!(name(Trapdoor { alpha: Scalar::ZERO, ..good.clone() }), "alpha");
    assert_eq!(name(Trapdoor { beta: Scalar::ZERO, ..good.clone() }), "beta");
    assert_eq!(name(Trapdoor { gamma: Scalar::ZERO, ..good.clone() }), "gamma");
    assert_eq!(name(Trapdoor { delta: Scalar::ZERO, ..good.clone() }), "delta");
    assert_eq!(name(Trapdoor { tau: Scalar::ZERO, ..good.clone() }), "tau");
    let in_domain = Scalar::ROOT_OF_UNITY.pow_vartime([1 << (Scalar::S - r1cs.log_domain())]);
    assert_eq!(name(Trapdoor { tau: in_domain, ..good.clone() }), "tau");
    assert_eq!(name(Trapdoor { g1: G1Affine::default(), ..good.clone() }), "g1");
    assert_eq!(name(Trapdoor { g2: G2Affine::default(), ..good }), "g2");
}

#[test]
fn circuits_without_parameters_are_refused() {
    let trapdoor = Trapdoor::from_seed(1);
    let refusal = |r1cs: &R1cs| match made(r1cs, &trapdoor) {
        Err(SrsError::Circuit { what, index, reason }) => (what, index, reason),
        other => panic!("{:?}", other.map(|file| file.len())),
    };
    let mut unconstrained = record(small());
    unconstrained.aux += 1;
    assert_eq!(refusal(&unconstrained), ("auxiliary variable", 20, "it occurs in no constraint"));

    let mut wrong = record(small());
    let aux = (0..20).find(|i| !wrong.densities.a_aux.get(*i)).unwrap();
    wrong.densities.a_aux.set(aux);
    assert_eq!(
        refusal(&wrong),
        ("auxiliary variable", aux, "its density in A does not say whether it occurs there")
    );
    let mut wrong = record(small());
    let input = (0..4).find(|i| !wrong.densities.b_inputs.get(*i)).unwrap();
    wrong.densities.b_inputs.set(input);
    assert_eq!(refusal(&wrong), ("input", input, "its density in B does not say whether it occurs there"));

    let mut uneven = record(small());
    uneven.b = record(RandomCircuit { constraints: 26, ..small() }).b;
    assert!(matches!(made(&uneven, &trapdoor), Err(SrsError::TooLarge { count: 30, limit: 29, .. })));
}

#[test]
fn stops_at_every_look() {
    let r1cs = record(small());
    let trapdoor = Trapdoor::from_seed(1);
    let mut looks = 0;
    write_parameters(&r1cs, &trapdoor, &mut Vec::new(), &mut |_| {
        looks += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(looks >= 9, "{looks}");
    for stop in 0..looks {
        let mut look = 0;
        let stopped = write_parameters(&r1cs, &trapdoor, &mut Vec::new(), &mut |_| {
            look += 1;
            if look > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(stopped, Err(SrsError::Cancelled)), "{stop}: {stopped:?}");
    }
}
