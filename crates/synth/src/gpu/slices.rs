//! Rows of a matrix in slices of 32 lanes, as `kernels/eval/rows.cuh` reads them.
//!
//! The repeated rows come first, then all others, both as they are stored. Rows are sorted by
//! length within a window, so that the rows of a slice are about as long and still neighbours: they
//! look up the same variables. A row has so many lanes that each takes few of its entries.

use std::ops::Range;

use cuzk_values::Matrix;

/// Lanes of a slice.
pub(super) const LANES: usize = 32;

/// The most entries of a lane before a row gets twice as many lanes, up to all.
const PER_LANE: usize = 8;

/// A window ends at as many rows or entries.
const WINDOW: usize = 1 << 12;
const WINDOW_ENTRIES: usize = 1 << 17;

/// A column, and the index of its coefficient.
pub(super) type Entry = [u32; 2];

/// No entry.
pub(super) const NONE: Entry = [u32::MAX; 2];

/// Where the entries are, in units of [`LANES`]; where the rows' numbers are; entries of a
/// lane; log2 of the lanes of a row, and above 8 bits how many rows.
pub(super) type Slice = [u32; 4];

/// How many of each there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Batch of repeated rows.
    pub(super) repeated: usize,
    pub(super) slices: usize,
    pub(super) rows: usize,
    /// Those of no entry included.
    pub(super) entries: usize,
    /// The most entries of a window.
    pub(super) window: usize,
}

/// Batch that follow one another, with their rows and entries.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) slices: Vec<Slice>,
    pub(super) rows: Vec<u32>,
    pub(super) entries: Vec<Entry>,
}

impl Batch {
    /// Entries that [`slices`] keeps before it hands them over, or somewhat more.
    const ENTRIES: usize = 1 << 18;

    /// The bytes that [`slices`] holds at most, of a matrix of this extent.
    pub(super) fn scratch(extent: &Extent) -> u64 {
        // A window's, and the batch's with one more window; vectors may have grown to twice as much.
        let entries = 2 * (2 * extent.window + Self::ENTRIES.min(extent.entries));
        let rows = 2 * (Self::ENTRIES.min(extent.rows) + 3 * WINDOW);
        (size_of::<Entry>() * entries + (size_of::<Slice>() + size_of::<u32>()) * rows) as u64
    }

    fn clear(&mut self) {
        self.slices.clear();
        self.rows.clear();
        self.entries.clear();
    }
}

/// log2 of the lanes of a row of so many entries.
fn log_lanes(len: usize) -> u32 {
    len.div_ceil(PER_LANE).next_power_of_two().min(LANES).ilog2()
}

/// Entries of each lane of a row.
fn per_lane(len: usize) -> usize {
    len.div_ceil(1 << log_lanes(len))
}

/// Stored rows that follow one another.
#[derive(Default)]
struct Window {
    first: usize,
    /// Where the entries of each row end.
    ends: Vec<usize>,
    entries: Vec<Entry>,
    /// The rows with their lengths, by length.
    order: Vec<(usize, u32)>,
}

impl Window {
    fn row(&self, row: u32) -> Range<usize> {
        let row = row as usize;
        (if row == 0 { 0 } else { self.ends[row - 1] })..self.ends[row]
    }

    fn sort(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend((0..self.ends.len() as u32).map(|row| (self.row(row).len(), row)));
        order.sort_unstable();
        self.order = order;
    }

    /// The rows of each slice, with their lengths.
    fn slices(&self) -> impl Iterator<Item = &[(usize, u32)]> {
        let log = |(len, _): &(usize, u32)| log_lanes(*len);
        let classes = self.order.chunk_by(move |one, other| log(one) == log(other));
        classes.flat_map(move |class| class.chunks(LANES >> log(&class[0])))
    }
}

/// log2 of the lanes of each row of a slice, and the entries of each lane.
fn shape(rows: &[(usize, u32)]) -> (u32, usize) {
    let longest = rows.last().map_or(0, |(len, _)| *len);
    (log_lanes(longest), per_lane(longest))
}

/// Calls `f` with the windows, and whether their rows are repeated. Their entries are there `with_entries`.
fn windows<E>(
    matrix: &Matrix,
    with_entries: bool,
    mut f: impl FnMut(bool, &Window) -> Result<(), E>,
) -> Result<(), E> {
    let run = matrix.repeat().rows.start as usize..matrix.repeat().rows.end as usize;
    let stored = matrix.stored_rows().len();
    let mut window = Window::default();
    for (repeated, part) in [(true, run.clone()), (false, 0..run.start), (false, run.end..stored)] {
        let mut rows = matrix.stored_rows().skip(part.start).take(part.len()).peekable();
        window.first = part.start;
        while let Some(row) = rows.next() {
            window.ends.push(window.ends.last().copied().unwrap_or(0) + row.len());
            if with_entries {
                window.entries.extend(row.map(|(column, coefficient)| [column, coefficient]));
            }
            let entries = window.ends.last().copied().unwrap_or(0);
            if rows.peek().is_none() || window.ends.len() == WINDOW || entries >= WINDOW_ENTRIES {
                window.sort();
                f(repeated, &window)?;
                window.first += window.ends.len();
                window.ends.clear();
                window.entries.clear();
            }
        }
    }
    Ok(())
}

/// How many slices, rows and entries a matrix has.
pub(super) fn extent(matrix: &Matrix) -> Extent {
    let mut extent = Extent::default();
    let counted: Result<(), std::convert::Infallible> = windows(matrix, false, |repeated, window| {
        let before = extent.entries;
        for rows in window.slices() {
            extent.slices += 1;
            extent.repeated += usize::from(repeated);
            extent.rows += rows.len();
            extent.entries += LANES * shape(rows).1;
        }
        extent.window = extent.window.max(extent.entries - before);
        Ok(())
    });
    match counted {
        Ok(()) => extent,
    }
}

/// Calls `f` with all slices of a matrix, a few at a time.
pub(super) fn slices<E>(matrix: &Matrix, mut f: impl FnMut(&Batch) -> Result<(), E>) -> Result<(), E> {
    let (mut batch, mut units, mut numbers) = (Batch::default(), 0, 0);
    windows(matrix, true, |_, window| {
        for rows in window.slices() {
            let (log_lanes, per_lane) = shape(rows);
            batch.slices.push([units, numbers, per_lane as u32, log_lanes | (rows.len() as u32) << 8]);
            batch.rows.extend(rows.iter().map(|(_, row)| window.first as u32 + row));
            let first = batch.entries.len();
            batch.entries.resize(first + LANES * per_lane, NONE);
            for (place, (_, row)) in rows.iter().enumerate() {
                let lane = first + (place << log_lanes);
                for (i, entry) in window.entries[window.row(*row)].iter().enumerate() {
                    batch.entries[lane + LANES * (i >> log_lanes) + (i & ((1 << log_lanes) - 1))] = *entry;
                }
            }
            units += per_lane as u32;
            numbers += rows.len() as u32;
        }
        if batch.entries.len() >= Batch::ENTRIES || batch.rows.len() >= Batch::ENTRIES {
            f(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    f(&batch)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use cuzk_values::{MatrixBuilder, Repeat};

    use super::*;

    /// Rows of all lengths up to 300 and some longer ones, and a run of them.
    fn matrix() -> Matrix {
        let mut builder = MatrixBuilder::default();
        for row in 0..10_000_usize {
            let len = if row.is_multiple_of(997) { 40_000 } else { row * row % 301 };
            (0..len as u32).for_each(|column| builder.entry(column, row as u32));
            builder.end_row();
        }
        builder.build_repeating(Repeat { count: 3, rows: 11..9_000, ..Repeat::NONE })
    }

    #[test]
    fn every_entry_is_in_one_slice() {
        let matrix = matrix();
        let extent = extent(&matrix);
        let mut all = Batch::default();
        let handed: Result<(), Infallible> = slices(&matrix, |batch| {
            all.slices.extend(&batch.slices);
            all.rows.extend(&batch.rows);
            all.entries.extend(&batch.entries);
            Ok(())
        });
        handed.unwrap();
        assert_eq!(
            (all.slices.len(), all.rows.len(), all.entries.len()),
            (extent.slices, 10_000, extent.entries)
        );
        let stored: Vec<Vec<Entry>> =
            matrix.stored_rows().map(|row| row.map(|(column, index)| [column, index]).collect()).collect();
        let mut found = vec![None; stored.len()];
        for (at, [first, numbers, per_lane, shape]) in all.slices.iter().enumerate() {
            let (lanes, rows) = (1_usize << (shape & 0xff), shape >> 8);
            assert!(lanes * rows as usize <= LANES);
            let units = all.entries[LANES * *first as usize..].chunks(LANES).take(*per_lane as usize);
            for place in 0..rows as usize {
                let entries = units.clone().flat_map(|unit| &unit[lanes * place..][..lanes]).copied();
                let row = all.rows[*numbers as usize + place];
                assert_eq!((11..9_000).contains(&row), at < extent.repeated);
                assert!(found[row as usize].is_none());
                found[row as usize] = Some(entries.filter(|entry| *entry != NONE).collect::<Vec<_>>());
            }
        }
        assert!(found.iter().zip(&stored).all(|(found, stored)| found.as_ref() == Some(stored)));
        let entries = matrix.stored_entries();
        assert!(extent.entries < entries + entries / 10, "{} places for {entries} entries", extent.entries);
    }

    #[test]
    fn long_rows_have_more_lanes() {
        let lanes = [0, 1, 8, 9, 16, 17, 128, 129, 256, 100_000].map(log_lanes);
        assert_eq!(lanes, [0, 0, 0, 1, 1, 2, 4, 5, 5, 5]);
        assert_eq!([0, 1, 9, 100, 1_000].map(per_lane), [0, 1, 5, 7, 32]);
    }
}
