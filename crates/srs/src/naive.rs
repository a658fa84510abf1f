//! The definition of a parameter file, slow: what [`write_parameters`](crate::write_parameters)
//! must equal.

use blstrs::Scalar;
use cuzk_values::{Matrix, R1cs, VerifyingKey};
use ff::{Field, PrimeField};
use group::Curve;
use group::prime::PrimeCurveAffine;

use crate::{Point, Trapdoor, encode_key};

/// The parameters of a circuit: Groth, "On the size of pairing-based non-interactive
/// arguments" (EUROCRYPT 2016), section 3.2, in Filecoin's format. Every polynomial is
/// interpolated by Lagrange's formula and every point is multiplied by itself.
///
/// # Panics
/// If a secret is zero or `tau` is a point of the domain.
pub fn parameters(r1cs: &R1cs, trapdoor: &Trapdoor) -> Vec<u8> {
    let n = 1 << r1cs.log_domain();
    let root = (r1cs.log_domain()..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
    let domain: Vec<Scalar> = (0..n).map(|j| root.pow_vartime([j])).collect();
    let invert = |value: Scalar| Option::<Scalar>::from(value.invert()).expect("not zero");
    let Trapdoor { alpha, beta, gamma, delta, tau, g1, g2, .. } = *trapdoor;

    let lagrange = |j: usize| {
        let others = domain.iter().enumerate().filter(|(k, _)| *k != j).map(|(_, point)| point);
        others.fold(Scalar::ONE, |product, other| product * (tau - other) * invert(domain[j] - other))
    };
    let lagrange: Vec<Scalar> = (0..r1cs.constraints()).map(lagrange).collect();
    let evaluate = |matrix: &Matrix, variable: usize| {
        let entries = (0..matrix.rows()).flat_map(|j| matrix.row(j).map(move |entry| (j, entry)));
        let own = entries.filter(|(_, (column, _))| *column as usize == variable);
        own.fold(Scalar::ZERO, |sum, (j, (_, value))| {
            sum + r1cs.coefficients.values()[value as usize] * lagrange[j]
        })
    };
    let all = |matrix: &Matrix| (0..r1cs.inputs + r1cs.aux).map(|i| evaluate(matrix, i)).collect::<Vec<_>>();
    let (u, v, w) = (all(&r1cs.a), all(&r1cs.b), all(&r1cs.c));
    let ext = |i: usize| beta * u[i] + alpha * v[i] + w[i];
    let vanishing = domain.iter().fold(Scalar::ONE, |product, point| product * (tau - point));

    let key = VerifyingKey {
        alpha_g1: times(&g1, &alpha),
        beta_g1: times(&g1, &beta),
        beta_g2: times(&g2, &beta),
        gamma_g2: times(&g2, &gamma),
        delta_g1: times(&g1, &delta),
        delta_g2: times(&g2, &delta),
        ic: (0..r1cs.inputs).map(|i| times(&g1, &(ext(i) * invert(gamma)))).collect(),
    };
    let occurring =
        |values: &[Scalar]| values.iter().copied().filter(|value| *value != Scalar::ZERO).collect();
    let (a, b): (Vec<_>, Vec<_>) = (occurring(&u), occurring(&v));
    let h: Vec<_> = (0..n - 1).map(|i| tau.pow_vartime([i]) * vanishing * invert(delta)).collect();
    let l: Vec<_> = (r1cs.inputs..r1cs.inputs + r1cs.aux).map(|i| ext(i) * invert(delta)).collect();

    let mut file = encode_key(&key);
    for scalars in [&h, &l, &a, &b] {
        append(&g1, scalars, &mut file);
    }
    append(&g2, &b, &mut file);
    file
}

fn append<P: Point + PrimeCurveAffine<Scalar = Scalar>>(base: &P, scalars: &[Scalar], file: &mut Vec<u8>) {
    file.extend((scalars.len() as u32).to_be_bytes());
    for scalar in scalars {
        let start = file.len();
        file.resize(start + P::BYTES, 0);
        times(base, scalar).encode(&mut file[start..]);
    }
}

fn times<P: Point + PrimeCurveAffine<Scalar = Scalar>>(base: &P, scalar: &Scalar) -> P {
    (base.to_curve() * scalar).to_affine()
}
