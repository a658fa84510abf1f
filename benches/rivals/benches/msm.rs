//! `msm.g1`, `msm.g2`: a sum of scalar multiples, full-width scalars and witness-like ones.

use std::process::ExitCode;
use std::sync::Arc;

use ark_ec::{CurveGroup, VariableBaseMSM};
use ark_serialize::CanonicalSerialize;
use blst::{MultiPoint, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Projective, G2Projective, Scalar};
use criterion::Criterion;
use cuzk_msm::{Arithmetic, Curve as Msm, Density, G1, G2, msm_compact, msm_with};
use cuzk_rivals::{
    Race, full_width, on_one_and_two, points, to_ark_g1, to_ark_g2, to_ark_scalars, witness_like,
};
use cuzk_values::{Bases, CompactScalars};
use ec_gpu_gen::multiexp_cpu::{FullDensity, multiexp_cpu};
use ec_gpu_gen::threadpool::Worker;
use ff::PrimeField;
use group::prime::PrimeCurve;
use group::{Curve, Group, UncompressedEncoding};

#[derive(Clone, Copy, PartialEq)]
enum Scalars {
    FullWidth,
    Witness,
}

impl Scalars {
    fn make(self, n: usize) -> Vec<Scalar> {
        match self {
            Self::FullWidth => full_width(n),
            Self::Witness => witness_like(n),
        }
    }
}

fn main() -> ExitCode {
    on_one_and_two(|criterion, cpus| {
        for log in [16, 18, 20] {
            g1(criterion, format!("msm.g1/2^{log}/{cpus}-cpu"), Scalars::FullWidth, 1 << log);
        }
        g1(criterion, format!("msm.g1.witness/2^20/{cpus}-cpu"), Scalars::Witness, 1 << 20);
        g2(criterion, format!("msm.g2/2^18/{cpus}-cpu"), Scalars::FullWidth, 1 << 18);
    })
}

fn g1(criterion: &mut Criterion, name: String, scalars: Scalars, n: usize) {
    let mut race = Race::new(criterion, name);
    cuzk::<G1, _>(&mut race, scalars, n);
    race.enter(
        "blst",
        || {
            (
                points::<G1Projective>(n).iter().map(|p| *p.as_ref()).collect::<Vec<blst_p1_affine>>(),
                bytes(&scalars.make(n)),
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
        || (to_ark_g1(&points::<G1Projective>(n)), to_ark_scalars(&scalars.make(n))),
        |(points, scalars)| ark_bls12_381::G1Projective::msm_unchecked(points, scalars),
        |_, sum| encode_ark(&sum.into_affine()),
    );
    bellperson::<G1Projective>(&mut race, scalars, n);
}

fn g2(criterion: &mut Criterion, name: String, scalars: Scalars, n: usize) {
    let mut race = Race::new(criterion, name);
    cuzk::<G2, _>(&mut race, scalars, n);
    race.enter(
        "blst",
        || {
            (
                points::<G2Projective>(n).iter().map(|p| *p.as_ref()).collect::<Vec<blst_p2_affine>>(),
                bytes(&scalars.make(n)),
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
        || (to_ark_g2(&points::<G2Projective>(n)), to_ark_scalars(&scalars.make(n))),
        |(points, scalars)| ark_bls12_381::G2Projective::msm_unchecked(points, scalars),
        |_, sum| encode_ark(&sum.into_affine()),
    );
    bellperson::<G2Projective>(&mut race, scalars, n);
}

/// Ours, by every arithmetic that this CPU has; scalars of a witness in their compact form too.
fn cuzk<C, P>(race: &mut Race<Vec<u8>>, scalars: Scalars, n: usize)
where
    C: Msm<Projective = P, Affine = <P as PrimeCurve>::Affine>,
    P: PrimeCurve<Affine: UncompressedEncoding>,
{
    for (name, arithmetic) in [("cuzk-ifma", Arithmetic::Avx512Ifma), ("cuzk-portable", Arithmetic::Portable)]
    {
        if !arithmetic.is_available() {
            continue;
        }
        race.enter(
            name,
            || (points::<P>(n), scalars.make(n)),
            |(points, scalars)| {
                msm_with::<C>(arithmetic, points, scalars).expect("as many points as scalars")
            },
            |_, sum| encode::<P>(sum),
        );
    }
    if scalars == Scalars::Witness {
        race.enter(
            "cuzk-compact",
            || (Bases::new(points::<P>(n)), CompactScalars::from_iter(scalars.make(n))),
            |(bases, scalars)| {
                msm_compact::<C>(bases, &[], scalars, Density::Full, &|| Ok(()))
                    .expect("as many bases as scalars")
            },
            |_, sum| encode::<P>(sum),
        );
    }
}

/// The function that bellperson's `multiexp` is on a CPU.
fn bellperson<C>(race: &mut Race<Vec<u8>>, scalars: Scalars, n: usize)
where
    C: Curve<AffineRepr = <C as PrimeCurve>::Affine> + Group<Scalar = Scalar>,
    C: PrimeCurve<Affine: UncompressedEncoding>,
{
    race.enter(
        "bellperson",
        || (Arc::new(points::<C>(n)), Arc::new(scalars.make(n).iter().map(PrimeField::to_repr).collect())),
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
