//! The points that an MSM multiplies.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cuzk_pipeline_core::{Footprint, Value};

/// Points that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BasesError {
    /// A stored point is not one.
    #[error("point {index} of the {query} query: {reason}")]
    Point {
        /// The query, as `h` or `b_g2`.
        query: &'static str,
        /// Which point.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A range goes past the end.
    #[error("points {start}..{end} of {len}")]
    Range {
        /// The first asked for.
        start: usize,
        /// One past the last.
        end: usize,
        /// How many there are.
        len: usize,
    },
}

/// A row of affine points that may have to be decoded before use.
pub trait PointSource<G>: Send + Sync + 'static {
    /// How many points.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points `range`, decoded in parallel on the caller's rayon pool when
    /// they are not in memory. A source that reads a file may let go of the pages.
    ///
    /// # Errors
    /// [`BasesError`].
    fn points(&self, range: Range<usize>) -> Result<Cow<'_, [G]>, BasesError>
    where
        G: Clone;

    /// Whether [`points`](Self::points) borrows, at no cost.
    fn is_resident(&self) -> bool;

    /// The points as they are stored, where that is not as `G`: for who decodes them elsewhere.
    fn encoded(&self) -> Option<&dyn EncodedPoints> {
        None
    }

    /// The bytes kept in memory.
    fn footprint(&self) -> Footprint;
}

/// A row of points in their uncompressed encoding, as `to_uncompressed` of blstrs writes them: 96
/// bytes in G1, 192 in G2.
pub trait EncodedPoints: Send + Sync {
    /// Copies the encodings of the points `range` to `to`, in parallel on the caller's rayon pool.
    /// What they encode is not checked.
    ///
    /// # Errors
    /// [`BasesError`]; what `to` holds then is not defined.
    ///
    /// # Panics
    /// If `to` has fewer bytes or more.
    fn read(&self, range: Range<usize>, to: &mut [u8]) -> Result<(), BasesError>;
}

impl<G: Clone + Send + Sync + 'static> PointSource<G> for Vec<G> {
    fn len(&self) -> usize {
        self.len()
    }
    fn points(&self, range: Range<usize>) -> Result<Cow<'_, [G]>, BasesError> {
        let (start, end, len) = (range.start, range.end, self.len());
        self.get(range).map(Cow::Borrowed).ok_or(BasesError::Range { start, end, len })
    }
    fn is_resident(&self) -> bool {
        true
    }
    fn footprint(&self) -> Footprint {
        Footprint::host((self.capacity() * size_of::<G>()) as u64)
    }
}

/// The points of one query, shared by all that use them.
pub struct Bases<G>(Arc<dyn PointSource<G>>);

impl<G: 'static> Bases<G> {
    /// Points from a source.
    pub fn new(source: impl PointSource<G>) -> Self {
        Self(Arc::new(source))
    }

    /// How many points.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether [`points`](Self::points) borrows, at no cost.
    pub fn is_resident(&self) -> bool {
        self.0.is_resident()
    }

    /// The points as they are stored, where that is not as `G`. See [`PointSource::encoded`].
    pub fn encoded(&self) -> Option<&dyn EncodedPoints> {
        self.0.encoded()
    }

    /// The points `range`. See [`PointSource::points`].
    ///
    /// # Errors
    /// [`BasesError`].
    pub fn points(&self, range: Range<usize>) -> Result<Cow<'_, [G]>, BasesError>
    where
        G: Clone,
    {
        self.0.points(range)
    }
}

impl<G> Clone for Bases<G> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<G: 'static> fmt::Debug for Bases<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bases{}", self.len(), if self.is_resident() { "" } else { ", decoded on use" })
    }
}

impl<G: 'static> Value for Bases<G> {
    fn footprint(&self) -> Footprint {
        self.0.footprint()
    }
}
