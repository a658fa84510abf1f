//! Queues of stages that are paid for, and the sleep of the lanes that run them.
//!
//! A *berth* is a queue and the lanes that serve it first: one a NUMA node, one
//! a device, and for each of these one for critical runs. A stage is pushed to
//! the berth that holds its data. It stays there as long as the berth has a
//! free lane for it; what is beyond that, a lane of the nearest berth steals.
//!
//! Two promises, both checked by loom:
//!
//! * no stage waits while a lane sleeps that may take it;
//! * no stage is stolen while a lane of its own berth is free for it.

use super::sync::{AtomicUsize, Condvar, Mutex, Ordering, Queue, fence, lock, wait};

/// See the module.
pub(crate) struct Lanes<T> {
    berths: Box<[Berth<T>]>,
    sleep: Mutex<Sleep>,
}

struct Berth<T> {
    /// What lanes of other berths may steal, and what they may not.
    any: Queue<T>,
    own: Queue<T>,
    /// Lanes that run nothing: they search, or sleep.
    free: AtomicUsize,
    /// The berths that exchange work with this one, nearest first.
    near: Box<[usize]>,
    bell: Condvar,
}

struct Sleep {
    /// Sleeping lanes by berth.
    asleep: Box<[usize]>,
    closed: bool,
}

/// A berth to be: how many lanes it has, and with which berths it exchanges work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) lanes: usize,
    pub(crate) near: Vec<usize>,
}

impl<T> Berth<T> {
    /// Whether it has more work than free lanes, so that some may be stolen.
    fn overflows(&self) -> bool {
        let any = self.any.len();
        any > 0 && any + self.own.len() > self.free.load(Ordering::SeqCst)
    }
}

impl<T> Lanes<T> {
    pub(crate) fn new(plans: &[Plan]) -> Self {
        let berth = |plan: &Plan| Berth {
            any: Queue::new(),
            own: Queue::new(),
            free: AtomicUsize::new(plan.lanes),
            near: plan.near.clone().into(),
            bell: Condvar::new(),
        };
        let asleep = vec![0; plans.len()].into();
        Self { berths: plans.iter().map(berth).collect(), sleep: Mutex::new(Sleep { asleep, closed: false }) }
    }

    /// Queues work at `berth`, for its lanes first and for those nearby when
    /// it has none free.
    pub(crate) fn push(&self, berth: usize, work: T) {
        self.berths[berth].any.push(work);
        self.ring(berth);
    }

    /// Queues work at `berth` for its own lanes alone.
    pub(crate) fn push_own(&self, berth: usize, work: T) {
        self.berths[berth].own.push(work);
        let sleep = lock(&self.sleep);
        self.wake(&sleep, berth);
    }

    /// The next work of a lane of `berth`; sleeps until there is some. `None`
    /// once the lanes are closed.
    pub(crate) fn next(&self, berth: usize) -> Option<T> {
        if let Some(work) = self.find(berth) {
            self.took(berth);
            return Some(work);
        }
        let mut sleep = lock(&self.sleep);
        loop {
            if sleep.closed {
                return None;
            }
            // Who pushes takes the lock after the push: this search sees the
            // push, or the sleep below is seen by who pushes.
            if let Some(work) = self.find(berth) {
                drop(sleep);
                self.took(berth);
                return Some(work);
            }
            sleep.asleep[berth] += 1;
            sleep = wait(&self.berths[berth].bell, sleep);
            sleep.asleep[berth] -= 1;
        }
    }

    /// A lane of `berth` has run what [`next`](Self::next) gave it. Called
    /// before the scheduler hears of it, so that what the scheduler starts
    /// next finds the lane free.
    pub(crate) fn finished(&self, berth: usize) {
        self.berths[berth].free.fetch_add(1, Ordering::SeqCst);
    }

    /// Lets every lane end once it has run what it runs.
    pub(crate) fn close(&self) {
        lock(&self.sleep).closed = true;
        self.berths.iter().for_each(|berth| berth.bell.notify_all());
    }

    fn find(&self, berth: usize) -> Option<T> {
        let home = &self.berths[berth];
        home.own.pop().or_else(|| home.any.pop()).or_else(|| {
            let mut near = home.near.iter().map(|n| &self.berths[*n]);
            near.find_map(|n| if n.overflows() { n.any.pop() } else { None })
        })
    }

    /// A lane of `berth` has found work: it is no longer free for work of its
    /// own berth, and a wake-up may have been spent on it.
    fn took(&self, berth: usize) {
        self.berths[berth].free.fetch_sub(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        for (other, home) in self.berths.iter().enumerate() {
            if home.overflows() {
                self.ring(other);
            }
        }
    }

    /// Wakes a lane for work at `berth`: its own, or where none of them is
    /// free the nearest that sleeps.
    fn ring(&self, berth: usize) {
        fence(Ordering::SeqCst);
        let sleep = lock(&self.sleep);
        let home = &self.berths[berth];
        let stolen = home.overflows() && home.near.iter().any(|n| self.wake(&sleep, *n));
        if !stolen {
            self.wake(&sleep, berth);
        }
    }

    fn wake(&self, sleep: &Sleep, berth: usize) -> bool {
        let any = sleep.asleep[berth] > 0;
        if any {
            self.berths[berth].bell.notify_one();
        }
        any
    }
}

#[cfg(all(not(loom), test))]
impl<T> Lanes<T> {
    /// The next work of a lane of `berth`, if there is some now.
    pub(crate) fn try_next(&self, berth: usize) -> Option<T> {
        let work = self.find(berth)?;
        self.took(berth);
        Some(work)
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread::{self, JoinHandle};

    use super::*;

    /// Work that ends only when all work has begun: it deadlocks unless every
    /// piece gets a lane of its own.
    struct Meeting {
        begun: Mutex<usize>,
        all: usize,
        bell: Condvar,
    }

    impl Meeting {
        fn of(all: usize) -> Arc<Self> {
            Arc::new(Self { begun: Mutex::new(0), all, bell: Condvar::new() })
        }

        /// Waits for the others; true for the one that was last.
        fn meet(&self) -> bool {
            let mut begun = self.begun.lock().unwrap();
            *begun += 1;
            if *begun == self.all {
                self.bell.notify_all();
                return true;
            }
            while *begun < self.all {
                begun = self.bell.wait(begun).unwrap();
            }
            false
        }
    }

    /// A lane of `berth` that runs `body` on each piece of work, and closes
    /// all lanes when that says so.
    fn lane(
        lanes: &Arc<Lanes<usize>>,
        berth: usize,
        body: impl Fn() -> bool + Send + 'static,
    ) -> JoinHandle<Vec<usize>> {
        let lanes = lanes.clone();
        thread::spawn(move || {
            let mut ran = Vec::new();
            while let Some(work) = lanes.next(berth) {
                ran.push(work);
                if body() {
                    lanes.close();
                }
                lanes.finished(berth);
            }
            ran
        })
    }

    fn meeting(lanes: &Arc<Lanes<usize>>) -> [JoinHandle<Vec<usize>>; 2] {
        let meeting = Meeting::of(2);
        [0, 1].map(|berth| {
            let meeting = meeting.clone();
            lane(lanes, berth, move || meeting.meet())
        })
    }

    fn two_berths() -> Arc<Lanes<usize>> {
        let plan = |near| Plan { lanes: 1, near: vec![near] };
        Arc::new(Lanes::new(&[plan(1), plan(0)]))
    }

    fn check(f: impl Fn() + Sync + Send + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(f);
    }

    /// Both are pushed to berth 0, which has one lane: the other is stolen, in
    /// every interleaving, so no wake-up is lost.
    #[test]
    fn what_overflows_is_stolen() {
        check(|| {
            let lanes = two_berths();
            let [a, b] = meeting(&lanes);
            lanes.push(0, 1);
            lanes.push(0, 2);
            assert_eq!(a.join().unwrap().len(), 1);
            assert_eq!(b.join().unwrap().len(), 1);
        });
    }

    /// One for each berth: each stays at home, however the lanes race.
    #[test]
    fn what_has_a_free_lane_at_home_is_not_stolen() {
        check(|| {
            let lanes = two_berths();
            let [a, b] = meeting(&lanes);
            lanes.push(0, 0);
            lanes.push(1, 1);
            assert_eq!(a.join().unwrap(), [0]);
            assert_eq!(b.join().unwrap(), [1]);
        });
    }

    /// Work for a berth's own lanes is never stolen.
    #[test]
    fn own_work_stays() {
        check(|| {
            let lanes = two_berths();
            let done = Arc::new(loom::sync::atomic::AtomicUsize::new(0));
            let [a, b] = [0, 1].map(|berth| {
                let done = done.clone();
                lane(&lanes, berth, move || done.fetch_add(1, Ordering::SeqCst) == 1)
            });
            lanes.push_own(0, 0);
            lanes.push(0, 7);
            let (a, b) = (a.join().unwrap(), b.join().unwrap());
            assert!(a.contains(&0) && a.len() + b.len() == 2);
        });
    }

    /// Closing wakes a lane that is asleep or on its way there.
    #[test]
    fn a_close_reaches_every_lane() {
        check(|| {
            let lanes = two_berths();
            let [a, b] = meeting(&lanes);
            lanes.close();
            assert!(a.join().unwrap().is_empty());
            assert!(b.join().unwrap().is_empty());
        });
    }
}
