//! Memory that the tiles of a pass share.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use blstrs::Scalar;

/// A transform's scalars, of which each tile takes its own.
#[derive(Clone, Copy)]
pub(super) struct SharedScalars<'a> {
    start: *mut Scalar,
    len: usize,
    life: PhantomData<&'a mut [Scalar]>,
}

// SAFETY: a `SharedScalars` stands for a `&mut [Scalar]`, which is `Send`; the functions that
// reach through it ask their callers to keep apart what different threads reach.
unsafe impl Send for SharedScalars<'_> {}
// SAFETY: as above.
unsafe impl Sync for SharedScalars<'_> {}

impl<'a> SharedScalars<'a> {
    pub(super) fn new(scalars: &'a mut [Scalar]) -> Self {
        Self { start: scalars.as_mut_ptr(), len: scalars.len(), life: PhantomData }
    }

    /// Where scalar `i` is.
    ///
    /// # Safety
    /// `i` is below the number of scalars.
    #[inline(always)]
    pub(super) unsafe fn at(self, i: usize) -> *mut Scalar {
        debug_assert!(i < self.len, "scalar {i} of {}", self.len);
        // SAFETY: within the slice, as the caller promises.
        unsafe { self.start.add(i) }
    }
}

/// Working memory of tiles: made when a thread first needs it and used again by those
/// that follow, so that there is never more of it than threads at work.
pub(crate) struct Scratch<T>(Mutex<Vec<T>>);

impl<T> Scratch<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Runs `f` with idle memory, or with new.
    pub(crate) fn with<R>(&self, new: impl FnOnce() -> T, f: impl FnOnce(&mut T) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = lock().pop();
        let mut memory = idle.unwrap_or_else(new);
        let result = f(&mut memory);
        lock().push(memory);
        result
    }
}
