//! The quotient on a device: [`quotient`](crate::quotient)'s six transforms.

use cuzk_gpu_backend::{Arg, Backend, Grid, Stream};
use cuzk_values::Scalar;
use ff::Field;

use super::tables::{Powers, factors, row};
use super::{DeviceDomain, Scale, inverse_len, shift_split};
use crate::arith::Flow;
use crate::{Domain, NttError, roots};

/// Squares of the permutation of `reverse_difference` have 2^4 rows.
const LOG_SIDE: u32 = 4;

/// What the division by `x^n - 1` needs: powers of the coset's shift, and the factors
/// `1 / (1 - z)`, `z = shift^n`, in tables that are multiplied by anyway.
#[derive(Debug)]
pub struct Divisor<B: Backend> {
    input: Powers<B>,
    output: Powers<B>,
    low: B::Buffer,
}

impl<B: Backend> DeviceDomain<B> {
    /// Prepares for [`quotient`](Self::quotient).
    ///
    /// # Errors
    /// [`NttError::Device`].
    pub fn divisor(&self, device: &B::Device, stream: &B::Stream) -> Result<Divisor<B>, NttError> {
        let shift = Domain::GENERATOR;
        let inverse = |x: Scalar| Option::<Scalar>::from(x.invert()).ok_or(NttError::ZeroShift);
        let z = shift.pow_vartime([1 << self.log_len]);
        let scale = inverse(Scalar::ONE - z)? * inverse_len(self.log_len)?;
        let logs = shift_split(self.log_len);
        let root = roots::root_of_unity(self.log_len, false);
        let lows = self.roots.low_len();
        Ok(Divisor {
            input: Powers::new(device, stream, shift, Scalar::ONE, logs)?,
            output: Powers::new(device, stream, inverse(shift)?, scale, logs)?,
            low: factors::<B>(device, stream, &row(scale, root, lows))?,
        })
    }

    /// The quotient of a satisfied witness, in `a`, from the values `a` and `b`. `b` and `c` are
    /// overwritten.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::Device`].
    pub fn quotient(
        &self,
        stream: &B::Stream,
        divisor: &Divisor<B>,
        a: &B::Buffer,
        b: &B::Buffer,
        c: &B::Buffer,
    ) -> Result<(), NttError> {
        for scalars in [a, b, c] {
            self.check(scalars)?;
        }
        let args = [Arg::Read(a), Arg::Read(b), Arg::Write(c)];
        stream.launch(&self.product, Grid::cover(1 << self.log_len, 256), &args)?;
        self.quotient_with_c(stream, divisor, a, b, c)
    }

    /// The same for any values `c`.
    ///
    /// # Errors
    /// [`NttError::Length`], [`NttError::Device`].
    pub fn quotient_with_c(
        &self,
        stream: &B::Stream,
        divisor: &Divisor<B>,
        a: &B::Buffer,
        b: &B::Buffer,
        c: &B::Buffer,
    ) -> Result<(), NttError> {
        self.run(stream, c, Flow::Dif, true, &Scale::All(&divisor.low))?;
        for values in [a, b] {
            self.run(stream, values, Flow::Dif, true, &Scale::All(&self.inverse_low))?;
            self.run(stream, values, Flow::Dit, false, &Scale::Input(&divisor.input))?;
        }
        let args = [Arg::Read(b), Arg::Write(a)];
        stream.launch(&self.multiply, Grid::cover(1 << self.log_len, 256), &args)?;
        self.run(stream, a, Flow::Dif, true, &Scale::Output(&divisor.output))?;
        let squares = self.log_len.saturating_sub(2 * LOG_SIDE);
        let args = [Arg::U32(self.log_len), Arg::Read(c), Arg::Write(a)];
        stream.launch(&self.reverse_difference, Grid::new(1 << squares, 256), &args)?;
        Ok(())
    }
}
