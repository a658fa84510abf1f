//! Device memory in numbers.

use std::fmt;

use cuzk_pipeline_core::limits::format_bytes;

/// Memory of two kinds can be out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// The device's own.
    Device,
    /// Page-locked host memory.
    Pinned,
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "device",
            Self::Pinned => "page-locked",
        })
    }
}

/// The memory of a device at one moment, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// What the device has.
    pub total: u64,
    /// What nobody uses; other processes count.
    pub free: u64,
    /// What was allocated through this handle, rounded up as the device rounds. Memory that was
    /// dropped counts until the work that was queued with it is done.
    pub ours: u64,
    /// The largest buffer that can be allocated now: what is free may be in pieces, and the
    /// handle has a limit.
    pub largest: u64,
}

impl MemoryReport {
    /// A report.
    pub fn new(total: u64, free: u64, ours: u64, largest: u64) -> Self {
        Self { total, free, ours, largest }
    }
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [total, free, ours, largest] = [self.total, self.free, self.ours, self.largest].map(format_bytes);
        write!(f, "{free} free of {total}, {ours} ours, {largest} at most in one piece")
    }
}
