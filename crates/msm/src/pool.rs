//! Scratch memory that tasks borrow: as much of it as tasks run at once.

use std::sync::{Mutex, PoisonError};

/// Values that are not in use.
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Default> Pool<T> {
    /// Lends a value to `f`.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut value = idle.unwrap_or_default();
        let result = f(&mut value);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(value);
        result
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}
