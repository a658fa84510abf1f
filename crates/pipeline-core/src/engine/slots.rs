//! The values of one run.
//!
//! A slot is filled once, by the lane of the stage that makes its value, and
//! counts the stages that will take or read it. A lane that has run a stage
//! releases each of its inputs; the last release empties the slot. So a value
//! is dropped on a lane, never on the scheduler, and before the scheduler
//! hears that the stage is done: bytes are free before the books say so.

use std::sync::Arc;

use super::sync::{AtomicUsize, Mutex, Ordering, lock};
use crate::graph::{AnyArc, AnyBox, Share, Slot};

/// See the module.
#[derive(Default)]
pub(crate) struct Slots(Box<[Cell]>);

struct Cell {
    held: Mutex<Held>,
    takers: AtomicUsize,
}

enum Held {
    Empty,
    Owned(AnyBox),
    Shared(AnyArc),
}

impl Slots {
    /// As many slots as `takers`, each for so many takers.
    pub(crate) fn new(takers: impl Iterator<Item = usize>) -> Self {
        let cell = |takers| Cell { held: Mutex::new(Held::Empty), takers: AtomicUsize::new(takers) };
        Self(takers.map(cell).collect())
    }

    pub(crate) fn of(slots: &[Slot]) -> Self {
        Self::new(slots.iter().map(|slot| slot.takers))
    }

    pub(crate) fn put(&self, slot: usize, value: AnyBox, share: Option<Share>) {
        let held = match share {
            Some(share) => Held::Shared(share(value)),
            None => Held::Owned(value),
        };
        *lock(&self.0[slot].held) = held;
    }

    /// Counts one taker off. The last one empties the slot: whoever saw the
    /// value before is done with it.
    pub(crate) fn release(&self, slot: usize) {
        let cell = &self.0[slot];
        // Release: what this taker did with the value happened before the drop.
        // Acquire: the last one sees that of all others.
        if cell.takers.fetch_sub(1, Ordering::AcqRel) == 1 {
            let last = std::mem::replace(&mut *lock(&cell.held), Held::Empty);
            drop(last);
        }
    }

    /// Moves the value out.
    pub(crate) fn take(&self, slot: usize) -> Option<AnyBox> {
        match std::mem::replace(&mut *lock(&self.0[slot].held), Held::Empty) {
            Held::Owned(value) => Some(value),
            _ => None,
        }
    }

    /// A reference to the shared value.
    pub(crate) fn read(&self, slot: usize) -> Option<AnyArc> {
        match &*lock(&self.0[slot].held) {
            Held::Shared(value) => Some(value.clone()),
            _ => None,
        }
    }
}

/// What a stage finds when it fetches its inputs.
pub struct Inputs<'a> {
    values: &'a Slots,
    residents: &'a [(usize, AnyArc)],
}

impl<'a> Inputs<'a> {
    /// The values of the run, and by slot the resident ones.
    pub(crate) fn new(values: &'a Slots, residents: &'a [(usize, AnyArc)]) -> Self {
        Self { values, residents }
    }

    pub(crate) fn take<T: 'static>(&self, slot: usize) -> T {
        let value = self.values.take(slot).expect("a port is spent once, after its stage ran");
        *value.downcast().expect("a slot holds its port's type")
    }

    pub(crate) fn read<T: Send + Sync + 'static>(&self, slot: usize) -> Arc<T> {
        let value = self.values.read(slot);
        let value = value.expect("a shared slot is read between its stage and its last taker");
        value.downcast().expect("a slot holds its port's type")
    }

    pub(crate) fn resident<T: Send + Sync + 'static>(&self, slot: usize) -> Arc<T> {
        let (_, value) =
            self.residents.iter().find(|(s, _)| *s == slot).expect("the scheduler hands it over");
        value.clone().downcast().expect("a key holds its port's type")
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use std::sync::atomic::{AtomicUsize as Plain, Ordering::SeqCst};

    use loom::sync::Arc as LoomArc;
    use loom::thread;

    use super::*;

    /// Knows how often it was dropped, and is poisoned by it.
    struct Witness(std::sync::Arc<Plain>);
    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    fn share(value: AnyBox) -> AnyArc {
        let value: Arc<Witness> = Arc::from(value.downcast::<Witness>().unwrap());
        value
    }

    /// Two stages read one value and are done in any order: both see it, it is
    /// dropped once, and by the time that the last release returns it is gone.
    #[test]
    fn the_last_of_two_readers_drops_the_value() {
        loom::model(|| {
            let drops = std::sync::Arc::new(Plain::new(0));
            let slots = LoomArc::new(Slots::new([2].into_iter()));
            slots.put(0, Box::new(Witness(drops.clone())), Some(share));
            let reader = |slots: LoomArc<Slots>, drops: std::sync::Arc<Plain>| {
                let inputs = Inputs::new(&slots, &[]);
                let value: Arc<Witness> = inputs.read(0);
                assert_eq!(drops.load(SeqCst), 0);
                drop(value);
                slots.release(0);
            };
            let other = thread::spawn({
                let (slots, drops) = (slots.clone(), drops.clone());
                move || reader(slots, drops)
            });
            reader(slots.clone(), drops.clone());
            other.join().unwrap();
            assert_eq!(drops.load(SeqCst), 1);
            assert!(slots.read(0).is_none());
        });
    }

    /// A run is swept while a reader still holds the value: one drop, the reader's.
    #[test]
    fn a_release_beside_a_reader_frees_nothing_under_it() {
        loom::model(|| {
            let drops = std::sync::Arc::new(Plain::new(0));
            let slots = LoomArc::new(Slots::new([2].into_iter()));
            slots.put(0, Box::new(Witness(drops.clone())), Some(share));
            let value = Inputs::new(&slots, &[]).read::<Witness>(0);
            let sweep = thread::spawn({
                let slots = slots.clone();
                move || {
                    slots.release(0);
                    slots.release(0);
                }
            });
            assert_eq!(drops.load(SeqCst), 0);
            drop(value);
            sweep.join().unwrap();
            assert_eq!(drops.load(SeqCst), 1);
        });
    }
}
