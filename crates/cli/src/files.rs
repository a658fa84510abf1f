//! Files that a command reads and writes.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

use crate::failure::{Classify as _, Failure};

/// Reads a file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let size = fs_err::metadata(path).or_input()?.len();
    if size > limit {
        let error = anyhow::anyhow!("{}: {size} bytes, and the limit is {limit}", path.display());
        return Err(error).or_input();
    }
    fs_err::read(path).or_input()
}

/// Writes a file whole or not at all: under a name of its own first, then renamed.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = new_file_beside(path)?;
    let written = file.write_all(bytes).and_then(|()| file.as_file().sync_all());
    written.with_context(|| format!("cannot write {}", path.display())).or_resource()?;
    make_readable(&file).or_resource()?;
    file.persist(path).with_context(|| format!("cannot write {}", path.display())).or_resource()?;
    Ok(())
}

/// Temporary files are private; results have the mode that any new file has.
fn make_readable(file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// Whether `path` can be written later: its folder is there and takes files.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(anyhow::anyhow!("{} is a folder", path.display())).or_input();
    }
    new_file_beside(path).map(drop)
}

fn new_file_beside(path: &Path) -> Result<tempfile::NamedTempFile, Failure> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    tempfile::NamedTempFile::new_in(folder)
        .with_context(|| format!("cannot write into {}", folder.display()))
        .or_resource()
}
