//! `ntt.quotient` on a device, and what it needs there.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use cuzk_gpu_backend::{Backend, Context, Device as _};
use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Placement, Stage, Value};
use cuzk_values::{Coeffs, Evals, OnDevice, Poly};

use super::{BYTES, DeviceDomain, Divisor, table_bytes};
use crate::NttError;

/// A domain and the division by `x^n - 1` on a device: what all its quotients share.
#[derive(Debug)]
pub struct DeviceQuotients<B: Backend> {
    domain: DeviceDomain<B>,
    divisor: Divisor<B>,
}

impl<B: Backend> DeviceQuotients<B> {
    /// Those of the domain of `2^log_len` points.
    ///
    /// # Errors
    /// [`NttError::LogLen`], [`NttError::Device`].
    pub fn new(context: &Context<B>, log_len: u32) -> Result<Self, NttError> {
        let (device, stream) = (context.device(), context.compute());
        let domain = DeviceDomain::new(device, stream, log_len)?;
        let divisor = domain.divisor(device, stream)?;
        Ok(Self { domain, divisor })
    }

    /// The bytes of the tables.
    pub fn bytes(log_len: u32) -> u64 {
        table_bytes(log_len)
    }

    /// Queues the quotient of `a` and `b` on the context's queue of kernels: it comes in the
    /// memory of `a`.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::Device`].
    pub fn divide(
        &self,
        context: &Context<B>,
        a: Poly<Evals, OnDevice<B::Buffer>>,
        b: &Poly<Evals, OnDevice<B::Buffer>>,
    ) -> Result<Poly<Coeffs, OnDevice<B::Buffer>>, NttError> {
        let c = context.device().buffer(self.domain.bytes())?;
        self.domain.quotient(context.compute(), &self.divisor, a.buffer(), b.buffer(), &c)?;
        Ok(a.into_basis())
    }
}

impl<B: Backend> Value for DeviceQuotients<B> {
    fn footprint(&self) -> Footprint {
        Footprint::device(Self::bytes(self.domain.log_len()))
    }
}

/// `ntt.load`: the tables of a domain.
#[derive(Debug, Clone)]
pub struct LoadQuotients<B> {
    log_len: u32,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend> LoadQuotients<B> {
    /// Of the domain of `2^log_len` points.
    pub fn new(log_len: u32) -> Self {
        Self { log_len, backend: PhantomData }
    }
}

impl<B: Backend> Stage for LoadQuotients<B> {
    type In = ();
    type Out = DeviceQuotients<B>;
    type Error = NttError;

    fn name(&self) -> Cow<'static, str> {
        "ntt.load".into()
    }
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    fn cost(&self) -> Cost {
        Cost::free().output(Footprint::device(DeviceQuotients::<B>::bytes(self.log_len)))
    }
    fn kind(&self, error: &NttError) -> ErrorKind {
        error.kind()
    }
    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<DeviceQuotients<B>, NttError> {
        DeviceQuotients::new(Context::of(cx)?, self.log_len)
    }
}

/// `ntt.quotient` on a device: as [`Quotient`](crate::Quotient), in the memory of a. It
/// queues its kernels and returns.
#[derive(Debug, Clone)]
pub struct DeviceQuotient<B> {
    log_len: u32,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend> DeviceQuotient<B> {
    /// Over the domain of `2^log_len` points.
    pub fn new(log_len: u32) -> Self {
        Self { log_len, backend: PhantomData }
    }
}

impl<B: Backend> Stage for DeviceQuotient<B> {
    type In = (Poly<Evals, OnDevice<B::Buffer>>, Poly<Evals, OnDevice<B::Buffer>>, Arc<DeviceQuotients<B>>);
    type Out = Poly<Coeffs, OnDevice<B::Buffer>>;
    type Error = NttError;

    fn name(&self) -> Cow<'static, str> {
        "ntt.quotient".into()
    }
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    /// Besides its inputs: c.
    fn cost(&self) -> Cost {
        let poly = Footprint::device(BYTES << self.log_len);
        Cost::free().scratch(poly).output(poly).in_place(poly)
    }
    fn kind(&self, error: &NttError) -> ErrorKind {
        error.kind()
    }
    fn run(&self, cx: &Cx<'_>, (a, b, quotients): Self::In) -> Result<Self::Out, NttError> {
        quotients.divide(Context::of(cx)?, a, &b)
    }
}
