//! What parameter files are called, where they are, and what is known of the published ones.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::SrsError;

/// The version of the published parameters, with which their names start.
pub const VERSION: &str = "v28";
/// The environment variable that names the folder, read by whoever calls [`Folder::resolve`].
pub const FOLDER_VARIABLE: &str = "FIL_PROOFS_PARAMETER_CACHE";
/// The folder of upstream when nothing names another.
pub const DEFAULT_FOLDER: &str = "/var/tmp/filecoin-proof-parameters";
/// The folder of test parameters within a data folder.
pub const TEST_FOLDER: &str = "cuzk-test-parameters";

const TEST_PREFIX: &str = "insecure-test";

/// The files of one circuit: `.params`, `.vk`, `.meta`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ParameterSet {
    base: String,
}

impl ParameterSet {
    /// The names that the ecosystem uses: `v28-` and the circuit's stem, as
    /// `stacked-proof-of-replication-<tree>-sha256_hasher-<hex>` (storage-proofs-core,
    /// `parameter_cache.rs`). A stem may have the version in front already.
    ///
    /// # Errors
    /// [`SrsError::Name`] for a stem that is not letters, digits, `-`, `_`.
    pub fn official(stem: &str) -> Result<Self, SrsError> {
        Self::new(VERSION, stem)
    }

    /// The names of test parameters of that circuit: `insecure-test-` and the stem.
    ///
    /// # Errors
    /// As [`official`](Self::official).
    pub fn insecure_test(stem: &str) -> Result<Self, SrsError> {
        Self::new(TEST_PREFIX, stem)
    }

    fn new(prefix: &str, stem: &str) -> Result<Self, SrsError> {
        let stem = stem.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('-')).unwrap_or(stem);
        let plain = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
        if stem.is_empty() || stem.len() > 200 || !stem.bytes().all(plain) {
            return Err(SrsError::Name { stem: stem.chars().take(200).collect() });
        }
        Ok(Self { base: format!("{prefix}-{stem}") })
    }

    /// The file of the queries.
    pub fn params(&self) -> String {
        format!("{}.params", self.base)
    }

    /// The file of the verifying key.
    pub fn vk(&self) -> String {
        format!("{}.vk", self.base)
    }

    /// The file that names the sector size.
    pub fn meta(&self) -> String {
        format!("{}.meta", self.base)
    }
}

/// What a file in a parameter folder is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// The queries of a circuit.
    Params,
    /// Its verifying key.
    VerifyingKey,
    /// Its sector size.
    Meta,
    /// An inner-product SRS, which aggregation uses and this crate does not.
    InnerProduct,
    /// A lock of a downloader.
    Lock,
    /// What a setup that was killed left behind.
    Partial,
    /// A parameter file of another version.
    OtherVersion,
}

impl FileKind {
    /// The kind of a file, and whether it is one of [`ParameterSet::insecure_test`];
    /// `None` for a file that has no business in such a folder.
    pub fn of(name: &str) -> Option<(Self, bool)> {
        if name.starts_with(PARTIAL_PREFIX) {
            return Some((Self::Partial, false));
        }
        let (stem, extension) = name.rsplit_once('.')?;
        if extension == "lock" {
            return Some((Self::Lock, false));
        }
        let insecure = stem.strip_prefix(TEST_PREFIX).is_some_and(|rest| rest.starts_with('-'));
        let version = stem.split_once('-')?.0;
        let versioned = version.strip_prefix('v').is_some_and(|v| v.bytes().all(|d| d.is_ascii_digit()));
        let kind = match extension {
            _ if !insecure && !versioned => return None,
            "params" | "vk" | "meta" | "srs" if versioned && version != VERSION => Self::OtherVersion,
            "params" => Self::Params,
            "vk" => Self::VerifyingKey,
            "meta" => Self::Meta,
            "srs" => Self::InnerProduct,
            _ => return None,
        };
        Some((kind, insecure))
    }
}

/// How the name of a file that is being written starts.
pub(crate) const PARTIAL_PREFIX: &str = ".cuzk-partial-";

/// A folder, and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
    /// Who chose it.
    pub origin: Origin,
}

/// Who chose a [`Folder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An explicit option.
    Explicit,
    /// [`FOLDER_VARIABLE`].
    Environment,
    /// Nobody.
    Default,
}

impl Folder {
    /// The folder of official parameters: an explicit option wins over the value of
    /// [`FOLDER_VARIABLE`] (where it is not empty), which wins over [`DEFAULT_FOLDER`].
    pub fn resolve(option: Option<PathBuf>, environment: Option<OsString>) -> Self {
        let environment = environment.filter(|value| !value.is_empty());
        match (option, environment) {
            (Some(path), _) => Self { path, origin: Origin::Explicit },
            (None, Some(value)) => Self { path: value.into(), origin: Origin::Environment },
            (None, None) => Self { path: DEFAULT_FOLDER.into(), origin: Origin::Default },
        }
    }

    /// The folder of test parameters: an explicit option, or [`TEST_FOLDER`] in `data`.
    /// Never that of official ones.
    pub fn for_tests(option: Option<PathBuf>, data: &Path) -> Self {
        match option {
            Some(path) => Self { path, origin: Origin::Explicit },
            None => Self { path: data.join(TEST_FOLDER), origin: Origin::Default },
        }
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = match self.origin {
            Origin::Explicit => "as given",
            Origin::Environment => FOLDER_VARIABLE,
            Origin::Default => "default",
        };
        write!(f, "{} ({from})", self.path.display())
    }
}

/// What is known of a published parameter set: a manifest (upstream's
/// `parameters.json`, [`Manifest`](crate::Manifest)) knows all of them in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// The statement and the sector size, for people.
    pub title: &'static str,
    /// Bytes of `.params`.
    pub params_bytes: Option<u64>,
    /// Bytes of `.vk`.
    pub vk_bytes: Option<u64>,
    /// How the digest of `.params` starts, in hexadecimal.
    pub params_digest: Option<&'static str>,
    /// How the digest of `.vk` starts, in hexadecimal.
    pub vk_digest: Option<&'static str>,
    prefix: &'static str,
    id: &'static str,
}

const POREP: &str = "stacked-proof-of-replication-merkletree-poseidon_hasher";
const POST: &str = "proof-of-spacetime-fallback-merkletree-poseidon_hasher";
const UPDATE: &str = "empty-sector-update-merkletree-poseidon_hasher";

/// Sizes follow from the circuits' densities; digests are those of upstream's
/// `parameters.json`, as far as this project has seen them confirmed.
const PUBLISHED: [Published; 7] = [
    published("PoRep 2KiB", POREP, "032d3138").bytes(1_114_707_768, 4_708),
    published("PoRep 32GiB", POREP, "82a357d2")
        .bytes(47_373_928_632, 32_356)
        .digests("6a388072a518cf46ebd661f5cc46900a", Some("0c7b4aac1c40fdb7eb82bc355b41addf")),
    published("PoRep 64GiB", POREP, "96f1b4a0").digests("1801f8a6", None),
    published("WindowPoSt 32GiB", POST, "0377ded6")
        .bytes(60_780_374_232, 2_481_508)
        .digests("2cf49eb2", None),
    published("WinningPoSt 32GiB", POST, "559e581f").bytes(192_050_232, 13_636).digests("d84f79a1", None),
    published("SnapDeals 32GiB", UPDATE, "3b7f44a9").bytes(34_453_501_368, 1_348).digests("1b3cfd76", None),
    published("SnapDeals 64GiB", UPDATE, "102e1444").digests("1a392e7b", None),
];

const fn published(title: &'static str, prefix: &'static str, id: &'static str) -> Published {
    let (params_bytes, vk_bytes, params_digest, vk_digest) = (None, None, None, None);
    Published { title, params_bytes, vk_bytes, params_digest, vk_digest, prefix, id }
}

impl Published {
    const fn bytes(mut self, params: u64, vk: u64) -> Self {
        (self.params_bytes, self.vk_bytes) = (Some(params), Some(vk));
        self
    }

    const fn digests(mut self, params: &'static str, vk: Option<&'static str>) -> Self {
        (self.params_digest, self.vk_digest) = (Some(params), vk);
        self
    }

    /// The set to which a file of this name belongs.
    pub fn of(file_name: &str) -> Option<&'static Self> {
        let stem = file_name.strip_prefix(VERSION)?.strip_prefix('-')?;
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let (before, id) = stem.rsplit_once('-')?;
        PUBLISHED.iter().find(|known| before.starts_with(known.prefix) && id.starts_with(known.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POREP_32GIB: &str = "stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-\
                               82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820";

    #[test]
    fn names_are_those_of_the_ecosystem() {
        let official = ParameterSet::official(POREP_32GIB).unwrap();
        assert_eq!(official.params(), format!("v28-{POREP_32GIB}.params"));
        assert_eq!(official.vk(), format!("v28-{POREP_32GIB}.vk"));
        assert_eq!(official.meta(), format!("v28-{POREP_32GIB}.meta"));
        assert_eq!(ParameterSet::official(&format!("v28-{POREP_32GIB}")).unwrap(), official);
        let test = ParameterSet::insecure_test(&format!("v28-{POREP_32GIB}")).unwrap();
        assert_eq!(test.params(), format!("insecure-test-{POREP_32GIB}.params"));
        for bad in ["", "a/b", "..", "a b", "a\0", "ä", &"x".repeat(201)] {
            assert!(matches!(ParameterSet::official(bad), Err(SrsError::Name { .. })), "{bad:?}");
        }
    }

    #[test]
    fn kinds_follow_from_names() {
        let kind = |name: &str| FileKind::of(name);
        assert_eq!(kind("v28-x.params"), Some((FileKind::Params, false)));
        assert_eq!(kind("insecure-test-x.params"), Some((FileKind::Params, true)));
        assert_eq!(kind("insecure-test-x.vk"), Some((FileKind::VerifyingKey, true)));
        assert_eq!(kind("v28-x.meta"), Some((FileKind::Meta, false)));
        assert_eq!(kind("v28-fil-inner-product-v1.srs"), Some((FileKind::InnerProduct, false)));
        assert_eq!(kind("v27-x.params"), Some((FileKind::OtherVersion, false)));
        assert_eq!(kind("fetch.lock"), Some((FileKind::Lock, false)));
        assert_eq!(kind(&format!("{PARTIAL_PREFIX}1")), Some((FileKind::Partial, false)));
        for other in ["x.params", "v28-x.pce", "v28.params", "vx-x.params", "README", "v28-x"] {
            assert_eq!(kind(other), None, "{other}");
        }
    }

    #[test]
    fn an_option_wins_over_the_environment_and_that_over_the_default() {
        let resolve = |option: Option<&str>, environment: Option<&str>| {
            let folder = Folder::resolve(option.map(Into::into), environment.map(Into::into));
            (folder.path.display().to_string(), folder.origin)
        };
        assert_eq!(resolve(Some("/a"), Some("/b")), ("/a".into(), Origin::Explicit));
        assert_eq!(resolve(None, Some("/b")), ("/b".into(), Origin::Environment));
        assert_eq!(resolve(None, Some("")), (DEFAULT_FOLDER.into(), Origin::Default));
        assert_eq!(resolve(None, None), (DEFAULT_FOLDER.into(), Origin::Default));
        assert_eq!(Folder::resolve(None, Some("/b".into())).to_string(), "/b (FIL_PROOFS_PARAMETER_CACHE)");
        let tests = |option: Option<&str>| Folder::for_tests(option.map(Into::into), Path::new("/d"));
        assert_eq!(tests(None).path, Path::new("/d/cuzk-test-parameters"));
        assert_eq!(tests(Some("/o")).path, Path::new("/o"));
    }

    #[test]
    fn published_sets_are_known_by_name() {
        let known = Published::of(&format!("v28-{POREP_32GIB}.params")).unwrap();
        assert_eq!((known.title, known.vk_bytes), ("PoRep 32GiB", Some(32_356)));
        // A different circuit with the same identifier.
        let update = "merkletree-poseidon_hasher-8-8-0-3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18";
        assert!(Published::of(&format!("v28-empty-sector-update-{update}.vk")).is_some());
        assert_eq!(Published::of(&format!("v28-empty-sector-update-poseidon-{update}.vk")), None);
        assert_eq!(Published::of(&format!("insecure-test-{POREP_32GIB}.params")), None);
        assert_eq!(Published::of(&format!("v27-{POREP_32GIB}.params")), None);
    }

    /// The table's sizes, from the counts of the circuits.
    #[test]
    fn published_sizes_follow_from_the_circuits() {
        let size = |inputs: usize, log_domain: u32, aux, a_aux: usize, b_aux: usize| {
            let (h, a, b) = ((1 << log_domain) - 1, inputs + a_aux, 1 + b_aux);
            let layout = crate::Layout::new(&cuzk_values::QueryLengths { inputs, h, l: aux, a, b });
            (Some(layout.file_bytes()), Some(layout.vk_bytes()))
        };
        let known = |title| {
            let set = PUBLISHED.iter().find(|set| set.title == title).unwrap();
            (set.params_bytes, set.vk_bytes)
        };
        assert_eq!(known("PoRep 2KiB"), size(40, 22, 2_685_673, 2_674_908, 685_521));
        assert_eq!(known("PoRep 32GiB"), size(328, 27, 130_169_893, 129_753_292, 33_112_281));
        assert_eq!(known("WindowPoSt 32GiB"), size(25_840, 27, 126_902_376, 96_179_805, 91_925_766));
        assert_eq!(known("WinningPoSt 32GiB"), size(133, 19, 375_210, 284_196, 272_184));
        assert_eq!(known("SnapDeals 32GiB"), size(5, 27, 80_978_488, 80_743_581, 20_983_607));
    }
}
