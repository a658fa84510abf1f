//! A file mapped into memory, read-only, whose pages can be let go.
//!
//! The kernel's page cache holds the file; what this process has touched counts
//! as its resident memory until [`Map::let_go`]. [`Map::check_unchanged`] sees a
//! file that was replaced or written to before the next range is touched. As with
//! every mapping, a file that another process cuts short while a range is read, or
//! whose disk fails, costs this process a bus error: see [`exit_on_bus_error`].
#![allow(unsafe_code, reason = "a mapping is unsafe to make and to advise: see the reasons at each call")]

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use memmap2::{Advice, Mmap, UncheckedAdvice};
use rayon::prelude::*;

use crate::SrsError;

/// A mapped file.
#[derive(Debug)]
pub(crate) struct Map {
    path: PathBuf,
    file: File,
    stamp: Stamp,
    bytes: Mmap,
}

/// Bytes that one thread reads at once: long calls, and enough of them for all threads.
const READ: usize = 256 << 10;

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

    /// Copies a range of the file as it is now, on the caller's rayon pool: by reading it, so that
    /// no page of the mapping is touched, and that of a file cut short is an error.
    pub(crate) fn read(&self, range: Range<usize>, to: &mut [u8]) -> io::Result<()> {
        assert_eq!(range.len(), to.len(), "as many bytes as are read");
        to.par_chunks_mut(READ)
            .enumerate()
            .try_for_each(|(i, part)| self.file.read_exact_at(part, (range.start + i * READ) as u64))
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

/// What a process says, and how it ends, after a bus error.
#[derive(Debug, Clone)]
pub struct LastWords {
    /// For stdout.
    pub stdout: String,
    /// For stderr.
    pub stderr: String,
    /// The exit code.
    pub code: i32,
}

static LAST_WORDS: OnceLock<LastWords> = OnceLock::new();

/// Has the process say what happened, and exit, where a mapped file cannot be read any
/// more: without this, the kernel ends it by `SIGBUS`, without a word. Of several calls
/// the first one's words count.
///
/// # Errors
/// Where the system refuses the handler.
pub fn exit_on_bus_error(words: LastWords) -> io::Result<()> {
    LAST_WORDS.get_or_init(|| words);
    // SAFETY: all zeros is a `sigaction`: no flags, an empty mask, the default handler.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_bus_error as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: `action` is valid, and its handler calls only what `signal-safety(7)` allows.
    match unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads what was set before the handler was, writes it and ends: no lock, no memory.
extern "C" fn on_bus_error(_signal: libc::c_int) {
    let say = |to, text: &str| {
        // SAFETY: the pointer and the length are a string's; a failure to write it is nobody's to hear.
        let _ = unsafe { libc::write(to, text.as_ptr().cast(), text.len()) };
    };
    let words = LAST_WORDS.get();
    if let Some(words) = words {
        say(libc::STDERR_FILENO, &words.stderr);
        say(libc::STDOUT_FILENO, &words.stdout);
    }
    // SAFETY: `_exit` runs nothing of this process any more.
    unsafe { libc::_exit(words.map_or(libc::EXIT_FAILURE, |words| words.code)) }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Ends its process.
    fn read_a_file_cut_short() {
        let words = LastWords { stdout: "out".into(), stderr: "the file was cut short".into(), code: 4 };
        exit_on_bus_error(words).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let map = Map::open(file.path()).unwrap();
        file.as_file().set_len(1 << 10).unwrap();
        assert!(matches!(map.check_unchanged(), Err(SrsError::Changed { .. })));
        std::fs::remove_file(file.path()).unwrap();
        let sum: u64 = map.bytes().iter().map(|byte| u64::from(*byte)).sum();
        panic!("read all of it: {sum}");
    }

    #[test]
    fn reading_a_file_cut_short_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..3 * READ + 5).map(|i| (i % 251) as u8).collect();
        std::fs::write(file.path(), &bytes).unwrap();
        let map = Map::open(file.path()).unwrap();
        for range in [0..bytes.len(), 7..2 * READ + 9, 3..3, READ..READ + 1] {
            let mut read = vec![0; range.len()];
            map.read(range.clone(), &mut read).unwrap();
            assert!(read == bytes[range]);
        }
        file.as_file().set_len(READ as u64).unwrap();
        let error = map.read(0..bytes.len(), &mut vec![0; bytes.len()]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_file_cut_short_in_use_ends_the_process_in_words() {
        const CHILD: &str = "CUZK_SRS_BUS_ERROR";
        if std::env::var_os(CHILD).is_some() {
            read_a_file_cut_short();
        }
        let mut again = Command::new(std::env::current_exe().unwrap());
        let this = "map::tests::a_file_cut_short_in_use_ends_the_process_in_words";
        let ended = again.args([this, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
        assert_eq!(ended.status.code(), Some(4), "{ended:?}");
        assert!(ended.stderr.ends_with(b"the file was cut short"), "{ended:?}");
        assert!(ended.stdout.ends_with(b"out"), "{ended:?}");
    }
}
