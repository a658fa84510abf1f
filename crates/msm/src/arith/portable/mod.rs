//! Points in blst's form, for any CPU.

mod add;
mod field;

use add::Work;
use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use cuzk_values::{G1Affine, G2Affine};
pub(crate) use field::BlstField;

use super::{Packed, Tables, Term};

/// A point in blst's affine form. Infinity is all zeros, where no point of the curve is.
#[derive(Clone, Copy, PartialEq)]
pub struct PortablePoint<F> {
    x: F,
    y: F,
}

impl<F: BlstField> PortablePoint<F> {
    const INFINITY: Self = Self { x: F::ZERO, y: F::ZERO };

    fn is_infinity(&self) -> bool {
        self.x.low() == 0 && *self == Self::INFINITY
    }

    fn negated(&self) -> Self {
        let mut negated = *self;
        negated.y.set_signed(true, &self.y);
        negated
    }
}

macro_rules! packed {
    ($field:ty, $affine:ty, $blst:ident) => {
        impl Packed for PortablePoint<$field> {
            type Affine = $affine;
            type Work = Work<$field>;

            const INFINITY: Self = Self::INFINITY;
            const WORK_BYTES: usize = Work::<$field>::BYTES;

            fn pack(points: &[$affine], at: &[u32], packed: &mut [Self]) {
                assert_eq!(at.len(), packed.len());
                for (packed, at) in packed.iter_mut().zip(at) {
                    let $blst { x, y } = *points[*at as usize].as_ref();
                    *packed = Self { x, y };
                }
            }

            fn unpack(&self) -> $affine {
                let mut point = <$affine>::default();
                *point.as_mut() = $blst { x: self.x, y: self.y };
                point
            }

            fn is_infinity(&self) -> bool {
                self.is_infinity()
            }

            fn negated(&self) -> Self {
                self.negated()
            }

            fn add_pairs(
                tables: Tables<'_, Self>,
                pairs: &[[Term; 2]],
                sums: &mut [Self],
                work: &mut Self::Work,
            ) {
                assert_eq!(pairs.len(), sums.len());
                add::add_pairs(tables, pairs, sums, work);
            }
        }
    };
}

packed!(blst_fp, G1Affine, blst_p1_affine);
packed!(blst_fp2, G2Affine, blst_p2_affine);
