#![doc = include_str!("../README.md")]

mod arena;
mod backend;
mod bounds;
mod context;
#[cfg(feature = "cuda")]
pub mod cuda;
mod discover;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod embedded;
mod error;
pub mod field;
pub mod host;
mod kernel;
mod memory;
#[cfg(feature = "opencl")]
pub mod opencl;
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the host keeps nothing, and OpenCL needs less"))]
mod pool;
mod select;
#[cfg(any(test, feature = "suite"))]
pub mod suite;

pub use arena::{Arena, Block};
pub use backend::{Backend, Buffer, Device, Event, Kernel, Pinned, Stream};
pub use context::{Context, Staging};
#[cfg(feature = "cuda")]
pub use cuda::Cuda;
pub use discover::{DeviceInfo, Discovery, discover};
pub use error::Error;
pub use host::Host;
pub use kernel::{Arg, Family, Grid, Param, Signature};
pub use memory::{MemoryKind, MemoryReport};
#[cfg(feature = "opencl")]
pub use opencl::OpenCl;
pub use select::{Kind, UnknownBackend, Visit, keep_programs_in};
