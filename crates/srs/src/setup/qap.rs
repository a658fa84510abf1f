//! The polynomials of a circuit at the secret point.
//!
//! Constraint `j` is tied to the domain's point `w^j`; `u_i` is the polynomial of
//! least degree whose value at `w^j` is A's entry for variable `i` in constraint
//! `j`, and `v_i`, `w_i` likewise of B and C (Gennaro, Gentry, Parno, Raykova,
//! "Quadratic span programs and succinct NIZKs without PCPs", EUROCRYPT 2013).

use cuzk_values::{Matrix, R1cs, Scalar};
use ff::{BatchInvert, Field, PrimeField};
use rayon::prelude::*;

use crate::progress::report;
use crate::{SrsError, Trapdoor, Watch};

/// Points of the domain that are inverted together.
const BLOCK: usize = 4096;
/// Constraints between two looks at the [`Watch`].
const ROWS: usize = 1 << 20;

/// Everything that the queries are made of but the powers of the secret point. Each
/// has an element a variable, inputs first.
pub(super) struct Evaluations {
    /// `u_i`
    pub(super) a: Vec<Scalar>,
    /// `v_i`
    pub(super) b: Vec<Scalar>,
    /// `(beta u_i + alpha v_i + w_i)` over gamma for inputs, over delta for the others.
    pub(super) ext: Vec<Scalar>,
}

/// Evaluates a circuit's polynomials at the trapdoor's point.
///
/// # Errors
/// [`SrsError::Trapdoor`] when the point is of the domain, [`SrsError::Circuit`] for
/// a variable that occurs nowhere or whose density is wrong, [`SrsError::Cancelled`].
pub(super) fn evaluate(
    r1cs: &R1cs,
    secrets: &Secrets<'_>,
    total: u64,
    watch: &mut Watch<'_>,
) -> Result<Evaluations, SrsError> {
    let trapdoor = secrets.trapdoor;
    let lagrange = lagrange(r1cs.constraints(), r1cs.log_domain(), &trapdoor.tau)?;
    let mut column = |matrix: &Matrix| columns(r1cs, matrix, &lagrange, total, watch);
    let (a, b, mut ext) = (column(&r1cs.a)?, column(&r1cs.b)?, column(&r1cs.c)?);
    ext.par_iter_mut().zip(&a).zip(&b).enumerate().for_each(|(i, ((ext, a), b))| {
        let over = if i < r1cs.inputs { secrets.gamma_inverse } else { secrets.delta_inverse };
        *ext = (trapdoor.beta * a + trapdoor.alpha * b + *ext) * over;
    });
    let evaluations = Evaluations { a, b, ext };
    evaluations.check(r1cs)?;
    Ok(evaluations)
}

/// The trapdoor, and the inverses that it has.
pub(super) struct Secrets<'a> {
    pub(super) trapdoor: &'a Trapdoor,
    pub(super) gamma_inverse: Scalar,
    pub(super) delta_inverse: Scalar,
}

impl Evaluations {
    /// A base that is infinity is left out of A's and B's queries: exactly where the
    /// densities say that the variable does not occur.
    fn check(&self, r1cs: &R1cs) -> Result<(), SrsError> {
        let densities = &r1cs.densities;
        let variable = |i: usize| match i.checked_sub(r1cs.inputs) {
            None => ("input", i),
            Some(index) => ("auxiliary variable", index),
        };
        let in_b = |i: usize| match i.checked_sub(r1cs.inputs) {
            None => densities.b_inputs.get(i),
            Some(aux) => densities.b_aux.get(aux),
        };
        let reason = |i: usize| {
            let in_a = i.checked_sub(r1cs.inputs).is_none_or(|aux| densities.a_aux.get(aux));
            if self.ext[i].is_zero_vartime() {
                Some("it occurs in no constraint")
            } else if self.a[i].is_zero_vartime() == in_a {
                Some("its density in A does not say whether it occurs there")
            } else if self.b[i].is_zero_vartime() == in_b(i) {
                Some("its density in B does not say whether it occurs there")
            } else {
                None
            }
        };
        match (0..self.ext.len()).into_par_iter().find_map_first(|i| Some((variable(i), reason(i)?))) {
            None => Ok(()),
            Some(((what, index), reason)) => Err(SrsError::Circuit { what, index, reason }),
        }
    }
}

/// The first `count` Lagrange polynomials of the domain of `n = 2^log_domain` points at
/// `tau`: `L_j = (tau^n - 1) / n * w^j / (tau - w^j)`.
fn lagrange(count: usize, log_domain: u32, tau: &Scalar) -> Result<Vec<Scalar>, SrsError> {
    let n = 1_u64 << log_domain;
    let root = (log_domain..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
    let vanishing = tau.pow_vartime([n]) - Scalar::ONE;
    if vanishing.is_zero_vartime() {
        return Err(SrsError::Trapdoor { name: "tau", reason: "it is a point of the domain" });
    }
    let scale = vanishing * Scalar::from(n).invert().unwrap_or(Scalar::ZERO);
    let mut values = vec![Scalar::ZERO; count];
    values.par_chunks_mut(BLOCK).enumerate().for_each(|(block, values)| {
        let first = root.pow_vartime([(block * BLOCK) as u64]);
        let mut power = first;
        for value in &mut *values {
            *value = *tau - power;
            power *= root;
        }
        values.iter_mut().batch_invert();
        let mut power = first * scale;
        for value in values {
            *value *= power;
            power *= root;
        }
    });
    Ok(values)
}

/// The sum over a matrix's rows of entry times Lagrange polynomial, column by column.
fn columns(
    r1cs: &R1cs,
    matrix: &Matrix,
    lagrange: &[Scalar],
    total: u64,
    watch: &mut Watch<'_>,
) -> Result<Vec<Scalar>, SrsError> {
    let mut sums = vec![Scalar::ZERO; r1cs.inputs + r1cs.aux];
    let coefficients: Vec<Coefficient> = r1cs.coefficients.values().iter().map(Coefficient::from).collect();
    // Each thread owns a range of columns and passes over the others' entries.
    let owned = sums.len().div_ceil(rayon::current_num_threads()).max(1);
    for start in (0..matrix.rows()).step_by(ROWS) {
        report(watch, "qap", 0, total)?;
        let rows = start..matrix.rows().min(start + ROWS);
        sums.par_chunks_mut(owned).enumerate().for_each(|(thread, sums)| {
            let first = (thread * owned) as u32;
            for (row, value) in matrix.rows_in(rows.clone()).zip(&lagrange[rows.clone()]) {
                for (column, coefficient) in row {
                    if let Some(sum) = sums.get_mut(column.wrapping_sub(first) as usize) {
                        coefficients[coefficient as usize].add_product(value, sum);
                    }
                }
            }
        });
    }
    Ok(sums)
}

/// A coefficient; half of a circuit's are one, and need no multiplication.
enum Coefficient {
    One,
    MinusOne,
    Other(Scalar),
}

impl From<&Scalar> for Coefficient {
    fn from(value: &Scalar) -> Self {
        match *value {
            one if one == Scalar::ONE => Self::One,
            minus_one if minus_one == -Scalar::ONE => Self::MinusOne,
            other => Self::Other(other),
        }
    }
}

impl Coefficient {
    #[inline]
    fn add_product(&self, value: &Scalar, sum: &mut Scalar) {
        match self {
            Self::One => *sum += value,
            Self::MinusOne => *sum -= value,
            Self::Other(coefficient) => *sum += *coefficient * value,
        }
    }
}
