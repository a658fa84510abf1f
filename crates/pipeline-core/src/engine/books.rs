//! The books: what each ledger holds, and what still fits.

use crate::{Footprint, Ledger};

/// Bytes of one footprint, on one device if on any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Charge {
    pub(crate) bytes: Footprint,
    /// The index of the device among the engine's.
    pub(crate) device: Option<usize>,
}

impl Charge {
    /// `bytes`, those in device memory being on `device`.
    pub(crate) fn new(bytes: Footprint, device: Option<usize>) -> Self {
        Self { bytes, device: device.filter(|_| bytes.device > 0) }
    }

    /// Index and bytes of each ledger that it touches; `None` for bytes of no known device.
    fn columns(self) -> Option<impl Iterator<Item = (usize, u64)>> {
        let Footprint { host, pinned, device } = self.bytes;
        let last = match self.device {
            Some(index) => (DEVICES + index, device),
            None if device > 0 => return None,
            None => (0, 0),
        };
        Some([(0, host), (1, pinned), last].into_iter().filter(|(_, bytes)| *bytes > 0))
    }
}

/// Where the ledgers of devices begin.
const DEVICES: usize = 2;

/// Bytes by ledger: host, pinned, then each device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sums(Box<[u64]>);

impl Sums {
    pub(crate) fn zero(devices: usize) -> Self {
        Self(vec![0; DEVICES + devices].into())
    }

    pub(crate) fn new(host: u64, pinned: u64, devices: impl IntoIterator<Item = u64>) -> Self {
        Self([host, pinned].into_iter().chain(devices).collect())
    }

    pub(crate) fn add(&mut self, charge: Charge) {
        for (i, bytes) in charge.columns().into_iter().flatten() {
            self.0[i] += bytes;
        }
    }

    pub(crate) fn sub(&mut self, charge: Charge) {
        for (i, bytes) in charge.columns().into_iter().flatten() {
            debug_assert!(self.0[i] >= bytes, "{bytes} do not come out of {}", self.0[i]);
            self.0[i] = self.0[i].saturating_sub(bytes);
        }
    }

    /// Takes off what `charge` has; whether that changed anything.
    pub(crate) fn relieve(&mut self, charge: Charge) -> bool {
        let before = self.clone();
        for (i, bytes) in charge.columns().into_iter().flatten() {
            self.0[i] = self.0[i].saturating_sub(bytes);
        }
        *self != before
    }

    pub(crate) fn max(&mut self, o: &Self) {
        self.0.iter_mut().zip(&o.0).for_each(|(a, b)| *a = (*a).max(*b));
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.iter().all(|bytes| *bytes == 0)
    }

    pub(crate) fn host(&self) -> u64 {
        self.0[0]
    }

    pub(crate) fn pinned(&self) -> u64 {
        self.0[1]
    }

    pub(crate) fn device(&self, index: usize) -> u64 {
        self.0[DEVICES + index]
    }

    /// Forgets what is asked of other devices than these.
    pub(crate) fn keep_devices(&mut self, devices: &[usize]) {
        for (i, bytes) in self.0[DEVICES..].iter_mut().enumerate() {
            if !devices.contains(&i) {
                *bytes = 0;
            }
        }
    }

    /// Forgets what the reserve pays for.
    pub(crate) fn surplus_part(mut self, from: Purses) -> Self {
        for (i, bytes) in self.0.iter_mut().enumerate() {
            if from.of(i) == Purse::Reserve {
                *bytes = 0;
            }
        }
        self
    }
}

/// Which part of the budget paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purse {
    /// The part that lets the oldest run of a ledger go on, alone if it must.
    Reserve,
    /// All the rest.
    Surplus,
}

/// Who pays for host and pinned memory, and who for device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purses {
    pub(crate) host: Purse,
    pub(crate) device: Purse,
}

impl Purses {
    pub(crate) const SURPLUS: Self = Self { host: Purse::Surplus, device: Purse::Surplus };

    fn of(self, ledger: usize) -> Purse {
        if ledger < DEVICES { self.host } else { self.device }
    }
}

/// Bytes that were paid for, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Coin {
    pub(crate) from: Purses,
    pub(crate) charge: Charge,
}

/// How stages are admitted, to test the tests.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The rule of the README.
    #[default]
    Reserve,
    /// Whatever fits starts. It starves.
    Greedy,
}

/// What is held of the budget.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) budget: Sums,
    /// The largest floor among the active runs.
    pub(crate) need: Sums,
    reserve: Sums,
    surplus: Sums,
    resident: Sums,
    #[cfg(test)]
    pub(crate) policy: Policy,
}

impl Books {
    pub(crate) fn new(budget: Sums) -> Self {
        let zero = || Sums::zero(budget.0.len() - DEVICES);
        Self {
            need: zero(),
            reserve: zero(),
            surplus: zero(),
            resident: zero(),
            budget,
            #[cfg(test)]
            policy: Policy::default(),
        }
    }

    /// Whether the surplus has room for `asked`, beside resident values of
    /// `held` bytes that are in use and that the floor does not include.
    pub(crate) fn surplus_has(&self, asked: &Sums, held: &Sums) -> bool {
        #[cfg(test)]
        if self.policy == Policy::Greedy {
            return true;
        }
        (0..asked.0.len()).filter(|i| asked.0[*i] > 0).all(|i| {
            let taken = self.surplus.0[i].saturating_add(held.0[i]).saturating_add(asked.0[i]);
            taken <= self.budget.0[i].saturating_sub(self.need.0[i])
        })
    }

    /// Whether a run may become active: the surplus has room for its input,
    /// and for all that is in use, under the reserve that it makes necessary.
    pub(crate) fn room_for(&self, asked: &Sums, held: &Sums, need: &Sums) -> bool {
        #[cfg(test)]
        if self.policy == Policy::Greedy {
            return true;
        }
        (0..asked.0.len()).all(|i| {
            let taken = self.surplus.0[i].saturating_add(held.0[i]).saturating_add(asked.0[i]);
            taken <= self.budget.0[i].saturating_sub(need.0[i])
        })
    }

    /// What `charge` lacks by ledger for being within the budget now.
    pub(crate) fn lacking(&self, charge: &Sums) -> Option<Sums> {
        let lacks = |i: usize| {
            let asked = charge.0[i];
            if asked == 0 { 0 } else { asked.saturating_add(self.used(i)).saturating_sub(self.budget.0[i]) }
        };
        let lacking = Sums((0..charge.0.len()).map(lacks).collect());
        (!lacking.is_zero()).then_some(lacking)
    }

    pub(crate) fn pay(&mut self, coin: Coin) {
        for (i, bytes) in coin.charge.columns().into_iter().flatten() {
            self.purse(coin.from.of(i)).0[i] += bytes;
        }
    }

    pub(crate) fn refund(&mut self, coin: Coin) {
        for (i, bytes) in coin.charge.columns().into_iter().flatten() {
            let held = &mut self.purse(coin.from.of(i)).0[i];
            debug_assert!(*held >= bytes, "{bytes} do not come out of {held}");
            *held = held.saturating_sub(bytes);
        }
    }

    pub(crate) fn settle_in(&mut self, resident: Charge) {
        self.resident.add(resident);
    }

    pub(crate) fn move_out(&mut self, resident: Charge) {
        self.resident.sub(resident);
    }

    fn purse(&mut self, purse: Purse) -> &mut Sums {
        match purse {
            Purse::Reserve => &mut self.reserve,
            Purse::Surplus => &mut self.surplus,
        }
    }

    fn used(&self, i: usize) -> u64 {
        self.reserve.0[i] + self.surplus.0[i] + self.resident.0[i]
    }

    pub(crate) fn reserve_is_empty(&self, device: usize) -> bool {
        self.reserve.device(device) == 0
    }

    /// Whether the surplus could ever have room for `asked`.
    pub(crate) fn surplus_could_have(&self, asked: &Sums) -> bool {
        (0..asked.0.len()).all(|i| asked.0[i] <= self.budget.0[i].saturating_sub(self.need.0[i]))
    }

    /// What is free on a device.
    pub(crate) fn free_on(&self, device: usize) -> u64 {
        self.budget.device(device).saturating_sub(self.used(DEVICES + device))
    }

    /// Whether nothing but resident values is held.
    pub(crate) fn balanced(&self) -> bool {
        self.reserve.is_zero() && self.surplus.is_zero()
    }

    pub(crate) fn within_budget(&self) -> bool {
        (0..self.budget.0.len()).all(|i| self.used(i) <= self.budget.0[i])
    }

    /// Every ledger with what is used of it, what of that is resident, and its
    /// budget; `ids` are the devices' numbers.
    pub(crate) fn ledgers<'a>(&'a self, ids: &'a [u16]) -> impl Iterator<Item = LedgerUse> + 'a {
        let ledger = move |i| match i {
            0 => Ledger::Host,
            1 => Ledger::Pinned,
            _ => Ledger::Device(ids[i - DEVICES]),
        };
        (0..self.budget.0.len()).map(move |i| LedgerUse {
            ledger: ledger(i),
            used: self.used(i),
            resident: self.resident.0[i],
            budget: self.budget.0[i],
        })
    }
}

/// One column of the budget and what is held of it, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerUse {
    /// Which.
    pub ledger: Ledger,
    /// All that is held: by runs and by resident values.
    pub used: u64,
    /// What resident values hold of it.
    pub resident: u64,
    /// All that may be held.
    pub budget: u64,
}
