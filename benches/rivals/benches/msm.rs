//! `msm.g1`, `msm.g2`: a sum of scalar multiples, full-width scalars and witness-like ones.

use std::process::ExitCode;
use std::sync::Arc;

use ark_ec::{CurveGroup, VariableBaseMSM};
use ark_serialize::CanonicalSerialize;
use blst::{MultiPoint, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Projective, G2Projective, Scalar};
use criterion::Criterion;
use cuzk_rivals::{
    Race, full_width, on_one_and_two, points, to_ark_g1, to_ark_g2, to_ark_scalars, witness_like,
};
use ec_gpu_gen::multiexp_cpu::{FullDensity, multiexp_cpu};
use ec_gpu_gen::threadpool::Worker;
use ff::PrimeField;
use group::prime::PrimeCurve;
use group::{Curve, Group, UncompressedEncoding};

/// A function that makes so many scalars.
type Scalars = fn(usize) -> Vec<Scalar>;

fn main() -> ExitCode {
    on_one_and_two(|criterion, cpus| {
        for log in [16, 18, 20] {
            g1(criterion, format!("msm.g1/2^{log}/{cpus}-cpu"), full_width, 1 << log);
        }
        g1(criterion, format!("msm.g1.witness/2^20/{cpus}-cpu"), witness_like, 1 << 20);
        g2(criterion, format!("msm.g2/2^18/{cpus}-cpu"), full_width, 1 << 18);
    })
}

fn g1(criterion: &mut Criterion, name: String, scalars: Scalars, n: usize) {
    let mut race = Race::new(criterion, name);
    race.enter(
        "blst",
        || {
            (
                points::<G1Projective>(n).iter().map(|p| *p.as_ref()).collect::<Vec<blst_p1_affine>>(),
                bytes(&scalars(n)),
            )
        },
        |(points, scalars)| points.mult(scalars, Scalar::NUM_BITS as usize),
        |_, sum| {
            let mut point = G1Projective::identity();
            *point.as_mut() = sum;
            encode(point)
        },
    );
    race.enter(
        "arkworks",
        || (to_ark_g1(&points::<G1Projective>(n)), to_ark_scalars(&scalars(n))),
        |(points, scalars)| ark_bls12_381::G1Projective::msm_unchecked(points, scalars),
        |_, sum| encode_ark(&sum.into_affine()),
    );
    bellperson::<G1Projective>(&mut race, scalars, n);
}

fn g2(criterion: &mut Criterion, name: String, scalars: Scalars, n: usize) {
    let mut race = Race::new(criterion, name);
    race.enter(
        "blst",
        || {
            (
                points::<G2Projective>(n).iter().map(|p| *p.as_ref()).collect::<Vec<blst_p2_affine>>(),
                bytes(&scalars(n)),
            )
        },
        |(points, scalars)| points.mult(scalars, Scalar::NUM_BITS as usize),
        |_, sum| {
            let mut point = G2Projective::identity();
            *point.as_mut() = sum;
            encode(point)
        },
    );
    race.enter(
        "arkworks",
        || (to_ark_g2(&points::<G2Projective>(n)), to_ark_scalars(&scalars(n))),
        |(points, scalars)| ark_bls12_381::G2Projective::msm_unchecked(points, scalars),
        |_, sum| encode_ark(&sum.into_affine()),
    );
    bellperson::<G2Projective>(&mut race, scalars, n);
}

/// The function that bellperson's `multiexp` is on a CPU.
fn bellperson<C>(race: &mut Race<Vec<u8>>, scalars: Scalars, n: usize)
where
    C: Curve<AffineRepr = <C as PrimeCurve>::Affine> + Group<Scalar = Scalar>,
    C: PrimeCurve<Affine: UncompressedEncoding>,
{
    race.enter(
        "bellperson",
        || (Arc::new(points::<C>(n)), Arc::new(scalars(n).iter().map(PrimeField::to_repr).collect())),
        |(points, scalars): &mut (Arc<Vec<_>>, Arc<Vec<_>>)| {
            let sum = multiexp_cpu(&Worker::new(), (points.clone(), 0), FullDensity, scalars.clone());
            sum.wait().expect("as many points as scalars")
        },
        |_, sum| encode::<C>(sum),
    );
}

/// Scalars as blst takes them.
fn bytes(scalars: &[Scalar]) -> Vec<u8> {
    scalars.iter().flat_map(Scalar::to_bytes_le).collect()
}

fn encode<C: PrimeCurve<Affine: UncompressedEncoding>>(point: C) -> Vec<u8> {
    point.to_affine().to_uncompressed().as_ref().to_vec()
}

fn encode_ark(point: &impl CanonicalSerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    point.serialize_uncompressed(&mut bytes).expect("memory to write to");
    bytes
}
