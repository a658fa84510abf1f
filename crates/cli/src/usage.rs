//! What the process has used so far: CPU time and memory, as Linux counts them.

use std::time::Duration;

/// CPU time and memory of this process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// User and system time of all threads.
    pub(crate) cpu: Duration,
    /// The most memory ever resident, mapped pages included (`VmHWM`), in bytes.
    pub(crate) peak_rss: u64,
    /// The memory that is resident now (`VmRSS`), in bytes.
    pub(crate) rss: u64,
}

impl Usage {
    /// Reads `/proc/self`. What cannot be read is zero.
    pub(crate) fn now() -> Self {
        let stat = fs_err::read_to_string("/proc/self/stat").unwrap_or_default();
        let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
        let bytes = |name| bytes(&status, name).unwrap_or_default();
        Self { cpu: cpu_time(&stat).unwrap_or_default(), peak_rss: bytes("VmHWM:"), rss: bytes("VmRSS:") }
    }
}

/// Fields 14 and 15 of `proc_pid_stat(5)`: clock ticks, which are 1/100 s on every
/// architecture that Linux has. The name in field 2 may hold spaces and brackets.
fn cpu_time(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let user: u64 = fields.nth(11)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis(10 * (user + system)))
}

/// `VmHWM:   123456 kB` of `proc_pid_status(5)`, and lines like it.
fn bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_whatever_the_process_is_called() {
        let stat = "42 (a) b) S 1 42 42 0 -1 4194560 100 0 0 0 250 31 0 0 20 0 1 0 5 6 7";
        assert_eq!(cpu_time(stat), Some(Duration::from_millis(2810)));
        assert_eq!(bytes("VmPeak: 1 kB\nVmHWM:\t    2048 kB\n", "VmHWM:"), Some(2 << 20));
        assert_eq!((cpu_time(""), bytes("", "VmHWM:")), (None, None));
    }

    #[test]
    fn this_process_uses_memory() {
        let Usage { rss, peak_rss, .. } = Usage::now();
        assert!(rss > 1 << 20 && rss <= peak_rss);
    }
}
