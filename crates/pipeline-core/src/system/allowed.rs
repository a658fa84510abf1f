//! The CPUs and the memory nodes that this process may use.

use super::{Probe, parse_list, show_list};

impl Probe<'_> {
    /// The CPUs of the calling thread's affinity that are online and in its cpuset.
    /// `None` where nothing says.
    pub(crate) fn allowed_cpus(&mut self) -> Option<Vec<usize>> {
        let sources = [
            ("the affinity mask", self.affinity()),
            ("the cpuset", self.cpuset(&["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"])),
            ("the online CPUs", self.parse("/sys/devices/system/cpu/online", parse_list)),
        ];
        self.intersect("CPU", sources)
    }

    /// The NUMA nodes whose memory the process may use. `None` where nothing says.
    pub(crate) fn allowed_mems(&mut self) -> Option<Vec<usize>> {
        let sources = [
            ("the process's mems", self.status_list("Mems_allowed_list")),
            ("the cpuset", self.cpuset(&["cpuset.mems.effective", "cpuset.effective_mems", "cpuset.mems"])),
        ];
        self.intersect("node", sources)
    }

    /// What all sources have; one that would leave nothing is ignored with a note.
    fn intersect<const N: usize>(
        &mut self,
        what: &str,
        sources: [(&str, Option<Vec<usize>>); N],
    ) -> Option<Vec<usize>> {
        let mut allowed: Option<Vec<usize>> = None;
        for (name, set) in sources {
            let Some(set) = set.filter(|set| !set.is_empty()) else { continue };
            let Some(before) = &allowed else {
                allowed = Some(set);
                continue;
            };
            let both: Vec<_> = before.iter().copied().filter(|x| set.binary_search(x).is_ok()).collect();
            if both.is_empty() {
                let (had, set) = (show_list(before).to_string(), show_list(&set).to_string());
                self.note(format!(
                    "{name} ({set}) and what is allowed so far ({had}) share no {what}: ignored"
                ));
            } else {
                allowed = Some(both);
            }
        }
        allowed
    }

    /// The calling thread's mask. `/proc` first: it has no limit of 1,024 CPUs.
    fn affinity(&mut self) -> Option<Vec<usize>> {
        self.status_list("Cpus_allowed_list").or_else(|| {
            let set = self.is_here().then(|| rustix::thread::sched_getaffinity(None).ok())??;
            Some((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
        })
    }

    fn status_list(&mut self, key: &str) -> Option<Vec<usize>> {
        let status = self.text("/proc/thread-self/status").or_else(|| self.text("/proc/self/status"))?;
        let list = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        parse_list(list).map_err(|e| self.note(format!("{key} in /proc/self/status: {e}"))).ok()
    }

    /// The innermost group's answer: `files` are the names of v2, then v1's effective set and
    /// v1's configured one.
    fn cpuset(&mut self, files: &[&str; 3]) -> Option<Vec<usize>> {
        let groups = self.groups("cpuset");
        groups.iter().find_map(|group| {
            let names = if group.v2 { &files[..1] } else { &files[1..] };
            let mut sets = names.iter().filter_map(|name| self.parse(&group.file(name), parse_list));
            sets.find(|set| !set.is_empty())
        })
    }
}
