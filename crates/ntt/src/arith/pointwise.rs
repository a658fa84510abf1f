//! Products of scalars at the same places.

use std::mem::MaybeUninit;

use blstrs::Scalar;
use rayon::prelude::*;

use super::{Job, Lanes};

/// Scalars that one job takes: 64 KiB of each factor.
const CHUNK: usize = 1 << 11;

/// `a_i *= b_i`
///
/// # Panics
/// If there are not as many of both.
pub(crate) fn multiply<L: Lanes>(l: L, a: &mut [Scalar], b: &[Scalar]) {
    assert_eq!(a.len(), b.len(), "factors");
    a.par_chunks_mut(CHUNK).zip(b.par_chunks(CHUNK)).for_each(|(a, b)| {
        let (len, product) = (a.len(), a.as_mut_ptr());
        l.vectorize(Products { a: product, b: b.as_ptr(), product, len });
    });
}

/// `a_i b_i`, in new memory.
///
/// # Panics
/// If there are not as many of both.
pub(crate) fn product<L: Lanes>(l: L, a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
    assert_eq!(a.len(), b.len(), "factors");
    let mut products = Vec::with_capacity(a.len());
    let spare: &mut [MaybeUninit<Scalar>] = &mut products.spare_capacity_mut()[..a.len()];
    let factors = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
    spare.par_chunks_mut(CHUNK).zip(factors).for_each(|(product, (a, b))| {
        let (len, product) = (a.len(), product.as_mut_ptr().cast());
        l.vectorize(Products { a: a.as_ptr(), b: b.as_ptr(), product, len });
    });
    // SAFETY: each chunk was written in full.
    unsafe { products.set_len(a.len()) };
    products
}

/// `product_i = a_i b_i` for `i` below `len`. Made above only, where all of `a` and `b`
/// can be read and all of `product`, which may be `a`, can be written.
struct Products {
    a: *const Scalar,
    b: *const Scalar,
    product: *mut Scalar,
    len: usize,
}

impl<L: Lanes> Job<L> for Products {
    #[inline(always)]
    fn run(self, l: L) {
        let whole = self.len - self.len % L::LANES;
        for i in (0..whole).step_by(L::LANES) {
            // SAFETY: i + LANES is at most `len`; see `Products`.
            unsafe {
                let product = l.times(l.load(self.a.add(i), 1), l.load(self.b.add(i), 1));
                l.store(product, self.product.add(i), 1);
            }
        }
        for i in whole..self.len {
            // SAFETY: i is below `len`; see `Products`.
            unsafe { self.product.add(i).write(*self.a.add(i) * *self.b.add(i)) };
        }
    }
}
