//! What Linux says about the machine and about this process's share of it.
//!
//! Everything is read below a root folder, so that tests lay out machines that
//! they do not have. A file that is absent says nothing; one that is there but
//! cannot be read, or makes no sense, leaves a note and says nothing either.

mod allowed;
mod cgroup;
mod list;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub(crate) use cgroup::Group;
pub(crate) use list::{parse_list, show_list};

/// More than any file of `/proc` and `/sys` that is read here: `mountinfo` of a host with a
/// thousand containers is some hundred KiB.
const MAX_FILE: u64 = 4 << 20;

/// Reads one machine's files and remembers what could not be read.
pub(crate) struct Probe<'a> {
    root: &'a Path,
    pub(crate) notes: Vec<String>,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, notes: Vec::new() }
    }

    /// Whether this is the machine that the process runs on.
    pub(crate) fn is_here(&self) -> bool {
        self.root == Path::new("/")
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Whether `path`, absolute as on the machine, is there.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path.trim_start_matches('/')).exists()
    }

    /// The text of a file, trimmed.
    pub(crate) fn text(&mut self, path: &str) -> Option<String> {
        match self.read(path) {
            Ok(text) => Some(text.trim().to_owned()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => {
                self.note(format!("{path}: {e}"));
                None
            }
        }
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let file = File::open(self.root.join(path.trim_start_matches('/')))?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What `parse` makes of a file.
    pub(crate) fn parse<T, E: Display>(
        &mut self,
        path: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = self.text(path)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(e) => {
                let shown: String = text.chars().take(40).collect();
                self.note(format!("{path}: `{}`: {e}", shown.escape_debug()));
                None
            }
        }
    }

    /// The value in bytes of one line of a file such as `/proc/meminfo`: `MemTotal:  123 kB`.
    /// Lines of a node's `meminfo` start with `Node 0 `.
    pub(crate) fn kib_field(text: &str, key: &str) -> Option<u64> {
        let value = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.split_whitespace().last() == Some(key)).then_some(value)
        })?;
        value.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    }
}
