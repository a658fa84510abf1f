//! Sources of kernels as one text: for OpenCL's compilers, and to tell whether what was compiled for
//! NVIDIA's devices is of the sources that are there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A source with the text of each file that it includes, the first time that it does.
///
/// # Errors
/// What reading says.
pub(crate) fn whole(path: &Path) -> io::Result<String> {
    with_includes(path, &mut BTreeSet::new())
}

fn with_includes(path: &Path, seen: &mut BTreeSet<PathBuf>) -> io::Result<String> {
    if !seen.insert(path.to_owned()) {
        return Ok(String::new());
    }
    let source = fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let mut text = String::new();
    for line in source.lines() {
        match line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
            Some(name) => {
                let included = path.parent().unwrap_or(Path::new("")).join(name);
                text += &with_includes(&included, seen)?;
            }
            None => text = text + line + "\n",
        }
    }
    Ok(text)
}
