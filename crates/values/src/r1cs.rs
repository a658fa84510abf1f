//! A circuit's constraints as sparse matrices with a dictionary of coefficients.

use std::collections::HashMap;

use cuzk_pipeline_core::{Footprint, Value};
use ff::Field;

use crate::{Densities, QueryLengths, Scalar};

/// Constraints that cannot be held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum R1csError {
    /// Too many of something.
    #[error("{what}: {count}, and the limit is {limit}")]
    TooMany {
        /// `variables`, `constraints`, `coefficients`.
        what: &'static str,
        /// How many.
        count: u64,
        /// How many may be.
        limit: u64,
    },
}

/// The distinct coefficients of a circuit. Filecoin's have about 2,500.
#[derive(Debug, Clone, Default)]
pub struct Coefficients {
    values: Vec<Scalar>,
    index: HashMap<[u8; 32], u32>,
}

impl Coefficients {
    /// The index of `value`, which is added if it is new.
    pub fn intern(&mut self, value: Scalar) -> u32 {
        let values = &mut self.values;
        *self.index.entry(value.to_bytes_le()).or_insert_with(|| {
            values.push(value);
            values.len() as u32 - 1
        })
    }

    /// The values by index.
    pub fn values(&self) -> &[Scalar] {
        &self.values
    }
}

/// A sparse matrix: rows of (column, coefficient), row after row.
///
/// Columns number the inputs first (ONE is column 0), then the auxiliary variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matrix {
    ends: Vec<u64>,
    columns: Vec<u32>,
    coefficients: Vec<u32>,
}

impl Matrix {
    /// How many rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// How many entries.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The columns and the coefficients' indices of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> (&[u32], &[u32]) {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        let end = self.ends[row] as usize;
        (&self.columns[start..end], &self.coefficients[start..end])
    }
}

impl Value for Matrix {
    fn footprint(&self) -> Footprint {
        let entries = 4 * (self.columns.capacity() + self.coefficients.capacity());
        Footprint::host((8 * self.ends.capacity() + entries) as u64)
    }
}

/// Makes a [`Matrix`], row by row.
#[derive(Debug, Clone, Default)]
pub struct MatrixBuilder(Matrix);

impl MatrixBuilder {
    /// Adds an entry to the row that is being made.
    #[inline]
    pub fn entry(&mut self, column: u32, coefficient: u32) {
        self.0.columns.push(column);
        self.0.coefficients.push(coefficient);
    }

    /// Ends the row.
    #[inline]
    pub fn end_row(&mut self) {
        self.0.ends.push(self.0.columns.len() as u64);
    }

    /// The matrix, with no memory to spare.
    pub fn build(mut self) -> Matrix {
        self.0.ends.shrink_to_fit();
        self.0.columns.shrink_to_fit();
        self.0.coefficients.shrink_to_fit();
        self.0
    }
}

/// A circuit's rank-1 constraints `(A z) ∘ (B z) = C z`.
///
/// The last rows are `input_i · 0 = 0`, one for each input, as bellperson's
/// prover and generator append them.
#[derive(Debug, Clone)]
pub struct R1cs {
    /// Public inputs, ONE included.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
    /// The coefficients that the matrices index.
    pub coefficients: Coefficients,
    /// A
    pub a: Matrix,
    /// B
    pub b: Matrix,
    /// C
    pub c: Matrix,
    /// Which variables occur.
    pub densities: Densities,
}

impl R1cs {
    /// How many constraints, the inputs' rows included.
    pub fn constraints(&self) -> usize {
        self.a.rows()
    }

    /// `k` of the domain of `2^k` points: the least that has one for each constraint.
    pub fn log_domain(&self) -> u32 {
        self.constraints().next_power_of_two().ilog2()
    }

    /// The lengths that this circuit's parameters must have.
    pub fn query_lengths(&self) -> QueryLengths {
        QueryLengths {
            inputs: self.inputs,
            h: (1 << self.log_domain()) - 1,
            l: self.aux,
            a: self.inputs + self.densities.a_aux.count_ones(),
            b: self.densities.b_inputs.count_ones() + self.densities.b_aux.count_ones(),
        }
    }

    /// Whether a coefficient is one, by index: rows skip the multiplication.
    pub fn is_one(&self, coefficient: u32) -> bool {
        self.coefficients.values()[coefficient as usize] == Scalar::ONE
    }
}

impl Value for R1cs {
    fn footprint(&self) -> Footprint {
        let dictionary = self.coefficients.values.capacity() * (32 + 48);
        self.a.footprint()
            + self.b.footprint()
            + self.c.footprint()
            + self.densities.footprint()
            + Footprint::host(dictionary as u64)
    }
}
