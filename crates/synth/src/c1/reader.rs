//! What JSON and bincode have in common: records, lists, tagged values, numbers.
//!
//! A C1 is described once, in [`layout`](super::layout), in these words. The
//! reader adds to every fault the path that led to it.

use cuzk_values::{Node, Scalar};
use ff::PrimeField;

use super::error::{Fault, Problem};

pub(super) type Names = &'static [&'static str];

pub(super) trait Reader: Sized {
    /// How many bytes lie behind.
    fn offset(&self) -> u64;

    /// A struct. `field` is called once for each of `names`, with its index, in
    /// whatever order they come.
    fn record(
        &mut self,
        names: Names,
        field: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    /// A list of up to `limit` elements. Returns how many there were.
    fn list(
        &mut self,
        limit: usize,
        element: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<usize, Fault>;

    /// An enum's value: which of `names`, and what it holds.
    fn tagged<T>(
        &mut self,
        names: Names,
        content: impl FnOnce(&mut Self, usize) -> Result<T, Fault>,
    ) -> Result<T, Fault>;

    /// An enum's value that holds nothing: which of `names`.
    fn unit(&mut self, names: Names) -> Result<usize, Fault>;

    fn u64(&mut self) -> Result<u64, Fault>;

    fn u32(&mut self) -> Result<u32, Fault>;

    fn bytes(&mut self) -> Result<[u8; 32], Fault>;

    /// A field element, in canonical form.
    fn node(&mut self) -> Result<Node, Fault> {
        let offset = self.offset();
        let value = self.bytes()?;
        if !is_canonical(value) {
            return Err(Fault::at(offset, Problem::NotCanonical { value }));
        }
        Ok(value)
    }
}

/// Whether a little-endian number is below the modulus, which starts with 0x73.
fn is_canonical(value: [u8; 32]) -> bool {
    value[31] < 0x73 || bool::from(Scalar::from_repr(value).is_some())
}
