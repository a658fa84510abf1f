//! Modules and their functions.

use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute as A, CUmodule, CUresult};

use super::device::Inner;
use super::driver::{self, Context};
use crate::{Error, Kernel, Signature};

/// A family's code, loaded.
pub(super) struct Module {
    raw: CUmodule,
    context: Arc<Context>,
}

// SAFETY: a module may be used from any thread, and from several at once.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads a fatbin, a cubin or PTX, which the driver compiles.
    pub(super) fn load(context: &Arc<Context>, family: &'static str, image: &[u8]) -> Result<Self, Error> {
        context.enter()?;
        // PTX is a text that ends with a zero; the other forms know their length.
        let image = [image, &[0]].concat();
        let mut log = vec![0_u8; 16 << 10];
        let mut options = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len() - 1)];
        let mut raw = std::ptr::null_mut();
        // SAFETY: the image is whole and ends with a zero; there are two options with values of their
        // kinds, the log has room for what is said of it; all of it lives through the call.
        let result = unsafe {
            sys::cuModuleLoadDataEx(
                &raw mut raw,
                image.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match context.check("cuModuleLoadDataEx", result) {
            Ok(()) => Ok(Self { raw, context: context.clone() }),
            Err(lost @ Error::Lost { .. }) => Err(lost),
            Err(_) => {
                let text = String::from_utf8_lossy(&log);
                let log = format!("{} {}", driver::text(result), text.trim_matches('\0').trim());
                let (device, log) = (context.id().to_string(), log.trim().to_owned());
                Err(Error::Compile { family, device, code: result as i32, log })
            }
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        self.context.enter_anyway();
        // SAFETY: its kernels hold it, and queued work holds its kernels.
        let _ = unsafe { sys::cuModuleUnload(self.raw) };
    }
}

/// A function of a module.
#[derive(Clone)]
pub struct CudaKernel {
    pub(super) signature: &'static Signature,
    pub(super) function: CUfunction,
    pub(super) device: Arc<Inner>,
    pub(super) module: Arc<Module>,
    max_threads: u32,
}

// SAFETY: a function may be used from any thread, and from several at once.
unsafe impl Send for CudaKernel {}
// SAFETY: as above.
unsafe impl Sync for CudaKernel {}

impl CudaKernel {
    /// `None` where the module has no such function.
    pub(super) fn new(
        device: &Arc<Inner>,
        module: Arc<Module>,
        signature: &'static Signature,
    ) -> Result<Option<Self>, Error> {
        let context = &device.context;
        context.enter()?;
        let Ok(name) = CString::new(signature.name) else { return Ok(None) };
        let mut function = std::ptr::null_mut();
        // SAFETY: the module lives, the name ends with a zero, the pointer is to a place that lives through the call.
        let result = unsafe { sys::cuModuleGetFunction(&raw mut function, module.raw, name.as_ptr()) };
        if result == CUresult::CUDA_ERROR_NOT_FOUND {
            return Ok(None);
        }
        context.check("cuModuleGetFunction", result)?;
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: the function lives with its module, the pointer is to a number that lives through the call.
            let result = unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, function) };
            context.check("cuFuncGetAttribute", result).map(|()| value)
        };
        let max_threads = attribute(A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let fixed = attribute(A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        // All shared memory that a block may have besides what the kernel declares.
        let dynamic = i32::try_from(device.info.max_shared).unwrap_or(i32::MAX) - fixed;
        let most = A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function lives with its module.
        let result = unsafe { sys::cuFuncSetAttribute(function, most, dynamic.max(0)) };
        context.check("cuFuncSetAttribute", result)?;
        let max_threads = u32::try_from(max_threads).unwrap_or(0);
        Ok(Some(Self { signature, function, device: device.clone(), module, max_threads }))
    }
}

impl Kernel for CudaKernel {
    fn name(&self) -> &'static str {
        self.signature.name
    }

    fn max_threads(&self) -> u32 {
        self.max_threads
    }
}

impl fmt::Debug for CudaKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaKernel({} of {})", self.signature.name, self.device.context.id())
    }
}
