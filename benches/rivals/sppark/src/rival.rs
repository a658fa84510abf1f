//! sppark, loaded from `libsppark.so`: the functions of `harness.cu`.
#![allow(unsafe_code, reason = "another language's functions, each as harness.cu declares it")]

use std::ffi::{c_int, c_void};
use std::path::Path;

use libloading::Library;

use crate::group::BenchCurve;

/// The library.
#[derive(Debug)]
pub(crate) struct Sppark(Library);

/// A sum, with its points and scalars on the device.
pub(crate) struct Msm<'a> {
    library: &'a Sppark,
    names: [&'static str; 3],
    raw: *mut c_void,
}

/// Scalars on the device, to be transformed.
pub(crate) struct Ntt<'a> {
    library: &'a Sppark,
    raw: *mut c_void,
}

fn checked(what: &str, code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("sppark: {what}: CUDA error {code}")) }
}

impl Sppark {
    /// Opens it.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: the library is the one that scripts/gpu-bench.sh puts beside this program; it
        // does nothing when it is loaded but to register its kernels.
        unsafe { Library::new(path) }.map(Self).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Calls a function of type `F`.
    fn get<F>(&self, name: &str) -> Result<libloading::Symbol<'_, F>, String> {
        // SAFETY: callers name a function of harness.cu and its type.
        unsafe { self.0.get(name) }.map_err(|error| format!("{name}: {error}"))
    }

    /// Uploads points and scalars.
    pub(crate) fn msm<C: BenchCurve>(&self, points: &[u8], scalars: &[[u64; 4]]) -> Result<Msm<'_>, String> {
        assert_eq!(points.len(), scalars.len() * C::BYTES);
        let names = C::SPPARK;
        let mut raw = std::ptr::null_mut();
        type New = unsafe extern "C" fn(*const c_void, *const c_void, usize, *mut *mut c_void) -> c_int;
        let new = self.get::<New>(names[0])?;
        // SAFETY: so many points and scalars are there, in the forms that it takes.
        let code =
            unsafe { new(points.as_ptr().cast(), scalars.as_ptr().cast(), scalars.len(), &raw mut raw) };
        checked(names[0], code)?;
        Ok(Msm { library: self, names, raw })
    }

    /// Uploads scalars.
    pub(crate) fn ntt(&self, scalars: &[[u64; 4]]) -> Result<Ntt<'_>, String> {
        assert!(scalars.len().is_power_of_two());
        let mut raw = std::ptr::null_mut();
        type New = unsafe extern "C" fn(*const c_void, u32, *mut *mut c_void) -> c_int;
        let new = self.get::<New>("sppark_ntt_new")?;
        // SAFETY: so many scalars are there.
        let code = unsafe { new(scalars.as_ptr().cast(), scalars.len().ilog2(), &raw mut raw) };
        checked("upload", code)?;
        Ok(Ntt { library: self, raw })
    }

    /// Mixed additions a second in XYZZ coordinates, sppark's (0) or ours (1), and two of their sums.
    pub(crate) fn additions(
        &self,
        which: i32,
        points: &[u8],
        steps: u32,
    ) -> Result<(f64, [[[u64; 6]; 4]; 2]), String> {
        assert!(points.len() >= 96 << 12);
        let (mut rate, mut sums) = (0.0, [[[0; 6]; 4]; 2]);
        type Run = unsafe extern "C" fn(c_int, *const c_void, u32, *mut c_void, *mut f64) -> c_int;
        let run = self.get::<Run>("sppark_additions")?;
        // SAFETY: it reads 2^12 points and writes two sums and a number.
        let code =
            unsafe { run(which, points.as_ptr().cast(), steps, (&raw mut sums).cast(), &raw mut rate) };
        checked("additions", code)?;
        Ok((rate, sums))
    }
}

impl Msm<'_> {
    /// The sum in Jacobian coordinates, as words.
    pub(crate) fn run(&self) -> Result<[u64; 36], String> {
        let mut sum = [0; 36];
        type Run = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
        let run = self.library.get::<Run>(self.names[1])?;
        // SAFETY: the handle is live, and the sum has 18 words in G1 and 36 in G2.
        checked(self.names[1], unsafe { run(self.raw, (&raw mut sum).cast()) })?;
        Ok(sum)
    }
}

impl Drop for Msm<'_> {
    fn drop(&mut self) {
        if let Ok(free) = self.library.get::<unsafe extern "C" fn(*mut c_void)>(self.names[2]) {
            // SAFETY: the handle is live, and nobody uses it again.
            unsafe { free(self.raw) };
        }
    }
}

impl Ntt<'_> {
    /// Transforms the scalars `count` times.
    pub(crate) fn run(&self, count: u32) -> Result<(), String> {
        let run = self.library.get::<unsafe extern "C" fn(*mut c_void, u32) -> c_int>("sppark_ntt_run")?;
        // SAFETY: the handle is live.
        checked("sppark_ntt_run", unsafe { run(self.raw, count) })
    }

    /// The first scalars.
    pub(crate) fn read(&self, scalars: &mut [[u64; 4]]) -> Result<(), String> {
        type Read = unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> c_int;
        let read = self.library.get::<Read>("sppark_ntt_read")?;
        // SAFETY: the handle is live and has at least so many scalars: they are read from a domain no smaller.
        checked("sppark_ntt_read", unsafe { read(self.raw, scalars.as_mut_ptr().cast(), scalars.len()) })
    }
}

impl Drop for Ntt<'_> {
    fn drop(&mut self) {
        if let Ok(free) = self.library.get::<unsafe extern "C" fn(*mut c_void)>("sppark_ntt_free") {
            // SAFETY: the handle is live, and nobody uses it again.
            unsafe { free(self.raw) };
        }
    }
}
