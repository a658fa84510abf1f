//! Files that a command reads and writes.

use std::fs::Metadata;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

use crate::failure::{Class, Classify as _, Failure};
use crate::interrupt;

/// A path as text, for people and JSON: what is not UTF-8 is replaced.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Opens an input: a file, a pipe, a device.
pub(crate) fn open(path: &Path) -> Result<fs_err::File, Failure> {
    let file = fs_err::File::open(path).or_input()?;
    if file.metadata().or_input()?.is_dir() {
        return Err(anyhow!("{} is a folder", path.display())).or_input();
    }
    Ok(file)
}

/// Reads a file of at most `limit` bytes; of a longer one, or a device without end,
/// not more than that.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    open(path)?.take(limit + 1).read_to_end(&mut bytes).or_input()?;
    if bytes.len() as u64 > limit {
        return Err(anyhow!("{}: more than {limit} bytes, the limit", path.display())).or_input();
    }
    Ok(bytes)
}

/// Makes a folder, and those around it, where it is missing.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    use io::ErrorKind::{AlreadyExists, NotADirectory};
    fs_err::create_dir_all(path).map_err(|error| {
        let bad = matches!(error.kind(), AlreadyExists | NotADirectory);
        Failure::new(if bad { Class::Input } else { Class::Resource }, error)
    })
}

/// Writes a file whole or not at all: under a name of its own first, then renamed.
/// A device or a pipe takes the bytes as they come.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let cannot = || format!("cannot write {}", path.display());
    match Target::of(path)? {
        Target::File(file) => interrupt::heeded(|| {
            let mut new =
                tempfile::NamedTempFile::new_in(folder(&file)).with_context(cannot).or_resource()?;
            new.write_all(bytes)
                .and_then(|()| new.as_file().sync_all())
                .with_context(cannot)
                .or_resource()?;
            make_readable(&new).with_context(cannot).or_resource()?;
            new.persist(&file).map_err(|e| e.error).with_context(cannot).or_resource()?;
            Ok(())
        }),
        Target::Stream => {
            let stream = std::fs::OpenOptions::new().write(true).open(path);
            stream.and_then(|mut to| to.write_all(bytes)).with_context(cannot).or_resource()
        }
    }
}

/// Temporary files are private; results can be read by anybody.
fn make_readable(file: &tempfile::NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// Whether `results` can be written later: their folders are there and take files, and
/// none is one of the `inputs`, which it would replace, or in one that is a folder, or
/// another, or where stdout goes, which has a text or JSON of its own.
pub(crate) fn check_writable<'a>(
    inputs: &[&Path],
    results: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Failure> {
    let mut taken: Vec<PathBuf> = inputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
    for path in results {
        if is_stdout(path) {
            let error = anyhow!("{}: stdout is where the command says what it has done", path.display());
            return Err(Failure::new(Class::Input, error).hint("name a file, or a pipe of its own"));
        }
        let Target::File(file) = Target::of(path)? else { continue };
        // Without a name, so that nothing stays whenever this ends.
        let folder = folder(&file);
        tempfile::tempfile_in(folder)
            .with_context(|| format!("cannot write into {}", folder.display()))
            .or_resource()?;
        if taken.iter().any(|taken| file.starts_with(taken)) {
            let error = anyhow!("{}: another file of this command is there", path.display());
            return Err(Failure::new(Class::Input, error).hint("give each a name of its own"));
        }
        taken.push(file);
    }
    Ok(())
}

/// Whether a path is what stdout goes to, and keeps it: nothing comes together in `/dev/null`.
fn is_stdout(path: &Path) -> bool {
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let (Ok(there), Ok(stdout)) = (path.metadata(), stdout.and_then(|stdout| stdout.metadata())) else {
        return false;
    };
    let same = (there.dev(), there.ino()) == (stdout.dev(), stdout.ino());
    same && (io::stdout().is_terminal() || !there.file_type().is_char_device())
}

/// What writing to a path means.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// A file, there or new, behind all symbolic links.
    File(PathBuf),
    /// Something to write into that is no file, and stays what it is.
    Stream,
}

impl Target {
    fn of(path: &Path) -> Result<Self, Failure> {
        let cannot = || format!("cannot write {}", path.display());
        match path.metadata() {
            Ok(there) if there.is_dir() => Err(anyhow!("{} is a folder", path.display())).or_input(),
            Ok(there) if there.is_file() => {
                path.canonicalize().map(Self::File).with_context(cannot).or_resource()
            }
            Ok(_) => Ok(Self::Stream),
            Err(e) if e.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Self::new_file(path),
            Err(e) => Err(e).with_context(cannot).or_input(),
        }
    }

    fn new_file(path: &Path) -> Result<Self, Failure> {
        let folder = folder(path);
        let there = folder.canonicalize().and_then(|real| Ok((real.metadata()?, real)));
        match (there, path.file_name()) {
            (Ok((metadata, real)), Some(name)) if Metadata::is_dir(&metadata) => {
                Ok(Self::File(real.join(name)))
            }
            (Err(e), _) => {
                let error = anyhow::Error::new(e).context(format!("cannot write into {}", folder.display()));
                Err(Failure::new(Class::Input, error).hint("make the folder first"))
            }
            _ => Err(anyhow!("{} names no file", path.display())).or_input(),
        }
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn class<T>(result: Result<T, Failure>) -> Option<Class> {
        result.err().map(|failure| failure.class)
    }

    #[test]
    fn a_device_without_end_is_read_to_the_limit_only() {
        assert_eq!(class(read(Path::new("/dev/zero"), 1 << 16)), Some(Class::Input));
        assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), Vec::<u8>::new());
    }

    #[test]
    fn what_is_no_file_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let to_null = folder.path().join("null");
        symlink("/dev/null", &to_null).unwrap();
        write(&to_null, b"gone").unwrap();
        assert!(to_null.is_symlink());
        assert_eq!(class(write(Path::new("/dev/full"), b"too much")), Some(Class::Resource));
    }

    #[test]
    fn a_link_stays_and_its_file_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, nowhere] = ["file", "link", "nowhere"].map(|name| folder.path().join(name));
        std::fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");

        symlink("missing/file", &nowhere).unwrap();
        assert_eq!(class(check_writable(&[], [&nowhere])), Some(Class::Input));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_result_that_cannot_be_written_is_refused_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("x".repeat(300));
        let missing = folder.path().join("missing/file");
        for path in [long, missing, folder.path().into(), "/".into(), "/dev/null/file".into()] {
            assert_eq!(class(check_writable(&[], [&path])), Some(Class::Input), "{}", path.display());
        }
    }

    #[test]
    fn a_result_replaces_neither_the_input_nor_another_result() {
        let folder = tempfile::tempdir().unwrap();
        let [input, out, same] = ["in", "out", "./out"].map(|name| folder.path().join(name));
        std::fs::write(&input, "C1").unwrap();
        assert_eq!(class(check_writable(&[&input], [&out])), None);
        assert_eq!(class(check_writable(&[&input], [&input])), Some(Class::Input));
        assert_eq!(class(check_writable(&[&input], [&out, &same])), Some(Class::Input));
        let null = PathBuf::from("/dev/null");
        assert_eq!(class(check_writable(&[&input], [&null, &null])), None);
    }
}
