//! What goes wrong with devices.

use cuzk_pipeline_core::limits::format_bytes;
use cuzk_pipeline_core::{ErrorKind, Place};

use crate::{Grid, MemoryKind};

/// What went wrong, with the numbers of it. `code` is the driver's; the host backend's is 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This backend cannot be used here.
    #[error("backend {backend} is unavailable: {reason}")]
    Unavailable {
        /// Which.
        backend: &'static str,
        /// Why: no driver, no device, not in this build.
        reason: String,
    },
    /// A stage ran at a place whose handle is no [`Context`](crate::Context) of its backend.
    #[error("{place} has no device of backend {backend}")]
    NoContext {
        /// Which backend the stage is of.
        backend: &'static str,
        /// Where it ran.
        place: Place,
    },
    /// There is no such device.
    #[error("backend {backend} has no device {index}: it has {count}")]
    NoDevice {
        /// Which backend.
        backend: &'static str,
        /// The index that was asked for.
        index: u16,
        /// How many there are.
        count: usize,
    },
    /// Memory is out.
    #[error(
        "out of {kind} memory on {device}: {} asked for, {} at most in one piece, {} free of a limit of {}",
        format_bytes(*requested), format_bytes(*largest), format_bytes(*free), format_bytes(*limit)
    )]
    OutOfMemory {
        /// Which device.
        device: String,
        /// Its memory, or page-locked host memory.
        kind: MemoryKind,
        /// Bytes that were asked for.
        requested: u64,
        /// Bytes that were left.
        free: u64,
        /// Bytes that were left in one piece.
        largest: u64,
        /// Bytes that may be allocated in all.
        limit: u64,
    },
    /// The device does not answer, or a kernel went wrong on it. It stays lost.
    #[error("{device} is lost in {call} (code {code}): {text}")]
    Lost {
        /// Which device.
        device: String,
        /// The call that found out.
        call: &'static str,
        /// The driver's number.
        code: i32,
        /// The driver's text.
        text: String,
    },
    /// A kernel was not started.
    #[error("kernel `{kernel}` cannot run on {device} as {grid} (code {code}): {text}")]
    Launch {
        /// Which kernel.
        kernel: &'static str,
        /// Which device.
        device: String,
        /// As what.
        grid: Grid,
        /// The driver's number.
        code: i32,
        /// The driver's text.
        text: String,
    },
    /// A kernel was given what it does not take.
    #[error("kernel `{kernel}` takes {expected} as argument {index}, not {got}")]
    Argument {
        /// Which kernel.
        kernel: &'static str,
        /// Which argument, from 0.
        index: usize,
        /// What it takes.
        expected: String,
        /// What it was given.
        got: String,
    },
    /// There is no such kernel in this form.
    #[error("family `{family}` has no kernel `{kernel}` for backend {backend}")]
    NoKernel {
        /// Which family.
        family: &'static str,
        /// Which kernel.
        kernel: String,
        /// Which backend.
        backend: &'static str,
    },
    /// The driver does not take a family's code.
    #[error("family `{family}` does not load on {device} (code {code}): {log}")]
    Compile {
        /// Which family.
        family: &'static str,
        /// Which device.
        device: String,
        /// The driver's number.
        code: i32,
        /// The compiler's log.
        log: String,
    },
    /// A copy reaches beyond a buffer.
    #[error("{call}: {len} bytes from {at} on do not lie in {bytes}")]
    Bounds {
        /// Which call.
        call: &'static str,
        /// Where the bytes start.
        at: u64,
        /// How many they are.
        len: u64,
        /// Bytes that there are.
        bytes: u64,
    },
    /// A copy within one buffer whose ends overlap.
    #[error("{call}: {len} bytes from {from} overlap those from {to}")]
    Overlap {
        /// Which call.
        call: &'static str,
        /// Where the source starts.
        from: u64,
        /// Where the target starts.
        to: u64,
        /// How many bytes.
        len: u64,
    },
    /// A handle of another device.
    #[error("{call}: a handle of {other} was given to {device}")]
    OtherDevice {
        /// Which call.
        call: &'static str,
        /// The device that was called.
        device: String,
        /// The device that the handle is of.
        other: String,
    },
    /// Any other call that the driver refused.
    #[error("{call} failed on {device} (code {code}): {text}")]
    Call {
        /// Which device.
        device: String,
        /// Which call.
        call: &'static str,
        /// The driver's number.
        code: i32,
        /// The driver's text.
        text: String,
    },
}

impl Error {
    /// Whose turn it is: memory may come back, a device may be replaced by another one, and a
    /// wrong argument is this program's fault.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::OutOfMemory { .. } => ErrorKind::Resource,
            Self::Unavailable { .. }
            | Self::NoDevice { .. }
            | Self::Lost { .. }
            | Self::Launch { .. }
            | Self::Compile { .. }
            | Self::Call { .. } => ErrorKind::Device,
            Self::NoContext { .. }
            | Self::Argument { .. }
            | Self::NoKernel { .. }
            | Self::Bounds { .. }
            | Self::Overlap { .. }
            | Self::OtherDevice { .. } => ErrorKind::Bug,
        }
    }
}
