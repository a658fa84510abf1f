//! A circuit's constraints as sparse matrices with a dictionary of coefficients.

mod builder;
mod coefficients;
mod matrix;
mod repeat;

use cuzk_pipeline_core::{Footprint, Value};
use ff::Field;

use crate::{Bits, Densities, QueryLengths, Scalar};

pub use builder::MatrixBuilder;
pub use coefficients::Coefficients;
pub use matrix::{Matrix, Row, Rows, Stretch};
pub use repeat::Repeat;

/// Constraints that cannot be held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum R1csError {
    /// Too many of something.
    #[error("{what}: {count}, and the limit is {limit}")]
    TooMany {
        /// `variables`, `constraints`, `entries`.
        what: &'static str,
        /// How many.
        count: u64,
        /// How many may be.
        limit: u64,
    },
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
    /// The left factors.
    pub a: Matrix,
    /// The right factors.
    pub b: Matrix,
    /// The products.
    pub c: Matrix,
    /// Which variables occur.
    pub densities: Densities,
}

impl R1cs {
    /// The constraints of the three matrices, with their densities.
    ///
    /// # Panics
    /// If a matrix has a column that is no variable's.
    pub fn new(inputs: usize, aux: usize, coefficients: Coefficients, [a, b, c]: [Matrix; 3]) -> Self {
        let split = |matrix: &Matrix| {
            let all = matrix.occurring(inputs + aux);
            let (mut of_inputs, mut of_aux) = (Bits::with_capacity(inputs), Bits::with_capacity(aux));
            (0..inputs).for_each(|i| of_inputs.push(all.get(i)));
            of_aux.append(&all, inputs);
            (of_inputs, of_aux)
        };
        let (_, a_aux) = split(&a);
        let (b_inputs, b_aux) = split(&b);
        Self { inputs, aux, coefficients, a, b, c, densities: Densities { a_aux, b_inputs, b_aux } }
    }

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
        self.a.footprint()
            + self.b.footprint()
            + self.c.footprint()
            + self.densities.footprint()
            + self.coefficients.footprint()
    }
}
