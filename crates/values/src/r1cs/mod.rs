//! A circuit's constraints as sparse matrices with a dictionary of coefficients.

mod matrix;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use blst::blst_fr;
use cuzk_pipeline_core::{Footprint, Value};
use ff::Field;

use crate::{Densities, QueryLengths, Scalar};

pub use matrix::{Matrix, MatrixBuilder, Repeat, Row, Rows};

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
    index: HashMap<(u64, u64, u64, u64), u32, BuildHasherDefault<LimbHasher>>,
}

/// Mixes the limbs of a scalar: a circuit's coefficients come from whoever wrote
/// the circuit, so that no stronger hash is called for.
#[derive(Debug, Default)]
struct LimbHasher(u64);

impl Hasher for LimbHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    #[inline]
    fn write_u64(&mut self, limb: u64) {
        // Fibonacci hashing: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(29) ^ limb).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

impl Coefficients {
    /// The index of `value`, which is added if it is new.
    pub fn intern(&mut self, value: Scalar) -> u32 {
        let values = &mut self.values;
        let [l0, l1, l2, l3] = blst_fr::from(value).l;
        *self.index.entry((l0, l1, l2, l3)).or_insert_with(|| {
            values.push(value);
            values.len() as u32 - 1
        })
    }

    /// The values by index.
    pub fn values(&self) -> &[Scalar] {
        &self.values
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
