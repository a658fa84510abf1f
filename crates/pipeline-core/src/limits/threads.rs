//! How many threads can run at once.

use std::fmt;
use std::path::Path;

use crate::system::{Group, Probe, show_list};

/// What bounds the threads of this process that run at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadLimits {
    cpus: Option<Vec<usize>>,
    quota: Option<CpuQuota>,
    notes: Vec<String>,
}

/// The tightest CPU quota of this process's control groups.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuQuota {
    /// The file.
    pub source: String,
    /// CPU time per time, as 2.5 for two and a half CPUs.
    pub cpus: f64,
}

impl ThreadLimits {
    /// Looks at the calling thread and this machine.
    pub fn detect() -> Self {
        Self::detect_at(Path::new("/"))
    }

    /// As [`detect`](Self::detect), with `/proc` and `/sys` below `root`.
    pub fn detect_at(root: &Path) -> Self {
        let mut probe = Probe::new(root);
        let cpus = probe.allowed_cpus();
        let groups = probe.groups("cpu");
        let quotas: Vec<_> = groups.iter().filter_map(|group| quota(&mut probe, group)).collect();
        let quota = quotas.into_iter().min_by(|a, b| a.cpus.total_cmp(&b.cpus));
        Self { cpus, quota, notes: probe.notes }
    }

    /// The CPUs that affinity and cpuset allow, where known.
    pub fn cpus(&self) -> Option<&[usize]> {
        self.cpus.as_deref()
    }

    /// The tightest quota, if any.
    pub fn quota(&self) -> Option<&CpuQuota> {
        self.quota.as_ref()
    }

    /// How many threads to run: one a CPU, at most the whole CPUs of the quota, at least one.
    ///
    /// More threads than the quota pays for would all be stopped for the rest of each period,
    /// and a parallel step waits for its slowest thread.
    pub fn threads(&self) -> usize {
        let cpus = self
            .cpus
            .as_ref()
            .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), Vec::len);
        #[allow(clippy::cast_sign_loss, reason = "a quota is positive, and `as` saturates")]
        let paid = self.quota.as_ref().map_or(usize::MAX, |quota| quota.cpus as usize);
        cpus.min(paid).max(1)
    }

    /// What could not be read, one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// How many threads can run at once in this process; see [`ThreadLimits::threads`].
pub fn allowed_threads() -> usize {
    ThreadLimits::detect().threads()
}

impl fmt::Display for ThreadLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} threads", self.threads())?;
        match &self.cpus {
            Some(cpus) => write!(f, ": CPUs {}", show_list(cpus))?,
            None => write!(f, ": CPUs unknown")?,
        }
        if let Some(quota) = &self.quota {
            write!(f, ", quota {:.2} CPUs by {}", quota.cpus, quota.source)?;
        }
        writeln!(f)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "   note: {note}"))
    }
}

/// The quota of one group: v2 has `max 100000` or `250000 100000` in one file, v1 two files and
/// -1 for none.
fn quota(probe: &mut Probe<'_>, group: &Group) -> Option<CpuQuota> {
    let source = group.file(if group.v2 { "cpu.max" } else { "cpu.cfs_quota_us" });
    let (quota, period) = if group.v2 {
        probe.parse(&source, |text| {
            let mut numbers = text.split_whitespace().map(number);
            let quota = numbers.next().unwrap_or(Ok(None))?;
            let period = numbers.next().unwrap_or(Ok(Some(100_000.0)))?;
            Ok::<_, std::num::ParseFloatError>((quota, period))
        })?
    } else {
        (probe.parse(&source, number)?, probe.parse(&group.file("cpu.cfs_period_us"), number)?)
    };
    let cpus = quota.filter(|&q| q > 0.0)? / period.filter(|&p| p > 0.0)?;
    Some(CpuQuota { source, cpus })
}

fn number(text: &str) -> Result<Option<f64>, std::num::ParseFloatError> {
    if text == "max" { Ok(None) } else { text.parse::<f64>().map(Some) }
}
