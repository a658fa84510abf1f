//! The two groups.

use std::ops::{AddAssign, Mul};

use cuzk_values::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::Group;

use crate::arith::{IfmaG1, IfmaG2, Packed, PortableG1, PortableG2};

/// A group of BLS12-381 in which this crate multiplies: [`G1`] or [`G2`].
pub trait Curve: sealed::Sealed + 'static {
    /// Its name in errors and benches.
    const NAME: &'static str;
    /// Bases.
    type Affine: Copy + Send + Sync + Into<Self::Projective> + 'static;
    /// Sums.
    type Projective: Group<Scalar = Scalar>
        + for<'a> AddAssign<&'a Self::Affine>
        + Mul<Scalar, Output = Self::Projective>;
    /// Points for any CPU.
    #[doc(hidden)]
    type Portable: Packed<Affine = Self::Affine>;
    /// Points for AVX-512 IFMA.
    #[doc(hidden)]
    type Ifma: Packed<Affine = Self::Affine>;
}

/// The points over Fp.
#[derive(Debug, Clone, Copy)]
pub enum G1 {}

/// The points over Fp2.
#[derive(Debug, Clone, Copy)]
pub enum G2 {}

impl Curve for G1 {
    const NAME: &'static str = "g1";
    type Affine = G1Affine;
    type Projective = G1Projective;
    type Portable = PortableG1;
    type Ifma = IfmaG1;
}

impl Curve for G2 {
    const NAME: &'static str = "g2";
    type Affine = G2Affine;
    type Projective = G2Projective;
    type Portable = PortableG2;
    type Ifma = IfmaG2;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::G1 {}
    impl Sealed for super::G2 {}
}
