//! Values that outlive runs: loaded once, shared, let go when their memory is
//! wanted.
//!
//! Which idle value goes first is decided by GreedyDual-Size (P. Cao and
//! S. Irani, "Cost-Aware WWW Proxy Caching Algorithms", USITS 1997): a value is
//! worth `clock + seconds to load / bytes` when it is used; the least worthy is
//! let go, and the clock advances to its worth. So what is slow to load stays
//! longer, what is large goes sooner, and what nobody uses ages.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::books::{Charge, Coin, Sums};
use super::places::Seat;
use crate::graph::{AnyArc, Key, Node};
use crate::{CancelToken, Footprint, Place};

/// The name of an entry; names are not used twice.
pub(crate) type EntryId = u64;

/// All values under a key, loaded or not.
#[derive(Default)]
pub(crate) struct Residency {
    ids: HashMap<(Key, Option<usize>), EntryId>,
    entries: BTreeMap<EntryId, Entry>,
    next: EntryId,
    clock: f64,
}

/// One value, on one device if on any.
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) device: Option<usize>,
    /// What it was declared to weigh, and what it weighs.
    pub(crate) declared: Charge,
    pub(crate) charge: Charge,
    pub(crate) state: State,
    /// Stages that read it now.
    pub(crate) readers: usize,
    /// Needs of active runs that are not met yet.
    pub(crate) wanted: usize,
    /// The node in whose memory it lies.
    pub(crate) home: Option<usize>,
    took: Duration,
    worth: f64,
    used: Instant,
}

pub(crate) enum State {
    Absent,
    Loading {
        cancel: CancelToken,
        /// What paid for the scratch memory of the load.
        scratch: Coin,
        seat: Seat,
        node: usize,
    },
    Ready(AnyArc),
    /// Being dropped.
    Leaving,
}

impl Entry {
    /// Whether it is neither read nor kept by an `Arc` outside.
    fn idle(&self) -> bool {
        self.readers == 0 && matches!(&self.state, State::Ready(value) if Arc::strong_count(value) == 1)
    }

    /// Whether its bytes cannot be had back now.
    pub(crate) fn held(&self) -> bool {
        self.readers > 0 || matches!(self.state, State::Loading { .. })
    }

    /// What it weighs beyond its declaration.
    pub(crate) fn excess(&self) -> Charge {
        Charge::new(self.charge.bytes.beyond(self.declared.bytes), self.device)
    }

    pub(crate) fn ready(&self) -> Option<&AnyArc> {
        match &self.state {
            State::Ready(value) => Some(value),
            _ => None,
        }
    }
}

impl Residency {
    /// One need more of what `load` makes, on `device` if it lies on one.
    pub(crate) fn want(&mut self, load: &Node, device: Option<usize>) -> EntryId {
        let key = load.resident.clone().expect("the builder gave a key to what it loads");
        let next = &mut self.next;
        let id = *self.ids.entry((key.clone(), device)).or_insert_with(|| {
            *next += 1;
            *next
        });
        let declared = Charge::new(load.cost.left(), device);
        let entry = self.entries.entry(id).or_insert_with(|| Entry {
            key,
            device,
            declared,
            charge: declared,
            state: State::Absent,
            readers: 0,
            wanted: 0,
            home: None,
            took: Duration::ZERO,
            worth: 0.0,
            used: Instant::now(),
        });
        entry.wanted += 1;
        id
    }

    pub(crate) fn find(&self, key: &Key, device: Option<usize>) -> Option<&Entry> {
        self.ids.get(&(key.clone(), device)).and_then(|id| self.entries.get(id))
    }

    pub(crate) fn get(&self, id: EntryId) -> &Entry {
        &self.entries[&id]
    }

    pub(crate) fn get_mut(&mut self, id: EntryId) -> &mut Entry {
        self.entries.get_mut(&id).expect("an entry lives while something refers to it")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EntryId, &Entry)> {
        self.entries.iter().map(|(id, entry)| (*id, entry))
    }

    /// Notes that a value came and how long that took.
    pub(crate) fn arrived(&mut self, id: EntryId, value: AnyArc, took: Duration, home: usize) {
        let entry = self.get_mut(id);
        (entry.state, entry.took, entry.home) = (State::Ready(value), took, Some(home));
        self.touch(id);
    }

    /// Notes that a value was used.
    pub(crate) fn touch(&mut self, id: EntryId) {
        let clock = self.clock;
        let entry = self.get_mut(id);
        entry.used = Instant::now();
        entry.worth = clock + entry.took.as_secs_f64() / entry.charge.bytes.total().max(1) as f64;
    }

    /// One need less; what nobody needs any more is not loaded to the end.
    pub(crate) fn unwant(&mut self, id: EntryId) {
        let entry = self.get_mut(id);
        entry.wanted -= 1;
        if let (0, State::Loading { cancel, .. }) = (entry.wanted, &entry.state) {
            cancel.cancel();
        }
        self.forget(id);
    }

    /// Notes that a value is no longer there, and says what it weighed.
    pub(crate) fn gone(&mut self, id: EntryId) -> Charge {
        let entry = self.get_mut(id);
        entry.state = State::Absent;
        let charge = std::mem::replace(&mut entry.charge, entry.declared);
        self.forget(id);
        charge
    }

    /// Drops the entry of a value that is neither there nor needed.
    fn forget(&mut self, id: EntryId) {
        let entry = &self.entries[&id];
        if entry.wanted == 0 && matches!(entry.state, State::Absent) {
            let Some(entry) = self.entries.remove(&id) else { return };
            self.ids.remove(&(entry.key, entry.device));
        }
    }

    /// The idle values that would make room for `lacking`, least worthy first;
    /// those that runs still need come last, and only if `needed` allows them.
    pub(crate) fn victims(&self, lacking: &Sums, needed: impl Fn(EntryId) -> bool) -> Vec<EntryId> {
        let mut idle: Vec<_> =
            self.iter().filter(|(id, e)| e.idle() && (e.wanted == 0 || needed(*id))).collect();
        idle.sort_by(|(_, a), (_, b)| (a.wanted > 0).cmp(&(b.wanted > 0)).then(a.worth.total_cmp(&b.worth)));
        // Values on their way out make room already.
        let mut left = lacking.clone();
        for (_, entry) in self.iter().filter(|(_, e)| matches!(e.state, State::Leaving)) {
            left.relieve(entry.charge);
        }
        let mut victims = Vec::new();
        for (id, entry) in idle {
            if left.is_zero() {
                break;
            }
            if left.relieve(entry.charge) {
                victims.push(id);
            }
        }
        victims
    }

    /// The values that nobody needs and nobody used for `idle`.
    pub(crate) fn unused_for(&self, idle: Duration) -> Vec<EntryId> {
        let unused = |e: &Entry| e.idle() && e.wanted == 0 && e.used.elapsed() >= idle;
        self.iter().filter(|(_, e)| unused(e)).map(|(id, _)| id).collect()
    }

    /// Begins to let a value go, and hands it out to be dropped.
    pub(crate) fn evict(&mut self, id: EntryId) -> Option<AnyArc> {
        let entry = self.entries.get_mut(&id)?;
        self.clock = self.clock.max(entry.worth);
        match std::mem::replace(&mut entry.state, State::Leaving) {
            State::Ready(value) => Some(value),
            other => {
                entry.state = other;
                None
            }
        }
    }

    pub(crate) fn leaving(&self) -> bool {
        self.entries.values().any(|e| matches!(e.state, State::Leaving))
    }

    /// What is loaded, for people.
    pub(crate) fn views(&self, place: impl Fn(usize) -> Place) -> Vec<ResidentUse> {
        let ready = self.entries.values().filter(|e| e.ready().is_some());
        ready
            .map(|e| ResidentUse {
                key: e.key.name.clone(),
                device: e.device.map(&place),
                bytes: e.charge.bytes,
                readers: e.readers,
                wanted: e.wanted,
                idle: if e.readers > 0 { Duration::ZERO } else { e.used.elapsed() },
                took: e.took,
            })
            .collect()
    }
}

#[cfg(all(not(loom), test))]
impl Residency {
    /// Pretends that a value took so long to load.
    pub(crate) fn set_cost(&mut self, key: &str, took: Duration) {
        let Some((id, _)) = self.iter().find(|(_, entry)| &*entry.key.name == key) else { return };
        self.get_mut(id).took = took;
        self.touch(id);
    }
}

/// A resident value that is loaded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResidentUse {
    /// Its key.
    pub key: Arc<str>,
    /// The device in whose memory it lies.
    pub device: Option<Place>,
    /// What it weighs.
    pub bytes: Footprint,
    /// How many stages read it now.
    pub readers: usize,
    /// How many needs of active runs are not met yet.
    pub wanted: usize,
    /// For how long nothing has read it.
    pub idle: Duration,
    /// How long it took to load.
    pub took: Duration,
}
