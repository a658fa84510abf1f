//! A folder of templates.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::format::{Header, MAX_FILE, MAX_HEADER, PREFIX, VERSION};
use super::{TemplateError, decode, encode, key};
use crate::{FilecoinCircuit, Recording, SynthError};

/// A folder of templates, one file a circuit.
///
/// Files appear whole or not at all, so that processes may share the folder. It
/// is a cache: what is in it can be removed at any time, and is made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// A circuit's constraints, and where they are from.
#[derive(Debug)]
pub struct Loaded {
    /// The constraints.
    pub recording: Recording,
    /// Where they are from.
    pub origin: Origin,
    /// Why they are not in the store now, where they were recorded.
    pub unsaved: Option<TemplateError>,
}

/// Where a circuit's constraints are from.
#[derive(Debug)]
pub enum Origin {
    /// The store's file.
    File,
    /// Recorded: there was no file.
    Recorded,
    /// Recorded: the file was not usable.
    Rebuilt(TemplateError),
}

/// What a store has of a circuit, as the file's header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The circuit.
    pub circuit: FilecoinCircuit,
    /// The file.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// Constraints, those of the inputs included.
    pub constraints: u64,
    /// Public inputs, ONE included.
    pub inputs: u64,
    /// Auxiliary variables.
    pub aux: u64,
}

impl Store {
    /// The store in a folder, which is made when something is to be kept there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of a circuit, there or not.
    pub fn path(&self, circuit: FilecoinCircuit) -> PathBuf {
        self.folder.join(format!("{circuit}-v{VERSION}.r1cs"))
    }

    /// A circuit's constraints from its file.
    ///
    /// # Errors
    /// [`TemplateError`]; [`is_missing`](TemplateError::is_missing) where there is no file.
    pub fn load(&self, circuit: FilecoinCircuit) -> Result<Recording, TemplateError> {
        let key = key(circuit)?;
        let bytes = read(&self.path(circuit), MAX_FILE)?;
        decode(&key, &bytes)
    }

    /// Keeps a circuit's constraints in its file: under another name first, synced,
    /// then renamed. Gives the file's bytes.
    ///
    /// # Errors
    /// [`TemplateError::Io`], [`TemplateError::Limit`].
    pub fn save(&self, circuit: FilecoinCircuit, recording: &Recording) -> Result<u64, TemplateError> {
        let bytes = encode(&key(circuit)?, recording)?;
        fs_err::create_dir_all(&self.folder)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        file.write_all(&bytes)?;
        // As readable as other files: the folder may be shared.
        #[cfg(unix)]
        file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        file.as_file().sync_all()?;
        file.persist(self.path(circuit)).map_err(|error| error.error)?;
        Ok(bytes.len() as u64)
    }

    /// A circuit's constraints from its file; recorded and kept where there is no
    /// file, or none that can be used.
    ///
    /// # Errors
    /// As [`FilecoinCircuit::record`]. That a recording cannot be kept is no error.
    pub fn load_or_record(&self, circuit: FilecoinCircuit) -> Result<Loaded, SynthError> {
        let origin = match self.load(circuit) {
            Ok(recording) => return Ok(Loaded { recording, origin: Origin::File, unsaved: None }),
            Err(TemplateError::Synth(error)) => return Err(error),
            Err(error) if error.is_missing() => Origin::Recorded,
            Err(error) => Origin::Rebuilt(error),
        };
        let recording = circuit.record()?;
        let unsaved = self.save(circuit, &recording).err();
        Ok(Loaded { recording, origin, unsaved })
    }

    /// What there is of a circuit. Only the header is read: the file may be damaged
    /// behind it.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn stored(&self, circuit: FilecoinCircuit) -> Result<Stored, TemplateError> {
        let (path, key) = (self.path(circuit), key(circuit)?);
        let (file, bytes) = open(&path)?;
        let mut start = Vec::with_capacity(PREFIX + MAX_HEADER);
        file.take((PREFIX + MAX_HEADER) as u64).read_to_end(&mut start)?;
        let (header, _) = Header::decode(&start)?;
        if header.key != key {
            return Err(TemplateError::Foreign { found: header.key, expected: key });
        }
        header.check(bytes)?;
        let (constraints, inputs, aux) = (header.constraints(), header.inputs.into(), header.aux.into());
        Ok(Stored { circuit, path, bytes, constraints, inputs, aux })
    }

    /// Removes a circuit's file; whether there was one.
    ///
    /// # Errors
    /// [`TemplateError::Io`].
    pub fn remove(&self, circuit: FilecoinCircuit) -> Result<bool, TemplateError> {
        match fs_err::remove_file(self.path(circuit)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// A regular file and its length. What is no file is not opened: a pipe would wait
/// for a writer.
fn open(path: &Path) -> Result<(fs_err::File, u64), TemplateError> {
    let metadata = fs_err::metadata(path)?;
    if !metadata.is_file() {
        return Err(TemplateError::NotAFile);
    }
    Ok((fs_err::File::open(path)?, metadata.len()))
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, TemplateError> {
    let (file, length) = open(path)?;
    let check = |found| {
        if found <= limit { Ok(()) } else { Err(TemplateError::Limit { what: "bytes", found, limit }) }
    };
    check(length)?;
    let mut bytes = Vec::with_capacity(length as usize + 1);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    check(bytes.len() as u64)?;
    Ok(bytes)
}
