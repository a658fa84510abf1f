//! The primitives of the two protocols that loom checks, [`slots`](super::slots)
//! and [`lanes`](super::lanes). Under `cfg(loom)` they are loom's.

#[cfg(all(loom, test))]
pub(super) use loom::{
    sync::atomic::{AtomicUsize, Ordering, fence},
    sync::{Condvar, Mutex, MutexGuard},
};
#[cfg(not(all(loom, test)))]
pub(super) use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering, fence},
};

/// A first-in-first-out queue that any thread pushes to and pops from.
#[cfg(not(all(loom, test)))]
pub(super) struct Queue<T>(crossbeam_deque::Injector<T>);

#[cfg(not(all(loom, test)))]
impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Self(crossbeam_deque::Injector::new())
    }

    pub(super) fn push(&self, item: T) {
        self.0.push(item);
    }

    pub(super) fn pop(&self) -> Option<T> {
        loop {
            match self.0.steal() {
                crossbeam_deque::Steal::Success(item) => return Some(item),
                crossbeam_deque::Steal::Empty => return None,
                crossbeam_deque::Steal::Retry => std::hint::spin_loop(),
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Locks; a panic elsewhere changes nothing that these locks guard.
#[cfg(not(all(loom, test)))]
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits on `bell`, giving `guard` back meanwhile.
#[cfg(not(all(loom, test)))]
pub(super) fn wait<'a, T>(bell: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    bell.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Stands in for crossbeam's deque, which loom cannot see into.
#[cfg(all(loom, test))]
pub(super) struct Queue<T>(Mutex<std::collections::VecDeque<T>>);

#[cfg(all(loom, test))]
impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(std::collections::VecDeque::new()))
    }

    pub(super) fn push(&self, item: T) {
        lock(&self.0).push_back(item);
    }

    pub(super) fn pop(&self) -> Option<T> {
        lock(&self.0).pop_front()
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.0).len()
    }
}

#[cfg(all(loom, test))]
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

#[cfg(all(loom, test))]
pub(super) fn wait<'a, T>(bell: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    bell.wait(guard).unwrap()
}
