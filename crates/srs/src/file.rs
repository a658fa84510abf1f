//! A parameter file in use.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use blstrs::{G1Affine, G2Affine};
use cuzk_pipeline_core::Footprint;
use cuzk_values::{Bases, BasesError, EncodedPoints, PointSource, QueryLengths, Srs, VerifyingKey};

use crate::decode::{GROUP, decode_all, decode_append, flatten};
use crate::format::{Layout, Query, Section};
use crate::map::Map;
use crate::progress::report;
use crate::{Point, SrsError, Watch, key};

/// Points that are decoded between two looks at the [`Watch`]: 6 MiB of G1.
const BLOCK: usize = 1 << 16;

/// A parameter file whose every count fits its size and its circuit.
///
/// The file stays mapped, read-only, for as long as this or an [`Srs`] of it lives.
#[derive(Debug)]
pub struct ParameterFile {
    map: Arc<Map>,
    layout: Layout,
    vk: VerifyingKey,
}

impl ParameterFile {
    /// Opens the parameters of the circuit with these query lengths. Counts are
    /// checked, and the verifying key's points with their subgroup; the queries'
    /// points are checked when they are used.
    ///
    /// # Errors
    /// [`SrsError`]: each way in which a file is not that circuit's has its own.
    pub fn open(path: &Path, expected: &QueryLengths) -> Result<Self, SrsError> {
        Self::open_with(path, Some(expected))
    }

    pub(crate) fn open_with(path: &Path, expected: Option<&QueryLengths>) -> Result<Self, SrsError> {
        let map = Map::open(path)?;
        let layout = Layout::read(map.bytes(), expected, path)?;
        let vk = key::parse(map.bytes(), path)?;
        Ok(Self { map: Arc::new(map), layout, vk })
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        self.map.path()
    }

    /// Where everything is in it.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The verifying key at its start.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.vk
    }

    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    /// The parameters, in place: points are decoded, and checked, at each use, and
    /// the pages that were read for it are let go.
    pub fn srs(&self) -> Srs {
        Srs {
            vk: self.vk.clone(),
            h: self.mapped(Query::H),
            l: self.mapped(Query::L),
            a: self.mapped(Query::A),
            b_g1: self.mapped(Query::BG1),
            b_g2: self.mapped(Query::BG2),
        }
    }

    /// The parameters with the points of `queries` decoded once and kept in memory;
    /// the others are in place.
    ///
    /// # Errors
    /// [`SrsError::Point`], [`SrsError::Changed`], [`SrsError::Cancelled`].
    pub fn resident(&self, queries: &[Query], watch: &mut Watch<'_>) -> Result<Srs, SrsError> {
        let mut srs = self.srs();
        for &query in queries {
            match query {
                Query::H => srs.h = self.decoded(query, watch)?,
                Query::L => srs.l = self.decoded(query, watch)?,
                Query::A => srs.a = self.decoded(query, watch)?,
                Query::BG1 => srs.b_g1 = self.decoded(query, watch)?,
                Query::BG2 => srs.b_g2 = self.decoded(query, watch)?,
            }
        }
        Ok(srs)
    }

    /// The bytes that [`resident`](Self::resident) keeps in memory.
    pub fn resident_bytes(&self, queries: &[Query]) -> u64 {
        let points = queries.iter().map(|query| {
            let section = self.layout.section(*query);
            (section.count.next_multiple_of(GROUP) * section.point_bytes) as u64
        });
        (self.vk.ic.capacity() * size_of::<G1Affine>()) as u64 + points.sum::<u64>()
    }

    fn mapped<P: Point>(&self, query: Query) -> Bases<P> {
        let section = self.layout.section(query);
        Bases::new(Mapped { map: self.map.clone(), section, query, point: PhantomData })
    }

    fn decoded<P: Point>(&self, query: Query, watch: &mut Watch<'_>) -> Result<Bases<P>, SrsError> {
        let section = self.layout.section(query);
        let mut groups = Vec::with_capacity(section.count.div_ceil(GROUP));
        for start in (0..section.count).step_by(BLOCK) {
            let bytes = section.bytes(&(start..section.count.min(start + BLOCK)));
            report(watch, query.name(), bytes.start as u64, self.layout.file_bytes())?;
            self.map.check_unchanged()?;
            self.map.will_need(&bytes);
            let decoded = decode_append(&self.map.bytes()[bytes.clone()], &mut groups);
            self.map.let_go(&bytes);
            decoded.map_err(|(index, reason)| SrsError::Point {
                path: self.path().into(),
                part: query.name(),
                index: start + index,
                reason,
            })?;
        }
        Ok(Bases::new(flatten(groups, section.count)))
    }
}

/// The points of one query, in the file.
struct Mapped<P> {
    map: Arc<Map>,
    section: Section,
    query: Query,
    point: PhantomData<fn() -> P>,
}

impl<P: Point> Mapped<P> {
    /// The bytes of the points `range`, of a file that is what it was.
    fn bytes(&self, range: &Range<usize>) -> Result<Range<usize>, BasesError> {
        let Range { start, end } = *range;
        if start > end || end > self.section.count {
            return Err(BasesError::Range { start, end, len: self.section.count });
        }
        self.map.check_unchanged().map_err(|_| self.bad(start, "the file changed while it was in use"))?;
        Ok(self.section.bytes(range))
    }

    fn bad(&self, index: usize, reason: &'static str) -> BasesError {
        BasesError::Point { query: self.query.name(), index, reason }
    }
}

impl<P: Point> PointSource<P> for Mapped<P> {
    fn len(&self) -> usize {
        self.section.count
    }

    fn points(&self, range: Range<usize>) -> Result<Cow<'_, [P]>, BasesError> {
        let bytes = self.bytes(&range)?;
        self.map.will_need(&bytes);
        let points = decode_all(&self.map.bytes()[bytes.clone()]);
        self.map.let_go(&bytes);
        points.map(Cow::Owned).map_err(|(index, fault)| self.bad(range.start + index, fault.as_str()))
    }

    fn encoded(&self) -> Option<&dyn EncodedPoints> {
        Some(self)
    }

    fn is_resident(&self) -> bool {
        false
    }

    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

impl<P: Point> EncodedPoints for Mapped<P> {
    fn read(&self, range: Range<usize>, to: &mut [u8]) -> Result<(), BasesError> {
        let bytes = self.bytes(&range)?;
        // As much again behind them is likely to be asked for next.
        let next = bytes.end..self.section.bytes(&(0..self.section.count)).end.min(bytes.end + bytes.len());
        let (read, ()) = rayon::join(|| self.map.read(bytes, to), || self.map.will_need(&next));
        read.map_err(|_| self.bad(range.start, "the file cannot be read"))
    }
}

const _: () = assert!(size_of::<G1Affine>() == G1Affine::BYTES && size_of::<G2Affine>() == G2Affine::BYTES);
