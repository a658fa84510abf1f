//! Eight elements of Fp (`N = 1`) or of Fp2 = Fp[u] / (u^2 + 1) (`N = 2`) at once.

use super::fp::{Fp8, Limbs, Sum};

/// One element in memory: the limbs of each of its coordinates over Fp.
pub(super) type Element<const N: usize> = [Limbs; N];

/// Eight elements.
#[derive(Clone, Copy)]
pub(super) struct Lanes<const N: usize>(pub(super) [Fp8; N]);

/// A [`Sum`] for each coordinate.
#[derive(Clone, Copy)]
pub(super) struct Sums<const N: usize>([Sum; N]);

impl<const N: usize> Lanes<N> {
    /// `a b`, below `2.01 p`, for normal factors below `6p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, b: &Self) -> Self {
        let (a, b, mut c) = (&self.0, &b.0, *self);
        if N == 1 {
            c.0[0] = a[0].mul(&b[0]);
        } else {
            let minus_b1 = Fp8::zero().plus_multiple::<6>().minus(&b[1]).carried();
            c.0[0] = Fp8::sum_of_products(&a[0], &b[0], &a[1], &minus_b1);
            c.0[1] = Fp8::sum_of_products(&a[0], &b[1], &a[1], &b[0]);
        }
        c
    }

    /// `a^2`, as [`mul`](Self::mul).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let (a, mut c) = (&self.0, *self);
        if N == 1 {
            c.0[0] = a[0].square();
        } else {
            // (a0 + a1 u)^2 = (a0 + a1)(a0 - a1) + 2 a0 a1 u
            let difference = a[0].plus_multiple::<6>().minus(&a[1]).carried();
            c.0[0] = a[0].add(&a[1]).mul(&difference);
            c.0[1] = a[0].add(&a[0]).mul(&a[1]);
        }
        c
    }
}

impl<const N: usize> Lanes<N> {
    /// The same element in every lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn splat(element: &Element<N>) -> Self {
        let mut lanes = [Fp8::splat(&element[0]); N];
        for i in 1..N {
            lanes[i] = Fp8::splat(&element[i]);
        }
        Self(lanes)
    }

    /// Eight elements from memory, a lane each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: [&Element<N>; 8]) -> Self {
        let mut lanes = [Fp8::load(elements.map(|e| &e[0])); N];
        for i in 1..N {
            lanes[i] = Fp8::load(elements.map(|e| &e[i]));
        }
        Self(lanes)
    }

    /// Eight elements to memory.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(self, mut elements: [&mut Element<N>; 8]) {
        for i in 0..N {
            self.0[i].store(elements.each_mut().map(|e| &mut e[i]));
        }
    }

    /// 0
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn zero() -> Self {
        Self([Fp8::zero(); N])
    }

    /// `a + b`
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn add(mut self, b: &Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(&b.0) {
            *a = a.add(b);
        }
        self
    }

    /// The first lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn first(&self) -> Element<N> {
        let mut lanes = [[[0; 8]; N]; 8];
        self.store(lanes.each_mut());
        lanes[0]
    }

    /// `a + k p`, from which up to four normal elements can be taken.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn plus_multiple<const K: u64>(&self) -> Sums<N> {
        let mut sums = [self.0[0].plus_multiple::<K>(); N];
        for i in 1..N {
            sums[i] = self.0[i].plus_multiple::<K>();
        }
        Sums(sums)
    }

    /// The lanes whose lowest limbs are those of multiples of `p` from `1p` to `3p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn maybe_zero(&self) -> u8 {
        let mut lanes = u8::MAX;
        for a in &self.0 {
            lanes &= a.low_limb_is::<1>() | a.low_limb_is::<2>() | a.low_limb_is::<3>();
        }
        lanes
    }

    /// The lanes whose lowest limbs are 0, as those of the point at infinity.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn maybe_infinity(&self) -> u8 {
        let mut lanes = u8::MAX;
        for a in &self.0 {
            lanes &= a.low_limb_is::<0>();
        }
        lanes
    }

    /// The lanes of `other` where `lanes` is set, and of `self` elsewhere.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn select(mut self, lanes: u8, other: &Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a = a.select(lanes, b);
        }
        self
    }

    /// Lane `i` from lane `i ^ DISTANCE`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn swap_lanes<const DISTANCE: i64>(mut self) -> Self {
        for a in &mut self.0 {
            *a = a.swap_lanes::<DISTANCE>();
        }
        self
    }
}

impl<const N: usize> Sums<N> {
    /// `-a` in the lanes that are set, `a` in the others: not to be carried alone.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn signed(minus: u8, a: &Lanes<N>) -> Self {
        let mut sums = [Sum::signed(minus, &a.0[0]); N];
        for i in 1..N {
            sums[i] = Sum::signed(minus, &a.0[i]);
        }
        Self(sums)
    }

    /// `self + other`
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn plus(mut self, other: &Self) -> Self {
        for (sum, other) in self.0.iter_mut().zip(&other.0) {
            *sum = sum.plus(other);
        }
        self
    }

    /// `self - a`
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn minus(mut self, a: &Lanes<N>) -> Self {
        for (sum, a) in self.0.iter_mut().zip(&a.0) {
            *sum = sum.minus(a);
        }
        self
    }

    /// The elements, as large as the sums.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn carried(self) -> Lanes<N> {
        let mut lanes = [self.0[0].carried(); N];
        for i in 1..N {
            lanes[i] = self.0[i].carried();
        }
        Lanes(lanes)
    }

    /// The elements below `1.01 p`. See [`Sum::reduced`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reduced(self) -> Lanes<N> {
        let mut lanes = [self.0[0].reduced(); N];
        for i in 1..N {
            lanes[i] = self.0[i].reduced();
        }
        Lanes(lanes)
    }
}
