//! The quadratic extension `Fp[u] / (u^2 + 1)` over any [`Coordinate`].

use super::Coordinate;

/// `c0 + c1 u`
#[derive(Clone, Copy)]
pub(crate) struct Fp2<F> {
    pub(crate) c0: F,
    pub(crate) c1: F,
}

impl<F: Coordinate> Coordinate for Fp2<F> {
    const LANES: usize = F::LANES;
    type Packed = Fp2<F::Packed>;

    fn gather<'a>(lane: impl Fn(usize) -> &'a Self::Packed) -> Self {
        Self { c0: F::gather(|i| &lane(i).c0), c1: F::gather(|i| &lane(i).c1) }
    }

    fn lanes(&self) -> impl Iterator<Item = Self::Packed> {
        self.c0.lanes().zip(self.c1.lanes()).map(|(c0, c1)| Fp2 { c0, c1 })
    }

    #[inline]
    fn add(&self, other: &Self) -> Self {
        Self { c0: self.c0.add(&other.c0), c1: self.c1.add(&other.c1) }
    }

    #[inline]
    fn sub(&self, other: &Self) -> Self {
        Self { c0: self.c0.sub(&other.c0), c1: self.c1.sub(&other.c1) }
    }

    /// Karatsuba: three multiplications.
    #[inline]
    fn mul(&self, other: &Self) -> Self {
        let (low, high) = (self.c0.mul(&other.c0), self.c1.mul(&other.c1));
        let cross = self.c0.add(&self.c1).mul(&other.c0.add(&other.c1));
        Self { c0: low.sub(&high), c1: cross.sub(&low).sub(&high) }
    }

    /// `(c0 + c1)(c0 - c1) + 2 c0 c1 u`
    #[inline]
    fn square(&self) -> Self {
        let cross = self.c0.mul(&self.c1);
        Self { c0: self.c0.add(&self.c1).mul(&self.c0.sub(&self.c1)), c1: cross.add(&cross) }
    }

    fn negate_if(&self, lanes: u8) -> Self {
        Self { c0: self.c0.negate_if(lanes), c1: self.c1.negate_if(lanes) }
    }

    /// `(c0 - c1 u) / (c0^2 + c1^2)`
    fn invert(&self) -> Option<Self> {
        let norm = self.c0.square().add(&self.c1.square()).invert()?;
        Some(Self { c0: self.c0.mul(&norm), c1: self.c1.mul(&norm).negate_if(u8::MAX) })
    }
}
