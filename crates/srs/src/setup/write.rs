//! A parameter file as it is written: in order, in blocks, and whole or not at all.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use blstrs::Scalar;
use rayon::prelude::*;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::fixed_base::{BLOCK, FixedBase};
use crate::format::Query;
use crate::names::PARTIAL_PREFIX;
use crate::progress::report;
use crate::{SrsError, Watch};

/// The parts of a parameter file on their way to a writer.
pub(super) struct Points<'a, 'w, W> {
    pub(super) to: &'a mut W,
    pub(super) watch: &'a mut Watch<'w>,
    pub(super) total: u64,
    pub(super) done: u64,
}

impl<W: Write> Points<'_, '_, W> {
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), SrsError> {
        self.done += bytes.len() as u64;
        self.to.write_all(bytes).map_err(SrsError::Write)
    }

    /// A query whose scalars are all at hand.
    pub(super) fn scalars(
        &mut self,
        query: Query,
        base: &dyn FixedBase,
        scalars: &[Scalar],
    ) -> Result<(), SrsError> {
        self.query(query, base, scalars.len(), |range| scalars[range].to_vec())
    }

    /// The count of a query and its points, `base` times each scalar: some blocks for
    /// each thread at a time.
    pub(super) fn query(
        &mut self,
        query: Query,
        base: &dyn FixedBase,
        count: usize,
        scalars: impl Fn(Range<usize>) -> Vec<Scalar> + Sync,
    ) -> Result<(), SrsError> {
        self.bytes(&(count as u32).to_be_bytes())?;
        let round = 4 * BLOCK * rayon::current_num_threads();
        let block_bytes = BLOCK * query.point_bytes();
        let mut bytes = vec![0; round.min(count) * query.point_bytes()];
        for start in (0..count).step_by(round) {
            report(self.watch, query.name(), self.done, self.total)?;
            bytes.truncate(round.min(count - start) * query.point_bytes());
            bytes.par_chunks_mut(block_bytes).enumerate().for_each(|(block, bytes)| {
                let first = start + block * BLOCK;
                let scalars = scalars(first..first + bytes.len() / query.point_bytes());
                base.multiply(&scalars, bytes);
            });
            self.bytes(&bytes)?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), SrsError> {
        self.to.flush().map_err(SrsError::Write)?;
        report(self.watch, "done", self.done, self.total)
    }
}

/// A file that gets its name when it is complete, and is removed otherwise.
pub(super) struct Target {
    file: NamedTempFile,
    path: PathBuf,
    replace: bool,
}

impl Target {
    /// A file that will be `name` in `folder`.
    ///
    /// # Errors
    /// [`SrsError::Exists`], unless that may be replaced; [`SrsError::Io`].
    pub(super) fn create(folder: &Path, name: &str, replace: bool) -> Result<Self, SrsError> {
        let path = folder.join(name);
        if !replace && path.symlink_metadata().is_ok() {
            return Err(SrsError::Exists { path });
        }
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file =
            builder.prefix(PARTIAL_PREFIX).tempfile_in(folder).map_err(SrsError::io(folder, "write into"))?;
        Ok(Self { file, path, replace })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the space on the disk now, where the file system can.
    ///
    /// # Errors
    /// [`SrsError::Io`] when there is not enough.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), SrsError> {
        match fallocate(self.file.as_file(), FallocateFlags::empty(), 0, bytes) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(errno) => Err(SrsError::io(&self.path, "reserve space on the disk")(errno.into())),
        }
    }

    /// Brings files to the disk, then gives them their names, in order. Where another
    /// process was first to take one, the rest is not named: a set has one maker.
    ///
    /// # Errors
    /// [`SrsError::Exists`], unless that may be replaced; [`SrsError::Io`].
    pub(super) fn publish<const N: usize>(targets: [Self; N]) -> Result<[PathBuf; N], SrsError> {
        for target in &targets {
            target.file.as_file().sync_all().map_err(SrsError::io(&target.path, "write"))?;
        }
        let mut paths = std::array::from_fn(|_| PathBuf::new());
        for (target, path) in targets.into_iter().zip(&mut paths) {
            path.clone_from(&target.path);
            let Self { file, replace, .. } = target;
            let named = if replace { file.persist(&*path) } else { file.persist_noclobber(&*path) };
            named.map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => SrsError::Exists { path: path.clone() },
                _ => SrsError::io(path, "name")(error.error),
            })?;
        }
        if let Some(folder) = paths.first().and_then(|path| path.parent()) {
            // The names, too; a file system that cannot has them soon enough.
            let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(paths)
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_makers_at_once_the_first_keeps_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let make = |text: &[u8], replace| {
            let mut target = Target::create(folder.path(), "vk", replace).unwrap();
            target.write_all(text).unwrap();
            target
        };
        let (first, second) = (make(b"first", false), make(b"second", false));
        let [path] = Target::publish([first]).unwrap();
        assert!(matches!(Target::publish([second]), Err(SrsError::Exists { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        Target::publish([make(b"third", true)]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"third");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
