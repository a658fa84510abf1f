//! What is in a parameter folder.

use std::path::{Path, PathBuf};

use crate::check::same_key;
use crate::format::{G1_BYTES, Layout, VK_POINTS, read_count, vk_bytes};
use crate::map::Map;
use crate::{FileKind, Meta, Published, SrsError};

/// A file of a parameter folder.
#[derive(Debug)]
pub struct Entry {
    /// The file's path.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// What it is, by its name.
    pub kind: FileKind,
    /// Whether it is of test parameters, by its name or its `.meta`.
    pub insecure: bool,
    /// Its bytes.
    pub size: u64,
    /// The bytes that it should have, where its counts or the published set tell.
    pub expected_size: Option<u64>,
    /// The published set that its name belongs to.
    pub published: Option<&'static Published>,
    /// What is wrong with it, as far as its header tells.
    pub problems: Vec<SrsError>,
}

/// The files of a parameter folder in the order of their names, with what their
/// headers tell. Other files are left out. Takes milliseconds: see [`check`](crate::check())
/// for the points.
///
/// # Errors
/// [`SrsError::Missing`] and [`SrsError::Io`] for the folder itself.
pub fn list(folder: &Path) -> Result<Vec<Entry>, SrsError> {
    let mut entries = Vec::new();
    for found in std::fs::read_dir(folder).map_err(SrsError::io(folder, "list"))? {
        let found = found.map_err(SrsError::io(folder, "list"))?;
        let name = found.file_name().to_string_lossy().into_owned();
        if let Some((kind, insecure)) = FileKind::of(&name) {
            entries.push(entry(found.path(), name, kind, insecure));
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

fn entry(path: PathBuf, name: String, kind: FileKind, insecure: bool) -> Entry {
    let size = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let published = Published::of(&name);
    let known = published.and_then(|set| match kind {
        FileKind::Params => set.params_bytes,
        FileKind::VerifyingKey => set.vk_bytes,
        _ => None,
    });
    let mut entry =
        Entry { path, name, kind, insecure, size, expected_size: known, published, problems: Vec::new() };
    entry.insecure |=
        Meta::read(&entry.path.with_extension("meta")).is_ok_and(|meta| meta.insecure.is_some());
    let found = match kind {
        FileKind::Params => params(&entry.path),
        FileKind::VerifyingKey => key(&entry.path),
        FileKind::Meta => Meta::read(&entry.path).map(|_| size),
        _ => Ok(size),
    };
    match found {
        Ok(counted) if known.is_some_and(|known| known != counted) => {
            let (path, expected) = (entry.path.clone(), known.unwrap_or_default());
            entry.problems.push(SrsError::Size { path, expected, size });
        }
        Ok(counted) => entry.expected_size = Some(counted),
        Err(problem) => entry.problems.push(problem),
    }
    entry
}

/// The bytes that a `.params` file has, when its counts and its `.vk` file agree with it.
fn params(path: &Path) -> Result<u64, SrsError> {
    let map = Map::open(path)?;
    let layout = Layout::read(map.bytes(), None, path)?;
    same_key(&map, &layout)?;
    Ok(layout.file_bytes())
}

fn key(path: &Path) -> Result<u64, SrsError> {
    let map = Map::open(path)?;
    let size = map.bytes().len() as u64;
    let inputs = read_count(map.bytes(), VK_POINTS, G1_BYTES, ("ic", None), path)?;
    let expected = vk_bytes(inputs as u64);
    if expected == size { Ok(size) } else { Err(SrsError::Trailing { path: path.into(), expected, size }) }
}
