//! The same inputs in everybody's types.

use ark_ff::PrimeField as _;
use ark_serialize::CanonicalDeserialize;
use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::Curve;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Share of a 32 GiB PoRep witness that is 0 or 1, half of it ones; measured on a
/// satisfying assignment of all 130 million variables.
const BITS: f64 = 0.987;

/// `n` distinct points: s·g, (s + 1)·g, … for a random s.
pub fn points<C: Curve<AffineRepr: Clone>>(n: usize) -> Vec<C::AffineRepr> {
    let mut at = C::random(ChaCha8Rng::seed_from_u64(1));
    let next = || {
        at += C::generator();
        at
    };
    let row: Vec<C> = std::iter::repeat_with(next).take(n).collect();
    let mut affine = vec![C::identity().to_affine(); n];
    C::batch_normalize(&row, &mut affine);
    affine
}

/// `n` random scalars.
pub fn full_width(n: usize) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}

/// `n` scalars as a witness has them: nearly all 0 or 1.
pub fn witness_like(n: usize) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut scalar = || {
        let bit = rng.gen_bool(BITS);
        if bit { Scalar::from(rng.gen_range(0..2_u64)) } else { Scalar::random(&mut rng) }
    };
    (0..n).map(|_| scalar()).collect()
}

/// arkworks' scalars of the same values.
pub fn to_ark_scalars(scalars: &[Scalar]) -> Vec<ark_bls12_381::Fr> {
    scalars.iter().map(|scalar| ark_bls12_381::Fr::from_le_bytes_mod_order(&scalar.to_bytes_le())).collect()
}

/// arkworks' points of the same values.
pub fn to_ark_g1(points: &[G1Affine]) -> Vec<ark_bls12_381::G1Affine> {
    points.iter().map(|point| read(&point.to_uncompressed())).collect()
}

/// arkworks' points of the same values.
pub fn to_ark_g2(points: &[G2Affine]) -> Vec<ark_bls12_381::G2Affine> {
    points.iter().map(|point| read(&point.to_uncompressed())).collect()
}

/// Both write points as Zcash does.
fn read<T: CanonicalDeserialize>(bytes: &[u8]) -> T {
    T::deserialize_uncompressed_unchecked(bytes).expect("a point as blst writes it")
}
