//! Sparse matrices whose repeated rows are stored once.

use std::iter::FusedIterator;
use std::ops::Range;
use std::slice;

use cuzk_pipeline_core::{Footprint, Value};

use super::repeat::{Repeat, Shift};
use crate::Bits;

/// A sparse matrix: rows of (column, coefficient's index), columns ascending
/// and distinct, no coefficient zero.
///
/// Columns number the inputs first (ONE is column 0), then the auxiliary
/// variables. A stored entry weighs 6 bytes, a stored row 4.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    /// Where the entries of each row end.
    pub(super) ends: Vec<u32>,
    pub(super) columns: Vec<u32>,
    /// The indices of the coefficients, or [`ESCAPED`].
    pub(super) coefficients: Vec<u16>,
    /// The indices that do not fit, by entry, ascending.
    pub(super) escaped: Vec<(u32, u32)>,
    pub(super) repeat: Repeat,
}

/// Stands for an index that needs more than 16 bits.
pub(super) const ESCAPED: u16 = u16::MAX;

/// The run of a matrix that has none.
static NO_REPEAT: Repeat = Repeat::NONE;

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
        let (stored, copy) = self.repeat.stored(rows.start);
        let (repeat, shift) = (&self.repeat, self.repeat.shift(copy));
        Rows { copy, ..self.iter(repeat, shift, stored as u32, rows.len()) }
    }

    /// The rows of a range, in order, as stretches of stored rows of one copy: for
    /// loops over many rows.
    ///
    /// # Panics
    /// If the range goes past the last row.
    pub fn stretches(&self, rows: Range<usize>) -> impl Iterator<Item = Stretch<'_>> {
        assert!(rows.end <= self.rows(), "rows {rows:?} of {}", self.rows());
        let run = &self.repeat.rows;
        let mut next = rows.start;
        std::iter::from_fn(move || {
            let left = rows.end - next;
            let (stored, copy) = self.repeat.stored(next);
            // Up to the end of the copy, the start of the first, or the last row.
            let here = match stored as u32 {
                before if before < run.start => run.start as usize,
                within if within < run.end => run.end as usize,
                _ => self.ends.len(),
            };
            let stored = stored..here.min(stored + left);
            next += stored.len();
            (left > 0).then(|| Stretch { matrix: self, shift: self.repeat.shift(copy), stored })
        })
    }

    /// The rows as they are stored: the repeated run once, with the first copy's
    /// columns, and [`Repeat::BOUND`]` + i` for its argument `i`.
    pub fn stored_rows(&self) -> Rows<'_> {
        self.iter(&NO_REPEAT, Shift::NONE, 0, self.ends.len())
    }

    /// How many entries are stored.
    pub fn stored_entries(&self) -> usize {
        self.columns.len()
    }

    /// Marks the columns that occur.
    ///
    /// # Panics
    /// If a column, or one of the repeated run's, is not among `columns`.
    pub fn occurring(&self, columns: usize) -> Bits {
        let Repeat { count, rows, inputs, aux, .. } = &self.repeat;
        let mut shared = Bits::zeros(columns);
        let (mut of_inputs, mut of_aux) = (Bits::zeros(inputs.len()), Bits::zeros(aux.len()));
        let mut bound = Bits::zeros(self.repeat.arguments(0).len());
        for (row, entries) in (0..).zip(self.stored_rows()) {
            let repeated = rows.contains(&row);
            for (column, _) in entries {
                if column >= Repeat::BOUND {
                    bound.set((column - Repeat::BOUND) as usize);
                } else if repeated && aux.contains(&column) {
                    of_aux.set((column - aux.start) as usize);
                } else if repeated && inputs.contains(&column) {
                    of_inputs.set((column - inputs.start) as usize);
                } else {
                    shared.set(column as usize);
                }
            }
        }
        // The columns of the copies, then those of all other rows.
        let mut copies = Bits::with_capacity(columns);
        for (own, first) in [(&of_inputs, inputs.start), (&of_aux, aux.start)] {
            copies.append(&Bits::zeros(first as usize - copies.len()), 0);
            (0..*count).for_each(|_| copies.append(own, 0));
        }
        copies.append(&Bits::zeros(columns - copies.len()), 0);
        for copy in 0..*count {
            let arguments = self.repeat.arguments(copy);
            bound.iter_ones().for_each(|i| shared.set(arguments[i] as usize));
        }
        let words = shared.words().iter().zip(copies.words()).map(|(shared, copies)| shared | copies);
        Bits::from_words(words.collect(), columns).expect("as many words")
    }

    fn iter<'a>(&'a self, repeat: &'a Repeat, shift: Shift<'a>, stored: u32, left: usize) -> Rows<'a> {
        Rows { matrix: self, repeat, stored, copy: 0, shift, start: self.start(stored), left }
    }

    /// Where the entries of stored row `row` start.
    pub(super) fn start(&self, row: u32) -> usize {
        if row == 0 { 0 } else { self.ends[row as usize - 1] as usize }
    }

    /// The index of an entry's coefficient that does not fit into 16 bits.
    #[cold]
    fn escaped_at(&self, entry: usize) -> u32 {
        let at = self.escaped.partition_point(|(at, _)| (*at as usize) < entry);
        self.escaped[at].1
    }

    /// The escaped indices of some entries.
    #[inline]
    fn escaped(&self, entries: &Range<usize>) -> &[(u32, u32)] {
        if self.escaped.is_empty() {
            return &[];
        }
        let before = |entry: usize| self.escaped.partition_point(|(at, _)| (*at as usize) < entry);
        &self.escaped[before(entries.start)..before(entries.end)]
    }
}

impl Value for Matrix {
    fn footprint(&self) -> Footprint {
        let words = self.ends.capacity() + self.columns.capacity() + self.repeat.bound.capacity();
        let bytes = 4 * words + 2 * self.coefficients.capacity() + 8 * self.escaped.capacity();
        Footprint::host(bytes as u64)
    }
}

/// Stored rows that follow one another, as one copy has them.
#[derive(Debug, Clone)]
pub struct Stretch<'a> {
    matrix: &'a Matrix,
    shift: Shift<'a>,
    stored: Range<usize>,
}

impl<'a> Stretch<'a> {
    /// The rows: where the entries of each start, and where they end.
    #[inline]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Range<usize>> + use<'a> {
        let mut start = self.matrix.start(self.stored.start as u32);
        self.matrix.ends[self.stored.clone()].iter().map(move |end| {
            let entries = start..*end as usize;
            start = entries.end;
            entries
        })
    }

    /// The entries of a row: columns, and the indices of their coefficients.
    #[inline]
    pub fn entries(&self, row: Range<usize>) -> impl Iterator<Item = (u32, u32)> + use<'_, 'a> {
        let first = row.start;
        let columns = self.matrix.columns[row.clone()].iter().map(|column| self.shift.apply(*column));
        let coefficients = self.matrix.coefficients[row].iter().enumerate();
        columns.zip(coefficients.map(move |(i, index)| match *index {
            ESCAPED => self.matrix.escaped_at(first + i),
            index => index.into(),
        }))
    }
}

/// Consecutive rows of a [`Matrix`].
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    matrix: &'a Matrix,
    repeat: &'a Repeat,
    stored: u32,
    copy: u32,
    shift: Shift<'a>,
    start: usize,
    left: usize,
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    #[inline]
    fn next(&mut self) -> Option<Row<'a>> {
        self.left = self.left.checked_sub(1)?;
        let end = self.matrix.ends[self.stored as usize] as usize;
        let entries = self.start..end;
        let row = Row {
            columns: self.matrix.columns[entries.clone()].iter(),
            coefficients: self.matrix.coefficients[entries.clone()].iter(),
            escaped: self.matrix.escaped(&entries).iter(),
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
            self.start = self.matrix.start(self.stored);
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
    coefficients: slice::Iter<'a, u16>,
    escaped: slice::Iter<'a, (u32, u32)>,
    shift: Shift<'a>,
}

impl Iterator for Row<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        let column = self.shift.apply(*self.columns.next()?);
        let coefficient = match *self.coefficients.next()? {
            ESCAPED => self.escaped.next()?.1,
            index => index.into(),
        };
        Some((column, coefficient))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.columns.size_hint()
    }
}

impl ExactSizeIterator for Row<'_> {}
impl FusedIterator for Row<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatrixBuilder;

    fn made(rows: &[&[(u32, u32)]]) -> MatrixBuilder {
        let mut builder = MatrixBuilder::default();
        for row in rows {
            row.iter().for_each(|(column, coefficient)| builder.entry(*column, *coefficient));
            builder.end_row();
        }
        builder
    }

    fn all(rows: Rows<'_>) -> Vec<Vec<(u32, u32)>> {
        rows.map(Iterator::collect).collect()
    }

    fn every_range_is(matrix: &Matrix, written: &[&[(u32, u32)]]) {
        assert_eq!(matrix.rows(), written.len());
        assert_eq!(matrix.entries(), written.iter().map(|row| row.len()).sum::<usize>());
        for from in 0..written.len() {
            for to in from..=written.len() {
                let rows = matrix.rows_in(from..to);
                assert_eq!(rows.len(), to - from);
                assert_eq!(all(rows), written[from..to]);
                let stretches: Vec<Vec<_>> = matrix
                    .stretches(from..to)
                    .flat_map(|stretch| {
                        let row = |row| stretch.entries(row).collect();
                        stretch.rows().map(row).collect::<Vec<_>>()
                    })
                    .collect();
                assert_eq!(stretches, written[from..to]);
            }
        }
    }

    /// The columns that occur, by the definition.
    fn occurring(matrix: &Matrix, columns: usize) -> Bits {
        let mut bits = Bits::zeros(columns);
        matrix.rows_in(0..matrix.rows()).flatten().for_each(|(column, _)| bits.set(column as usize));
        bits
    }

    #[test]
    fn rows_are_those_that_were_made() {
        let rows: [&[_]; 4] = [&[(0, 1), (7, 2)], &[], &[(3, 3)], &[]];
        let matrix = made(&rows).build();
        every_range_is(&matrix, &rows);
        assert!((0..4).all(|i| matrix.row(i).eq(rows[i].iter().copied())));
        assert_eq!(all(matrix.stored_rows()), rows);
        assert_eq!(matrix.occurring(8).iter_ones().collect::<Vec<_>>(), [0, 3, 7]);
        every_range_is(&MatrixBuilder::default().build(), &[]);
    }

    #[test]
    fn indices_of_more_than_16_bits_are_kept() {
        let rows: [&[_]; 5] = [
            &[(0, 65_534), (7, 65_535)],
            &[],
            &[(3, 65_536), (4, 1), (5, u32::MAX)],
            &[(2, 2)],
            &[(1, 1 << 20)],
        ];
        let matrix = made(&rows).build();
        every_range_is(&matrix, &rows);
        let short = made(&[&[(0, 1), (7, 2)], &[], &[(3, 2), (4, 1), (5, 3)], &[(2, 2)], &[(1, 1)]]).build();
        assert_eq!(matrix.footprint().host, short.footprint().host + 4 * 8);
    }

    #[test]
    fn a_repeated_run_equals_its_copies_written_out() {
        // Inputs 0 (shared), 1, 2, 3 (one a copy); auxiliary 4, 5 (shared), then two a copy.
        let stored: [&[_]; 4] = [&[(4, 0)], &[(0, 1), (1, 2), (5, 3), (7, 4)], &[(6, 5)], &[(3, 6), (11, 7)]];
        let repeat = Repeat { count: 3, rows: 1..3, inputs: 1..2, aux: 6..8, bound: vec![] };
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
        every_range_is(&matrix, &written);
        assert_eq!(all(matrix.stored_rows()), stored);
        assert_eq!(matrix.occurring(12), occurring(&matrix, 12));
        let copies = [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (2, 2), (3, 0)];
        assert!((0..8).all(|row| matrix.repeat().stored(row) == copies[row]));
    }

    #[test]
    fn arguments_are_bound_copy_by_copy() {
        // ONE is the only input; 1 to 5 are shared, two of them bound in each of two copies; then one a copy.
        const X: u32 = Repeat::BOUND;
        let stored: [&[_]; 2] = [&[(0, 0), (X, 1), (3, 2), (X + 1, 3), (6, 4)], &[(1, 5), (7, 6)]];
        let repeat = Repeat { count: 2, rows: 0..1, inputs: 1..1, aux: 6..7, bound: vec![1, 4, 2, 5] };
        let matrix = made(&stored).build_repeating(repeat);
        let written: [&[_]; 3] = [
            &[(0, 0), (1, 1), (3, 2), (4, 3), (6, 4)],
            &[(0, 0), (2, 1), (3, 2), (5, 3), (7, 4)],
            &[(1, 5), (7, 6)],
        ];
        every_range_is(&matrix, &written);
        assert_eq!(all(matrix.stored_rows()), stored);
        assert_eq!(matrix.occurring(8), occurring(&matrix, 8));
        assert_eq!(matrix.occurring(8).count_ones(), 8);
    }
}
