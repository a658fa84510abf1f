//! The definition, in as few words as possible.

use cuzk_values::Scalar;
use group::Group;

use crate::Curve;

/// `sum_i scalars_i bases_i`, by double and add, over the shorter of both.
pub fn msm<C: Curve>(bases: &[C::Affine], scalars: &[Scalar]) -> C::Projective {
    let product = |(base, scalar): (&C::Affine, &Scalar)| -> C::Projective { (*base).into() * *scalar };
    bases.iter().zip(scalars).map(product).fold(C::Projective::identity(), |sum, product| sum + product)
}
