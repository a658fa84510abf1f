//! Where everything is in a parameter file.
//!
//! The layout is that of bellperson 0.27's `Parameters::write`
//! (`groth16/params.rs`, `groth16/verifying_key.rs`):
//!
//! ```text
//! alpha_g1 beta_g1 beta_g2 gamma_g2 delta_g1 delta_g2     3 x 96 + 3 x 192 bytes
//! ic  h  l  a  b_g1  b_g2                                 each: count, u32 big-endian; points
//! ```
//!
//! Points are uncompressed, big-endian, not in Montgomery form: `x y` of 48 bytes
//! each in G1 and `x.c1 x.c0 y.c1 y.c0` in G2. The three top bits of the first
//! byte are flags and all zero. A `.vk` file is the part up to and with `ic`.

use std::ops::Range;
use std::path::Path;

use cuzk_values::QueryLengths;

use crate::SrsError;

/// Bytes of a stored G1 point.
pub const G1_BYTES: usize = 96;
/// Bytes of a stored G2 point.
pub const G2_BYTES: usize = 192;
/// Bytes of the verifying key before the count of `ic`.
pub(crate) const VK_POINTS: u64 = 3 * (G1_BYTES + G2_BYTES) as u64;
/// Bytes of a count.
pub(crate) const COUNT: u64 = 4;

/// The five queries of a parameter file, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Query {
    /// `[x^i (x^n - 1) / delta]_1`
    H,
    /// `[(beta u_i + alpha v_i + w_i) / delta]_1`
    L,
    /// `[u_i]_1`
    A,
    /// `[v_i]_1`
    BG1,
    /// `[v_i]_2`
    BG2,
}

impl Query {
    /// All of them, in the file's order.
    pub const ALL: [Self; 5] = [Self::H, Self::L, Self::A, Self::BG1, Self::BG2];

    /// The name in errors and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::H => "h",
            Self::L => "l",
            Self::A => "a",
            Self::BG1 => "b_g1",
            Self::BG2 => "b_g2",
        }
    }

    /// Bytes of one of its points.
    pub const fn point_bytes(self) -> usize {
        match self {
            Self::BG2 => G2_BYTES,
            _ => G1_BYTES,
        }
    }

    /// How many points a circuit has in it.
    pub const fn count(self, lengths: &QueryLengths) -> usize {
        match self {
            Self::H => lengths.h,
            Self::L => lengths.l,
            Self::A => lengths.a,
            Self::BG1 | Self::BG2 => lengths.b,
        }
    }
}

/// The points of one query in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The first byte of the first point.
    pub start: u64,
    /// How many points.
    pub count: usize,
    /// Bytes of one.
    pub point_bytes: usize,
}

impl Section {
    /// One past the last byte.
    pub const fn end(&self) -> u64 {
        self.start + self.count as u64 * self.point_bytes as u64
    }

    /// The bytes of the points `range`.
    pub(crate) fn bytes(&self, range: &Range<usize>) -> Range<usize> {
        let at = |point| self.start as usize + point * self.point_bytes;
        at(range.start)..at(range.end)
    }
}

/// Where everything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    lengths: QueryLengths,
    sections: [Section; 5],
}

impl Layout {
    /// The layout of a file with these lengths.
    pub fn new(lengths: &QueryLengths) -> Self {
        let mut start = vk_bytes(lengths.inputs as u64);
        let sections = Query::ALL.map(|query| {
            let section = Section {
                start: start + COUNT,
                count: query.count(lengths),
                point_bytes: query.point_bytes(),
            };
            start = section.end();
            section
        });
        Self { lengths: *lengths, sections }
    }

    /// The points of each query.
    pub fn lengths(&self) -> &QueryLengths {
        &self.lengths
    }

    /// Bytes of the verifying key.
    pub fn vk_bytes(&self) -> u64 {
        vk_bytes(self.lengths.inputs as u64)
    }

    /// Where a query's points are.
    pub fn section(&self, query: Query) -> Section {
        self.sections[query as usize]
    }

    /// Bytes of the whole file.
    pub fn file_bytes(&self) -> u64 {
        self.section(Query::BG2).end()
    }

    /// The layout that a file's counts give, held against its size and against
    /// the lengths that a circuit needs, where they are known.
    ///
    /// # Errors
    /// [`SrsError::Truncated`], [`SrsError::WrongCircuit`], [`SrsError::Trailing`].
    pub fn read(file: &[u8], expected: Option<&QueryLengths>, path: &Path) -> Result<Self, SrsError> {
        let size = file.len() as u64;
        let mut at = VK_POINTS;
        let mut count = |part, point_bytes, expected: Option<usize>| {
            let count = read_count(file, at, point_bytes, (part, expected), path)?;
            at += COUNT + count as u64 * point_bytes as u64;
            Ok::<_, SrsError>(count)
        };
        let inputs = count("ic", G1_BYTES, expected.map(|e| e.inputs))?;
        let h = count("h", G1_BYTES, expected.map(|e| e.h))?;
        let l = count("l", G1_BYTES, expected.map(|e| e.l))?;
        let a = count("a", G1_BYTES, expected.map(|e| e.a))?;
        let b = count("b_g1", G1_BYTES, expected.map(|e| e.b))?;
        count("b_g2", G2_BYTES, Some(b))?;
        if at != size {
            return Err(SrsError::Trailing { path: path.into(), expected: at, size });
        }
        Ok(Self::new(&QueryLengths { inputs, h, l, a, b }))
    }
}

/// Bytes of a verifying key with so many inputs.
pub(crate) const fn vk_bytes(inputs: u64) -> u64 {
    VK_POINTS + COUNT + inputs * G1_BYTES as u64
}

/// The count at byte `at`, whose points must lie within the file.
pub(crate) fn read_count(
    file: &[u8],
    at: u64,
    point_bytes: usize,
    (part, expected): (&'static str, Option<usize>),
    path: &Path,
) -> Result<usize, SrsError> {
    let size = file.len() as u64;
    let truncated = |needed| SrsError::Truncated { path: path.into(), part, needed, size };
    let bytes = file.get(at as usize..).and_then(|rest| rest.first_chunk::<4>());
    let count = u32::from_be_bytes(*bytes.ok_or_else(|| truncated(at + COUNT))?);
    if let Some(expected) = expected
        && expected as u64 != u64::from(count)
    {
        let (found, expected) = (count.into(), expected as u64);
        return Err(SrsError::WrongCircuit { path: path.into(), part, found, expected });
    }
    let end = at + COUNT + u64::from(count) * point_bytes as u64;
    if end > size { Err(truncated(end)) } else { Ok(count as usize) }
}
