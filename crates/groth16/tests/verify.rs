//! Real proofs, against keys that this project did not make.

use cuzk_groth16::{Groth16Error, PreparedVerifyingKey};
use cuzk_testing::prf::{Prf, SEAL_32GIB_X10, WINNING_32GIB};
use cuzk_values::{G1Affine, PartitionProof, Proof, Scalar};
use group::prime::PrimeCurveAffine as _;

fn all() -> [Prf; 2] {
    [Prf::seal(SEAL_32GIB_X10), Prf::winning(WINNING_32GIB)]
}

#[test]
fn real_proofs_verify() {
    for file in all() {
        let key = PreparedVerifyingKey::new(&file.vk);
        for (i, (proof, inputs)) in file.proofs.iter().enumerate() {
            key.verify(i, proof, inputs).unwrap();
        }
        let (proofs, inputs): (Vec<_>, Vec<_>) = file.proofs.into_iter().unzip();
        key.verify_all(&Proof(proofs), &inputs).unwrap();
    }
}

#[test]
fn a_flipped_bit_in_a_proof_is_refused() {
    for file in all() {
        let key = PreparedVerifyingKey::new(&file.vk);
        let (proof, inputs) = &file.proofs[0];
        for bit in (0..8 * 192).step_by(7).chain([0, 1, 2, 48 * 8, 48 * 8 + 2, 144 * 8 + 2]) {
            let mut bytes = proof.to_bytes();
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            if let Ok(flipped) = Proof::from_bytes(&bytes) {
                let end = key.verify(3, &flipped.0[0], inputs);
                assert!(matches!(end, Err(Groth16Error::Invalid { partition: 3 })), "bit {bit}");
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_an_input_is_refused() {
    for file in all() {
        let key = PreparedVerifyingKey::new(&file.vk);
        let (proof, inputs) = &file.proofs[0];
        for i in (0..inputs.len()).step_by(13).chain([inputs.len() - 1]) {
            let mut inputs = inputs.clone();
            let mut bytes = inputs[i].to_bytes_le();
            bytes[i % 31] ^= 1 << (i % 8);
            inputs[i] = Option::from(Scalar::from_bytes_le(&bytes)).expect("still below r");
            assert!(matches!(key.verify(0, proof, &inputs), Err(Groth16Error::Invalid { .. })), "input {i}");
        }
    }
}

#[test]
fn another_key_is_refused() {
    for file in all() {
        let (proof, inputs) = &file.proofs[0];
        let g1 = G1Affine::generator();
        let mut keys = vec![file.vk.clone(); 5];
        keys[0].alpha_g1 = g1;
        keys[1].beta_g2 = -keys[1].beta_g2;
        keys[2].gamma_g2 = keys[2].delta_g2;
        keys[3].delta_g2 = -keys[3].delta_g2;
        keys[4].ic[0] = g1;
        for (k, vk) in keys.iter().enumerate() {
            let end = PreparedVerifyingKey::new(vk).verify(0, proof, inputs);
            assert!(matches!(end, Err(Groth16Error::Invalid { .. })), "key {k}");
        }
        // The key's G1 copies of beta and delta serve the prover only.
        let mut vk = file.vk.clone();
        (vk.beta_g1, vk.delta_g1) = (g1, g1);
        PreparedVerifyingKey::new(&vk).verify(0, proof, inputs).unwrap();
    }
}

#[test]
fn proofs_of_infinity_and_swapped_proofs_are_refused() {
    let file = Prf::seal(SEAL_32GIB_X10);
    let key = PreparedVerifyingKey::new(&file.vk);
    let (proof, inputs) = &file.proofs[0];
    let nothing = PartitionProof { a: G1Affine::identity(), b: proof.b, c: proof.c };
    assert!(matches!(key.verify(0, &nothing, inputs), Err(Groth16Error::Invalid { .. })));
    assert!(matches!(key.verify(0, &file.proofs[1].0, inputs), Err(Groth16Error::Invalid { .. })));
}

#[test]
fn numbers_that_do_not_match_are_named() {
    let file = Prf::winning(WINNING_32GIB);
    let key = PreparedVerifyingKey::new(&file.vk);
    let (proof, inputs) = &file.proofs[0];
    let end = key.verify(2, proof, &inputs[1..]).unwrap_err().to_string();
    assert_eq!(end, "partition 2 has 132 public inputs; the verifying key takes 133");
    let end = key.verify_all(&Proof(vec![*proof; 2]), std::slice::from_ref(inputs)).unwrap_err().to_string();
    assert_eq!(end, "the proof has 2 partitions, and the input 1");
}
