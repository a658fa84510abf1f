//! The arena's books against a map of every unit.
#![allow(missing_docs, reason = "tests")]

use cuzk_gpu_backend::{Arena, Block};
use proptest::collection::vec;
use proptest::prelude::*;

const UNIT: u64 = 256;

/// Who owns each unit.
struct Map(Vec<Option<usize>>);

impl Map {
    /// The gaps as (start, length).
    fn gaps(&self) -> Vec<(usize, usize)> {
        let mut gaps = vec![];
        let mut at = 0;
        for run in self.0.chunk_by(|a, b| a.is_none() == b.is_none()) {
            if run[0].is_none() {
                gaps.push((at, run.len()));
            }
            at += run.len();
        }
        gaps
    }
}

proptest! {
    /// Sizes around multiples of the unit, and far too large ones; arenas of up to 40 units; about as
    /// many frees as takes, so that gaps arise and close on either side.
    #[test]
    fn books_agree_with_the_map(units in 0_u64..40, odd in 0..UNIT, steps in vec((any::<bool>(), 0_u64..9 * UNIT, any::<prop::sample::Index>()), 0..200)) {
        let mut arena = Arena::new(units * UNIT + odd);
        let mut map = Map(vec![None; units as usize]);
        let mut held: Vec<(usize, Block)> = vec![];
        for (id, (take, bytes, which)) in steps.into_iter().enumerate() {
            if take || held.is_empty() {
                let need = bytes.div_ceil(UNIT) as usize;
                let fits = map.gaps().into_iter().filter(|(_, len)| *len >= need);
                let best = fits.min_by_key(|(at, len)| (*len, *at));
                match arena.take(bytes) {
                    Some(block) if need == 0 => held.push((id, block)),
                    Some(block) => {
                        let (start, _) = best.expect("the map has no such gap");
                        prop_assert_eq!((block.offset(), block.bytes()), (start as u64 * UNIT, need as u64 * UNIT));
                        map.0[start..start + need].fill(Some(id));
                        held.push((id, block));
                    }
                    None => prop_assert_eq!(best, None),
                }
            } else {
                let (id, block) = held.swap_remove(which.index(held.len()));
                map.0.iter_mut().filter(|unit| **unit == Some(id)).for_each(|unit| *unit = None);
                arena.give_back(block);
            }
            let free = map.0.iter().filter(|unit| unit.is_none()).count() as u64 * UNIT;
            let largest = map.gaps().iter().map(|(_, len)| *len).max().unwrap_or(0) as u64 * UNIT;
            prop_assert_eq!((arena.size(), arena.free(), arena.largest()), (units * UNIT, free, largest));
            prop_assert_eq!(arena.used() + arena.free(), arena.size());
        }
    }
}

#[test]
fn sizes_that_overflow_are_not_there() {
    let mut arena = Arena::new(u64::MAX);
    assert_eq!(arena.take(u64::MAX), None);
    let all = arena.take(u64::MAX / UNIT * UNIT).unwrap();
    assert_eq!((arena.free(), arena.largest()), (0, 0));
    assert_eq!(arena.take(1), None);
    arena.give_back(all);
    assert_eq!(arena.largest(), arena.size());
}
