//! Native writers: the variables of Filecoin's circuits, straight from a proof.
//!
//! A circuit says in which order its gadgets allocate variables, and what the
//! value of each is. Synthesising it to learn the values builds all linear
//! combinations on the way, most of a minute of a core for a PoRep's partition of
//! 32 GiB. Here each gadget is a function that computes its
//! values and hands them out in the same order:
//!
//! - [`part`]: where values go, a bit or a scalar at a time;
//! - [`sha256`]: SHA-256 over words of which some bits are constants ([`word`]);
//! - [`gadgets`]: bits of a scalar, packing, insertion, ways up Merkle trees;
//! - [`paths`]: the hashes of many such ways, side by side
//!   ([`poseidon`](crate::poseidon));
//! - [`porep`], [`post`], [`snap`]: the circuits, each a header and equal blocks.
//!
//! Blocks are independent and of one size, so that all are written at once, each
//! to its place ([`assemble`]), a few of them together where that fills the lanes
//! of the CPU's vectors.

mod assemble;
mod gadgets;
mod part;
mod paths;
pub(crate) mod porep;
pub(crate) mod post;
mod sha256;
pub(crate) mod size;
pub(crate) mod snap;
mod word;

pub(crate) use assemble::{Blocks, Memory, assemble};
pub(crate) use part::Part;
