//! What JSON and bincode have in common: records, lists, tagged values, numbers.
//!
//! An input is described once, in the `layout` of its kind, in these words. The
//! reader adds to every fault the path that led to it.

use cuzk_values::{Node, Scalar};
use ff::PrimeField;

use super::error::{Fault, Problem};

pub(crate) type Names = &'static [&'static str];

pub(crate) trait Reader: Sized {
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
pub(crate) fn is_canonical(value: [u8; 32]) -> bool {
    value[31] < 0x73 || bool::from(Scalar::from_repr(value).is_some())
}

/// A list as a vector, with room for as many as there may be.
pub(crate) fn collect<R: Reader, T>(
    r: &mut R,
    limit: usize,
    element: impl Fn(&mut R) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut all = Vec::with_capacity(limit);
    r.list(limit, |r, _| {
        all.push(element(r)?);
        Ok(())
    })?;
    Ok(all)
}

/// A list that must be as long as `expected`.
pub(crate) fn count(found: usize, expected: usize) -> Result<(), Problem> {
    if found == expected { Ok(()) } else { Err(Problem::Count { found, expected }) }
}
