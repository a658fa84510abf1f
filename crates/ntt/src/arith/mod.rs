//! The passes of a transform, written once for any [`Lanes`]: [`butterfly`]
//! transforms short rows, [`tile`] walks them over memory.
#![allow(
    unsafe_code,
    reason = "tiles of one pass are disjoint but interleaved in memory; vector instructions need a CPU check"
)]
#![allow(
    clippy::inline_always,
    reason = "vector code is compiled for its instruction set in the function it is inlined into, or not at all"
)]

mod butterfly;
mod pointwise;
mod reverse;
mod shared;
mod tile;
mod twist;

#[cfg(target_arch = "x86_64")]
pub(crate) use cuzk_lanes::Ifma;
pub(crate) use cuzk_lanes::{Constant, Job, Lanes, Portable};
pub(crate) use pointwise::{multiply, product};
pub(crate) use reverse::{reverse_bits, reverse_difference};
pub(crate) use shared::Scratch;
pub(crate) use tile::{Flow, Memory, Pass, Transform, pass};

/// The lowest `bits` bits of `i` in reverse.
#[inline(always)]
pub(crate) fn reversed(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}
