//! A whole parameter file, held against everything that can be known of it.

use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use cuzk_values::QueryLengths;

use crate::decode::{check_all, decode_all};
use crate::digest::Hasher;
use crate::format::{Layout, Query, Section};
use crate::map::Map;
use crate::progress::report;
use crate::subgroup::all_in_subgroup;
use crate::{Digest, Fault, ParameterFile, Point, Published, SrsError, Watch};

/// Points that are checked between two looks at the [`Watch`]: 24 MiB of G1.
const BLOCK: usize = 1 << 18;

/// How much of a file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Counts, sizes, the verifying key.
    Header,
    /// And that every point is canonical and on its curve.
    Curve,
    /// And that every point is in the subgroup of order r, by a randomised test that
    /// a bad point passes with probability 2^-40.
    Subgroup,
}

/// What [`check`] found: a file that is sound to the depth that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Points of each query.
    pub lengths: QueryLengths,
    /// Bytes of the file.
    pub size: u64,
    /// The file's digest, where it was asked for.
    pub digest: Option<Digest>,
    /// The published set that the file's name belongs to.
    pub published: Option<&'static Published>,
}

impl Report {
    /// Whether the digest is that of the published file; `None` where either is unknown.
    pub fn is_published(&self) -> Option<bool> {
        let known = self.published?.params_digest?;
        Some(self.digest?.to_string().starts_with(known))
    }
}

/// Compares the verifying key that a parameter file starts with with that of the `.vk`
/// file beside it.
///
/// # Errors
/// [`SrsError::OtherKey`]; those of either file, [`SrsError::Missing`] among them.
pub fn check_key(path: &Path) -> Result<(), SrsError> {
    let map = Map::open(path)?;
    same_key(&map, &Layout::read(map.bytes(), None, path)?)
}

pub(crate) fn same_key(params: &Map, layout: &Layout) -> Result<(), SrsError> {
    let path = params.path();
    let key = path.with_extension("vk");
    if Map::open(&key)?.bytes() == &params.bytes()[..layout.vk_bytes() as usize] {
        return Ok(());
    }
    Err(SrsError::OtherKey { path: path.into(), key })
}

/// Checks a parameter file. The digest, when it is asked for, is taken in the same pass.
///
/// # Errors
/// The first fault, as [`ParameterFile::open`] has them, or a bad [`SrsError::Point`].
pub fn check(
    path: &Path,
    expected: Option<&QueryLengths>,
    depth: Depth,
    digest: bool,
    watch: &mut Watch<'_>,
) -> Result<Report, SrsError> {
    let file = ParameterFile::open_with(path, expected)?;
    let size = file.layout().file_bytes();
    let mut hasher = digest.then(|| Unhashed { from: 0, hasher: Hasher::new() });
    if depth > Depth::Header || digest {
        for query in Query::ALL {
            match query {
                Query::BG2 => check_query::<G2Affine>(&file, query, depth, hasher.as_mut(), watch)?,
                _ => check_query::<G1Affine>(&file, query, depth, hasher.as_mut(), watch)?,
            }
        }
    }
    let digest = hasher.map(|mut unhashed| {
        unhashed.up_to(size as usize, file.map().bytes());
        unhashed.hasher.digest()
    });
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(Report { lengths: *file.layout().lengths(), size, digest, published: Published::of(&name) })
}

fn check_query<P: Point>(
    file: &ParameterFile,
    query: Query,
    depth: Depth,
    mut hasher: Option<&mut Unhashed>,
    watch: &mut Watch<'_>,
) -> Result<(), SrsError> {
    let (map, total) = (file.map(), file.layout().file_bytes());
    let section: Section = file.layout().section(query);
    for start in (0..section.count).step_by(BLOCK) {
        let bytes = section.bytes(&(start..section.count.min(start + BLOCK)));
        report(watch, query.name(), bytes.start as u64, total)?;
        map.check_unchanged()?;
        map.will_need(&bytes);
        let ((), checked) = rayon::join(
            || {
                if let Some(unhashed) = hasher.as_deref_mut() {
                    unhashed.up_to(bytes.end, map.bytes());
                }
            },
            || check_points::<P>(&map.bytes()[bytes.clone()], depth),
        );
        map.let_go(&bytes);
        checked.map_err(|(index, reason)| SrsError::Point {
            path: file.path().into(),
            part: query.name(),
            index: start + index,
            reason,
        })?;
    }
    report(watch, query.name(), section.end(), total)
}

fn check_points<P: Point>(bytes: &[u8], depth: Depth) -> Result<(), (usize, Fault)> {
    match depth {
        Depth::Header => Ok(()),
        Depth::Curve => check_all::<P>(bytes),
        Depth::Subgroup => {
            let points = decode_all::<P>(bytes)?;
            all_in_subgroup(&points).map_err(|index| (index, Fault::NotInSubgroup))
        }
    }
}

/// A digest in the making, and the first byte that it lacks.
struct Unhashed {
    from: usize,
    hasher: Hasher,
}

impl Unhashed {
    fn up_to(&mut self, end: usize, file: &[u8]) {
        self.hasher.update(&file[self.from..end]);
        self.from = end;
    }
}
