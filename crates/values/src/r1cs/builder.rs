//! How matrices are made.

use std::ops::Range;

use super::matrix::{ESCAPED, Matrix};
use super::repeat::Repeat;

/// Makes a [`Matrix`], row by row.
#[derive(Debug, Clone, Default)]
pub struct MatrixBuilder(Matrix);

impl MatrixBuilder {
    /// Room for so many rows and entries.
    pub fn with_capacity(rows: usize, entries: usize) -> Self {
        Self(Matrix {
            ends: Vec::with_capacity(rows),
            columns: Vec::with_capacity(entries),
            coefficients: Vec::with_capacity(entries),
            ..Matrix::default()
        })
    }

    /// Adds an entry to the row that is being made.
    #[inline]
    pub fn entry(&mut self, column: u32, coefficient: u32) {
        let short = u16::try_from(coefficient).unwrap_or(ESCAPED);
        if short == ESCAPED {
            self.0.escaped.push((self.0.columns.len() as u32, coefficient));
        }
        self.0.columns.push(column);
        self.0.coefficients.push(short);
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

    /// The columns of a row that has ended.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn columns_of(&self, row: usize) -> &[u32] {
        &self.0.columns[self.entries_of(row..row + 1)]
    }

    /// Where the entries of some rows stand among all.
    ///
    /// # Panics
    /// If the rows have not ended.
    pub fn entries_of(&self, rows: Range<usize>) -> Range<usize> {
        self.0.start(rows.start as u32)..self.0.start(rows.end as u32)
    }

    /// The matrix, with no memory to spare.
    pub fn build(self) -> Matrix {
        self.build_repeating(Repeat::NONE)
    }

    /// The matrix in which a run of the rows made here stands
    /// [`count`](Repeat::count) times.
    ///
    /// # Panics
    /// If `count` is 0, the run has rows that were not made, or its copies have
    /// not the same number of arguments.
    pub fn build_repeating(mut self, repeat: Repeat) -> Matrix {
        assert!(repeat.count > 0, "a run of rows stands at least once");
        assert!(repeat.rows.end as usize <= self.rows(), "rows {:?} of {}", repeat.rows, self.rows());
        assert!(repeat.bound.len().is_multiple_of(repeat.count as usize), "copies have the same arguments");
        self.0.ends.shrink_to_fit();
        self.0.columns.shrink_to_fit();
        self.0.coefficients.shrink_to_fit();
        self.0.escaped.shrink_to_fit();
        self.0.repeat = repeat;
        self.0
    }
}
