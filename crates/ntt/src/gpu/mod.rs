//! Transforms and the quotient on a device, for any backend.
//!
//! Buffers have `2^k` scalars of 32 bytes: little-endian Montgomery forms, as blst's `blst_fr`.
//! Everything is queued on the caller's stream, in place, and allocates nothing; what
//! transforms need is made with the [`DeviceDomain`] and its [`Shift`]s.

mod kernels;
mod quotient;
mod stage;
mod tables;

use std::fmt;

use cuzk_gpu_backend::{Arg, Backend, Buffer, Device, Grid, Stream};
use cuzk_values::Scalar;
use ff::Field;

use crate::arith::Flow;
use crate::{Domain, NttError, roots};

pub use kernels::FAMILY;
use kernels::Flags;
pub use quotient::Divisor;
pub use stage::{DeviceQuotient, DeviceQuotients, LoadQuotients};
use tables::{Powers, row};
pub use tables::{download, upload};

/// Scalars of a tile: 2^10, of which each of 128 threads has eight in registers. Four such blocks
/// fill a multiprocessor's registers.
const LOG_TILE: u32 = 10;

/// Rows of a tile have at least 2 neighbours, 64 bytes, where there are several passes.
const MIN_LOG_COLUMNS: u32 = 1;

/// Bytes of a scalar.
const BYTES: u64 = 32;

/// Levels that are done at once: those below `above` others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pass {
    above: u32,
    levels: u32,
}

/// The levels in passes, the first those that join scalars far apart.
fn passes(log_len: u32) -> Vec<Pass> {
    let count = if log_len <= LOG_TILE { 1 } else { log_len.div_ceil(LOG_TILE - MIN_LOG_COLUMNS) };
    let mut above = 0;
    let mut next = |i| {
        let pass = Pass { above, levels: (log_len - above) / (count - i) };
        above += pass.levels;
        pass
    };
    (0..count).map(&mut next).collect()
}

/// How the powers of the root of unity are split in two tables: those between the first
/// pass and the last are multiples of `2^low`.
fn split(log_len: u32, passes: &[Pass]) -> [u32; 2] {
    let [.., last] = passes else { return [0, 0] };
    if passes.len() == 1 {
        return [0, 0];
    }
    let low = passes[0].levels.min(last.levels);
    [low, log_len - low]
}

/// How the powers of a coset's shift are.
fn shift_split(log_len: u32) -> [u32; 2] {
    [log_len / 2, log_len.div_ceil(2)]
}

/// The logarithm of the number of twiddles of the levels in a tile.
fn twiddle_levels(passes: &[Pass]) -> u32 {
    passes.iter().map(|pass| pass.levels).max().unwrap_or(0).saturating_sub(1)
}

/// The bytes of all tables of a [`DeviceDomain`] and a [`Divisor`], each of which starts at a
/// multiple of 256.
fn table_bytes(log_len: u32) -> u64 {
    let passes = passes(log_len);
    let [low, high] = split(log_len, &passes);
    let twiddles = [twiddle_levels(&passes); 2];
    let shifts = [shift_split(log_len); 2].concat();
    let logs = [low, high, low, low].into_iter().chain(twiddles).chain(shifts);
    logs.map(|log| (kernels::FIXED_BYTES << log).next_multiple_of(256)).sum()
}

/// The shared memory of a tile: two halves of its scalars with a gap of one after every
/// eight, and 64 bytes between the halves.
fn tile_bytes(log_tile: u32) -> u32 {
    let half = (1 << log_tile) + (1 << log_tile) / 8;
    16 * (2 * half + 4)
}

/// A [`Domain`] on a device: its kernels, and tables of 64 bytes for each 2^8 or so of its points.
pub struct DeviceDomain<B: Backend> {
    log_len: u32,
    log_tile: u32,
    passes: Vec<Pass>,
    pass: B::Kernel,
    product: B::Kernel,
    multiply: B::Kernel,
    reverse_difference: B::Kernel,
    /// Twiddles of the levels in a tile, forward and inverse.
    twiddles: [B::Buffer; 2],
    /// Powers of the root of unity.
    roots: Powers<B>,
    /// Its low powers over `n`.
    inverse_low: B::Buffer,
}

/// A coset's powers on a device.
#[derive(Debug)]
pub struct Shift<B: Backend> {
    /// `shift^i`
    input: Powers<B>,
    /// `shift^-i / n`
    output: Powers<B>,
}

/// What is multiplied besides the powers of the root of unity.
enum Scale<'a, B: Backend> {
    None,
    /// The low powers with a factor for all outputs.
    All(&'a B::Buffer),
    /// Input `i` by power `i`.
    Input(&'a Powers<B>),
    /// Output `i` by power `i`.
    Output(&'a Powers<B>),
}

impl<B: Backend> DeviceDomain<B> {
    /// The domain of `2^log_len` points. Its tables are uploaded on `stream`.
    ///
    /// # Errors
    /// [`NttError::LogLen`], [`NttError::Device`].
    pub fn new(device: &B::Device, stream: &B::Stream, log_len: u32) -> Result<Self, NttError> {
        if log_len > Domain::MAX_LOG_LEN {
            return Err(NttError::LogLen { log_len, max: Domain::MAX_LOG_LEN });
        }
        let passes = passes(log_len);
        let [low, high] = split(log_len, &passes);
        let root = roots::root_of_unity(log_len, false);
        let roots = Powers::new(device, stream, root, Scalar::ONE, [low, high])?;
        let inverse_low = tables::factors::<B>(device, stream, &row(inverse_len(log_len)?, root, 1 << low))?;
        let levels = twiddle_levels(&passes);
        let twiddles =
            |inverse| tables::factors::<B>(device, stream, &crate::roots::twiddles(levels, inverse));
        let kernel = |name| device.kernel(&FAMILY, name);
        Ok(Self {
            log_len,
            log_tile: log_len.min(LOG_TILE),
            passes,
            pass: kernel("ntt_pass")?,
            product: kernel("product")?,
            multiply: kernel("multiply")?,
            reverse_difference: kernel("reverse_difference")?,
            twiddles: [twiddles(false)?, twiddles(true)?],
            roots,
            inverse_low,
        })
    }

    /// `k` of the `2^k` points.
    pub fn log_len(&self) -> u32 {
        self.log_len
    }

    /// Bytes of `2^k` scalars.
    pub fn bytes(&self) -> u64 {
        BYTES << self.log_len
    }

    /// Prepares a coset.
    ///
    /// # Errors
    /// [`NttError::ZeroShift`], [`NttError::Device`].
    pub fn shift(&self, device: &B::Device, stream: &B::Stream, shift: Scalar) -> Result<Shift<B>, NttError> {
        let inverse: Scalar = Option::from(shift.invert()).ok_or(NttError::ZeroShift)?;
        let logs = shift_split(self.log_len);
        Ok(Shift {
            input: Powers::new(device, stream, shift, Scalar::ONE, logs)?,
            output: Powers::new(device, stream, inverse, inverse_len(self.log_len)?, logs)?,
        })
    }

    /// Coefficients in natural order to values in bit-reversed order, on a coset or on
    /// the domain.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::Device`].
    pub fn ntt_to_reversed(
        &self,
        stream: &B::Stream,
        scalars: &B::Buffer,
        shift: Option<&Shift<B>>,
    ) -> Result<(), NttError> {
        self.run(stream, scalars, Flow::Dif, false, &evaluated(shift))
    }

    /// Coefficients in bit-reversed order to values in natural order.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::Device`].
    pub fn ntt_from_reversed(
        &self,
        stream: &B::Stream,
        scalars: &B::Buffer,
        shift: Option<&Shift<B>>,
    ) -> Result<(), NttError> {
        self.run(stream, scalars, Flow::Dit, false, &evaluated(shift))
    }

    /// Values in natural order to coefficients in bit-reversed order.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::Device`].
    pub fn intt_to_reversed(
        &self,
        stream: &B::Stream,
        scalars: &B::Buffer,
        shift: Option<&Shift<B>>,
    ) -> Result<(), NttError> {
        self.run(stream, scalars, Flow::Dif, true, &self.interpolated(shift))
    }

    /// Values in bit-reversed order to coefficients in natural order.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::Device`].
    pub fn intt_from_reversed(
        &self,
        stream: &B::Stream,
        scalars: &B::Buffer,
        shift: Option<&Shift<B>>,
    ) -> Result<(), NttError> {
        self.run(stream, scalars, Flow::Dit, true, &self.interpolated(shift))
    }

    fn interpolated<'a>(&'a self, shift: Option<&'a Shift<B>>) -> Scale<'a, B> {
        shift.map_or(Scale::All(&self.inverse_low), |shift| Scale::Output(&shift.output))
    }

    fn check(&self, scalars: &B::Buffer) -> Result<(), NttError> {
        if scalars.bytes() == self.bytes() {
            return Ok(());
        }
        Err(NttError::Length { len: (scalars.bytes() / BYTES) as usize, expected: 1 << self.log_len })
    }

    fn run(
        &self,
        stream: &B::Stream,
        scalars: &B::Buffer,
        flow: Flow,
        inverse: bool,
        scale: &Scale<'_, B>,
    ) -> Result<(), NttError> {
        self.check(scalars)?;
        let count = self.passes.len();
        for i in 0..count {
            let pass = self.passes[if flow == Flow::Dif { i } else { count - 1 - i }];
            let (first, last) = (i == 0, i == count - 1);
            let mut flags = Flags::NONE;
            flags.set(Flags::DIT, flow == Flow::Dit);
            flags.set(Flags::INVERSE, inverse);
            flags.set(Flags::TWIST, !first);
            flags.set(Flags::LOW, last);
            let (mut low, mut coset) = (&self.roots.low, &self.roots);
            match scale {
                Scale::All(scaled) if last => {
                    low = scaled;
                    flags.set(Flags::TWIST, true);
                }
                Scale::Input(powers) if first => {
                    coset = powers;
                    flags.set(Flags::SCALE_IN, true);
                }
                Scale::Output(powers) if last => {
                    coset = powers;
                    flags.set(Flags::SCALE_OUT, true);
                }
                _ => {}
            }
            let threads = ((1 << self.log_tile) / 8).max(32);
            let grid = Grid::new(1 << (self.log_len - self.log_tile), threads);
            let args = [
                Arg::U32(self.log_len),
                Arg::U32(pass.above),
                Arg::U32(pass.levels),
                Arg::U32(self.log_tile),
                Arg::U32(flags.bits()),
                Arg::Read(&self.twiddles[usize::from(inverse)]),
                Arg::Read(low),
                Arg::Read(&self.roots.high),
                Arg::Read(&coset.low),
                Arg::Read(&coset.high),
                Arg::Write(scalars),
            ];
            stream.launch(&self.pass, grid.shared(tile_bytes(self.log_tile)), &args)?;
        }
        Ok(())
    }
}

fn evaluated<B: Backend>(shift: Option<&Shift<B>>) -> Scale<'_, B> {
    shift.map_or(Scale::None, |shift| Scale::Input(&shift.input))
}

/// `2^-log_len`
fn inverse_len(log_len: u32) -> Result<Scalar, NttError> {
    Option::from(Scalar::from(1_u64 << log_len).invert()).ok_or(NttError::ZeroShift)
}

impl<B: Backend> fmt::Debug for DeviceDomain<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceDomain of 2^{} points on {}", self.log_len, B::NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_fit_their_tiles() {
        for log_len in 0..=32 {
            let passes = passes(log_len);
            assert_eq!(passes.iter().map(|pass| pass.levels).sum::<u32>(), log_len);
            let mut above = 0;
            for pass in &passes {
                assert_eq!(pass.above, above);
                above += pass.levels;
                // Rows have as many neighbours as tiles have columns, or none.
                let below = log_len - above;
                assert!(below == 0 || below >= LOG_TILE - pass.levels, "2^{log_len}: {passes:?}");
                let most = if passes.len() > 1 { LOG_TILE - MIN_LOG_COLUMNS } else { LOG_TILE };
                assert!(pass.levels <= most, "2^{log_len}: {passes:?}");
            }
        }
    }
}
