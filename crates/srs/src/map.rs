//! A file mapped into memory, read-only, whose pages can be let go.
//!
//! The kernel's page cache holds the file; what this process has touched counts
//! as its resident memory until [`Map::let_go`]. As with every mapping, a file
//! that another process cuts short while it is read costs this process a bus
//! error; [`Map::check_unchanged`] sees a file that was replaced or written to
//! before the next range is touched.
#![allow(unsafe_code, reason = "a mapping is unsafe to make and to advise: see the reasons at each call")]

use std::fs::{File, Metadata};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memmap2::{Advice, Mmap, UncheckedAdvice};

use crate::SrsError;

/// A mapped file.
#[derive(Debug)]
pub(crate) struct Map {
    path: PathBuf,
    file: File,
    stamp: Stamp,
    bytes: Mmap,
}

/// What changes when a file does.
type Stamp = (u64, i64, i64);

fn stamp(of: &Metadata) -> Stamp {
    (of.len(), of.mtime(), of.mtime_nsec())
}

impl Map {
    /// Opens a file read-only and maps it.
    ///
    /// # Errors
    /// [`SrsError::Missing`], [`SrsError::Io`], [`SrsError::NotAFile`], [`SrsError::Empty`],
    /// and [`SrsError::Html`] or [`SrsError::Text`] for what a failed download leaves.
    pub(crate) fn open(path: &Path) -> Result<Self, SrsError> {
        // Before it is opened: to open a pipe would wait for its writer.
        if !std::fs::metadata(path).map_err(SrsError::io(path, "open"))?.is_file() {
            return Err(SrsError::NotAFile { path: path.into() });
        }
        let file = File::open(path).map_err(SrsError::io(path, "open"))?;
        let metadata = file.metadata().map_err(SrsError::io(path, "open"))?;
        if metadata.len() == 0 {
            return Err(SrsError::Empty { path: path.into() });
        }
        // SAFETY: the mapping is read-only and its bytes are only ever read as bytes, so that a
        // writer can spoil values (which are checked after they are copied out) and nothing else.
        let bytes = unsafe { Mmap::map(&file) }.map_err(SrsError::io(path, "map"))?;
        let map = Self { path: path.into(), file, stamp: stamp(&metadata), bytes };
        map.refuse_text()?;
        Ok(map)
    }

    /// Points start with a byte below 0x20; pages, JSON and messages do not.
    fn refuse_text(&self) -> Result<(), SrsError> {
        let start = &self.bytes[..self.bytes.len().min(64)];
        let text = start.trim_ascii_start();
        let (path, size) = (self.path.clone(), self.bytes.len() as u64);
        match text.first() {
            Some(b'<') => Err(SrsError::Html { path, size }),
            Some(0x20..=0x7e) if text.iter().all(|b| matches!(b, b'\t' | b'\n' | b'\r' | 0x20..=0x7e)) => {
                let start =
                    text.iter().map(|b| if b.is_ascii_control() { ' ' } else { char::from(*b) }).collect();
                Err(SrsError::Text { path, size, start })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Fails when the file is no longer what was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), SrsError> {
        match self.file.metadata() {
            Ok(now) if stamp(&now) == self.stamp => Ok(()),
            _ => Err(SrsError::Changed { path: self.path.clone() }),
        }
    }

    /// Asks the kernel to read ahead what is about to be used.
    pub(crate) fn will_need(&self, range: &Range<usize>) {
        // Advice: reading works without it.
        let _ = self.bytes.advise_range(Advice::WillNeed, range.start, range.len());
    }

    /// Lets the pages of a range go: they no longer count as this process's memory.
    pub(crate) fn let_go(&self, range: &Range<usize>) {
        // SAFETY: pages of a read-only mapping of a file hold nothing but the file;
        // whoever still reads them gets them from it again.
        let _ =
            unsafe { self.bytes.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len()) };
    }
}
