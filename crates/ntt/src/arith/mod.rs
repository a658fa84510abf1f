//! Field arithmetic on several scalars at once, and the passes that live on it.
//!
//! [`Lanes`] is what an instruction set offers: rows of scalars in a lazily reduced
//! form, and multiplications by prepared constants. [`Portable`] has it on any CPU,
//! [`Ifma`] on those with AVX-512's 52-bit multiplier. Everything above is written
//! once, for any `Lanes`: [`butterfly`] transforms short rows, [`tile`] walks them
//! over memory.
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
    reason = "tiles of one pass are disjoint but interleaved in memory; vector instructions need a CPU check"
)]
#![allow(
    clippy::inline_always,
    reason = "vector code is compiled for its instruction set in the function it is inlined into, or not at all"
)]

mod butterfly;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod pointwise;
mod portable;
mod reverse;
mod shared;
mod tile;
mod twist;

use blstrs::Scalar;

#[cfg(target_arch = "x86_64")]
pub(crate) use ifma::Ifma;
pub(crate) use pointwise::{multiply, product};
pub(crate) use portable::Portable;
pub(crate) use reverse::{reverse_bits, reverse_difference};
pub(crate) use shared::Scratch;
pub(crate) use tile::{Flow, Memory, Pass, Transform, pass};

/// Scalars side by side, one a lane.
pub(crate) trait Lanes: Copy + Send + Sync + 'static {
    /// How many.
    const LANES: usize;
    /// A scalar in each lane, congruent to its Montgomery form, reduced as far as the
    /// implementation needs.
    type V: Copy + Send + Sync;
    /// A constant to multiply all lanes by.
    type Fixed: Constant<Self>;
    /// A constant for each lane.
    type FixedLanes: Constant<Self> + Copy;

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

    /// `a b`, of scalars as [`load`](Self::load) gives them.
    fn times(self, a: Self::V, b: Self::V) -> Self::V;
    /// `(a + b, a - b)`
    fn add_sub(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// Reduces what a [`butterfly`]'s sums have grown.
    fn fold(self, v: Self::V) -> Self::V;

    /// Runs `job` in a function compiled for this instruction set.
    fn vectorize<J: Job<Self>>(self, job: J);
}

/// What [`Lanes::vectorize`] runs. `run` must be inlined into it, with all it calls.
pub(crate) trait Job<L> {
    /// The work.
    fn run(self, lanes: L);
}

/// A constant that is prepared for multiplications.
pub(crate) trait Constant<L: Lanes>: Send + Sync {
    /// `v w`, reduced.
    fn mul(&self, lanes: L, v: L::V) -> L::V;
    /// `(a + b w, a - b w)`
    fn butterfly(&self, lanes: L, a: L::V, b: L::V) -> (L::V, L::V);
}

/// The lowest `bits` bits of `i` in reverse.
#[inline(always)]
pub(crate) fn reversed(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}
