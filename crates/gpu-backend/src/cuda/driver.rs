//! The driver's calls: each return code looked at, each context made current.

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Display;
use std::fs;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute as A, CUresult};

use super::Cuda;
use crate::{Backend, DeviceInfo, Error};

/// The oldest driver whose functions are all that are called here: CUDA 12.0.
const OLDEST: c_int = 12_000;

/// Loads the driver, once.
fn load() -> Result<(), Error> {
    static LOADED: OnceLock<Result<(), Error>> = OnceLock::new();
    LOADED.get_or_init(try_load).clone()
}

fn try_load() -> Result<(), Error> {
    // SAFETY: loading the driver's library runs its initialisers, which are NVIDIA's own.
    if !unsafe { sys::is_culib_present() } {
        return Err(unavailable("no driver: libcuda.so.1 is not to be found"));
    }
    let mut version = 0;
    // SAFETY: the pointer is to a number that lives through the call; this may be called before `cuInit`.
    let result = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    if result != CUresult::CUDA_SUCCESS || version < OLDEST {
        let [major, minor] = [version / 1000, version % 1000 / 10];
        return Err(unavailable(format!("the driver is of CUDA {major}.{minor}, 12.0 or newer is needed")));
    }
    // SAFETY: no pointer; any number of threads may call it any number of times.
    match unsafe { sys::cuInit(0) } {
        CUresult::CUDA_SUCCESS => Ok(()),
        other => Err(unavailable(format!("cuInit: {} (code {})", text(other), other as i32))),
    }
}

fn unavailable(reason: impl Display) -> Error {
    Error::Unavailable { backend: Cuda::NAME, reason: reason.to_string() }
}

/// The driver's own words for a code.
pub(super) fn text(result: CUresult) -> String {
    let mut words: [*const c_char; 2] = [std::ptr::null(); 2];
    // SAFETY: both pointers are to places that live through the calls; unknown codes leave null there.
    unsafe {
        let _ = sys::cuGetErrorName(result, &raw mut words[0]);
        let _ = sys::cuGetErrorString(result, &raw mut words[1]);
    }
    let word = |word: *const c_char| {
        if word.is_null() {
            return String::from("unknown");
        }
        // SAFETY: the driver's texts are static and end with a zero.
        unsafe { CStr::from_ptr(word) }.to_string_lossy().into_owned()
    };
    format!("{}, {}", word(words[0]), word(words[1]))
}

/// How many devices `CUDA_VISIBLE_DEVICES` leaves to be seen: the driver itself follows it.
pub(super) fn count() -> Result<u16, Error> {
    load()?;
    let mut count = 0;
    // SAFETY: the pointer is to a number that lives through the call.
    let result = unsafe { sys::cuDeviceGetCount(&raw mut count) };
    match (result, u16::try_from(count)) {
        (CUresult::CUDA_SUCCESS, Ok(0)) => Err(unavailable("no device")),
        (CUresult::CUDA_SUCCESS, Ok(count)) => Ok(count),
        (other, _) => Err(unavailable(format!("cuDeviceGetCount: {}", text(other)))),
    }
}

fn device(index: u16) -> Result<CUdevice, Error> {
    let count = count()?;
    if index >= count {
        return Err(Error::NoDevice { backend: Cuda::NAME, index, count: count.into() });
    }
    let mut device = 0;
    // SAFETY: the pointer is to a number that lives through the call.
    let result = unsafe { sys::cuDeviceGet(&raw mut device, index.into()) };
    failed(&format!("{}{index}", Cuda::NAME), "cuDeviceGet", result).map_or(Ok(device), Err)
}

/// The error that a code stands for, if it is one.
fn failed(device: &str, call: &'static str, result: CUresult) -> Option<Error> {
    let (device, code) = (device.to_owned(), result as i32);
    match result {
        CUresult::CUDA_SUCCESS => None,
        lost if is_sticky(lost) => Some(Error::Lost { device, call, code, text: text(lost) }),
        other => Some(Error::Call { device, call, code, text: text(other) }),
    }
}

/// Whether a context that has said this says nothing else any more (the driver's
/// manual, "to continue using CUDA, the process must be terminated and relaunched").
fn is_sticky(result: CUresult) -> bool {
    matches!(
        result,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
            | CUresult::CUDA_ERROR_DEINITIALIZED
            | CUresult::CUDA_ERROR_SYSTEM_NOT_READY
            | CUresult::CUDA_ERROR_UNKNOWN
    )
}

/// What a device is.
pub(super) fn describe(index: u16) -> Result<DeviceInfo, Error> {
    let device = device(index)?;
    let id = format!("{}{index}", Cuda::NAME);
    let check = |call, result| failed(&id, call, result).map_or(Ok(()), Err);
    let attribute = |attribute| {
        let mut value = 0;
        // SAFETY: the pointer is to a number that lives through the call, `device` is the driver's.
        let result = unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) };
        check("cuDeviceGetAttribute", result).map(|()| u32::try_from(value).unwrap_or(0))
    };
    let (mut name, mut memory, mut version) = ([0 as c_char; 256], 0, 0);
    // SAFETY: the name has room for the length that is given, the others are numbers; all live through the calls.
    unsafe {
        check("cuDeviceGetName", sys::cuDeviceGetName(name.as_mut_ptr(), 256, device))?;
        check("cuDeviceTotalMem", sys::cuDeviceTotalMem_v2(&raw mut memory, device))?;
        check("cuDriverGetVersion", sys::cuDriverGetVersion(&raw mut version))?;
    }
    let [major, minor, units, max_threads, max_shared, domain, bus, slot] = [
        A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        A::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
        A::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
        A::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
    ]
    .map(attribute);
    let name: Vec<u8> = name.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    Ok(DeviceInfo {
        arch: format!("sm_{}{}", major?, minor?),
        driver: format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
        memory: memory as u64,
        units: units?,
        max_threads: max_threads?,
        max_shared: max_shared?,
        node: node(domain?, bus?, slot?),
        ..DeviceInfo::new(Cuda::NAME, index, String::from_utf8_lossy(&name))
    })
}

/// The NUMA node of a slot, where the kernel knows one.
fn node(domain: u32, bus: u32, slot: u32) -> Option<u16> {
    let path = format!("/sys/bus/pci/devices/{domain:04x}:{bus:02x}:{slot:02x}.0/numa_node");
    // The kernel says -1 where it does not know.
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// A device's primary context, for as long as this lives.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) device: CUdevice,
    raw: CUcontext,
    id: Arc<str>,
    lost: OnceLock<Error>,
}

// SAFETY: a context may be made current in any thread, and in several at once.
unsafe impl Send for Context {}
// SAFETY: as above; the rest is synchronised by itself.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn new(index: u16) -> Result<Self, Error> {
        let (device, mut raw) = (device(index)?, std::ptr::null_mut());
        let id: Arc<str> = format!("{}{index}", Cuda::NAME).into();
        // Waiting threads sleep: the cores are for provers. It is refused where somebody
        // else in this process has the context already, whose choice then stands.
        let sleep = sys::CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC as u32;
        // SAFETY: `device` is the driver's; the pointer is to a place that lives through the call.
        let result = unsafe {
            let _ = sys::cuDevicePrimaryCtxSetFlags_v2(device, sleep);
            sys::cuDevicePrimaryCtxRetain(&raw mut raw, device)
        };
        match failed(&id, "cuDevicePrimaryCtxRetain", result) {
            None => Ok(Self { device, raw, id, lost: OnceLock::new() }),
            Some(error) => Err(error),
        }
    }

    /// The device's short name; by its address, its identity.
    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Whether the device was lost.
    pub(super) fn alive(&self) -> Result<(), Error> {
        self.lost.get().cloned().map_or(Ok(()), Err)
    }

    /// Makes the context the thread's.
    pub(super) fn enter(&self) -> Result<(), Error> {
        self.alive()?;
        // SAFETY: the context is retained.
        self.check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }

    /// Makes the context the thread's even if the device is lost, to give things back.
    pub(super) fn enter_anyway(&self) {
        // SAFETY: the context is retained. If this fails so do the calls after it, which give
        // back what a lost context has lost already.
        let _ = unsafe { sys::cuCtxSetCurrent(self.raw) };
    }

    /// The error that a call's code stands for. A loss is remembered.
    pub(super) fn check(&self, call: &'static str, result: CUresult) -> Result<(), Error> {
        let Some(error) = failed(&self.id, call, result) else { return Ok(()) };
        if matches!(error, Error::Lost { .. }) {
            return Err(self.lost.get_or_init(|| error).clone());
        }
        Err(error)
    }

    /// Whether a handle of device `other` is this device's.
    pub(super) fn owns(&self, call: &'static str, other: &Self) -> Result<(), Error> {
        if Arc::ptr_eq(&self.id, &other.id) {
            return Ok(());
        }
        Err(Error::OtherDevice { call, device: self.id.to_string(), other: other.id.to_string() })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was retained once, and nothing of this handle that lives in it is left: all hold it.
        unsafe {
            if self.lost.get().is_some() {
                // Other handles have lost it too; without this, so have those to come.
                let _ = sys::cuDevicePrimaryCtxReset_v2(self.device);
            }
            let _ = sys::cuDevicePrimaryCtxRelease_v2(self.device);
        }
    }
}
