//! Which bytes a call is about, if there are such.

use std::ops::Range;

use crate::Error;

/// `range` of `bytes` bytes.
pub(crate) fn within(call: &'static str, range: &Range<u64>, bytes: u64) -> Result<Range<u64>, Error> {
    let at = range.start;
    if at <= range.end && range.end <= bytes {
        return Ok(range.clone());
    }
    Err(Error::Bounds { call, at, len: range.end.saturating_sub(at), bytes })
}

/// `len` bytes from `at` on, of `bytes`.
pub(crate) fn span(call: &'static str, at: u64, len: u64, bytes: u64) -> Result<Range<u64>, Error> {
    let end = at.checked_add(len).ok_or(Error::Bounds { call, at, len, bytes })?;
    within(call, &(at..end), bytes)
}

/// A copy within one buffer, whose ends may not overlap.
pub(crate) fn apart(call: &'static str, from: &Range<u64>, to: &Range<u64>) -> Result<(), Error> {
    if from.start < to.end && to.start < from.end {
        let len = from.end - from.start;
        return Err(Error::Overlap { call, from: from.start, to: to.start, len });
    }
    Ok(())
}
