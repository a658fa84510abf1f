//! Rust functions as kernels.

use std::fmt;

use super::HostBuffer;
use super::buffer::{ReadBytes, WriteBytes};
use crate::{Arg, Grid, Host, Kernel, Signature};

/// A kernel on the host: one call does what the whole grid does on a device.
///
/// It takes the arguments apart by a pattern that follows the [`Signature`], which was checked
/// before. Bytes are aligned for elements of any kind up to 16. It runs while the device's queues
/// are held, so that it may not call the device, nor rayon, which may run somebody who does. A
/// panic loses the device, as a fault of a kernel does on a real one.
///
/// ```
/// use cuzk_gpu_backend::Grid;
/// use cuzk_gpu_backend::host::HostArg;
///
/// /// `y[i] = x[i] + a` for `u64` elements.
/// fn add(_: Grid, args: &mut [HostArg<'_>]) {
///     let [HostArg::U64(a), HostArg::Read(x), HostArg::Write(y)] = args else { unreachable!("signature") };
///     let (x, y): (&[u64], &mut [u64]) = (bytemuck::cast_slice(x), bytemuck::cast_slice_mut(y));
///     x.iter().zip(y).for_each(|(x, y)| *y = x.wrapping_add(*a));
/// }
/// # let (x, mut y) = ([1u64, 2], [0u64, 0]);
/// # let (x, y) = (bytemuck::cast_slice(&x), bytemuck::cast_slice_mut(&mut y));
/// # add(Grid::new(1, 1), &mut [HostArg::U64(5), HostArg::Read(x), HostArg::Write(y)]);
/// ```
pub type HostFn = fn(Grid, &mut [HostArg<'_>]);

/// What a [`HostFn`] is given as one argument.
#[derive(Debug)]
pub enum HostArg<'a> {
    /// A 32-bit number.
    U32(u32),
    /// A 64-bit number.
    U64(u64),
    /// Bytes by value.
    Value(&'a [u8]),
    /// A buffer to read.
    Read(&'a [u8]),
    /// A buffer to write.
    Write(&'a mut [u8]),
}

/// A [`HostFn`] with its signature.
#[derive(Clone, Copy)]
pub struct HostKernel {
    pub(super) signature: &'static Signature,
    pub(super) function: HostFn,
}

impl Kernel for HostKernel {
    fn name(&self) -> &'static str {
        self.signature.name
    }

    fn max_threads(&self) -> u32 {
        super::device::MAX_THREADS
    }
}

impl fmt::Debug for HostKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostKernel({})", self.signature.name)
    }
}

/// An argument that waits in a queue.
pub(super) enum Queued {
    U32(u32),
    U64(u64),
    /// The bytes, in words for their alignment.
    Value(Vec<u128>, usize),
    Read(HostBuffer),
    Write(HostBuffer),
}

impl Queued {
    pub(super) fn new(arg: &Arg<'_, Host>) -> Self {
        match arg {
            Arg::U32(n) => Self::U32(*n),
            Arg::U64(n) => Self::U64(*n),
            Arg::Value(value) => {
                let mut words = vec![0; value.len().div_ceil(16)];
                bytemuck::cast_slice_mut::<u128, u8>(&mut words)[..value.len()].copy_from_slice(value);
                Self::Value(words, value.len())
            }
            Arg::Read(buffer) => Self::Read((*buffer).clone()),
            Arg::Write(buffer) => Self::Write((*buffer).clone()),
        }
    }
}

/// An argument whose bytes are held.
enum Held<'a> {
    Plain(&'a Queued),
    Read(ReadBytes<'a>),
    Write(WriteBytes<'a>),
}

/// Calls the function.
pub(super) fn run(function: HostFn, grid: Grid, args: &[Queued]) {
    let mut held: Vec<_> = args
        .iter()
        .map(|arg| match arg {
            Queued::Read(buffer) => Held::Read(buffer.bytes.read()),
            Queued::Write(buffer) => Held::Write(buffer.bytes.write()),
            plain => Held::Plain(plain),
        })
        .collect();
    let args = held.iter_mut().filter_map(|arg| {
        Some(match arg {
            Held::Read(bytes) => HostArg::Read(bytes.get()),
            Held::Write(bytes) => HostArg::Write(bytes.get()),
            Held::Plain(Queued::U32(n)) => HostArg::U32(*n),
            Held::Plain(Queued::U64(n)) => HostArg::U64(*n),
            Held::Plain(Queued::Value(words, len)) => HostArg::Value(&bytemuck::cast_slice(words)[..*len]),
            Held::Plain(Queued::Read(_) | Queued::Write(_)) => return None,
        })
    });
    function(grid, &mut args.collect::<Vec<_>>());
}
