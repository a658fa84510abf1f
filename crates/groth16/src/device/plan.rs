//! How proofs of a circuit share out a device's memory.

use std::ops::Range;

use cuzk_msm::MsmError;
use cuzk_msm::gpu::Extent;
use cuzk_srs::Query;

use crate::Sizes;

/// The most that the sums' scratch memory takes.
const WORKSPACE: u64 = 16 << 30;

/// Of the memory that is left for parameters: an eighth in one piece where they are streamed,
/// so that pieces arrive while others are multiplied, within these bounds.
const PIECE: Range<u64> = 1 << 20..512 << 20;

/// What a prover may use of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes of its memory.
    pub bytes: u64,
    /// Bytes of the largest buffer: OpenCL's drivers give less than all in one.
    pub largest: u64,
    /// Multiprocessors.
    pub units: u32,
}

/// How proofs of a circuit share out a device's memory: parameters stay there where they fit
/// beside a partition's values, query by query, and the others are streamed in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicePlan {
    pub(super) workspace: Extent,
    /// Memory for the sums over a witness while `h` is multiplied in the other, where there is room.
    pub(super) beside: Option<Extent>,
    /// By query, in the order of [`QUERIES`]: what is multiplied at once.
    ranges: [Vec<Range<usize>>; 5],
}

/// The queries in the order in which they get memory.
const QUERIES: [Query; 5] = [Query::H, Query::A, Query::L, Query::BG2, Query::BG1];

/// Bytes of a point on a device.
fn point(query: Query) -> u64 {
    if query == Query::BG2 { 192 } else { 96 }
}

fn points(sizes: &Sizes, query: Query) -> usize {
    let lengths = &sizes.queries;
    match query {
        Query::H => lengths.h,
        Query::L => lengths.l,
        Query::A => lengths.a,
        Query::BG1 | Query::BG2 => lengths.b,
    }
}

/// The points of a query in ranges of `step`.
fn pieces(len: usize, step: usize) -> Vec<Range<usize>> {
    let step = step.clamp(1, len.max(1));
    (0..len).step_by(step).map(|first| first..len.min(first + step)).collect()
}

impl DevicePlan {
    /// For circuits of these sizes, `held` bytes of whose tables stay on the device.
    ///
    /// # Errors
    /// [`MsmError::Limit`] where there is no room for a sum.
    pub fn new(sizes: &Sizes, held: u64, room: Room) -> Result<Self, MsmError> {
        // The more scratch memory, the larger the windows, but parameters need room too.
        let most = WORKSPACE.min(room.largest);
        let with = |share: u64| Self::within(sizes, held, room, (room.bytes / share).min(most));
        with(6).or_else(|_| with(3)).or_else(|_| with(2))
    }

    /// With at most `limit` bytes for the sums' scratch memory.
    fn within(sizes: &Sizes, held: u64, room: Room, limit: u64) -> Result<Self, MsmError> {
        let witness = sizes.witness;
        let poly = 32_u64 << sizes.log_domain;
        if poly > room.largest {
            return Err(MsmError::Limit { limit: room.largest, least: poly });
        }
        let wide = (witness.inputs + witness.wide) as u64;
        // a, b and c; the witness with its places written out.
        let partition = 3 * poly + witness.footprint().host + 4 * wide;
        let extent = |terms, bases| Extent { terms, bases, wide, limit, sums: 16, units: room.units };
        let longest = QUERIES.map(|query| points(sizes, query)).into_iter().max().unwrap_or(0) as u64;
        let h = sizes.queries.h as u64;
        let whole = extent(h, longest);
        let two = [Extent { wide: 0, ..extent(h, 0) }, extent(0, longest)];
        let bytes = |query| points(sizes, query) as u64 * point(query);
        let is_one = |query| bytes(query) <= room.largest;
        let all: u64 = QUERIES.into_iter().map(bytes).sum();
        let left = |workspace| room.bytes.saturating_sub(held + partition + workspace);
        let fits = |extents: &[Extent]| {
            let bytes = extents.iter().map(|extent| extent.footprint().map(|footprint| footprint.device));
            bytes.sum::<Result<u64, _>>().is_ok_and(|bytes| all <= left(bytes))
                && QUERIES.into_iter().all(is_one)
        };
        let resident = || QUERIES.map(|query| pieces(points(sizes, query), usize::MAX));
        if fits(&two) {
            let [workspace, beside] = two;
            return Ok(Self { workspace, beside: Some(beside), ranges: resident() });
        }
        if fits(&[whole]) {
            return Ok(Self { workspace: whole, beside: None, ranges: resident() });
        }
        // What is not resident comes in pieces, of which two fit beside all else.
        let piece = (left(limit) / 8).clamp(PIECE.start, PIECE.end).min(room.largest);
        let mut left = left(limit).saturating_sub(2 * piece);
        let (mut terms, mut bases) = (0, 0);
        let ranges = QUERIES.map(|query| {
            let len = points(sizes, query);
            let step = match left.checked_sub(bytes(query)) {
                Some(rest) if is_one(query) => {
                    left = rest;
                    len
                }
                _ => (piece / point(query)) as usize,
            };
            let longest = if query == Query::H { &mut terms } else { &mut bases };
            *longest = step.min(len).max(*longest);
            pieces(len, step)
        });
        let workspace = extent(terms as u64, bases as u64);
        let least = held + partition + workspace.footprint()?.device + 2 * piece;
        if least > room.bytes {
            return Err(MsmError::Limit { limit: room.bytes, least });
        }
        Ok(Self { workspace, beside: None, ranges })
    }

    /// With nothing of the parameters resident: they come in pieces of at most `piece` bytes, which
    /// are at least a point's.
    ///
    /// # Errors
    /// [`MsmError::Limit`] where there is no room for a sum.
    pub fn streamed(sizes: &Sizes, piece: u64, room: Room) -> Result<Self, MsmError> {
        let wide = (sizes.witness.inputs + sizes.witness.wide) as u64;
        let step = |query| ((piece / point(query)) as usize).max(1);
        let (terms, bases) = (step(Query::H) as u64, step(Query::A) as u64);
        let limit = room.bytes / 2;
        let workspace = Extent { terms, bases, wide, limit, sums: 16, units: room.units };
        workspace.footprint()?;
        let ranges = QUERIES.map(|query| pieces(points(sizes, query), step(query)));
        Ok(Self { workspace, beside: None, ranges })
    }

    /// What of a query is multiplied at once: all of it, which stays on the device, or pieces.
    pub fn ranges(&self, query: Query) -> &[Range<usize>] {
        let index = QUERIES.iter().position(|q| *q == query).unwrap_or(0);
        &self.ranges[index]
    }

    /// Whether all parameters stay on the device.
    pub fn is_resident(&self) -> bool {
        self.ranges.iter().all(|ranges| ranges.len() <= 1)
    }
}

#[cfg(test)]
mod tests {
    use cuzk_synth::WitnessSize;
    use cuzk_values::QueryLengths;

    use super::*;

    /// A 512 MiB PoRep, about.
    const SIZES: Sizes = Sizes {
        log_domain: 23,
        witness: WitnessSize { inputs: 30, aux: 8_000_000, wide: 100_000, places: 100_000 },
        queries: QueryLengths { inputs: 30, h: (1 << 23) - 1, l: 8_000_000, a: 8_000_000, b: 2_000_000 },
    };

    fn plan(bytes: u64) -> Result<DevicePlan, MsmError> {
        by_pieces(bytes, u64::MAX)
    }

    /// On a device that gives at most `largest` bytes in one.
    fn by_pieces(bytes: u64, largest: u64) -> Result<DevicePlan, MsmError> {
        DevicePlan::new(&SIZES, 1 << 20, Room { bytes, largest, units: 132 })
    }

    #[test]
    fn every_point_of_a_query_is_in_one_range() {
        for bytes in [100 << 30, 6 << 30, 4 << 30, 2 << 30, 3 << 29] {
            let plan = plan(bytes).unwrap();
            for query in QUERIES {
                let ends = plan.ranges(query).iter().fold(0, |end, range| {
                    assert_eq!(range.start, end, "{bytes} bytes, {query:?}");
                    range.end
                });
                assert_eq!(ends, points(&SIZES, query), "{bytes} bytes, {query:?}");
            }
        }
    }

    #[test]
    fn parameters_stay_where_there_is_room_and_are_streamed_where_there_is_none() {
        let roomy = plan(100 << 30).unwrap();
        assert!(roomy.is_resident() && roomy.beside.is_some());
        // Parameters come before a second workspace.
        let narrow =
            (1..100).map(|gib| plan(gib << 30)).find_map(|plan| plan.ok().filter(DevicePlan::is_resident));
        assert_eq!(narrow.unwrap().beside, None);
        let part = plan(4 << 30).unwrap();
        assert!(!part.is_resident());
        assert!(QUERIES.into_iter().any(|query| part.ranges(query).len() == 1));
        assert!(matches!(plan(1 << 20), Err(MsmError::Limit { .. })));
    }

    /// A 32 GiB PoRep's on a card of 141 GB, of which an engine has 134 GiB.
    #[test]
    fn the_largest_parameters_stay_on_a_large_card() {
        let witness = WitnessSize { inputs: 328, aux: 130_000_000, wide: 2_000_000, places: 200_000 };
        let queries =
            QueryLengths { inputs: 328, h: (1 << 27) - 1, l: 130_000_000, a: 129_753_620, b: 33_112_282 };
        let sizes = Sizes { log_domain: 27, witness, queries };
        let room = Room { bytes: 134 << 30, largest: 134 << 30, units: 132 };
        let plan = DevicePlan::new(&sizes, 5 << 30, room).unwrap();
        assert!(plan.is_resident() && plan.beside.is_some());
        // Beside the tables, two partitions' polynomials have room.
        let parameters: u64 = QUERIES.iter().map(|query| points(&sizes, *query) as u64 * point(*query)).sum();
        let scratch = [plan.workspace, plan.beside.unwrap()].map(|extent| extent.footprint().unwrap().device);
        let left = room.bytes - (5 << 30) - parameters - scratch.iter().sum::<u64>();
        assert!(left > 2 * 3 * (32 << 27), "{left} bytes left, {scratch:?} in use by sums");
    }

    #[test]
    fn no_query_is_larger_than_a_buffer_may_be() {
        for largest in [64 << 30, 800 << 20, 500 << 20, 256 << 20] {
            let plan = by_pieces(100 << 30, largest).unwrap();
            for query in QUERIES {
                let most = plan.ranges(query).iter().map(ExactSizeIterator::len).max().unwrap_or(0);
                assert!(most as u64 * point(query) <= largest, "{query:?} in {largest} bytes");
                let fits = points(&SIZES, query) as u64 * point(query) <= largest;
                assert_eq!(plan.ranges(query).len() == 1, fits, "{query:?} in {largest} bytes");
            }
        }
        let error = by_pieces(100 << 30, (256 << 20) - 1).unwrap_err();
        assert!(matches!(error, MsmError::Limit { least: 0x1000_0000, .. }), "a polynomial: {error}");
    }
}
