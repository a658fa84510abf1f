//! Polynomials, whose basis and memory are part of their type.

use std::marker::PhantomData;

use cuzk_pipeline_core::{Footprint, Value};

use crate::{OnDevice, Scalar};

/// What the scalars of a [`Poly`] are.
pub trait Basis: Send + Sync + 'static {
    /// The name in errors.
    const NAME: &'static str;
}

/// Coefficients, constant term first.
#[derive(Debug, Clone, Copy)]
pub enum Coeffs {}

/// Evaluations at `1, w, w^2, …`, `w` the primitive root of the domain.
#[derive(Debug, Clone, Copy)]
pub enum Evals {}

/// Evaluations at `g, g·w, g·w^2, …` of a coset of the domain.
#[derive(Debug, Clone, Copy)]
pub enum CosetEvals {}

impl Basis for Coeffs {
    const NAME: &'static str = "coefficients";
}
impl Basis for Evals {
    const NAME: &'static str = "evaluations";
}
impl Basis for CosetEvals {
    const NAME: &'static str = "coset evaluations";
}

/// Where the scalars of a [`Poly`] are.
pub trait Memory: Send + Sync + 'static {
    /// The storage.
    type Scalars: Send + 'static;
    /// The bytes that the storage keeps alive.
    fn footprint(scalars: &Self::Scalars) -> Footprint;
}

/// Host memory.
#[derive(Debug, Clone, Copy)]
pub enum Host {}

impl Memory for Host {
    type Scalars = Vec<Scalar>;
    fn footprint(scalars: &Vec<Scalar>) -> Footprint {
        Footprint::host(32 * scalars.capacity() as u64)
    }
}

/// A polynomial of `2^k` scalars in basis `B`, kept in memory `M`.
pub struct Poly<B: Basis, M: Memory = Host> {
    scalars: M::Scalars,
    log_len: u32,
    basis: PhantomData<fn() -> B>,
}

/// A row of scalars that is no polynomial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolyError {
    /// The length is no power of two, or above the field's 2-adicity.
    #[error("{len} {basis}: the length must be a power of two, at most 2^32")]
    Length {
        /// The length.
        len: usize,
        /// The [`Basis::NAME`].
        basis: &'static str,
    },
}

impl<B: Basis> Poly<B, Host> {
    /// A polynomial of these scalars.
    ///
    /// # Errors
    /// [`PolyError::Length`] unless there are `2^k` of them, `k <= 32`.
    pub fn new(scalars: Vec<Scalar>) -> Result<Self, PolyError> {
        if !scalars.len().is_power_of_two() || scalars.len() > 1 << 32 {
            return Err(PolyError::Length { len: scalars.len(), basis: B::NAME });
        }
        Ok(Self { log_len: scalars.len().ilog2(), scalars, basis: PhantomData })
    }

    /// The scalars.
    pub fn scalars(&self) -> &[Scalar] {
        &self.scalars
    }

    /// The scalars, to be worked on in place.
    pub fn scalars_mut(&mut self) -> &mut [Scalar] {
        &mut self.scalars
    }

    /// The scalars, in the same memory.
    pub fn into_scalars(self) -> Vec<Scalar> {
        self.scalars
    }
}

impl<B: Basis, Buf: Value> Poly<B, OnDevice<Buf>> {
    /// A polynomial of the `2^log_len` scalars in a buffer.
    pub fn on_device(scalars: Buf, log_len: u32) -> Self {
        Self { scalars, log_len, basis: PhantomData }
    }

    /// The buffer.
    pub fn buffer(&self) -> &Buf {
        &self.scalars
    }

    /// The buffer, to be used for something else.
    pub fn into_buffer(self) -> Buf {
        self.scalars
    }
}

impl<B: Basis, M: Memory> Poly<B, M> {
    /// The same memory, said to be in another basis: for the verb that has just
    /// transformed it in place.
    pub fn into_basis<C: Basis>(self) -> Poly<C, M> {
        Poly { scalars: self.scalars, log_len: self.log_len, basis: PhantomData }
    }

    /// `k` of the `2^k` scalars.
    pub fn log_len(&self) -> u32 {
        self.log_len
    }

    /// How many scalars.
    pub fn len(&self) -> usize {
        1 << self.log_len
    }

    /// Never: a polynomial has at least one scalar.
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl<B: Basis, M: Memory> std::fmt::Debug for Poly<B, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Poly of 2^{} {}", self.log_len, B::NAME)
    }
}

impl<B: Basis, M: Memory> Value for Poly<B, M> {
    fn footprint(&self) -> Footprint {
        M::footprint(&self.scalars)
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;

    #[test]
    fn only_powers_of_two_are_polynomials() {
        for len in [0, 3, 6, 7] {
            assert!(matches!(Poly::<Evals>::new(vec![Scalar::ZERO; len]), Err(PolyError::Length { .. })));
        }
        let poly = Poly::<Evals>::new(vec![Scalar::ONE; 8]).unwrap();
        assert_eq!((poly.log_len(), poly.footprint()), (3, Footprint::host(256)));
    }
}
