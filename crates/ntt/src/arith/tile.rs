//! Passes over memory: each takes some levels of a transform, tile by tile.
//!
//! A pass sees `2^n` scalars as `2^above` blocks of `2^levels` rows of `2^below`
//! columns. A tile is as many columns of a block as there are lanes; where a row is one
//! scalar (`below` = 0) it is as many blocks instead. It goes through two groups of
//! levels. With DIF, rows far apart are read into a small buffer, transformed, and left in
//! the tile's memory, of which neighbours are then transformed and written back; with DIT,
//! neighbours are read and rows far apart are written.

use blstrs::Scalar;
use rayon::prelude::*;

use super::butterfly::{Common, FIRST_LEVELS, Kind, Own, SECOND_LEVELS, dif, dit};
use super::shared::{Scratch, SharedScalars};
use super::twist::Twist;
use super::{Constant, Job, Lanes, reversed};

/// The direction of a transform through its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Decimation in frequency: natural order in, bit-reversed order out.
    Dif,
    /// Decimation in time: bit-reversed order in, natural order out.
    Dit,
}

/// The levels of one pass, among those of the whole transform: level 0 joins scalars
/// that are half of all apart, the last joins neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pass {
    /// The levels before: the logarithm of the number of blocks.
    pub(crate) above: u32,
    /// Its levels: the logarithm of the rows of a block.
    pub(crate) levels: u32,
    /// The levels after: the logarithm of the columns.
    pub(crate) below: u32,
}

impl Pass {
    /// The most levels of one pass: 2^11 rows of 8 lanes are 640 KiB at work.
    pub(crate) const MAX_LEVELS: u32 = FIRST_LEVELS + SECOND_LEVELS;

    /// The levels of its first and second group.
    fn groups(self) -> (u32, u32) {
        let first = (self.levels / 2).min(FIRST_LEVELS);
        (first, self.levels - first)
    }

    /// The bytes that a tile works in.
    pub(crate) fn memory_bytes<L: Lanes>(self) -> usize {
        let (first, second) = self.groups();
        let buffers = size_of::<L::V>() * ((1 << self.levels) + (2 << first.max(second)));
        buffers + Twist::<L>::bytes(first, second)
    }
}

/// What the transform of a tile depends on, but for its place.
pub(crate) struct Transform<'a, L: Lanes> {
    pub(crate) flow: Flow,
    /// The twiddles of a plain transform, in bit-reversed order.
    pub(crate) common: &'a [L::Fixed],
    /// Where values are wanted, unless that is at the roots of unity from 1 on: for each
    /// block (DIF) or column (DIT), `x` as in [`Twist`], and a factor of the output.
    pub(crate) twist: Option<&'a (dyn Fn(usize) -> (Scalar, Scalar) + Sync)>,
    /// A factor for each row of output, or nothing.
    pub(crate) rows: &'a [L::Fixed],
}

/// What a tile works in.
pub(crate) struct Memory<L: Lanes> {
    tile: Vec<L::V>,
    buffer: Vec<L::V>,
    twist: Twist<L>,
}

impl<L: Lanes> Memory<L> {
    pub(crate) fn new() -> Self {
        Self { tile: Vec::new(), buffer: Vec::new(), twist: Twist::new() }
    }
}

/// Takes the levels of `pass`.
pub(crate) fn pass<L: Lanes>(
    l: L,
    scalars: &mut [Scalar],
    pass: Pass,
    transform: &Transform<'_, L>,
    scratch: &Scratch<Memory<L>>,
) {
    let (rows, columns) = (1 << pass.levels, 1 << pass.below);
    assert_eq!(scalars.len(), (rows * columns) << pass.above, "scalars of a pass");
    let tiles = scalars.len() / (rows * L::LANES);
    let lanes_are_blocks = pass.below == 0;
    assert!(if lanes_are_blocks { 1 << pass.above } else { columns } >= L::LANES, "lanes of a tile");
    assert!(transform.rows.is_empty() || transform.rows.len() == rows, "factors of rows");

    let scalars = SharedScalars::new(scalars);
    (0..tiles).into_par_iter().for_each(|tile| {
        let (block, column) = (tile * L::LANES / columns, tile * L::LANES % columns);
        // The blocks or columns whose `x` the lanes have.
        let (first, step) = match transform.flow {
            Flow::Dif => (block, usize::from(lanes_are_blocks)),
            Flow::Dit => (column, usize::from(!lanes_are_blocks)),
        };
        let place = Place {
            scalars,
            start: block * rows * columns + column,
            row: columns,
            lane: if lanes_are_blocks { rows } else { 1 },
        };
        scratch.with(Memory::new, |memory| {
            let twist = transform.twist.map(|twist| {
                let (mut x, mut factor) =
                    (vec![Scalar::default(); L::LANES], vec![Scalar::default(); L::LANES]);
                for lane in 0..L::LANES {
                    (x[lane], factor[lane]) = twist(first + step * lane);
                }
                (x, factor)
            });
            l.vectorize(Tile { place, groups: pass.groups(), transform, twist, memory });
        });
    });
}

/// Where a tile's scalars are.
#[derive(Clone, Copy)]
struct Place<'a> {
    scalars: SharedScalars<'a>,
    /// Row 0 of lane 0.
    start: usize,
    /// From row to row.
    row: usize,
    /// From lane to lane.
    lane: usize,
}

impl Place<'_> {
    #[inline(always)]
    fn load<L: Lanes>(self, l: L, row: usize) -> L::V {
        // SAFETY: `pass` makes places whose rows and lanes are within the scalars, and
        // different tiles have different scalars, so that none is being written.
        unsafe { l.load(self.scalars.at(self.start + row * self.row), self.lane) }
    }

    #[inline(always)]
    fn store<L: Lanes>(self, l: L, row: usize, v: L::V) {
        // SAFETY: as for `load`; this tile's thread alone reaches them.
        unsafe { l.store(v, self.scalars.at(self.start + row * self.row), self.lane) }
    }

    /// Asks for a row that is soon to be loaded.
    #[inline(always)]
    fn prefetch<L: Lanes>(self, row: usize) {
        /// Scalars of a cache line.
        const LINE: usize = 2;
        #[cfg(target_arch = "x86_64")]
        {
            let step = self.lane.max(LINE);
            for i in 0..L::LANES * self.lane / step {
                let at = self.start + row * self.row + i * step;
                // SAFETY: within the scalars, as for `load`; a prefetch reads nothing anyway.
                unsafe {
                    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                    _mm_prefetch::<_MM_HINT_T0>(self.scalars.at(at).cast());
                }
            }
        }
    }
}

/// One tile's work.
struct Tile<'a, L: Lanes> {
    place: Place<'a>,
    groups: (u32, u32),
    transform: &'a Transform<'a, L>,
    /// `x` and a factor for each lane.
    twist: Option<(Vec<Scalar>, Vec<Scalar>)>,
    memory: &'a mut Memory<L>,
}

impl<L: Lanes> Job<L> for Tile<'_, L> {
    #[inline(always)]
    fn run(self, l: L) {
        let (first, second) = self.groups;
        let Memory { tile, buffer, twist } = self.memory;
        let zero = l.zero();
        tile.resize(1 << (first + second), zero);
        buffer.resize(2 << first.max(second), zero);
        // Not by `map`: a closure would not be compiled for the instruction set.
        let twist = match self.twist {
            Some((x, factor)) => {
                // SAFETY: `pass` made a scalar for each lane.
                let (x, factor) = unsafe { (l.load(x.as_ptr(), 1), l.load(factor.as_ptr(), 1)) };
                twist.prepare(l, x, factor, self.groups, self.transform.common);
                Some(&*twist)
            }
            None => None,
        };
        let (place, transform) = (self.place, self.transform);
        match transform.flow {
            Flow::Dif => {
                dif_first(l, place, self.groups, transform, twist, tile, buffer);
                dif_second(l, place, self.groups, transform, tile);
            }
            Flow::Dit => {
                dit_first(l, place, self.groups, transform, twist, tile);
                dit_second(l, place, self.groups, transform, tile, buffer);
            }
        }
    }
}

/// Rows that are `2^second` apart, two neighbouring sets of them at a time.
#[inline(always)]
fn dif_first<L: Lanes>(
    l: L,
    place: Place<'_>,
    (first, second): (u32, u32),
    transform: &Transform<'_, L>,
    twist: Option<&Twist<L>>,
    tile: &mut [L::V],
    buffer: &mut [L::V],
) {
    let buffer = &mut buffer[..2 << first];
    for column in (0..1 << second).step_by(2) {
        for (i, pair) in buffer.chunks_exact_mut(2).enumerate() {
            let row = (i << second) + column;
            (pair[0], pair[1]) = (place.load(l, row), place.load(l, row + 1));
        }
        if column + 2 < 1 << second {
            for i in 0..1 << first {
                let row = (i << second) + column + 2;
                place.prefetch::<L>(row);
                place.prefetch::<L>(row + 1);
            }
        }
        if let Some(twist) = twist {
            dif(l, buffer, first, &Own(&twist.twiddles), Kind::Plain);
            let powers = [&twist.powers[column], &twist.powers[column + 1]];
            for v in buffer.chunks_exact_mut(2) {
                (v[0], v[1]) = (powers[0].mul(l, v[0]), powers[1].mul(l, v[1]));
            }
        } else {
            dif(l, buffer, first, &Common { table: transform.common, block: 0 }, Kind::Unit);
            for v in &mut *buffer {
                *v = l.fold(*v);
            }
        }
        for (i, pair) in buffer.chunks_exact(2).enumerate() {
            let at = (i << second) + column;
            (tile[at], tile[at + 1]) = (pair[0], pair[1]);
        }
    }
}

/// Neighbouring rows.
#[inline(always)]
fn dif_second<L: Lanes>(
    l: L,
    place: Place<'_>,
    (_, second): (u32, u32),
    transform: &Transform<'_, L>,
    tile: &mut [L::V],
) {
    for (block, values) in tile.chunks_exact_mut(1 << second).enumerate() {
        dif(l, values, second, &Common { table: transform.common, block }, Kind::Plain);
        for (i, v) in values.iter().enumerate() {
            write(l, place, transform, (block << second) + i, *v);
        }
    }
}

/// Neighbouring rows, two sets of them at a time.
#[inline(always)]
fn dit_first<L: Lanes>(
    l: L,
    place: Place<'_>,
    (first, second): (u32, u32),
    transform: &Transform<'_, L>,
    twist: Option<&Twist<L>>,
    tile: &mut [L::V],
) {
    let pairs = 1 << (second - 1);
    for (pair, values) in tile.chunks_exact_mut(2 << first).enumerate() {
        let start = pair << (first + 1);
        for (i, v) in values.iter_mut().enumerate() {
            *v = place.load(l, start + i);
        }
        if pair + 1 < pairs {
            for i in 0..2 << first {
                place.prefetch::<L>(start + (2 << first) + i);
            }
        }
        if let Some(twist) = twist {
            dit(l, values, first, &Own(&twist.twiddles), Kind::Plain);
            for (i, set) in values.chunks_exact_mut(1 << first).enumerate() {
                let power = &twist.powers[reversed(2 * pair + i, second)];
                for v in set {
                    *v = power.mul(l, *v);
                }
            }
        } else {
            dit(l, values, first, &Common { table: transform.common, block: 0 }, Kind::Unit);
            for v in values {
                *v = l.fold(*v);
            }
        }
    }
}

/// Rows that are `2^first` apart, two neighbouring sets of them at a time.
#[inline(always)]
fn dit_second<L: Lanes>(
    l: L,
    place: Place<'_>,
    (first, second): (u32, u32),
    transform: &Transform<'_, L>,
    tile: &[L::V],
    buffer: &mut [L::V],
) {
    let (even, odd) = buffer[..2 << second].split_at_mut(1 << second);
    for column in (0..1 << first).step_by(2) {
        for (i, (even, odd)) in even.iter_mut().zip(&mut *odd).enumerate() {
            let at = (i << first) + column;
            (*even, *odd) = (tile[at], tile[at + 1]);
        }
        for (i, values) in [&mut *even, &mut *odd].into_iter().enumerate() {
            let block = reversed(column + i, first);
            dit(l, values, second, &Common { table: transform.common, block }, Kind::Plain);
        }
        for (i, (even, odd)) in even.iter().zip(&*odd).enumerate() {
            let row = (i << first) + column;
            write(l, place, transform, row, *even);
            write(l, place, transform, row + 1, *odd);
        }
    }
}

/// Writes a row of output, times its factor.
#[inline(always)]
fn write<L: Lanes>(l: L, place: Place<'_>, transform: &Transform<'_, L>, row: usize, v: L::V) {
    let v = match transform.rows.get(row) {
        Some(factor) => factor.mul(l, l.fold(v)),
        None => v,
    };
    place.store(l, row, v);
}
