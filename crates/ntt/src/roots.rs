//! Roots of unity and their powers.

use cuzk_values::Scalar;
use ff::{Field, PrimeField};

use crate::arith::reversed;

/// The powers `base^e`, `e` below `2^log`, from two tables of `2^(log/2)`.
#[derive(Debug)]
pub(crate) struct Powers {
    /// `base^i`
    low: Vec<Scalar>,
    /// `base^(i len(low))`
    high: Vec<Scalar>,
}

impl Powers {
    pub(crate) fn new(base: Scalar, log: u32) -> Self {
        let row = |base: Scalar, log: u32| -> Vec<Scalar> {
            std::iter::successors(Some(Scalar::ONE), |power| Some(*power * base)).take(1 << log).collect()
        };
        let low = row(base, log.div_ceil(2));
        let step = low[low.len() - 1] * base;
        Self { high: row(step, log / 2), low }
    }

    /// `base^e`
    pub(crate) fn get(&self, e: usize) -> Scalar {
        self.low[e % self.low.len()] * self.high[e / self.low.len()]
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Scalar>() * (self.low.len() + self.high.len())
    }
}

/// The primitive `2^log_len`-th root of unity, and its inverse.
pub(crate) fn root_of_unity(log_len: u32, inverse: bool) -> Scalar {
    let root = if inverse { Scalar::ROOT_OF_UNITY_INV } else { Scalar::ROOT_OF_UNITY };
    (log_len..Scalar::S).fold(root, |root, _| root.square())
}

/// The twiddles of all transforms, in bit-reversed order: entry `q` is `w^rev(q)`, the
/// bits of `q` reversed in `log` and `w` of order `2^(log+1)`. It is the same for
/// every `log` that `q` fits in. The first `2^log` of them.
pub(crate) fn twiddles(log: u32, inverse: bool) -> Vec<Scalar> {
    let mut table = vec![Scalar::ONE; 1 << log];
    for bit in 0..log {
        // Entry 2^bit has the root of order 2^(bit+2); those above it are its multiples.
        let root = root_of_unity(bit + 2, inverse);
        for q in 0..1 << bit {
            table[(1 << bit) + q] = table[q] * root;
        }
    }
    debug_assert!((0..table.len()).all(|q| {
        let w = root_of_unity(log + 1, inverse);
        q > 4 || table[q] == w.pow_vartime([reversed(q, log) as u64])
    }));
    table
}
