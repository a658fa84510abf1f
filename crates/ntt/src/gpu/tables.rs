//! Scalars between the host and a device, and tables of powers.

use cuzk_gpu_backend::field::FR;
use cuzk_gpu_backend::{Backend, Buffer, Device, Stream};
use cuzk_values::Scalar;

use super::BYTES;
use super::kernels::{FIXED_BYTES, limbs, scalar};
use crate::NttError;

/// Scalars that are converted at a time.
const CHUNK: usize = 1 << 16;

/// Copies scalars to the front of a buffer, in their Montgomery form. They were read when
/// this returns.
///
/// # Errors
/// [`NttError::Device`].
pub fn upload<B: Backend>(
    stream: &B::Stream,
    scalars: &[Scalar],
    buffer: &B::Buffer,
) -> Result<(), NttError> {
    for (i, chunk) in scalars.chunks(CHUNK).enumerate() {
        let words: Vec<[u64; 4]> = chunk.iter().map(limbs).collect();
        stream.upload(bytemuck::cast_slice(&words), buffer, BYTES * (i * CHUNK) as u64)?;
    }
    Ok(())
}

/// The scalars of a buffer. Waits for what is queued.
///
/// # Errors
/// [`NttError::Device`].
pub fn download<B: Backend>(stream: &B::Stream, buffer: &B::Buffer) -> Result<Vec<Scalar>, NttError> {
    let len = (buffer.bytes() / BYTES) as usize;
    let mut scalars = Vec::with_capacity(len);
    let mut words = vec![[0_u64; 4]; len.min(CHUNK)];
    while scalars.len() < len {
        let words = &mut words[..CHUNK.min(len - scalars.len())];
        stream.download(buffer, BYTES * scalars.len() as u64, bytemuck::cast_slice_mut(words))?;
        scalars.extend(words.iter().map(scalar));
    }
    Ok(scalars)
}

/// A new buffer with these scalars as fixed factors.
pub(super) fn factors<B: Backend>(
    device: &B::Device,
    stream: &B::Stream,
    scalars: &[Scalar],
) -> Result<B::Buffer, NttError> {
    let buffer = device.buffer(FIXED_BYTES * scalars.len() as u64)?;
    let words: Vec<[u64; 8]> = scalars.iter().map(fixed).collect();
    stream.upload(bytemuck::cast_slice(&words), &buffer, 0)?;
    Ok(buffer)
}

/// A factor `w` as kernels want it: the number, and `w' = floor(w 2^256 / p)`.
///
/// The Montgomery form is `m = w 2^256 - w' p`, so that `w' = -m / p mod 2^256`: the limbs by
/// which multiples of `p` are added in a Montgomery reduction of `m`.
fn fixed(w: &Scalar) -> [u64; 8] {
    let mut rest = limbs(w);
    let mut factor = [0; 8];
    let (number, quotient) = factor.split_at_mut(4);
    number.copy_from_slice(&FR.from_montgomery(&rest));
    for (i, digit) in quotient.iter_mut().enumerate() {
        *digit = rest[i].wrapping_mul(FR.inv);
        let mut carry = 0;
        for (limb, p) in rest[i..].iter_mut().zip(FR.p) {
            let sum = u128::from(*limb) + u128::from(*digit) * u128::from(p) + carry;
            (*limb, carry) = (sum as u64, sum >> 64);
        }
    }
    factor
}

/// `factor base^i`
pub(super) fn row(factor: Scalar, base: Scalar, len: usize) -> Vec<Scalar> {
    std::iter::successors(Some(factor), |power| Some(*power * base)).take(len).collect()
}

/// `factor base^i`, as `low[i mod 2^h] high[i / 2^h]`.
#[derive(Debug)]
pub(super) struct Powers<B: Backend> {
    pub(super) low: B::Buffer,
    pub(super) high: B::Buffer,
}

impl<B: Backend> Powers<B> {
    /// Tables of two to the power of these.
    pub(super) fn new(
        device: &B::Device,
        stream: &B::Stream,
        base: Scalar,
        factor: Scalar,
        [low, high]: [u32; 2],
    ) -> Result<Self, NttError> {
        let step = (0..low).fold(base, |power, _| power * power);
        Ok(Self {
            low: factors::<B>(device, stream, &row(factor, base, 1 << low))?,
            high: factors::<B>(device, stream, &row(Scalar::from(1), step, 1 << high))?,
        })
    }
    /// `2^h`
    pub(super) fn low_len(&self) -> usize {
        (self.low.bytes() / FIXED_BYTES) as usize
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;
    use crate::Domain;

    #[test]
    fn quotients_of_factors_are_whole() {
        let two = Scalar::from(2);
        let radix = two.pow_vartime([256]);
        for w in
            [Scalar::ZERO, Scalar::ONE, two, -Scalar::ONE, radix, Scalar::from(u64::MAX), Domain::GENERATOR]
        {
            let words = fixed(&w);
            let number = |words: &[u64]| {
                let place = two.pow_vartime([64]);
                words.iter().rev().fold(Scalar::ZERO, |sum, word| sum * place + Scalar::from(*word))
            };
            assert_eq!(number(&words[..4]), w);
            let remainder = limbs(&w); // w 2^256 mod p
            let mut sum = remainder.to_vec();
            sum.resize(8, 0);
            for (i, q) in words[4..].iter().enumerate() {
                let mut carry = 0;
                for (j, limb) in sum[i..].iter_mut().enumerate() {
                    let p = FR.p.get(j).copied().unwrap_or(0);
                    let total = u128::from(*limb) + u128::from(*q) * u128::from(p) + carry;
                    (*limb, carry) = (total as u64, total >> 64);
                }
            }
            assert_eq!(sum, [&[0; 4], &words[..4]].concat(), "w' p + (w 2^256 mod p) = w 2^256");
        }
    }
}
