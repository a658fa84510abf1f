//! Programs: compiled from source, or found as a file.
//!
//! A file is named by the digest of what its program was made of, the device, its driver and
//! the source; it holds a digest of that and of the program, and the program. One that does
//! not agree with its digest, or that the driver does not take, is made again.

use std::ffi::CStr;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use opencl3::error_codes::CL_BUILD_PROGRAM_FAILURE;
use opencl3::program::{
    CL_PROGRAM_BINARIES, CL_PROGRAM_BUILD_LOG, build_program, create_program_with_binary,
    create_program_with_source, get_program_build_data, get_program_info,
};
use opencl3::types::cl_int;
use sha2::{Digest, Sha256};

use super::driver::{self, Context, Program};
use crate::{DeviceInfo, Error};

const OPTIONS: &CStr = c"-cl-std=CL1.2";
/// Bytes of a digest.
const DIGEST: usize = 32;

static CACHE: Mutex<Option<PathBuf>> = Mutex::new(None);

pub(super) fn cache_in(folder: PathBuf) {
    *CACHE.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
}

/// A family's program for a device.
pub(super) fn build(
    context: &Context,
    info: &DeviceInfo,
    family: &'static str,
    source: &str,
) -> Result<Program, Error> {
    let folder = CACHE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let file = folder.map(|folder| File::new(folder, info, source));
    if let Some(program) = file.as_ref().and_then(|file| from_binary(context, &file.read()?)) {
        return Ok(program);
    }
    let program = from_source(context, family, source)?;
    if let (Some(file), Some(binary)) = (file, binary_of(&program)) {
        // A file that cannot be written is none: the next one compiles again.
        let _ = file.write(&binary);
    }
    Ok(program)
}

fn compile(context: &Context, program: &Program) -> Result<(), cl_int> {
    build_program(program.0, &[context.device], OPTIONS, None, std::ptr::null_mut())
}

fn from_source(context: &Context, family: &'static str, source: &str) -> Result<Program, Error> {
    let made = create_program_with_source(context.raw.0, &[source]);
    let program = Program(context.check("clCreateProgramWithSource", made)?);
    let Err(code) = compile(context, &program) else { return Ok(program) };
    let device = context.id().to_string();
    if code != CL_BUILD_PROGRAM_FAILURE {
        context.check("clBuildProgram", Err(code))?;
    }
    let log = get_program_build_data(program.0, context.device, CL_PROGRAM_BUILD_LOG).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let log = format!("{} {}", driver::text(code), log.trim_matches('\0').trim());
    Err(Error::Compile { family, device, code, log })
}

fn from_binary(context: &Context, binary: &[u8]) -> Option<Program> {
    // SAFETY: the device is the context's; the driver checks the binary, which it has made itself.
    let made = unsafe { create_program_with_binary(context.raw.0, &[context.device], &[binary]) };
    let program = Program(made.ok()?);
    compile(context, &program).ok().map(|()| program)
}

fn binary_of(program: &Program) -> Option<Vec<u8>> {
    let binaries: Vec<Vec<u8>> = get_program_info(program.0, CL_PROGRAM_BINARIES).ok()?.into();
    binaries.into_iter().next().filter(|binary| !binary.is_empty())
}

/// Where a program is kept.
struct File {
    folder: PathBuf,
    /// The digest of what the program was made of.
    key: [u8; DIGEST],
}

impl File {
    fn new(folder: PathBuf, info: &DeviceInfo, source: &str) -> Self {
        let mut key = Sha256::new();
        let options = OPTIONS.to_bytes();
        for part in
            [info.name.as_bytes(), info.arch.as_bytes(), info.driver.as_bytes(), options, source.as_bytes()]
        {
            key.update((part.len() as u64).to_le_bytes());
            key.update(part);
        }
        Self { folder, key: key.finalize().into() }
    }

    fn path(&self) -> PathBuf {
        let [high, low] = [0, 16].map(|at| u128::from_be_bytes(std::array::from_fn(|i| self.key[at + i])));
        self.folder.join(format!("{high:032x}{low:032x}.clbin"))
    }

    /// The digest in the file.
    fn seal(&self, binary: &[u8]) -> [u8; DIGEST] {
        Sha256::new().chain_update(self.key).chain_update(binary).finalize().into()
    }

    fn read(&self) -> Option<Vec<u8>> {
        // A pipe would keep whoever opens it.
        let path = self.path();
        fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let mut bytes = fs::read(path).ok()?;
        let binary = bytes.split_off_checked(DIGEST)?;
        (bytes == self.seal(&binary)).then_some(binary)
    }

    /// The file appears whole or not at all.
    fn write(&self, binary: &[u8]) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&self.seal(binary))?;
        file.write_all(binary)?;
        file.persist(self.path())?;
        Ok(())
    }
}

/// [`Vec::split_off`] that does not panic.
trait SplitOff: Sized {
    fn split_off_checked(&mut self, at: usize) -> Option<Self>;
}

impl SplitOff for Vec<u8> {
    fn split_off_checked(&mut self, at: usize) -> Option<Self> {
        (at <= self.len()).then(|| self.split_off(at))
    }
}
