//! `ntt.quotient`: the stage.

use std::borrow::Cow;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Stage};
use cuzk_values::{Coeffs, Evals, Poly, Scalar};

use crate::quotient::divide;
use crate::{Domain, NttError};

/// `ntt.quotient`: the values of a and b on the domain to the coefficients of the quotient
/// polynomial, in the memory of a. See [`quotient`](crate::quotient).
#[derive(Debug, Clone)]
pub struct Quotient {
    domain: Arc<Domain>,
    threads: usize,
}

impl Quotient {
    /// Over this domain, on pools of at most as many threads as the process may use.
    pub fn new(domain: Arc<Domain>) -> Self {
        Self { domain, threads: available_parallelism().map_or(1, NonZero::get) }
    }

    /// On pools of up to this many threads: each needs memory of its own.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

impl Stage for Quotient {
    type In = (Poly<Evals>, Poly<Evals>);
    type Out = Poly<Coeffs>;
    type Error = NttError;

    fn name(&self) -> Cow<'static, str> {
        "ntt.quotient".into()
    }

    /// Besides its inputs: c, and what transforms work in.
    fn cost(&self) -> Cost {
        let poly = Footprint::host((size_of::<Scalar>() * self.domain.len()) as u64);
        let scratch = Footprint::host(self.domain.scratch_bytes(self.threads) as u64);
        Cost::free().scratch(poly + scratch).output(poly).in_place(poly)
    }

    fn kind(&self, error: &NttError) -> ErrorKind {
        error.kind()
    }

    fn run(&self, cx: &Cx<'_>, (a, b): Self::In) -> Result<Poly<Coeffs>, NttError> {
        cx.install(|| divide(&self.domain, a, b, None, &|| cx.checkpoint()))
    }
}
