//! Domains: the `2^k`-th roots of unity, and transforms over them.

use std::fmt;

use cuzk_pipeline_core::{Footprint, Value};
use cuzk_values::{Basis, Coeffs, CosetEvals, Evals, Poly, Scalar};
use ff::{Field, PrimeField};

use crate::arith::{Flow, reverse_bits};
use crate::cpu::{Checkpoint, Engine, Path, Task};
use crate::roots::{self, Powers};
use crate::{NttError, small};

/// The `n = 2^k` roots of unity `1, w, w^2, …`, and what transforms over them need: some
/// hundred KiB, whatever `k`.
///
/// A transform evaluates a polynomial of `n` coefficients at the points of the domain, or
/// at those of a coset, which are `shift` times as much; an inverse interpolates. All of
/// them work in place, on the rayon pool of their caller.
///
/// The natural order is by powers of `x` and of `w`. Transforms `to_reversed` leave, and
/// those `from_reversed` expect, the other side in bit-reversed order, where index `i` has
/// what belongs to the number that has the bits of `i` in reverse. They save a pass over
/// memory; one of each kind, back to back, is all that a convolution needs.
///
/// A shift of 1 is the domain itself. Scalars must be as many as [`len`](Self::len) says;
/// another number is [`NttError::Length`], and an inverse on a coset with a shift of 0
/// is [`NttError::ZeroShift`].
pub struct Domain {
    log_len: u32,
    /// Powers of `w`.
    roots: Powers,
    engine: Engine,
}

impl Domain {
    /// The largest `k`: the field has roots of unity of order 2^32 and no more.
    pub const MAX_LOG_LEN: u32 = Scalar::S;

    /// The generator of the field's multiplicative group, 7: a shift for every domain, and
    /// the one that bellperson's cosets have.
    pub const GENERATOR: Scalar = Scalar::MULTIPLICATIVE_GENERATOR;

    /// The domain of `2^log_len` points.
    ///
    /// # Errors
    /// [`NttError::LogLen`] above [`MAX_LOG_LEN`](Self::MAX_LOG_LEN).
    pub fn new(log_len: u32) -> Result<Self, NttError> {
        let paths = Path::available();
        Self::with_path(log_len, paths[paths.len() - 1])
    }

    /// The same with an instruction set of the caller's, for tests and benches.
    #[doc(hidden)]
    pub fn with_path(log_len: u32, path: Path) -> Result<Self, NttError> {
        if log_len > Self::MAX_LOG_LEN {
            return Err(NttError::LogLen { log_len, max: Self::MAX_LOG_LEN });
        }
        let root = roots::root_of_unity(log_len, false);
        Ok(Self { log_len, roots: Powers::new(root, log_len), engine: Engine::new(path, log_len) })
    }

    /// `k` of the `2^k` points.
    pub fn log_len(&self) -> u32 {
        self.log_len
    }

    /// How many points.
    pub fn len(&self) -> usize {
        1 << self.log_len
    }

    /// Never: 1 is a root of unity.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// `w`, the primitive `n`-th root of unity (see [`naive::root_of_unity`](crate::naive::root_of_unity)).
    pub fn root(&self) -> Scalar {
        roots::root_of_unity(self.log_len, false)
    }

    /// The bytes that a transform needs besides its scalars, on `threads` threads.
    pub fn scratch_bytes(&self, threads: usize) -> usize {
        // An inverse on a coset prepares the powers of its shift, as many as those of the root
        // and one for each row of a pass: twice a table of twiddles, of which there are two.
        self.roots.bytes() + self.engine.bytes() + self.engine.thread_bytes() * threads.min(self.len())
    }

    /// Coefficients to values, both in natural order:
    /// `v_i = sum_j c_j w^(i j)`.
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn ntt(&self, scalars: &mut [Scalar]) -> Result<(), NttError> {
        self.coset_ntt(scalars, Scalar::ONE)
    }

    /// Values to coefficients, both in natural order:
    /// `c_j = 1/n sum_i v_i w^(-i j)`.
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn intt(&self, scalars: &mut [Scalar]) -> Result<(), NttError> {
        self.coset_intt(scalars, Scalar::ONE)
    }

    /// Coefficients to values on a coset, both in natural order:
    /// `v_i = sum_j c_j (shift w^i)^j`.
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn coset_ntt(&self, scalars: &mut [Scalar], shift: Scalar) -> Result<(), NttError> {
        self.ntt_to_reversed(scalars, shift)?;
        reverse_bits(scalars);
        Ok(())
    }

    /// Values on a coset to coefficients, both in natural order:
    /// `c_j = shift^(-j)/n sum_i v_i w^(-i j)`.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::ZeroShift`].
    pub fn coset_intt(&self, scalars: &mut [Scalar], shift: Scalar) -> Result<(), NttError> {
        self.intt_to_reversed(scalars, shift)?;
        reverse_bits(scalars);
        Ok(())
    }

    /// Coefficients in natural order to values in bit-reversed order.
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn ntt_to_reversed(&self, scalars: &mut [Scalar], shift: Scalar) -> Result<(), NttError> {
        self.run(scalars, &Task::evaluate(Flow::Dif, shift), &|| Ok(()))
    }

    /// Coefficients in bit-reversed order to values in natural order.
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn ntt_from_reversed(&self, scalars: &mut [Scalar], shift: Scalar) -> Result<(), NttError> {
        self.run(scalars, &Task::evaluate(Flow::Dit, shift), &|| Ok(()))
    }

    /// Values in natural order to coefficients in bit-reversed order.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::ZeroShift`].
    pub fn intt_to_reversed(&self, scalars: &mut [Scalar], shift: Scalar) -> Result<(), NttError> {
        self.run(scalars, &self.interpolate_task(Flow::Dif, shift)?, &|| Ok(()))
    }

    /// Values in bit-reversed order to coefficients in natural order.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::ZeroShift`].
    pub fn intt_from_reversed(&self, scalars: &mut [Scalar], shift: Scalar) -> Result<(), NttError> {
        self.run(scalars, &self.interpolate_task(Flow::Dit, shift)?, &|| Ok(()))
    }

    /// From natural to bit-reversed order, or back.
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn reverse(&self, scalars: &mut [Scalar]) -> Result<(), NttError> {
        self.check(scalars)?;
        reverse_bits(scalars);
        Ok(())
    }

    /// The values of a polynomial on the domain, in the same memory. See [`ntt`](Self::ntt).
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn evaluate(&self, poly: Poly<Coeffs>) -> Result<Poly<Evals>, NttError> {
        into(poly, |scalars| self.ntt(scalars))
    }

    /// The polynomial that has these values on the domain, in the same memory. See [`intt`](Self::intt).
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn interpolate(&self, poly: Poly<Evals>) -> Result<Poly<Coeffs>, NttError> {
        into(poly, |scalars| self.intt(scalars))
    }

    /// The values of a polynomial on a coset, in the same memory. See [`coset_ntt`](Self::coset_ntt).
    ///
    /// # Errors
    /// [`NttError::Length`].
    pub fn evaluate_on_coset(&self, poly: Poly<Coeffs>, shift: Scalar) -> Result<Poly<CosetEvals>, NttError> {
        into(poly, |scalars| self.coset_ntt(scalars, shift))
    }

    /// The polynomial that has these values on a coset, in the same memory. See
    /// [`coset_intt`](Self::coset_intt).
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::ZeroShift`].
    pub fn interpolate_from_coset(
        &self,
        poly: Poly<CosetEvals>,
        shift: Scalar,
    ) -> Result<Poly<Coeffs>, NttError> {
        into(poly, |scalars| self.coset_intt(scalars, shift))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn check(&self, scalars: &[Scalar]) -> Result<(), NttError> {
        if scalars.len() == self.len() {
            Ok(())
        } else {
            Err(NttError::Length { len: scalars.len(), expected: self.len() })
        }
    }

    /// The task of an inverse transform.
    pub(crate) fn interpolate_task(&self, flow: Flow, shift: Scalar) -> Result<Task, NttError> {
        let inverse = |x: Scalar| Option::from(x.invert()).ok_or(NttError::ZeroShift);
        let scale = inverse(Scalar::from(self.len() as u64))?;
        Ok(Task { flow, inverse: true, input: Scalar::ONE, output: inverse(shift)?, scale })
    }

    pub(crate) fn run(
        &self,
        scalars: &mut [Scalar],
        task: &Task,
        checkpoint: Checkpoint<'_>,
    ) -> Result<(), NttError> {
        self.check(scalars)?;
        if self.engine.has_passes() {
            self.engine.run(scalars, task, &self.roots, checkpoint)?;
        } else {
            small::transform(scalars, task);
        }
        Ok(())
    }
}

/// Transforms a polynomial from one basis to another.
fn into<A: Basis, B: Basis>(
    mut poly: Poly<A>,
    transform: impl FnOnce(&mut [Scalar]) -> Result<(), NttError>,
) -> Result<Poly<B>, NttError> {
    transform(poly.scalars_mut())?;
    Ok(poly.into_basis())
}

impl Value for Domain {
    fn footprint(&self) -> Footprint {
        Footprint::host((self.roots.bytes() + self.engine.bytes()) as u64)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Domain of 2^{} points", self.log_len)
    }
}
