//! What this process may take of the machine: memory and threads.
//!
//! A container's share is not what `/proc/meminfo` says. Each limit of each control group that
//! this process is in counts (v1, v2 or both, every ancestor in sight), and so do the cpuset's
//! memory nodes and what the machine has left; the tightest wins, and the report says which.

mod bytes;
mod memory;
mod threads;

pub use bytes::{ParseBytesError, format_bytes, parse_bytes};
pub use memory::{MemoryBound, MemoryLimits};
pub use threads::{CpuQuota, ThreadLimits, allowed_threads};
