//! The quotient polynomial of a QAP, with six transforms.
//!
//! `h = (A B - C) / Z` where A, B, C have the values a, b, c at the `n`-th roots of unity
//! and `Z = x^n - 1`. Write `A B = P + x^n H`, P and H of `n` coefficients. At the roots
//! of unity A B is C, so that `C = P + H`, and the division gives `h = H`. On a coset,
//! where `x^n` is a constant `z = shift^n`, A B has the values of `Q = P + z H`. So
//! `h = (C - Q) / (1 - z)`: values of C on the coset are never needed. That is one
//! transform less than the usual seven, and the difference of two polynomials instead of
//! the division of values. It is the same `h` as bellman's where c is a∘b, and also
//! where it is not.
//!
//! Interpolations leave coefficients in bit-reversed order and evaluations start from it,
//! so that orders change once, at the end, where the difference is taken.

use cuzk_values::{Coeffs, Evals, Poly, Scalar};
use ff::Field;

use crate::arith::{Flow, reverse_difference};
use crate::cpu::{Checkpoint, Task};
use crate::{Domain, NttError};

/// The quotient for a satisfied witness, whose c is a∘b. Its `n` coefficients end
/// with a zero, as the degree is at most `n - 2`.
///
/// It is made in the memory of `a`; another `n` scalars are needed besides a and b.
///
/// # Errors
/// [`NttError::Length`] where a polynomial has not as many values as the domain has points.
pub fn quotient(domain: &Domain, a: Poly<Evals>, b: Poly<Evals>) -> Result<Poly<Coeffs>, NttError> {
    divide(domain, a, b, None, &|| Ok(()))
}

/// The quotient for any c: where it is not a∘b the division leaves a remainder, and what
/// comes out interpolates `(A B - C) / Z` on the coset of [`Domain::GENERATOR`], as it does
/// in bellman.
///
/// # Errors
/// [`NttError::Length`] where a polynomial has not as many values as the domain has points.
pub fn quotient_with_c(
    domain: &Domain,
    a: Poly<Evals>,
    b: Poly<Evals>,
    c: Poly<Evals>,
) -> Result<Poly<Coeffs>, NttError> {
    divide(domain, a, b, Some(c), &|| Ok(()))
}

pub(crate) fn divide(
    domain: &Domain,
    mut a: Poly<Evals>,
    b: Poly<Evals>,
    c: Option<Poly<Evals>>,
    checkpoint: Checkpoint<'_>,
) -> Result<Poly<Coeffs>, NttError> {
    for poly in [Some(&a), Some(&b), c.as_ref()].into_iter().flatten() {
        domain.check(poly.scalars())?;
    }
    let shift = Domain::GENERATOR;
    let z = shift.pow_vartime([domain.len() as u64]);
    // h = C / (1 - z) - Q / (1 - z); z is not 1, as a generator's order is more than any n.
    let scale: Scalar = Option::from((Scalar::ONE - z).invert()).ok_or(NttError::ZeroShift)?;
    let scaled = |task: Task| Task { scale: task.scale * scale, ..task };
    let interpolate = domain.interpolate_task(Flow::Dif, Scalar::ONE)?;
    let interpolate_on_coset = domain.interpolate_task(Flow::Dif, shift)?;
    let evaluate_on_coset = Task::evaluate(Flow::Dit, shift);

    let mut c = match c {
        Some(c) => c.into_scalars(),
        None => domain.engine().product(a.scalars(), b.scalars()),
    };
    domain.run(&mut c, &scaled(interpolate), checkpoint)?;
    let mut b = b.into_scalars();
    for values in [a.scalars_mut(), &mut b] {
        domain.run(values, &interpolate, checkpoint)?;
        domain.run(values, &evaluate_on_coset, checkpoint)?;
    }
    domain.engine().multiply(a.scalars_mut(), &b);
    drop(b);
    domain.run(a.scalars_mut(), &scaled(interpolate_on_coset), checkpoint)?;
    checkpoint()?;
    reverse_difference(a.scalars_mut(), &c);
    Ok(a.into_basis())
}
