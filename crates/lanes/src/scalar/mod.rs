//! Scalars in lanes.
//!
//! # Multiplication by a prepared constant
//!
//! A transform multiplies by few constants, many times each, so a constant `w` is
//! kept as `w_i = w 2^(B i) 2^B mod r`, one for each `B`-bit limb `a_i` of the other
//! factor. `sum a_i w_i` is then congruent to `a w 2^B` and only one limb longer than
//! a scalar: a single step of Montgomery's reduction makes it `a w` in the
//! form of `a`. That is 25 + 5 limb products instead of 50 for five limbs of 52 bits,
//! and 16 + 4 instead of 32 for four of 64.
#![allow(
    unsafe_code,
    reason = "vector instructions need a CPU check; lanes are read from and written to places in memory"
)]
#![allow(
    clippy::inline_always,
    reason = "vector code is compiled for its instruction set in the function it is inlined into, or not at all"
)]

#[cfg(target_arch = "x86_64")]
mod ifma;
mod portable;
#[cfg(test)]
mod tests;

use blstrs::Scalar;

#[cfg(target_arch = "x86_64")]
pub use ifma::Ifma;
pub use portable::Portable;

/// The most terms of a [`Lanes::dot`].
pub const MAX_DOT: usize = 12;

/// How far values are from zero, in thousandths of the field's order.
///
/// A butterfly adds `product` to the larger of its operands' bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// What is loaded.
    pub loaded: u32,
    /// Products by a prepared constant.
    pub product: u32,
    /// What [`Lanes::fold`] leaves.
    pub folded: u32,
    /// What [`Constant::mul`] and [`Lanes::factor`] take.
    pub factor: u32,
    /// What [`Lanes::store`] and [`Lanes::canonical`] take.
    pub stored: u32,
}

/// Scalars side by side, one a lane.
pub trait Lanes: Copy + Send + Sync + 'static {
    /// How many.
    const LANES: usize;
    /// How far values may grow.
    const BOUNDS: Bounds;
    /// A scalar in each lane, congruent to its Montgomery form, reduced as far as the
    /// implementation needs.
    type V: Copy + Send + Sync;
    /// A constant to multiply all lanes by.
    type Fixed: Constant<Self>;
    /// A constant for each lane.
    type FixedLanes: Constant<Self> + Copy;
    /// A scalar in each lane, to be multiplied by several constants.
    type Factor: Copy;

    /// Prepares a constant.
    fn fixed(w: &Scalar) -> Self::Fixed;
    /// Prepares a constant for each lane.
    fn fixed_lanes(self, w: Self::V) -> Self::FixedLanes;

    /// Zero in each lane.
    fn zero(self) -> Self::V;
    /// Reads a scalar a lane, `stride` scalars apart.
    ///
    /// # Safety
    /// All of them can be read.
    unsafe fn load(self, from: *const Scalar, stride: usize) -> Self::V;
    /// Writes them, fully reduced.
    ///
    /// # Safety
    /// All of them can be written.
    unsafe fn store(self, v: Self::V, to: *mut Scalar, stride: usize);

    /// The same scalar in each lane.
    fn all(self, scalar: &Scalar) -> Self::V;
    /// Fully reduced, as [`load`](Self::load) gives them, of values as
    /// [`store`](Self::store) takes them.
    fn canonical(self, v: Self::V) -> Self::V;

    /// `a b`, of scalars as [`load`](Self::load) gives them.
    fn times(self, a: Self::V, b: Self::V) -> Self::V;
    /// `(a + b, a - b)`
    fn add_sub(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// Reduces what sums have grown.
    fn fold(self, v: Self::V) -> Self::V;

    /// What [`dot`](Self::dot) and [`add_product`](Self::add_product) multiply, of a
    /// value as [`Constant::mul`] takes it.
    fn factor(self, v: Self::V) -> Self::Factor;
    /// `sum a_i w_i`, reduced as by [`fold`](Self::fold); at most [`MAX_DOT`] terms.
    fn dot(self, factors: &[Self::Factor], constants: &[Self::Fixed]) -> Self::V;
    /// `sum + a w`: a bound on the sum grows as by [`Constant::butterfly`].
    fn add_product(self, sum: Self::V, factor: &Self::Factor, constant: &Self::Fixed) -> Self::V;

    /// [`load`](Self::load) from a slice.
    ///
    /// # Panics
    /// If the slice has not all of them.
    #[inline(always)]
    fn gather(self, from: &[Scalar], first: usize, stride: usize) -> Self::V {
        assert!(from.len() > first + (Self::LANES - 1) * stride, "a scalar for each lane");
        // SAFETY: the last of the scalars is in the slice, and so are those before it.
        unsafe { self.load(from.as_ptr().add(first), stride) }
    }
    /// [`store`](Self::store) into a slice.
    ///
    /// # Panics
    /// If the slice has not room for all of them.
    #[inline(always)]
    fn scatter(self, v: Self::V, to: &mut [Scalar], first: usize, stride: usize) {
        assert!(to.len() > first + (Self::LANES - 1) * stride, "room for each lane");
        // SAFETY: the last of the places is in the slice, and so are those before it.
        unsafe { self.store(v, to.as_mut_ptr().add(first), stride) }
    }

    /// Runs `job` in a function compiled for this instruction set.
    fn vectorize<J: Job<Self>>(self, job: J);
}

/// What [`Lanes::vectorize`] runs. `run` must be inlined into it, with all it calls.
pub trait Job<L> {
    /// The work.
    fn run(self, lanes: L);
}

/// A constant that is prepared for multiplications.
pub trait Constant<L: Lanes>: Send + Sync {
    /// `v w`, reduced.
    fn mul(&self, lanes: L, v: L::V) -> L::V;
    /// `(a + b w, a - b w)`
    fn butterfly(&self, lanes: L, a: L::V, b: L::V) -> (L::V, L::V);
}

/// A job for any lanes.
#[cfg(target_arch = "x86_64")]
pub trait BestJob: Job<Portable> + Job<Ifma> {}
#[cfg(target_arch = "x86_64")]
impl<J: Job<Portable> + Job<Ifma>> BestJob for J {}

/// A job for any lanes.
#[cfg(not(target_arch = "x86_64"))]
pub trait BestJob: Job<Portable> {}
#[cfg(not(target_arch = "x86_64"))]
impl<J: Job<Portable>> BestJob for J {}

/// Runs a job on the best lanes that this CPU has.
pub fn for_best(job: impl BestJob) {
    #[cfg(target_arch = "x86_64")]
    if let Some(ifma) = Ifma::detect() {
        return ifma.vectorize(job);
    }
    Portable.vectorize(job);
}
