//! Scalars of which nearly all are 0 or 1: one bit each, and the rest apart.

use cuzk_pipeline_core::{Footprint, Value};
use ff::Field;

use crate::{Bits, Places, Scalar};

/// A row of scalars: a bit for each that says whether it is 1, and the
/// positions and values of the *wide* ones, those that may be any other.
///
/// Which scalars are wide is the circuit's to say: a variable of full width that
/// happens to be 0 or 1 is wide all the same, so that all witnesses of a circuit
/// have the same positions, and those of a circuit that repeats, repeat
/// ([`Places`]).
///
/// 98.7 % of a 32 GiB PoRep partition's 130 million variables are 0 or 1, so
/// that its witness weighs 67 MiB here and 4.2 GB as 32-byte scalars.
#[derive(Debug, Clone, Default)]
pub struct CompactScalars {
    ones: Bits,
    wide_at: Places,
    wide: Vec<Scalar>,
}

impl CompactScalars {
    /// A row of as many scalars as `ones` has bits.
    ///
    /// # Panics
    /// Unless there is one value for each wide position, all positions are
    /// positions of bits, and those bits are zero.
    pub fn new(ones: Bits, wide_at: Places, wide: Vec<Scalar>) -> Self {
        assert_eq!(wide_at.len(), wide.len(), "a value for each wide position");
        let fits = wide_at.is_empty() || (wide_at.get(wide_at.len() - 1) as usize) < ones.len();
        assert!(fits, "wide positions within {} scalars", ones.len());
        debug_assert!(wide_at.iter().all(|at| !ones.get(at as usize)), "the bits of wide scalars are zero");
        Self { ones, wide_at, wide }
    }

    /// The bits and the wide values, without their places.
    pub fn into_bits_and_wide(self) -> (Bits, Vec<Scalar>) {
        (self.ones, self.wide)
    }

    /// How many scalars.
    pub fn len(&self) -> usize {
        self.ones.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ones.is_empty()
    }

    /// Which scalars are 1. The bit of a wide one is zero.
    pub fn ones(&self) -> &Bits {
        &self.ones
    }

    /// The positions of the wide scalars.
    pub fn wide_at(&self) -> &Places {
        &self.wide_at
    }

    /// Their values, in Montgomery form as all [`Scalar`]s.
    pub fn wide(&self) -> &[Scalar] {
        &self.wide
    }

    /// Scalar `i`, by binary search among the wide ones.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    pub fn get(&self, i: usize) -> Scalar {
        assert!(i < self.len(), "scalar {i} of {}", self.len());
        if self.ones.get(i) {
            return Scalar::ONE;
        }
        let rank = self.wide_at.rank(i);
        match self.wide_at.iter_from(rank).next() {
            Some(at) if at as usize == i => self.wide[rank],
            _ => Scalar::ZERO,
        }
    }

    /// All scalars in order.
    pub fn iter(&self) -> impl Iterator<Item = Scalar> + '_ {
        let mut wide = self.wide_at.iter().zip(&self.wide).peekable();
        (0..self.len()).map(move |i| {
            if let Some((_, value)) = wide.next_if(|(at, _)| *at as usize == i) {
                *value
            } else if self.ones.get(i) {
                Scalar::ONE
            } else {
                Scalar::ZERO
            }
        })
    }

    /// Writes the scalars from `first` on into `out`.
    ///
    /// # Panics
    /// If `first + out.len()` exceeds [`len`](Self::len).
    pub fn expand(&self, first: usize, out: &mut [Scalar]) {
        assert!(first + out.len() <= self.len(), "{first} + {} scalars of {}", out.len(), self.len());
        for (k, scalar) in out.iter_mut().enumerate() {
            *scalar = if self.ones.get(first + k) { Scalar::ONE } else { Scalar::ZERO };
        }
        let places = self.wide_at.iter_in(first..first + out.len());
        for (at, value) in places.zip(&self.wide[self.wide_at.rank(first)..]) {
            out[at - first] = *value;
        }
    }
}

impl FromIterator<Scalar> for CompactScalars {
    fn from_iter<I: IntoIterator<Item = Scalar>>(scalars: I) -> Self {
        let mut row = CompactScalarsBuilder::default();
        scalars.into_iter().for_each(|s| row.push(s));
        row.build()
    }
}

/// Rows of the same scalars are equal, whichever of them are wide.
impl PartialEq for CompactScalars {
    fn eq(&self, other: &Self) -> bool {
        if self.wide_at == other.wide_at {
            self.ones == other.ones && self.wide == other.wide
        } else {
            self.len() == other.len() && self.iter().eq(other.iter())
        }
    }
}

impl Eq for CompactScalars {}

impl Value for CompactScalars {
    fn footprint(&self) -> Footprint {
        let wide = Footprint::host(32 * self.wide.capacity() as u64);
        self.ones.footprint() + self.wide_at.footprint() + wide
    }
}

/// Makes [`CompactScalars`], one scalar at a time.
#[derive(Debug, Clone, Default)]
pub struct CompactScalarsBuilder(CompactScalars);

impl CompactScalarsBuilder {
    /// Room for `len` scalars of which `wide` are neither 0 nor 1.
    pub fn with_capacity(len: usize, wide: usize) -> Self {
        Self(CompactScalars {
            ones: Bits::with_capacity(len),
            wide_at: Places::with_capacity(wide),
            wide: Vec::with_capacity(wide),
        })
    }

    /// Appends a scalar, as a wide one if it is neither 0 nor 1.
    ///
    /// # Panics
    /// At 2^32 scalars; no circuit over this field's 2^32 domain has as many.
    #[inline]
    pub fn push(&mut self, scalar: Scalar) {
        let one = scalar == Scalar::ONE;
        if !one && scalar != Scalar::ZERO {
            self.0.wide_at.push(u32::try_from(self.0.len()).expect("fewer than 2^32 variables"));
            self.0.wide.push(scalar);
        }
        self.0.ones.push(one);
    }

    /// Appends the scalars `from` on of `other`.
    ///
    /// # Panics
    /// If `from` exceeds the length of `other`; at 2^32 scalars.
    pub fn append(&mut self, other: &CompactScalars, from: usize) {
        let row = &mut self.0;
        u32::try_from(row.len() + other.len() - from).expect("fewer than 2^32 variables");
        let first = other.wide_at.rank(from);
        let moved = |at: u32| (row.ones.len() + at as usize - from) as u32;
        other.wide_at.iter_from(first).for_each(|at| row.wide_at.push(moved(at)));
        row.wide.extend_from_slice(&other.wide[first..]);
        row.ones.append(&other.ones, from);
    }

    /// How many scalars so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The row.
    pub fn build(self) -> CompactScalars {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_reading_gives_what_was_pushed() {
        let minus_one = -Scalar::ONE;
        let dense: Vec<Scalar> = (0..300u64)
            .map(|i| match i % 7 {
                0..3 => Scalar::ZERO,
                3..5 => Scalar::ONE,
                5 => minus_one,
                _ => Scalar::from(i),
            })
            .collect();
        let row: CompactScalars = dense.iter().copied().collect();
        assert_eq!(row.len(), 300);
        assert!(row.iter().eq(dense.iter().copied()));
        for from in [0, 1, 5, 64, 299, 300] {
            let mut two = CompactScalarsBuilder::default();
            two.append(&row, 0);
            two.append(&row, from);
            assert!(two.build().iter().eq(dense.iter().chain(&dense[from..]).copied()));
        }
        assert!((0..300).all(|i| row.get(i) == dense[i]));
        for (first, len) in [(0, 300), (1, 64), (63, 66), (299, 1), (300, 0), (5, 1)] {
            let mut out = vec![minus_one; len];
            row.expand(first, &mut out);
            assert_eq!(out, dense[first..first + len], "{first} + {len}");
        }
    }
}
