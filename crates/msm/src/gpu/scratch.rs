//! The memory that sums work in.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuzk_gpu_backend::{Backend, Device};
use cuzk_pipeline_core::{Footprint, Value};

use crate::MsmError;

/// What sizes are rounded to: whole sums of either group, and whole blocks of a device's memory, so
/// that what buffers take is known before they are taken.
const GRAIN: u64 = 768;

/// Buffers, or their bytes, by what they hold. Where there are two, they are used in turn.
macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident: $kind:ident $type:ty,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) struct Roles<T> {
            $($(#[$doc])* pub(super) $role: $type,)*
        }

        impl<T> Roles<T> {
            /// What `f` makes of each.
            fn try_map<U, E>(&self, mut f: impl FnMut(&T) -> Result<U, E>) -> Result<Roles<U>, E> {
                Ok(Roles { $($role: roles!(@map $kind f self.$role),)* })
            }
        }
    };
    (@map one $f:ident $self:ident.$role:ident) => { $f(&$self.$role)? };
    (@map two $f:ident $self:ident.$role:ident) => { [$f(&$self.$role[0])?, $f(&$self.$role[1])?] };
}

roles! {
    /// Which scalar and which base make a term of a witness, and how many terms there are.
    picks: one T,
    terms: one T,
    /// Digits, and then sorted entries.
    entries: two [T; 2],
    counts: one T,
    offsets: one T,
    cursors: one T,
    /// What tiles of entries leave, and where it goes.
    left: one T,
    places: two [T; 2],
    /// Points of two rounds.
    points: two [T; 2],
    /// Products before each pair, of all pairs of a thread, and before each of these.
    before: one T,
    products: two [T; 2],
    /// The sums of the buckets of all windows, and of what is summed beside them.
    buckets: one T,
    /// Parts of buckets, of two levels.
    numbers: two [T; 2],
    parts: two [T; 2],
    /// Sums of segments of buckets, and their weighted sums.
    sums: one T,
    weighted: one T,
    /// Sums of these, and what is left in the end.
    lines: one T,
    results: one T,
}

/// Bytes.
pub(super) type Sizes = Roles<u64>;

impl Sizes {
    fn map(&self, mut f: impl FnMut(u64) -> u64) -> Self {
        let Ok(sizes) = self.try_map(|size| Ok::<_, Infallible>(f(*size)));
        sizes
    }

    fn list(&self) -> Vec<u64> {
        let mut list = Vec::new();
        self.map(|size| {
            list.push(size);
            size
        });
        list
    }

    /// As they are taken.
    pub(super) fn rounded(&self) -> Self {
        self.map(|size| size.next_multiple_of(GRAIN))
    }

    /// All of them.
    pub(super) fn bytes(&self) -> u64 {
        self.list().iter().sum()
    }

    /// What is enough for both.
    pub(super) fn max(&self, other: &Self) -> Self {
        let mut others = other.list().into_iter();
        self.map(|size| size.max(others.next().unwrap_or(0)))
    }

    /// Whether these are enough for others.
    pub(super) fn hold(&self, other: &Self) -> bool {
        self.max(other) == *self
    }
}

/// The memory. What is queued with it goes to one stream, whose order keeps sums apart.
#[derive(Debug)]
pub(super) struct Scratch<B: Backend> {
    pub(super) sizes: Sizes,
    buffers: Mutex<Roles<B::Buffer>>,
}

impl<B: Backend> Scratch<B> {
    pub(super) fn new(device: &B::Device, sizes: &Sizes) -> Result<Self, MsmError> {
        let sizes = sizes.rounded();
        let buffers = Mutex::new(sizes.try_map(|size| device.buffer(*size))?);
        Ok(Self { sizes, buffers })
    }

    /// The buffers, for who queues a whole sum before another does.
    pub(super) fn lock(&self) -> MutexGuard<'_, Roles<B::Buffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn footprint(&self) -> Footprint {
        let mut sum = Footprint::ZERO;
        let Ok(_) = self.lock().try_map(|buffer| {
            sum += buffer.footprint();
            Ok::<_, Infallible>(())
        });
        sum
    }
}
