//! Sparse matrices whose repeated rows are stored once.

use std::iter::FusedIterator;
use std::ops::Range;
use std::slice;

use cuzk_pipeline_core::{Footprint, Value};

/// A run of rows that stands several times in a matrix and is stored once.
///
/// A circuit that proves the same of many things (a PoRep partition's 18
/// challenges, a WindowPoSt partition's 2,349 sectors) lays equal sub-circuits
/// side by side. Copy `k` of such a run has the first copy's rows with the
/// columns of its own variables moved: by `k` times the length of
/// [`inputs`](Self::inputs), or of [`aux`](Self::aux). All other columns, as
/// ONE's, are shared.
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
}

impl Repeat {
    /// Nothing is repeated.
    pub const NONE: Self = Self { count: 1, rows: 0..0, inputs: 0..0, aux: 0..0 };

    fn shift(&self, copy: u32) -> Shift {
        let (inputs, aux) = (self.inputs.len() as u32, self.aux.len() as u32);
        Shift {
            first_input: self.inputs.start,
            inputs,
            inputs_by: copy * inputs,
            first_aux: self.aux.start,
            aux_by: copy * aux,
        }
    }
}

impl Default for Repeat {
    fn default() -> Self {
        Self::NONE
    }
}

/// What moves the columns of a copy.
#[derive(Debug, Clone, Copy)]
struct Shift {
    first_input: u32,
    inputs: u32,
    inputs_by: u32,
    first_aux: u32,
    aux_by: u32,
}

impl Shift {
    #[inline]
    fn apply(self, column: u32) -> u32 {
        if column >= self.first_aux {
            column + self.aux_by
        } else if column.wrapping_sub(self.first_input) < self.inputs {
            column + self.inputs_by
        } else {
            column
        }
    }
}

/// A sparse matrix: rows of (column, coefficient's index), columns ascending
/// and distinct, no coefficient zero.
///
/// Columns number the inputs first (ONE is column 0), then the auxiliary
/// variables. A stored entry weighs 8 bytes, a stored row 4.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    ends: Vec<u32>,
    columns: Vec<u32>,
    coefficients: Vec<u32>,
    repeat: Repeat,
}

impl Matrix {
    /// How many rows, repeated ones counted as often as they stand there.
    pub fn rows(&self) -> usize {
        self.ends.len() + self.repeat.rows.len() * (self.repeat.count as usize - 1)
    }

    /// How many entries, repeated ones counted as often as they stand there.
    pub fn entries(&self) -> usize {
        let repeated = self.start(self.repeat.rows.end) - self.start(self.repeat.rows.start);
        self.columns.len() + repeated * (self.repeat.count as usize - 1)
    }

    /// The run of rows that is stored once.
    pub fn repeat(&self) -> &Repeat {
        &self.repeat
    }

    /// A row's entries.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> Row<'_> {
        assert!(row < self.rows(), "row {row} of {}", self.rows());
        self.rows_in(row..row + 1).next().expect("the range has one row")
    }

    /// The rows of a range, in order.
    ///
    /// # Panics
    /// If the range goes past the last row.
    pub fn rows_in(&self, rows: Range<usize>) -> Rows<'_> {
        assert!(rows.end <= self.rows(), "rows {rows:?} of {}", self.rows());
        let run = &self.repeat.rows;
        let (first, len) = (run.start as usize, run.len());
        let repeated = len * self.repeat.count as usize;
        let (stored, copy) = match rows.start.checked_sub(first) {
            Some(at) if at < repeated => (first + at % len, at / len),
            Some(at) if at >= repeated => (first + len + at - repeated, 0),
            _ => (rows.start, 0),
        };
        let (stored, copy) = (stored as u32, copy as u32);
        Rows {
            ends: &self.ends,
            columns: &self.columns,
            coefficients: &self.coefficients,
            repeat: &self.repeat,
            stored,
            copy,
            shift: self.repeat.shift(copy),
            start: self.start(stored),
            left: rows.len(),
        }
    }

    fn start(&self, row: u32) -> usize {
        start(&self.ends, row)
    }
}

/// Where the entries of stored row `row` start.
fn start(ends: &[u32], row: u32) -> usize {
    if row == 0 { 0 } else { ends[row as usize - 1] as usize }
}

impl Value for Matrix {
    fn footprint(&self) -> Footprint {
        let words = self.ends.capacity() + self.columns.capacity() + self.coefficients.capacity();
        Footprint::host(4 * words as u64)
    }
}

/// Consecutive rows of a [`Matrix`].
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    ends: &'a [u32],
    columns: &'a [u32],
    coefficients: &'a [u32],
    repeat: &'a Repeat,
    stored: u32,
    copy: u32,
    shift: Shift,
    start: usize,
    left: usize,
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    #[inline]
    fn next(&mut self) -> Option<Row<'a>> {
        self.left = self.left.checked_sub(1)?;
        let end = self.ends[self.stored as usize] as usize;
        let entries = self.start..end;
        let row = Row {
            columns: self.columns[entries.clone()].iter(),
            coefficients: self.coefficients[entries].iter(),
            shift: self.shift,
        };
        (self.stored, self.start) = (self.stored + 1, end);
        if self.stored == self.repeat.rows.end {
            self.leave_copy();
        }
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl Rows<'_> {
    /// Goes on with the first row of the next copy, or behind the last.
    fn leave_copy(&mut self) {
        let repeat = self.repeat;
        if self.copy + 1 < repeat.count {
            self.copy += 1;
            self.stored = repeat.rows.start;
            self.start = start(self.ends, self.stored);
        } else {
            self.copy = 0;
        }
        self.shift = repeat.shift(self.copy);
    }
}

impl ExactSizeIterator for Rows<'_> {}
impl FusedIterator for Rows<'_> {}

/// The entries of a row: columns, and the indices of their coefficients.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    columns: slice::Iter<'a, u32>,
    coefficients: slice::Iter<'a, u32>,
    shift: Shift,
}

impl Iterator for Row<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        let column = self.shift.apply(*self.columns.next()?);
        Some((column, *self.coefficients.next()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.columns.size_hint()
    }
}

impl ExactSizeIterator for Row<'_> {}
impl FusedIterator for Row<'_> {}

/// Makes a [`Matrix`], row by row.
#[derive(Debug, Clone, Default)]
pub struct MatrixBuilder(Matrix);

impl MatrixBuilder {
    /// Adds an entry to the row that is being made.
    #[inline]
    pub fn entry(&mut self, column: u32, coefficient: u32) {
        self.0.columns.push(column);
        self.0.coefficients.push(coefficient);
    }

    /// Ends the row.
    ///
    /// # Panics
    /// At 2^32 entries.
    #[inline]
    pub fn end_row(&mut self) {
        let end = u32::try_from(self.0.columns.len()).expect("fewer than 2^32 entries");
        self.0.ends.push(end);
    }

    /// How many rows have ended.
    pub fn rows(&self) -> usize {
        self.0.ends.len()
    }

    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.0.columns.len()
    }

    /// The columns of all entries, to be renumbered.
    pub fn columns_mut(&mut self) -> &mut [u32] {
        &mut self.0.columns
    }

    /// The matrix, with no memory to spare.
    pub fn build(self) -> Matrix {
        self.build_repeating(Repeat::NONE)
    }

    /// The matrix in which a run of the rows made here stands
    /// [`count`](Repeat::count) times.
    ///
    /// # Panics
    /// If `count` is 0, or the run has rows that were not made.
    pub fn build_repeating(mut self, repeat: Repeat) -> Matrix {
        assert!(repeat.count > 0, "a run of rows stands at least once");
        assert!(repeat.rows.end as usize <= self.rows(), "rows {:?} of {}", repeat.rows, self.rows());
        self.0.ends.shrink_to_fit();
        self.0.columns.shrink_to_fit();
        self.0.coefficients.shrink_to_fit();
        self.0.repeat = repeat;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rows: &[&[(u32, u32)]]) -> MatrixBuilder {
        let mut builder = MatrixBuilder::default();
        for row in rows {
            row.iter().for_each(|(column, coefficient)| builder.entry(*column, *coefficient));
            builder.end_row();
        }
        builder
    }

    fn all(matrix: &Matrix) -> Vec<Vec<(u32, u32)>> {
        matrix.rows_in(0..matrix.rows()).map(Iterator::collect).collect()
    }

    #[test]
    fn rows_are_those_that_were_made() {
        let rows: [&[_]; 4] = [&[(0, 1), (7, 2)], &[], &[(3, 3)], &[]];
        let matrix = made(&rows).build();
        assert_eq!((matrix.rows(), matrix.entries()), (4, 3));
        assert_eq!(all(&matrix), rows);
        assert!((0..4).all(|i| matrix.row(i).eq(rows[i].iter().copied())));
        assert_eq!(all(&MatrixBuilder::default().build()), Vec::<Vec<_>>::new());
    }

    #[test]
    fn a_repeated_run_equals_its_copies_written_out() {
        // Inputs 0 (shared), 1, 2, 3 (one a copy); auxiliary 4, 5 (shared), then two a copy.
        let stored: [&[_]; 4] = [&[(4, 0)], &[(0, 1), (1, 2), (5, 3), (7, 4)], &[(6, 5)], &[(3, 6), (11, 7)]];
        let repeat = Repeat { count: 3, rows: 1..3, inputs: 1..2, aux: 6..8 };
        let matrix = made(&stored).build_repeating(repeat);
        let written: [&[_]; 8] = [
            &[(4, 0)],
            &[(0, 1), (1, 2), (5, 3), (7, 4)],
            &[(6, 5)],
            &[(0, 1), (2, 2), (5, 3), (9, 4)],
            &[(8, 5)],
            &[(0, 1), (3, 2), (5, 3), (11, 4)],
            &[(10, 5)],
            &[(3, 6), (11, 7)],
        ];
        assert_eq!((matrix.rows(), matrix.entries()), (8, written.iter().map(|r| r.len()).sum()));
        assert_eq!(all(&matrix), written);
        for from in 0..8 {
            for to in from..=8 {
                let rows = matrix.rows_in(from..to);
                assert_eq!(rows.len(), to - from);
                assert!(rows.map(Iterator::collect::<Vec<_>>).eq(written[from..to].iter().copied()));
            }
        }
    }
}
