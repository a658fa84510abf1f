//! Keeps a thread on the CPUs that it was given.

use std::io;

use core_affinity::CoreId;
use rustix::thread::{CpuSet, sched_setaffinity};

/// A thread that stays where it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// There is nothing to pin to.
    #[error("cannot pin a thread to no CPU at all")]
    Empty,
    /// The operating system's mask has no such bit.
    #[error("cannot pin a thread to CPU {cpu}: the mask ends at {limit}")]
    OutOfRange {
        /// The CPU that was asked for.
        cpu: usize,
        /// The first number that a mask cannot hold.
        limit: usize,
    },
    /// The operating system said no: no such CPU, or not for this process.
    #[error("cannot pin a thread to {count} CPUs from CPU {first}: {source}")]
    Refused {
        /// The first CPU that was asked for.
        first: usize,
        /// How many were asked for.
        count: usize,
        /// The system's reason.
        source: io::Error,
    },
}

/// Keeps the calling thread on `cpus`: on one core when there is one, else on
/// any of the set.
///
/// # Errors
/// [`PinError`]; the thread then runs where it ran before, which is slower and
/// never wrong.
pub fn pin_current_thread(cpus: &[usize]) -> Result<(), PinError> {
    let limit = CpuSet::MAX_CPU;
    let &first = cpus.first().ok_or(PinError::Empty)?;
    if let Some(&cpu) = cpus.iter().find(|&&cpu| cpu >= limit) {
        return Err(PinError::OutOfRange { cpu, limit });
    }
    let pinned = if let &[id] = cpus {
        if core_affinity::set_for_current(CoreId { id }) { Ok(()) } else { Err(io::Error::last_os_error()) }
    } else {
        let mut set = CpuSet::new();
        for &cpu in cpus {
            set.set(cpu);
        }
        sched_setaffinity(None, &set).map_err(io::Error::from)
    };
    pinned.map_err(|source| PinError::Refused { first, count: cpus.len(), source })
}
