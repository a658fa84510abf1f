//! Affine points at rest, and the sums of many pairs of them at once.
//!
//! This is the one module of the crate with `unsafe` code: calls into blst, and
//! SIMD. Everything above works with a [`Packed`] point, of which there are two:
//! blst's own, for any CPU, and one for AVX-512 IFMA, in lanes of eight.

#![allow(unsafe_code, reason = "blst's functions and SIMD intrinsics")]

#[cfg(target_arch = "x86_64")]
mod ifma;
mod portable;
mod words;

use blst::{blst_fp, blst_fp2};
pub(crate) use portable::{BlstField, PortablePoint};

/// G1 for any CPU.
pub(crate) type PortableG1 = PortablePoint<blst_fp>;
/// G2 for any CPU.
pub(crate) type PortableG2 = PortablePoint<blst_fp2>;
/// G1 for AVX-512 IFMA.
#[cfg(target_arch = "x86_64")]
pub(crate) type IfmaG1 = ifma::IfmaPoint<1>;
/// G2 for AVX-512 IFMA.
#[cfg(target_arch = "x86_64")]
pub(crate) type IfmaG2 = ifma::IfmaPoint<2>;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use {PortableG1 as IfmaG1, PortableG2 as IfmaG2};

/// A kind of arithmetic. All give the same sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arithmetic {
    /// blst's multiplications, one at a time, on any CPU.
    Portable,
    /// Eight additions at a time, on a CPU with AVX-512 IFMA.
    Avx512Ifma,
}

impl Arithmetic {
    /// The fastest that this CPU has.
    pub fn best() -> Self {
        if Self::Avx512Ifma.is_available() { Self::Avx512Ifma } else { Self::Portable }
    }

    /// Whether this CPU has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Ifma => ifma::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512Ifma => false,
        }
    }
}

/// One operand of an addition: a point of one of the [`Tables`], or its negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term(u32);

/// The tables that a [`Term`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Bases, in packed form.
    Points = 0,
    /// Buckets.
    Buckets = 1,
    /// What earlier rounds have added up.
    Sums = 2,
}

/// The points of each [`Table`]. The fourth stays empty.
pub(crate) type Tables<'a, P> = [&'a [P]; 4];

impl Term {
    /// How many points a table may have.
    pub const LIMIT: usize = 1 << 29;

    /// Point `index` of `table`, or its negative. `index` is below [`LIMIT`](Self::LIMIT).
    #[inline]
    pub fn new(table: Table, index: usize, negative: bool) -> Self {
        debug_assert!(index < Self::LIMIT);
        Self((table as u32) << 30 | (index as u32) << 1 | u32::from(negative))
    }

    /// The term as a number.
    #[inline]
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The term that [`to_bits`](Self::to_bits) gave.
    #[inline]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether the point is to be negated.
    #[inline]
    pub fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }

    /// The point, not negated.
    ///
    /// # Panics
    /// If there is no such point.
    #[inline]
    pub fn point<P>(self, tables: Tables<'_, P>) -> &P {
        &tables[(self.0 >> 30) as usize][(self.0 << 2 >> 3) as usize]
    }
}

/// An affine point of one curve, in the form that one kind of arithmetic wants.
pub trait Packed: Copy + Send + Sync + 'static {
    /// The points that callers have.
    type Affine: Copy + Send + Sync;
    /// Scratch memory of [`add_pairs`](Self::add_pairs), kept from call to call.
    type Work: Default + Send;

    /// The neutral element.
    const INFINITY: Self;
    /// The most bytes of [`Work`](Self::Work).
    const WORK_BYTES: usize;

    /// Writes `points[at[k]]` to `packed[k]`, for each `k`.
    ///
    /// # Panics
    /// If the lengths of `at` and `packed` differ, or an index is past the end.
    fn pack(points: &[Self::Affine], at: &[u32], packed: &mut [Self]);

    /// The point in the form that callers have.
    fn unpack(&self) -> Self::Affine;

    /// Whether this is the neutral element.
    fn is_infinity(&self) -> bool;

    /// `-self`
    fn negated(&self) -> Self;

    /// Writes the sum of `pairs[k]` to `sums[k]`, for each `k`.
    ///
    /// Whole batches share one field inversion (Montgomery's trick, as in
    /// Cohen, A Course in Computational Algebraic Number Theory, algorithm 10.3.4),
    /// so that an addition takes 5 multiplications and a squaring. Equal points,
    /// opposite points and infinity may occur.
    ///
    /// # Panics
    /// If the lengths differ, or a term is in no table.
    fn add_pairs(tables: Tables<'_, Self>, pairs: &[[Term; 2]], sums: &mut [Self], work: &mut Self::Work);
}

/// The point of `term`, negated if it says so.
pub(crate) fn resolve<P: Packed>(tables: Tables<'_, P>, term: Term) -> P {
    let point = term.point(tables);
    if term.is_negative() { point.negated() } else { *point }
}
