use group::{Curve, Group};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;

fn points<P: Point>(count: usize, random: &mut ChaCha8Rng) -> (Vec<P>, Vec<u8>) {
    let points: Vec<P> = (0..count).map(|_| P::Curve::random(&mut *random).to_affine()).collect();
    let mut bytes = vec![0; count * P::BYTES];
    bytes.chunks_exact_mut(P::BYTES).zip(&points).for_each(|(bytes, point)| point.encode(bytes));
    (points, bytes)
}

fn random() -> ChaCha8Rng {
    let seed = rand_core::OsRng.next_u64();
    println!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

fn points_come_back<P: Point>() {
    let mut random = random();
    for count in [0, 1, 7, 8, 9, 64, 100, 300] {
        let (points, bytes) = points::<P>(count, &mut random);
        assert_eq!(decode_all::<P>(&bytes).unwrap(), points);
        assert!(check_all::<P>(&bytes).is_ok());
        assert!(bytes.chunks_exact(P::BYTES).map(P::decode).eq(points.into_iter().map(Ok)));
    }
}

#[test]
fn g1_points_come_back() {
    points_come_back::<G1Affine>();
}

#[test]
fn g2_points_come_back() {
    points_come_back::<G2Affine>();
}

/// Both ways agree on random points, and on bytes one bit away from a point's.
fn both_ways_agree<P: Point>() {
    let mut random = random();
    let (mut accepted, rounds) = (0, 4 * 8 * P::BYTES);
    let (_, pool) = points::<P>(100, &mut random);
    for round in 0..rounds {
        let mut bytes = pool[(round % 92) * P::BYTES..][..GROUP * P::BYTES].to_vec();
        let lane = random.next_u32() as usize % GROUP;
        let bit = round % (8 * P::BYTES);
        if round % 16 != 0 {
            bytes[lane * P::BYTES + bit / 8] ^= 1 << (bit % 8);
        }
        let singly: Result<Vec<P>, _> = bytes.chunks_exact(P::BYTES).map(P::decode).collect();
        accepted += usize::from(singly.is_ok());
        if let Some(together) = P::decode_group(&bytes) {
            assert_eq!(singly.as_deref(), Ok(together.as_slice()), "round {round}");
        } else if !cfg!(target_arch = "x86_64") || !vectors() {
            println!("skipped: this CPU has no AVX-512 IFMA");
            return;
        } else {
            assert!(singly.is_err(), "round {round}");
        }
    }
    assert_eq!(accepted, rounds / 16);
}

#[cfg(target_arch = "x86_64")]
fn vectors() -> bool {
    Ifma::detect().is_some()
}
#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> bool {
    false
}

#[test]
fn both_ways_agree_on_g1() {
    both_ways_agree::<G1Affine>();
}

#[test]
fn both_ways_agree_on_g2() {
    both_ways_agree::<G2Affine>();
}

fn add_modulus(coordinate: &mut [u8]) {
    let mut carry = 0;
    for (byte, modulus) in coordinate.iter_mut().zip(MODULUS).rev() {
        let sum = u16::from(*byte) + u16::from(modulus) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(carry, 0);
}

fn each_fault_is_named<P: Point>() {
    let mut random = random();
    let (_, good) = points::<P>(20, &mut random);
    let spoil = |index: usize, with: &dyn Fn(&mut [u8])| {
        let mut bytes = good.clone();
        with(&mut bytes[index * P::BYTES..][..P::BYTES]);
        assert_eq!(check_all::<P>(&bytes).map_err(|(index, _)| index), Err(index));
        let (at, fault) = decode_all::<P>(&bytes).unwrap_err();
        assert_eq!(at, index);
        fault
    };
    let coordinates = (0..P::BYTES).step_by(48);
    for at in coordinates {
        let fault = spoil(at % 20, &|bytes| bytes[at..at + 48].copy_from_slice(&MODULUS));
        assert_eq!(fault, Fault::NotCanonical);
    }
    // The same point, with p added to a coordinate: on the curve, were it not for the encoding.
    for at in (P::BYTES / 2..P::BYTES).step_by(48) {
        let fault = spoil(at % 20, &|bytes| add_modulus(&mut bytes[at..at + 48]));
        assert_eq!(fault, Fault::NotCanonical);
    }
    assert_eq!(spoil(0, &|bytes| bytes[0] |= 0x80), Fault::Flag);
    assert_eq!(spoil(7, &|bytes| bytes[0] |= 0x20), Fault::Flag);
    assert_eq!(spoil(8, &|bytes| bytes[P::BYTES / 2] |= 0x80), Fault::NotCanonical);
    assert_eq!(spoil(15, &|bytes| bytes[P::BYTES - 1] ^= 1), Fault::NotOnCurve);
    assert_eq!(spoil(16, &|bytes| bytes.fill(0)), Fault::NotOnCurve);
    assert_eq!(spoil(19, &|bytes| P::identity().encode(bytes)), Fault::Infinity);
    // (0, 2), which is on G1's curve and of order 3.
    let order_three = spoil(18, &|bytes| {
        bytes.fill(0);
        bytes[P::BYTES - 1] = 2;
    });
    assert_eq!(order_three, Fault::NotInSubgroup);
}

#[test]
fn each_fault_of_g1_is_named() {
    each_fault_is_named::<G1Affine>();
}

#[test]
fn each_fault_of_g2_is_named() {
    each_fault_is_named::<G2Affine>();
}
