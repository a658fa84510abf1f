//! Transforms of few scalars, where tiles do not pay.

use cuzk_values::Scalar;
use ff::Field;

use crate::arith::{Flow, reverse_bits, reversed};
use crate::cpu::Task;
use crate::roots;

/// As [`Task`] says, with decimation in frequency, level by level.
pub(crate) fn transform(scalars: &mut [Scalar], task: &Task) {
    let n = scalars.len();
    let log = n.ilog2();
    if task.flow == Flow::Dit {
        reverse_bits(scalars);
    }
    multiply(scalars, Scalar::ONE, task.input, |j| j);
    let twiddles = roots::twiddles(log, task.inverse);
    for level in 0..log {
        for (block, w) in scalars.chunks_exact_mut(n >> level).zip(&twiddles) {
            let (low, high) = block.split_at_mut(n >> (level + 1));
            for (a, b) in low.iter_mut().zip(high) {
                let product = *b * w;
                (*a, *b) = (*a + product, *a - product);
            }
        }
    }
    multiply(scalars, task.scale, task.output, |i| reversed(i, log));
    if task.flow == Flow::Dit {
        reverse_bits(scalars);
    }
}

/// Multiplies scalar `i` by `factor base^index(i)`.
fn multiply(scalars: &mut [Scalar], factor: Scalar, base: Scalar, index: impl Fn(usize) -> usize) {
    if factor != Scalar::ONE || base != Scalar::ONE {
        for (i, scalar) in scalars.iter_mut().enumerate() {
            *scalar *= factor * base.pow_vartime([index(i) as u64]);
        }
    }
}
