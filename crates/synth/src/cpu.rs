//! Evaluations of the constraints, from the matrices and a compact witness.

use std::ops::RangeInclusive;

use cuzk_pipeline_core::{Cx, Footprint};
use cuzk_values::{Evals, Poly, R1cs, Scalar, Witness};
use ff::Field;
use rayon::prelude::*;

use crate::lookup::{Cell, Lookup};
use crate::zeroed::zeroed_scalars;
use crate::{SynthError, WitnessSize};

/// Rows between two looks at the cancel flag; also a task's share.
const CHUNK: usize = 1 << 13;

/// The three matrices of a circuit's constraints `(A z) ∘ (B z) = C z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The left factors.
    A,
    /// The right factors.
    B,
    /// The products.
    C,
}

/// A witness beside its circuit's constraints, of which any rows can be evaluated.
///
/// It reads the compact witness as it is: besides that it takes a quarter of a
/// byte for each variable, and a scalar for each input.
pub struct Evaluator<'a> {
    r1cs: &'a R1cs,
    terms: Terms<'a>,
    z: Lookup<'a>,
}

impl<'a> Evaluator<'a> {
    /// # Errors
    /// [`SynthError::Foreign`] for a witness of another circuit.
    pub fn new(r1cs: &'a R1cs, witness: &'a Witness) -> Result<Self, SynthError> {
        Ok(Self { r1cs, terms: Terms::new(r1cs), z: Lookup::new(r1cs, witness)? })
    }

    /// The most that an evaluator holds for a witness of this size, and [`check`] too.
    pub fn footprint(size: WitnessSize) -> Footprint {
        Footprint::host(Lookup::bytes(size) as u64)
    }

    /// Evaluates as many rows of a matrix as `out` has room for, from `first` on,
    /// in parallel on the caller's pool. Rows past the last are zeros, as the
    /// points of the domain that have no constraint.
    ///
    /// # Errors
    /// [`SynthError::Cancelled`].
    pub fn evaluate(
        &self,
        cx: &Cx<'_>,
        side: Side,
        first: usize,
        out: &mut [Scalar],
    ) -> Result<(), SynthError> {
        let rows = self.r1cs.constraints().saturating_sub(first).min(out.len());
        let (out, past) = out.split_at_mut(rows);
        past.fill(Scalar::ZERO);
        self.fill(cx, side, first, out)
    }

    fn fill(&self, cx: &Cx<'_>, side: Side, first: usize, out: &mut [Scalar]) -> Result<(), SynthError> {
        let matrix = match side {
            Side::A => &self.r1cs.a,
            Side::B => &self.r1cs.b,
            Side::C => &self.r1cs.c,
        };
        out.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, out)| {
            cx.checkpoint()?;
            let first = first + chunk * CHUNK;
            let mut out = out.iter_mut();
            for stretch in matrix.stretches(first..first + out.len()) {
                for (row, out) in stretch.rows().zip(&mut out) {
                    *out = self.terms.sum(stretch.entries(row), &self.z);
                }
            }
            Ok(())
        })
    }

    /// The evaluations over the whole domain.
    fn over_domain(&self, cx: &Cx<'_>, side: Side) -> Result<Poly<Evals>, SynthError> {
        let mut evals = zeroed_scalars(1 << self.r1cs.log_domain())?;
        self.fill(cx, side, 0, &mut evals[..self.r1cs.constraints()])?;
        Ok(Poly::new(evals).expect("the domain has 2^k points, k at most 32"))
    }
}

/// The evaluations of A and B: `a_i = (A z)_i` and `b_i = (B z)_i` at the `i`-th
/// point of the domain, zeros after the last constraint.
///
/// The witness is not checked here: see [`check`].
///
/// # Errors
/// [`SynthError::Foreign`] for a witness of another circuit,
/// [`SynthError::Memory`], [`SynthError::Cancelled`].
pub fn eval_ab(
    cx: &Cx<'_>,
    r1cs: &R1cs,
    witness: &Witness,
) -> Result<(Poly<Evals>, Poly<Evals>), SynthError> {
    let rows = Evaluator::new(r1cs, witness)?;
    Ok((rows.over_domain(cx, Side::A)?, rows.over_domain(cx, Side::B)?))
}

/// The evaluations of C: `c_i = (C z)_i`. A witness that satisfies the
/// constraints has `c = a ∘ b`, which is faster to compute.
///
/// # Errors
/// As [`eval_ab`].
pub fn eval_c(cx: &Cx<'_>, r1cs: &R1cs, witness: &Witness) -> Result<Poly<Evals>, SynthError> {
    Evaluator::new(r1cs, witness)?.over_domain(cx, Side::C)
}

/// Checks all constraints, C's rows included.
///
/// # Errors
/// [`SynthError::Unsatisfied`] with the first row that the witness violates;
/// otherwise as [`eval_ab`].
pub fn check(cx: &Cx<'_>, r1cs: &R1cs, witness: &Witness) -> Result<(), SynthError> {
    let Evaluator { terms, z, .. } = Evaluator::new(r1cs, witness)?;
    let chunks = r1cs.constraints().div_ceil(CHUNK);
    let first_error = (0..chunks).into_par_iter().find_map_first(|chunk| {
        if let Err(cancelled) = cx.checkpoint() {
            return Some(cancelled.into());
        }
        let first = chunk * CHUNK;
        let rows = first..r1cs.constraints().min(first + CHUNK);
        let [a, b, c] = [&r1cs.a, &r1cs.b, &r1cs.c].map(|matrix| matrix.rows_in(rows.clone()));
        rows.zip(a.zip(b).zip(c)).find_map(|(row, ((a, b), c))| {
            let [a, b, c] = [a, b, c].map(|row| terms.sum(row, &z));
            (a * b != c).then_some(SynthError::Unsatisfied { row, a, b, c })
        })
    });
    first_error.map_or(Ok(()), Err)
}

/// Sums the terms of rows.
///
/// Nearly all values are bits, and most coefficients small: 1, −1, 2 and the
/// lower powers of two. Those terms are summed as integers, without a branch on
/// the bit; the field is entered once a row, and for the rest.
struct Terms<'a> {
    coefficients: &'a [Scalar],
    /// Each coefficient as an integer, or 0 where it has none below 2^31.
    small: Vec<i32>,
    /// The integers in [`DIGITS`].
    digits: Vec<Scalar>,
}

/// Integers that most rows sum up to.
pub(crate) const DIGITS: RangeInclusive<i64> = -8..=8;

impl<'a> Terms<'a> {
    fn new(r1cs: &'a R1cs) -> Self {
        let coefficients = r1cs.coefficients.values();
        Self {
            coefficients,
            small: coefficients.iter().map(small).collect(),
            digits: DIGITS.map(scalar).collect(),
        }
    }

    #[inline]
    fn sum(&self, mut row: impl Iterator<Item = (u32, u32)>, z: &Lookup<'_>) -> Scalar {
        let mut integer = 0;
        while let Some((column, index)) = row.next() {
            let small = i64::from(self.small[index as usize]);
            match z.get(column) {
                Cell::Bit(mask) if small != 0 => integer += small & mask,
                cell => return self.sum_in_field(integer, cell, index, row, z),
            }
        }
        self.integer(integer)
    }

    /// Goes on with a row at a term that is no small integer.
    fn sum_in_field(
        &self,
        mut integer: i64,
        cell: Cell<'_>,
        index: u32,
        row: impl Iterator<Item = (u32, u32)>,
        z: &Lookup<'_>,
    ) -> Scalar {
        let mut field = self.product(cell, index);
        for (column, index) in row {
            let small = i64::from(self.small[index as usize]);
            match z.get(column) {
                Cell::Bit(mask) if small != 0 => integer += small & mask,
                Cell::Bit(0) => {}
                cell => field += self.product(cell, index),
            }
        }
        if integer == 0 { field } else { field + self.integer(integer) }
    }

    fn product(&self, cell: Cell<'_>, index: u32) -> Scalar {
        let index = index as usize;
        match cell {
            Cell::Bit(0) => Scalar::ZERO,
            Cell::Bit(_) => self.coefficients[index],
            Cell::Wide(value) => match self.small[index] {
                1 => *value,
                -1 => -value,
                2 => value.double(),
                _ => value * self.coefficients[index],
            },
        }
    }

    #[inline]
    fn integer(&self, value: i64) -> Scalar {
        let digit = usize::try_from(value - DIGITS.start()).ok().and_then(|at| self.digits.get(at));
        digit.copied().unwrap_or_else(|| scalar(value))
    }
}

pub(crate) fn scalar(value: i64) -> Scalar {
    let magnitude = Scalar::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

/// The integer that `coefficient` stands for, or 0 where its magnitude is 2^31 or more.
pub(crate) fn small(coefficient: &Scalar) -> i32 {
    let magnitude = |scalar: &Scalar| {
        let bytes = scalar.to_bytes_le();
        let (low, high) = bytes.split_first_chunk().expect("32 bytes are more than 4");
        let fits = high.iter().all(|byte| *byte == 0);
        i32::try_from(u32::from_le_bytes(*low)).ok().filter(|_| fits)
    };
    magnitude(coefficient).or_else(|| magnitude(&-coefficient).map(|m| -m)).unwrap_or(0)
}
