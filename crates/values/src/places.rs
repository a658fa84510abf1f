//! Ascending positions of which a run repeats.

use std::ops::Range;

use cuzk_pipeline_core::{Footprint, Value};

/// Ascending positions in a row: some at its start, then a run of them that
/// stands `count` times, `period` apart.
///
/// That is where a circuit of equal sub-circuits has its full-width variables: a
/// WindowPoSt's 127 million of them stand at 54,000 positions that repeat 2,349
/// times, which weigh 216 kB here and half a gigabyte written out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    first: Vec<u32>,
    run: Vec<u32>,
    start: u32,
    period: u32,
    count: u32,
}

impl Places {
    /// `first`, then `run` at `start`, `start + period`, … `count` times.
    ///
    /// # Panics
    /// Unless `first` ascends and is below `start`, `run` ascends and is below
    /// `period`, and all positions are below 2^32.
    pub fn repeating(first: Vec<u32>, run: Vec<u32>, start: u32, period: u32, count: u32) -> Self {
        let ascend = |places: &[u32], limit| {
            places.is_sorted_by(|a, b| a < b) && places.last().is_none_or(|last| *last < limit)
        };
        assert!(ascend(&first, start), "the first places ascend and are below {start}");
        assert!(ascend(&run, period), "the run's places ascend and are below {period}");
        let end = u64::from(start) + u64::from(period) * u64::from(count);
        assert!(end <= 1 << 32, "{end} positions are more than 2^32");
        Self { first, run, start, period, count }
    }

    /// None, and room for so many without a run.
    pub fn with_capacity(places: usize) -> Self {
        Self { first: Vec::with_capacity(places), ..Self::default() }
    }

    /// The positions before the run.
    pub fn first(&self) -> &[u32] {
        &self.first
    }

    /// The positions of the run within a copy, where the first copy starts, and how far the next
    /// is from it.
    pub fn run(&self) -> (&[u32], u32, u32) {
        (&self.run, self.start, self.period)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.first.len() + self.run.len() * self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Position `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn get(&self, index: usize) -> u32 {
        self.iter_from(index).next().unwrap_or_else(|| panic!("position {index} of {}", self.len()))
    }

    /// How many positions are below `position`.
    pub fn rank(&self, position: usize) -> usize {
        let Some(within) = position.checked_sub(self.start as usize) else {
            return self.first.partition_point(|place| (*place as usize) < position);
        };
        let copy = if self.period == 0 { 0 } else { within / self.period as usize };
        if copy >= self.count as usize {
            return self.len();
        }
        let within = within % self.period as usize;
        let rank = self.run.partition_point(|place| (*place as usize) < within);
        self.first.len() + copy * self.run.len() + rank
    }

    /// The positions.
    pub fn iter(&self) -> PlacesIter<'_> {
        self.iter_from(0)
    }

    /// The positions from the one of this index on.
    pub fn iter_from(&self, index: usize) -> PlacesIter<'_> {
        let index = index.min(self.len());
        let (part, base, copies) = match index.checked_sub(self.first.len()) {
            Some(within) if !self.run.is_empty() => {
                let (copy, at) = (within / self.run.len(), within % self.run.len());
                let left = (self.count as usize).saturating_sub(copy + 1);
                if copy == self.count as usize {
                    (&[][..], 0, 0)
                } else {
                    (&self.run[at..], self.start as usize + copy * self.period as usize, left)
                }
            }
            _ => (&self.first[index..], 0, if self.run.is_empty() { 0 } else { self.count as usize }),
        };
        PlacesIter { places: self, part, base: base as u32, next: self.count - copies as u32, copies }
    }

    /// The positions in a range.
    pub fn iter_in(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let places = self.iter_from(self.rank(range.start)).map(|place| place as usize);
        places.take_while(move |place| *place < range.end)
    }

    /// Appends a position behind all others.
    ///
    /// # Panics
    /// Unless it is.
    pub fn push(&mut self, place: u32) {
        self.write_out();
        assert!(place >= self.start, "{place} is behind {}", self.start);
        self.start = place.checked_add(1).expect("fewer than 2^32 positions");
        self.first.push(place);
    }

    /// Turns the run into positions of its own, so that others can follow.
    fn write_out(&mut self) {
        if self.count > 0 {
            self.first = self.iter().collect();
            self.start += self.period * self.count;
            (self.run, self.period, self.count) = (Vec::new(), 0, 0);
        }
    }
}

impl FromIterator<u32> for Places {
    fn from_iter<I: IntoIterator<Item = u32>>(places: I) -> Self {
        let mut all = Self::default();
        places.into_iter().for_each(|place| all.push(place));
        all
    }
}

impl<'a> IntoIterator for &'a Places {
    type Item = u32;
    type IntoIter = PlacesIter<'a>;

    fn into_iter(self) -> PlacesIter<'a> {
        self.iter()
    }
}

impl Value for Places {
    fn footprint(&self) -> Footprint {
        Footprint::host(4 * (self.first.capacity() + self.run.capacity()) as u64)
    }
}

/// The positions of [`Places`].
#[derive(Debug, Clone)]
pub struct PlacesIter<'a> {
    places: &'a Places,
    part: &'a [u32],
    base: u32,
    /// The next copy of the run.
    next: u32,
    /// The copies from that one on.
    copies: usize,
}

impl Iterator for PlacesIter<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if let Some((place, rest)) = self.part.split_first() {
            self.part = rest;
            return Some(self.base + place);
        }
        self.copies = self.copies.checked_sub(1)?;
        let Places { run, start, period, .. } = self.places;
        (self.part, self.base) = (run, start + self.next * period);
        self.next += 1;
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.part.len() + self.copies * self.places.run.len();
        (left, Some(left))
    }
}

impl ExactSizeIterator for PlacesIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_places_are_as_if_written_out() {
        let cases = [
            (Places::default(), vec![]),
            ([3, 4, 9].into_iter().collect(), vec![3, 4, 9]),
            (Places::repeating(vec![], vec![0, 2], 0, 3, 3), vec![0, 2, 3, 5, 6, 8]),
            (Places::repeating(vec![1, 4], vec![1], 6, 4, 2), vec![1, 4, 7, 11]),
            (Places::repeating(vec![1, 4], vec![], 6, 4, 2), vec![1, 4]),
            (Places::repeating(vec![1], vec![0], 6, 4, 0), vec![1]),
        ];
        for (places, written) in cases {
            assert_eq!(places.len(), written.len());
            assert!(places.iter().eq(written.iter().copied()), "{places:?}");
            for index in 0..=written.len() {
                let from = places.iter_from(index);
                assert_eq!(from.len(), written.len() - index);
                assert!(from.eq(written[index..].iter().copied()), "{places:?} from {index}");
            }
            for position in 0..20 {
                let rank = written.iter().filter(|place| (**place as usize) < position).count();
                assert_eq!(places.rank(position), rank, "{places:?} below {position}");
                let within = places.iter_in(position..position + 4);
                assert!(within.eq(
                    written.iter().map(|p| *p as usize).filter(|p| (position..position + 4).contains(p))
                ));
            }
            let mut more = places.clone();
            more.push(50);
            assert!(more.iter().eq(written.iter().copied().chain([50])));
        }
    }
}
