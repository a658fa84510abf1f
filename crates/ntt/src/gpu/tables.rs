//! Scalars between the host and a device, and tables of powers.

use cuzk_gpu_backend::field::fixed;
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
    let words: Vec<[u64; 8]> = scalars.iter().map(|scalar| fixed(&limbs(scalar))).collect();
    stream.upload(bytemuck::cast_slice(&words), &buffer, 0)?;
    Ok(buffer)
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
