//! Which bytes of one large piece of memory are in use.

use std::collections::BTreeMap;

/// Every block starts and ends on a multiple of this: what CUDA's allocator gives, and more than
/// OpenCL asks of sub-buffers on the devices that we know.
pub(crate) const ALIGN: u64 = 256;

/// The books of one large piece of memory from which blocks are taken. It holds offsets, not
/// memory, so that it serves any backend: a driver's allocation is slow and synchronises, ours is
/// neither.
///
/// The smallest gap that is large enough is used (best fit), at its low end.
///
/// ```
/// use cuzk_gpu_backend::Arena;
///
/// let mut arena = Arena::new(1024);
/// let block = arena.take(300).unwrap();
/// assert_eq!((block.offset(), arena.used(), arena.largest()), (0, 512, 512));
/// arena.give_back(block);
/// assert_eq!(arena.largest(), 1024);
/// ```
#[derive(Debug)]
pub struct Arena {
    size: u64,
    used: u64,
    /// The gaps, by offset, with their lengths; no two touch.
    gaps: BTreeMap<u64, u64>,
}

/// A part of an [`Arena`] that is in use.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a block that is not given back is never free again"]
pub struct Block {
    offset: u64,
    len: u64,
}

impl Block {
    /// Where it starts.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Its bytes, rounded up.
    pub fn bytes(&self) -> u64 {
        self.len
    }
}

impl Arena {
    /// The books of `size` bytes, rounded down to whole blocks of 256.
    pub fn new(size: u64) -> Self {
        let size = size / ALIGN * ALIGN;
        let gaps = if size > 0 { BTreeMap::from([(0, size)]) } else { BTreeMap::new() };
        Self { size, used: 0, gaps }
    }

    /// A block of at least `bytes`, or `None` where no gap is large enough. No bytes take no room.
    pub fn take(&mut self, bytes: u64) -> Option<Block> {
        let len = bytes.checked_next_multiple_of(ALIGN)?;
        if len == 0 {
            return Some(Block { offset: 0, len: 0 });
        }
        let fits = self.gaps.iter().filter(|(_, gap)| **gap >= len);
        let (&offset, &gap) = fits.min_by_key(|(_, gap)| **gap)?;
        self.gaps.remove(&offset);
        if gap > len {
            self.gaps.insert(offset + len, gap - len);
        }
        self.used += len;
        Some(Block { offset, len })
    }

    /// Frees a block, which must be of this arena.
    #[allow(clippy::needless_pass_by_value, reason = "the block ends here")]
    pub fn give_back(&mut self, block: Block) {
        let Block { mut offset, mut len } = block;
        if len == 0 {
            return;
        }
        self.used -= len;
        if let Some(next) = self.gaps.remove(&(offset + len)) {
            len += next;
        }
        if let Some((&before, &gap)) = self.gaps.range(..offset).next_back()
            && before + gap == offset
        {
            (offset, len) = (before, gap + len);
        }
        self.gaps.insert(offset, len);
    }

    /// Bytes in all.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes that are not.
    pub fn free(&self) -> u64 {
        self.size - self.used
    }

    /// The largest block that can be taken now.
    pub fn largest(&self) -> u64 {
        self.gaps.values().copied().max().unwrap_or(0)
    }
}
