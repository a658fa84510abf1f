//! Memory as the driver gives it, kept for the next buffers.

use std::collections::BTreeMap;

/// Bytes from which on a buffer is large: four pages of a device, the last of which it may not fill.
pub(crate) const LARGE: u64 = 8 << 20;

/// Pieces of memory that no buffer has now, and a limit to what there is of them and of those that
/// buffers have. Asking a driver for memory is slow, and giving it back waits for the whole device, so
/// that what is given back stays here until its room is needed. Each piece is a driver's own: however
/// buffers come and go, what is free can be had in one piece.
///
/// It holds no memory itself: a `T` is a driver's handle of a piece, which the caller frees.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    limit: u64,
    used: u64,
    /// By the bytes of each.
    idle: BTreeMap<u64, Vec<T>>,
    /// Bytes of these.
    kept: u64,
}

impl<T> Pool<T> {
    /// For at most `limit` bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: 0, idle: BTreeMap::new(), kept: 0 }
    }

    /// The most bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Bytes that are not in use, kept or not.
    pub(crate) fn free(&self) -> u64 {
        self.limit - self.used
    }

    /// Bytes that are kept.
    pub(crate) fn kept(&self) -> u64 {
        self.kept
    }

    /// An idle piece for `len` bytes, in use from now on, and its bytes: as many, or of an eighth more
    /// at most for a large buffer.
    pub(crate) fn again(&mut self, len: u64) -> Option<(T, u64)> {
        let more = if len < LARGE { 0 } else { len / 8 };
        let (&bytes, _) = self.idle.range(len..=len.saturating_add(more)).next()?;
        if bytes > self.free() {
            return None;
        }
        let piece = self.pop(bytes)?;
        self.used += bytes;
        Some((piece, bytes))
    }

    /// An idle piece that must go, so that `len` bytes more keep the limit.
    pub(crate) fn surplus(&mut self, len: u64) -> Option<T> {
        if self.used.saturating_add(self.kept).saturating_add(len) > self.limit { self.spare() } else { None }
    }

    /// The largest idle piece, which is not kept any longer.
    pub(crate) fn spare(&mut self) -> Option<T> {
        let (&bytes, _) = self.idle.last_key_value()?;
        self.pop(bytes)
    }

    fn pop(&mut self, bytes: u64) -> Option<T> {
        let pieces = self.idle.get_mut(&bytes)?;
        let piece = pieces.pop()?;
        if pieces.is_empty() {
            self.idle.remove(&bytes);
        }
        self.kept -= bytes;
        Some(piece)
    }

    /// Counts `len` bytes more, of which there must be so many [free](Self::free).
    pub(crate) fn took(&mut self, len: u64) {
        self.used += len;
    }

    /// Counts `len` bytes less.
    pub(crate) fn returned(&mut self, len: u64) {
        self.used -= len;
    }

    /// Keeps a piece of `len` bytes that was in use.
    pub(crate) fn keep(&mut self, piece: T, len: u64) {
        self.returned(len);
        self.kept += len;
        self.idle.entry(len).or_default().push(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is used and what is kept never exceed the limit, and all that is not used can be had at once.
    #[test]
    fn whatever_comes_and_goes_the_rest_is_one_piece() {
        let (mut pool, mut held, mut draw, mut made) = (Pool::new(2048 * LARGE), Vec::new(), 1_u64, 0);
        for step in 0..10_000_u32 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if draw >> 62 == 0 && !held.is_empty() {
                let (piece, len) = held.swap_remove((draw >> 8) as usize % held.len());
                pool.keep(piece, len);
                continue;
            }
            let len = if draw >> 61 & 1 == 0 { 1 + (draw >> 16) % (300 * LARGE) } else { pool.free() };
            if len > pool.free() {
                assert!(pool.again(len).is_none());
                held.drain(..).for_each(|(piece, len)| pool.keep(piece, len));
                continue;
            }
            let (piece, bytes) = pool.again(len).unwrap_or_else(|| {
                while pool.surplus(len).is_some() {}
                pool.took(len);
                made += 1;
                (step, len)
            });
            assert!((len..=len + len / 8).contains(&bytes));
            held.push((piece, bytes));
            assert_eq!(pool.used(), held.iter().map(|(_, len)| len).sum::<u64>());
            assert!(pool.used() + pool.kept() <= pool.limit());
        }
        held.drain(..).for_each(|(piece, len)| pool.keep(piece, len));
        assert_eq!(pool.used(), 0);
        let left = 2048 * LARGE - pool.kept();
        assert!(pool.surplus(left).is_none() && pool.surplus(left + 1).is_some());
        while pool.spare().is_some() {}
        assert_eq!((pool.kept(), pool.free()), (0, 2048 * LARGE));
        assert!(made > 100);
    }

    #[test]
    fn a_piece_comes_back_for_its_size() {
        let mut pool = Pool::new(10 * LARGE);
        for (len, enough) in [(18 * LARGE / 8, 2 * LARGE), (300, 300)] {
            pool.took(len);
            pool.keep(len, len);
            assert!(pool.again(len + 1).is_none() && pool.again(enough - 1).is_none());
            assert_eq!(pool.again(enough), Some((len, len)));
            assert_eq!((pool.used(), pool.kept()), (len, 0));
            pool.returned(len);
        }
    }
}
