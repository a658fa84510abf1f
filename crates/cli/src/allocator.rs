//! The allocator's habits.

#![allow(unsafe_code, reason = "a setting of the C library's")]

/// Has large blocks go back to the system when they are freed, so that the process
/// weighs what the budget says.
///
/// glibc maps a block above a threshold alone and unmaps it when it is freed. By default
/// each such block raises the threshold to its own size, up to 32 MiB (`mallopt(3)`);
/// blocks below come from heaps that shrink at their ends only, and two proofs one after
/// the other were seen to hold a third more than their budget. A threshold that is set
/// stays where it is.
pub(crate) fn give_back_what_is_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const THRESHOLD: libc::c_int = 256 << 10;
        for option in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
            // SAFETY: both options take any size, and the call locks the allocator. Where
            // it refuses, the default remains.
            let _ = unsafe { libc::mallopt(option, THRESHOLD) };
        }
    }
}
