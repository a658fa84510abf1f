//! The loader's calls: each return code looked at, each object released once.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use opencl3::command_queue::release_command_queue;
use opencl3::context::context::{create_context, release_context};
use opencl3::device::{self as cl, get_device_data, get_device_ids};
use opencl3::error_codes::{self as codes, error_text};
use opencl3::event::release_event;
use opencl3::kernel::release_kernel;
use opencl3::memory::release_mem_object;
use opencl3::platform::platform::{CL_PLATFORM_NAME, get_platform_data, get_platform_ids};
use opencl3::program::release_program;
use opencl3::types::{
    cl_command_queue, cl_context, cl_device_id, cl_device_info, cl_event, cl_int, cl_kernel, cl_mem,
    cl_platform_id, cl_program,
};

use super::OpenCl;
use crate::{Backend, DeviceInfo, Error};

/// An object of the driver's, which is released with this.
macro_rules! object {
    ($name:ident, $raw:ty, $release:path) => {
        #[derive(Debug)]
        pub(super) struct $name(pub(super) $raw);

        // SAFETY: any thread may use the driver's objects, and several at once; a kernel's arguments, the
        // exception, are set under a lock.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: it is this one's own. What a lost device does not take back is lost already.
                let _ = unsafe { $release(self.0) };
            }
        }
    };
}

object!(RawContext, cl_context, release_context);
object!(Queue, cl_command_queue, release_command_queue);
object!(Memory, cl_mem, release_mem_object);
object!(Program, cl_program, release_program);
object!(Kernel, cl_kernel, release_kernel);
object!(Event, cl_event, release_event);

static CPUS: AtomicBool = AtomicBool::new(false);

pub(super) fn accept_cpus() {
    CPUS.store(true, Ordering::Relaxed);
}

/// The name of a code.
pub(super) fn text(code: cl_int) -> String {
    error_text(code).to_owned()
}

fn unavailable(reason: impl Display) -> Error {
    Error::Unavailable { backend: OpenCl::NAME, reason: reason.to_string() }
}

/// A device that can be opened.
pub(super) struct Found {
    pub(super) id: cl_device_id,
    pub(super) info: DeviceInfo,
    /// The most bytes of one buffer.
    pub(super) largest: u64,
}

/// All devices: of each platform, in the loader's order, GPUs and other accelerators; then CPUs, where
/// they are accepted.
pub(super) fn devices() -> Result<Vec<Found>, Error> {
    // Drivers start when they are first asked, and one was seen not to bear that from two threads.
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let platforms = get_platform_ids().map_err(|code| match code {
        codes::DLOPEN_RUNTIME_LOAD_FAILED => unavailable("no loader: libOpenCL.so.1 is not to be found"),
        codes::CL_PLATFORM_NOT_FOUND_KHR => unavailable("the loader knows no driver"),
        code => unavailable(format!("clGetPlatformIDs: {} (code {code})", text(code))),
    })?;
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    for platform in platforms {
        look(platform, &mut found, &mut skipped);
    }
    // Stable: the order of platforms stays.
    found.sort_by_key(|(cpu, _)| *cpu);
    if found.is_empty() {
        let why = if skipped.is_empty() { "no platform".to_owned() } else { skipped.join("; ") };
        return Err(unavailable(format!("no device: {why}")));
    }
    let mut found: Vec<Found> = found.into_iter().map(|(_, found)| found).collect();
    for (index, found) in (0..).zip(&mut found) {
        found.info.index = index;
    }
    Ok(found)
}

/// Adds the devices of a platform, each with whether it is a CPU; or the reason why it has none.
fn look(platform: cl_platform_id, found: &mut Vec<(bool, Found)>, skipped: &mut Vec<String>) {
    let name = get_platform_data(platform, CL_PLATFORM_NAME).map_or("a platform".to_owned(), words);
    let mut skip = |why: &str| skipped.push(format!("{name}: {why}"));
    match get_device_ids(platform, cl::CL_DEVICE_TYPE_ALL) {
        Err(code) => skip(&format!("{} (code {code})", text(code))),
        Ok(devices) if devices.is_empty() => skip("it has none"),
        Ok(devices) => {
            for id in devices {
                match describe(id, &name) {
                    Ok(device) => found.push(device),
                    Err(why) => skip(&why),
                }
            }
        }
    }
}

/// A text of the driver's.
fn words(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.trim_matches('\0').trim().to_owned()
}

/// A number of up to 64 bits, of the driver's.
pub(super) fn number(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(word)
}

/// What a device is; or why it is not used.
fn describe(id: cl_device_id, platform: &str) -> Result<(bool, Found), String> {
    let ask = |what: cl_device_info| {
        get_device_data(id, what).map_err(|code| format!("clGetDeviceInfo: {} (code {code})", text(code)))
    };
    let value = |what| ask(what).map(|bytes| number(&bytes));
    let small = |what| value(what).map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    let name = words(ask(cl::CL_DEVICE_NAME)?);
    let cpu = value(cl::CL_DEVICE_TYPE)? & cl::CL_DEVICE_TYPE_CPU != 0;
    if cpu && !CPUS.load(Ordering::Relaxed) {
        return Err(format!("{name} is a CPU"));
    }
    let needs = [cl::CL_DEVICE_AVAILABLE, cl::CL_DEVICE_COMPILER_AVAILABLE, cl::CL_DEVICE_ENDIAN_LITTLE];
    for (need, lack) in needs.into_iter().zip(["is not available", "has no compiler", "is big-endian"]) {
        if value(need)? == 0 {
            return Err(format!("{name} {lack}"));
        }
    }
    if value(cl::CL_DEVICE_ADDRESS_BITS)? != 64 {
        return Err(format!("{name} has no addresses of 64 bits"));
    }
    let info = DeviceInfo {
        arch: words(ask(cl::CL_DEVICE_VERSION)?),
        driver: format!("{platform} {}", words(ask(cl::CL_DRIVER_VERSION)?)),
        memory: value(cl::CL_DEVICE_GLOBAL_MEM_SIZE)?,
        units: small(cl::CL_DEVICE_MAX_COMPUTE_UNITS)?,
        max_threads: small(cl::CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
        max_shared: small(cl::CL_DEVICE_LOCAL_MEM_SIZE)?,
        ..DeviceInfo::new(OpenCl::NAME, 0, name)
    };
    Ok((cpu, Found { id, info, largest: value(cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE)? }))
}

/// A device's context, for as long as this lives.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) raw: RawContext,
    pub(super) device: cl_device_id,
    id: Arc<str>,
    lost: OnceLock<Error>,
}

// SAFETY: a device's handle is the driver's, and may be used from any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// What NVIDIA's driver says of a read or write outside of a buffer, besides the standard's codes.
const NVIDIA_FAULT: cl_int = -9999;

impl Context {
    pub(super) fn new(found: &Found) -> Result<Self, Error> {
        let id: Arc<str> = found.info.id().into();
        match create_context(&[found.id], std::ptr::null(), None, std::ptr::null_mut()) {
            Ok(raw) => Ok(Self { raw: RawContext(raw), device: found.id, id, lost: OnceLock::new() }),
            Err(code) => {
                Err(Error::Call { device: id.to_string(), call: "clCreateContext", code, text: text(code) })
            }
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

    /// What a call that does not wait gave. Some codes say that the device is gone, for our handles
    /// are right: a loss is remembered.
    pub(super) fn check<T>(&self, call: &'static str, result: Result<T, cl_int>) -> Result<T, Error> {
        let lost = [
            codes::CL_DEVICE_NOT_AVAILABLE,
            codes::CL_INVALID_CONTEXT,
            codes::CL_INVALID_COMMAND_QUEUE,
            codes::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            NVIDIA_FAULT,
        ];
        match result {
            Err(code) if lost.contains(&code) => Err(self.lose(call, code)),
            Err(code) => Err(Error::Call { device: self.id.to_string(), call, code, text: text(code) }),
            Ok(value) => Ok(value),
        }
    }

    /// What a call gave that waits for queued work. Work that was queued without an error and
    /// fails has lost the device.
    pub(super) fn waited<T>(&self, call: &'static str, result: Result<T, cl_int>) -> Result<T, Error> {
        result.map_err(|code| self.lose(call, code))
    }

    fn lose(&self, call: &'static str, code: cl_int) -> Error {
        let lost = || Error::Lost { device: self.id.to_string(), call, code, text: text(code) };
        self.lost.get_or_init(lost).clone()
    }

    /// Whether a handle of device `other` is this device's.
    pub(super) fn owns(&self, call: &'static str, other: &Self) -> Result<(), Error> {
        if Arc::ptr_eq(&self.id, &other.id) {
            return Ok(());
        }
        Err(Error::OtherDevice { call, device: self.id.to_string(), other: other.id.to_string() })
    }
}
