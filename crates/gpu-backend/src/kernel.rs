//! Kernels as callers see them: families, signatures, grids, arguments.

use std::fmt;

use crate::host::HostFn;
use crate::{Backend, Buffer, Error};

/// Kernels that are compiled and loaded together, in every form that there is of them.
///
/// Families are statics beside the operation that they serve. The form for the host is a list of
/// Rust functions, which define what the kernels do.
#[derive(Debug)]
pub struct Family {
    name: &'static str,
    kernels: &'static [Signature],
    host: &'static [(&'static str, HostFn)],
    /// A fatbin, a cubin or PTX.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "nobody loads it"))]
    cuda: Option<&'static [u8]>,
    /// OpenCL C.
    #[cfg_attr(not(feature = "opencl"), allow(dead_code, reason = "nobody compiles it"))]
    opencl: Option<&'static str>,
}

impl Family {
    /// A family without any form yet.
    pub const fn new(name: &'static str, kernels: &'static [Signature]) -> Self {
        Self { name, kernels, host: &[], cuda: None, opencl: None }
    }

    /// The functions that run on the host, by kernel name.
    #[must_use]
    pub const fn host(self, functions: &'static [(&'static str, HostFn)]) -> Self {
        Self { host: functions, ..self }
    }

    /// The code for NVIDIA's devices: PTX, a cubin or a fatbin, of any toolchain. It
    /// exports its functions by the kernels' names (`extern "C"`). Without it the
    /// code is what `cargo xtask kernels` made of the family's name.
    #[must_use]
    pub const fn cuda(self, image: &'static [u8]) -> Self {
        Self { cuda: Some(image), ..self }
    }

    /// The source for OpenCL devices, in OpenCL C 1.2. Its kernels have the names of the signatures. Without
    /// it the source is that of `kernels/` with the family's name.
    #[must_use]
    pub const fn opencl(self, source: &'static str) -> Self {
        Self { opencl: Some(source), ..self }
    }

    /// The source for OpenCL devices, if there is any.
    #[cfg(feature = "opencl")]
    pub(crate) fn opencl_source(&self) -> Option<&'static str> {
        let embedded = || crate::embedded::OPENCL.iter().find(|(name, _)| *name == self.name);
        self.opencl.or_else(|| embedded().map(|(_, source)| *source))
    }

    /// The code for NVIDIA's devices, if there is any.
    #[cfg(feature = "cuda")]
    pub(crate) fn cuda_image(&self) -> Option<&'static [u8]> {
        let embedded = || crate::embedded::CUDA.iter().find(|(name, _)| *name == self.name);
        self.cuda.or_else(|| embedded().map(|(_, image)| *image))
    }

    /// The name in errors.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What a kernel takes.
    pub fn signature(&self, kernel: &str) -> Option<&'static Signature> {
        self.kernels.iter().find(|signature| signature.name == kernel)
    }

    /// The function that runs on the host.
    pub(crate) fn host_fn(&self, kernel: &str) -> Option<HostFn> {
        self.host.iter().find(|(name, _)| *name == kernel).map(|(_, f)| *f)
    }
}

/// A kernel's name and what it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The name, unique in its family.
    pub name: &'static str,
    /// One for each argument, in order.
    pub params: &'static [Param],
}

/// What a kernel takes as one argument. Buffers are made of elements of a size, which divides
/// the buffer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// A 32-bit number.
    U32,
    /// A 64-bit number.
    U64,
    /// So many bytes by value, as a field element.
    Value(usize),
    /// A buffer that is only read, by bytes an element.
    Read(u64),
    /// A buffer that is written, and may be read, by bytes an element.
    Write(u64),
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U32 => f.write_str("a u32"),
            Self::U64 => f.write_str("a u64"),
            Self::Value(bytes) => write!(f, "a value of {bytes} bytes"),
            Self::Read(element) => write!(f, "a buffer to read of elements of {element} bytes"),
            Self::Write(element) => write!(f, "a buffer to write of elements of {element} bytes"),
        }
    }
}

/// What a kernel is given as one argument.
#[derive(Debug)]
pub enum Arg<'a, B: Backend> {
    /// A 32-bit number.
    U32(u32),
    /// A 64-bit number.
    U64(u64),
    /// Bytes by value.
    Value(&'a [u8]),
    /// A buffer to read.
    Read(&'a B::Buffer),
    /// A buffer to write.
    Write(&'a B::Buffer),
}

impl<B: Backend> fmt::Display for Arg<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U32(_) => f.write_str("a u32"),
            Self::U64(_) => f.write_str("a u64"),
            Self::Value(value) => write!(f, "a value of {} bytes", value.len()),
            Self::Read(buffer) => write!(f, "a buffer to read of {} bytes", buffer.bytes()),
            Self::Write(buffer) => write!(f, "a buffer to write of {} bytes", buffer.bytes()),
        }
    }
}

impl Signature {
    /// Whether these are the arguments that the kernel takes. Backends call it before they launch.
    ///
    /// # Errors
    /// [`Error::Argument`], about the first that is not.
    pub fn check<B: Backend>(&self, args: &[Arg<'_, B>]) -> Result<(), Error> {
        let wrong = |index, expected, got| Err(Error::Argument { kernel: self.name, index, expected, got });
        for (index, pair) in self.params.iter().zip(args).enumerate() {
            let right = match pair {
                (Param::U32, Arg::U32(_)) | (Param::U64, Arg::U64(_)) => true,
                (Param::Value(bytes), Arg::Value(value)) => value.len() == *bytes,
                (Param::Read(element), Arg::Read(buffer)) | (Param::Write(element), Arg::Write(buffer)) => {
                    buffer.bytes().is_multiple_of(*element)
                }
                _ => false,
            };
            if !right {
                return wrong(index, pair.0.to_string(), pair.1.to_string());
            }
        }
        if self.params.len() == args.len() {
            return self.check_aliases(args);
        }
        let index = self.params.len().min(args.len());
        let expected = self.params.get(index).map_or("nothing".into(), ToString::to_string);
        wrong(index, expected, args.get(index).map_or("nothing".into(), ToString::to_string))
    }

    /// A buffer that is written may be only one argument.
    fn check_aliases<B: Backend>(&self, args: &[Arg<'_, B>]) -> Result<(), Error> {
        for (index, arg) in args.iter().enumerate() {
            let (Arg::Read(buffer) | Arg::Write(buffer)) = arg else { continue };
            let clash = args[..index].iter().position(|other| match (arg, other) {
                (Arg::Write(_), Arg::Read(other)) | (_, Arg::Write(other)) => buffer.is_same(other),
                _ => false,
            });
            if let Some(other) = clash {
                let expected = format!("a buffer other than argument {other}");
                let got = "the same, which is written".to_owned();
                return Err(Error::Argument { kernel: self.name, index, expected, got });
            }
        }
        Ok(())
    }
}

impl Param {
    /// Bytes of an element of the buffer, or of anything else.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    pub(crate) fn element(&self) -> u64 {
        match self {
            Self::U32 => 4,
            Self::U64 => 8,
            Self::Value(bytes) => *bytes as u64,
            Self::Read(element) | Self::Write(element) => (*element).max(1),
        }
    }
}

/// How many blocks of how many threads run a kernel, and the shared memory of each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks in x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block, besides what the kernel declares.
    pub shared: u32,
}

impl Grid {
    /// `blocks` in a row, of `threads`.
    pub const fn new(blocks: u32, threads: u32) -> Self {
        Self { blocks: [blocks, 1, 1], threads, shared: 0 }
    }

    /// The fewest blocks of `threads` that give each of `items` a thread: at least one block, at
    /// most 2^31 - 1, after which a kernel's threads have to take several items.
    pub fn cover(items: u64, threads: u32) -> Self {
        let blocks = items.div_ceil(u64::from(threads.max(1))).clamp(1, i32::MAX as u64);
        Self::new(blocks as u32, threads)
    }

    /// With `bytes` of shared memory for each block.
    #[must_use]
    pub const fn shared(self, bytes: u32) -> Self {
        Self { shared: bytes, ..self }
    }

    /// All threads.
    pub fn total(&self) -> u64 {
        self.blocks.iter().fold(u64::from(self.threads), |n, &b| n.saturating_mul(u64::from(b)))
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.blocks;
        write!(f, "{x}x{y}x{z} blocks of {} threads with {} bytes shared", self.threads, self.shared)
    }
}
