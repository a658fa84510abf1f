//! The definitions, in `O(n^2)`: what everything else must equal.

use cuzk_values::Scalar;
use ff::{Field, PrimeField};

/// The primitive `2^log_len`-th root of unity that domains have: the field's own root
/// of order 2^32 ([`PrimeField::ROOT_OF_UNITY`]), squared often enough. bellman,
/// bellperson and arkworks have the same.
///
/// # Panics
/// If `log_len` is above 32.
pub fn root_of_unity(log_len: u32) -> Scalar {
    assert!(log_len <= Scalar::S, "no root of unity of order 2^{log_len}");
    (log_len..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

/// `sum c_j x^j`, by Horner's rule.
pub fn evaluate(coefficients: &[Scalar], x: Scalar) -> Scalar {
    coefficients.iter().rev().fold(Scalar::ZERO, |sum, c| sum * x + c)
}

/// The values of the polynomial at `shift`, `shift w`, `shift w^2`, …, as many as it has
/// coefficients: `2^k`.
///
/// # Panics
/// If there are not `2^k` coefficients, `k <= 32`.
pub fn ntt(coefficients: &[Scalar], shift: Scalar) -> Vec<Scalar> {
    let w = root_of(coefficients.len());
    let points = std::iter::successors(Some(shift), |x| Some(*x * w));
    points.take(coefficients.len()).map(|x| evaluate(coefficients, x)).collect()
}

/// The coefficients of the polynomial that has these values:
/// `c_j = shift^-j / n sum_i v_i w^-ij`.
///
/// # Panics
/// If there are not `2^k` values, `k <= 32`, or the shift is zero.
pub fn intt(values: &[Scalar], shift: Scalar) -> Vec<Scalar> {
    let inverse = |x: Scalar| x.invert().expect("not zero");
    let (w, step) = (inverse(root_of(values.len())), inverse(shift));
    let mut scale = inverse(Scalar::from(values.len() as u64));
    let mut x = Scalar::ONE;
    let mut coefficients = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        coefficients.push(evaluate(values, x) * scale);
        (x, scale) = (x * w, scale * step);
    }
    coefficients
}

/// `h = (a b - c) / (x^n - 1)` of three polynomials given by their values at the `n`-th
/// roots of unity, by multiplication and long division of coefficients. The division
/// leaves no remainder where `c = a b` at those points.
///
/// # Panics
/// If the lengths differ or are no `2^k`.
pub fn quotient(a: &[Scalar], b: &[Scalar], c: &[Scalar]) -> Vec<Scalar> {
    let n = a.len();
    assert!(b.len() == n && c.len() == n, "{n}, {} and {} values", b.len(), c.len());
    let (a, b, c) = (intt(a, Scalar::ONE), intt(b, Scalar::ONE), intt(c, Scalar::ONE));
    let mut dividend = vec![Scalar::ZERO; 2 * n];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            dividend[i + j] += a * b;
        }
    }
    for (sum, c) in dividend.iter_mut().zip(&c) {
        *sum -= c;
    }
    // x^(n + i) = x^i (x^n - 1) + x^i: the high half is the quotient.
    dividend.split_off(n)
}

fn root_of(len: usize) -> Scalar {
    assert!(len.is_power_of_two(), "{len} is no power of two");
    root_of_unity(len.ilog2())
}
