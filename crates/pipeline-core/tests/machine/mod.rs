//! A machine that is laid out in files.
#![allow(unreachable_pub, clippy::unwrap_used, reason = "shared by test binaries")]

use std::fs;
use std::path::Path;

/// `/proc` and `/sys` below a folder of its own.
pub struct Machine(tempfile::TempDir);

impl Machine {
    /// An empty root.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Adds a file, its path absolute as on the machine.
    pub fn file(self, path: &str, text: impl AsRef<str>) -> Self {
        let path = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.as_ref()).unwrap();
        self
    }

    /// Adds a folder.
    pub fn dir(self, path: &str) -> Self {
        fs::create_dir_all(self.0.path().join(path.trim_start_matches('/'))).unwrap();
        self
    }

    /// Adds `/proc/meminfo` with total and available GiB.
    pub fn memory(self, total: u64, available: u64) -> Self {
        let (total, available) = (total << 20, available << 20);
        self.file(
            "/proc/meminfo",
            format!("MemTotal:  {total} kB\nMemFree:  1024 kB\nMemAvailable:  {available} kB\n"),
        )
    }

    /// Adds the status of the process: allowed CPUs and nodes.
    pub fn status(self, cpus: &str, mems: &str) -> Self {
        let text =
            format!("Name:\tx\nCpus_allowed_list:\t{cpus}\nMems_allowed:\t1\nMems_allowed_list:\t{mems}\n");
        self.file("/proc/self/status", text)
    }

    /// Adds a NUMA node of so many GiB.
    pub fn node(self, id: u16, cpus: &str, distances: &str, gib: u64) -> Self {
        let dir = format!("/sys/devices/system/node/node{id}");
        let (total, free) = (gib << 20, gib << 19);
        self.file(&format!("{dir}/cpulist"), format!("{cpus}\n"))
            .file(&format!("{dir}/distance"), format!("{distances}\n"))
            .file(
                &format!("{dir}/meminfo"),
                format!("\nNode {id} MemTotal:  {total} kB\nNode {id} MemFree:  {free} kB\nNode {id} Inactive(file):  1024 kB\n"),
            )
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        self.0.path()
    }
}
