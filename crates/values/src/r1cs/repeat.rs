//! A run of rows that stands several times in a matrix and is stored once.

use std::ops::Range;

/// A run of rows that stands several times in a matrix and is stored once.
///
/// A circuit that proves the same of many things (a PoRep partition's 18
/// challenges, a WindowPoSt partition's 2,349 sectors) lays equal sub-circuits
/// side by side. Copy `k` of such a run has the first copy's rows with these
/// columns changed:
///
/// - its own variables' are moved, by `k` times the length of
///   [`inputs`](Self::inputs) or of [`aux`](Self::aux);
/// - [`Repeat::BOUND`]` + i` is argument `i` of the run, which is the column
///   [`arguments(k)`](Self::arguments)`[i]`.
///
/// All other columns, as ONE's, are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// How many times the run stands there: at least once.
    pub count: u32,
    /// The rows of the first copy.
    pub rows: Range<u32>,
    /// The columns of the inputs that are its own.
    pub inputs: Range<u32>,
    /// The columns of the auxiliary variables that are its own. Columns past
    /// them, up to the last copy's, are never in the run.
    pub aux: Range<u32>,
    /// The columns that stand for the arguments, copy after copy. A SnapDeals
    /// challenge so refers to its own bits among those that were drawn before
    /// all challenges.
    pub bound: Vec<u32>,
}

impl Repeat {
    /// Nothing is repeated.
    pub const NONE: Self = Self { count: 1, rows: 0..0, inputs: 0..0, aux: 0..0, bound: Vec::new() };

    /// The least column in a stored row that is an argument. Variables' columns are below.
    pub const BOUND: u32 = 1 << 31;

    /// The columns that the arguments stand for in a copy.
    ///
    /// # Panics
    /// If there is no such copy.
    pub fn arguments(&self, copy: u32) -> &[u32] {
        assert!(copy < self.count, "copy {copy} of {}", self.count);
        let arguments = self.bound.len() / self.count as usize;
        &self.bound[arguments * copy as usize..][..arguments]
    }

    /// The stored row that `row` is a copy of, and which copy it is of. Rows
    /// outside of the run count as their own copy 0.
    pub fn stored(&self, row: usize) -> (usize, u32) {
        let (first, len) = (self.rows.start as usize, self.rows.len());
        let repeated = len * self.count as usize;
        match row.checked_sub(first) {
            Some(at) if at < repeated => (first + at % len, (at / len) as u32),
            Some(at) => (first + len + at - repeated, 0),
            None => (row, 0),
        }
    }

    /// What changes the columns of a copy.
    pub(super) fn shift(&self, copy: u32) -> Shift<'_> {
        let (inputs, aux) = (self.inputs.len() as u32, self.aux.len() as u32);
        Shift {
            first_aux: self.aux.start,
            aux,
            aux_by: copy * aux,
            first_input: self.inputs.start,
            inputs,
            inputs_by: copy * inputs,
            first_argument: Self::BOUND,
            arguments: self.arguments(copy),
        }
    }
}

impl Default for Repeat {
    fn default() -> Self {
        Self::NONE
    }
}

/// What changes the columns of a copy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shift<'a> {
    first_aux: u32,
    aux: u32,
    aux_by: u32,
    first_input: u32,
    inputs: u32,
    inputs_by: u32,
    first_argument: u32,
    arguments: &'a [u32],
}

impl Shift<'_> {
    /// Leaves all columns as they are stored.
    pub(super) const NONE: Self = Self {
        first_aux: 0,
        aux: 0,
        aux_by: 0,
        first_input: 0,
        inputs: 0,
        inputs_by: 0,
        first_argument: u32::MAX,
        arguments: &[],
    };

    /// The column in the copy. Most are of the run's own auxiliary variables, and are
    /// told by one comparison.
    #[inline]
    pub(super) fn apply(self, column: u32) -> u32 {
        if column.wrapping_sub(self.first_aux) < self.aux {
            column + self.aux_by
        } else if column.wrapping_sub(self.first_input) < self.inputs {
            column + self.inputs_by
        } else if column >= self.first_argument {
            self.arguments[(column - self.first_argument) as usize]
        } else {
            column
        }
    }
}
