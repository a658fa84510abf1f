//! Functions of programs.

use std::ffi::CString;
use std::fmt;
use std::sync::{Arc, Mutex};

use opencl3::error_codes::CL_INVALID_KERNEL_NAME;
use opencl3::kernel::{
    CL_KERNEL_NUM_ARGS, CL_KERNEL_WORK_GROUP_SIZE, create_kernel, get_kernel_data, get_kernel_work_group_data,
};

use super::device::Inner;
use super::driver::{self, Program, number};
use crate::{Error, Kernel, Param, Signature};

/// A function of a program.
#[derive(Clone)]
pub struct OpenClKernel {
    pub(super) signature: &'static Signature,
    pub(super) function: Arc<Function>,
    pub(super) device: Arc<Inner>,
    max_threads: u32,
}

/// The driver's object. Its arguments are a part of it, and so one launch is queued at a time.
pub(super) struct Function {
    pub(super) raw: Mutex<driver::Kernel>,
    /// Whether it takes a pointer to shared memory after what its signature says.
    pub(super) takes_shared: bool,
}

/// How many arguments of the function an argument is.
fn words(param: &Param) -> u64 {
    match param {
        Param::U32 | Param::U64 | Param::Value(_) => 1,
        Param::Read(_) | Param::Write(_) => 2,
    }
}

impl OpenClKernel {
    /// `None` where the program has no such function.
    pub(super) fn new(
        device: &Arc<Inner>,
        family: &'static str,
        program: &Program,
        signature: &'static Signature,
    ) -> Result<Option<Self>, Error> {
        let context = &device.context;
        let Ok(name) = CString::new(signature.name) else { return Ok(None) };
        let raw = match create_kernel(program.0, &name) {
            Err(CL_INVALID_KERNEL_NAME) => return Ok(None),
            other => driver::Kernel(context.check("clCreateKernel", other)?),
        };
        let takes = context.check("clGetKernelInfo", get_kernel_data(raw.0, CL_KERNEL_NUM_ARGS))?;
        let (takes, said) = (number(&takes), signature.params.iter().map(words).sum::<u64>());
        if takes != said && takes != said + 1 {
            let log = format!("`{}` takes {takes} arguments, by its signature {said}", signature.name);
            return Err(Error::Compile { family, device: context.id().to_string(), code: 0, log });
        }
        let threads = get_kernel_work_group_data(raw.0, context.device, CL_KERNEL_WORK_GROUP_SIZE);
        let threads = number(&context.check("clGetKernelWorkGroupInfo", threads)?);
        let function = Function { raw: Mutex::new(raw), takes_shared: takes > said };
        Ok(Some(Self {
            signature,
            function: Arc::new(function),
            device: device.clone(),
            max_threads: u32::try_from(threads).unwrap_or(u32::MAX),
        }))
    }
}

impl Kernel for OpenClKernel {
    fn name(&self) -> &'static str {
        self.signature.name
    }

    fn max_threads(&self) -> u32 {
        self.max_threads
    }
}

impl fmt::Debug for OpenClKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenClKernel({} of {})", self.signature.name, self.device.context.id())
    }
}
