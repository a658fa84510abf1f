//! One active run: how far it is, and what it has paid.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::Sender;
use petgraph::Incoming;
use petgraph::graph::NodeIndex;

use super::books::{Charge, Coin, Sums};
use super::places::Seat;
use super::residency::EntryId;
use super::slots::Slots;
use crate::graph::{AnyBox, Covers, Dag, Node};
use crate::options::Rank;
use crate::{CancelToken, Footprint, Priority, RunError};

pub(crate) type Reply = Sender<Result<AnyBox, RunError>>;

/// A run that was asked for.
pub(crate) struct Submission {
    pub(crate) dag: Arc<Dag>,
    pub(crate) input: AnyBox,
    pub(crate) weight: Footprint,
    pub(crate) options: crate::Options,
    pub(crate) cancel: CancelToken,
    pub(crate) reply: Reply,
    pub(crate) at: Instant,
}

/// What a run needs of an engine.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    /// The most that it needs of each ledger if it runs alone; of a device, if
    /// all of it runs there that may.
    pub(crate) floor: Sums,
    pub(crate) covers: Covers,
}

/// See the module.
pub(crate) struct Job {
    pub(crate) rank: Rank,
    pub(crate) label: Arc<str>,
    pub(crate) dag: Arc<Dag>,
    pub(crate) values: Arc<Slots>,
    pub(crate) cancel: CancelToken,
    pub(crate) reply: Reply,
    pub(crate) room: Room,
    pub(crate) stages: Vec<Stage>,
    /// What may start, in serial order.
    pub(crate) ready: BTreeSet<usize>,
    /// The first stage in serial order that is not done.
    pub(crate) turn: usize,
    pub(crate) running: usize,
    pub(crate) left: usize,
    /// By slot: the stages that have yet to take the value, what paid for it,
    /// and the node in whose memory it lies.
    pub(crate) takers: Vec<usize>,
    pub(crate) coins: Vec<Vec<Coin>>,
    pub(crate) homes: Vec<Option<usize>>,
    /// The node for stages whose inputs lie nowhere.
    pub(crate) home: usize,
    /// By group: the device that it has, from the run's start to its end.
    pub(crate) devices: Vec<usize>,
    pub(crate) needs: Vec<Need>,
    pub(crate) error: Option<RunError>,
    /// Its values are being dropped.
    pub(crate) sweeping: bool,
}

/// A stage of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) state: State,
    /// Inputs that are not there yet.
    missing: usize,
    pub(crate) ready: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Running { paid: Coin, seat: Seat, node: usize, in_place: Footprint },
    Done,
}

/// That stages of a run will read a resident value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    /// The stage that loads it.
    pub(crate) load: usize,
    /// The group that reads it, where it lies in device memory.
    pub(crate) group: Option<usize>,
    /// Readers that are not done.
    pub(crate) left: usize,
    pub(crate) entry: EntryId,
}

impl Job {
    /// A run that got a home and `devices` for its groups, whose input `paid`
    /// for, and whose needs `want` enters.
    pub(crate) fn new(
        s: Submission,
        (rank, room, home, devices): (Rank, Room, usize, Vec<usize>),
        paid: Coin,
        want: impl FnMut(&Node, Option<usize>) -> EntryId,
    ) -> Self {
        let Submission { dag, input, options, cancel, reply, .. } = s;
        let values = Arc::new(Slots::of(&dag.slots));
        values.put(0, input, dag.slots[0].share);
        let now = Instant::now();
        let is_load = |node: NodeIndex| dag.nodes[node].resident.is_some();
        let stage = |node: NodeIndex| Stage {
            state: if is_load(node) { State::Done } else { State::Waiting },
            missing: dag.nodes.neighbors_directed(node, Incoming).filter(|m| !is_load(*m)).count(),
            ready: now,
        };
        let stages: Vec<_> = dag.nodes.node_indices().map(stage).collect();
        let startable = |s: &Stage| s.state == State::Waiting && s.missing == 0;
        let ready = stages.iter().enumerate().filter(|(_, s)| startable(s)).map(|(i, _)| i).collect();
        let mut coins = vec![Vec::new(); dag.slots.len()];
        coins[0].push(paid);
        let mut job = Self {
            rank,
            label: options.label.unwrap_or_default(),
            values,
            cancel,
            reply,
            room,
            ready,
            turn: 0,
            running: 0,
            left: stages.iter().filter(|s| s.state == State::Waiting).count(),
            stages,
            takers: dag.slots.iter().map(|slot| slot.takers).collect(),
            coins,
            homes: vec![None; dag.slots.len()],
            home,
            needs: needs(&dag, &devices, want),
            devices,
            error: None,
            sweeping: false,
            dag,
        };
        job.advance_turn();
        job
    }

    pub(crate) fn is_critical(&self) -> bool {
        self.rank.priority == Priority::Critical
    }

    /// Whether nothing of it may start any more.
    pub(crate) fn stops(&self) -> bool {
        self.error.is_some() || self.cancel.is_cancelled()
    }

    /// Ends it with its first error.
    pub(crate) fn fail(&mut self, error: RunError) {
        self.error.get_or_insert(error);
        self.cancel.cancel();
    }

    /// What `stage` works in place on: no more than its owned inputs really hold.
    pub(crate) fn in_place(&self, node: &Node) -> Footprint {
        let owned = node.inputs.iter().filter(|slot| self.dag.slots[**slot].share.is_none());
        let coins = owned.flat_map(|slot| &self.coins[*slot]);
        let owned = coins.fold(Footprint::ZERO, |sum, coin| sum + coin.charge.bytes);
        node.cost.in_place.min(owned)
    }

    /// The needs of `stage`, by index.
    pub(crate) fn needs_of(&self, stage: usize) -> impl Iterator<Item = usize> + use<'_> {
        let (node, group) = (self.dag.node(stage), self.dag.plan.group(stage));
        let mine = move |need: &Need| {
            node.residents.iter().any(|load| load.index() == need.load)
                && (need.group.is_none() || need.group == group)
        };
        self.needs.iter().enumerate().filter(move |(_, need)| mine(need)).map(|(i, _)| i)
    }

    /// The device that a need's value lies on, if it lies on one.
    pub(crate) fn device_of(&self, need: &Need) -> Option<usize> {
        need.group.map(|group| self.devices[group])
    }

    /// Takes the coins of an input that this was the last to take.
    pub(crate) fn taken(&mut self, slot: usize) -> Vec<Coin> {
        self.takers[slot] -= 1;
        if self.takers[slot] == 0 { std::mem::take(&mut self.coins[slot]) } else { Vec::new() }
    }

    /// Makes ready what waited for `stage` alone.
    pub(crate) fn done(&mut self, stage: usize) {
        let now = Instant::now();
        for next in self.dag.nodes.neighbors(NodeIndex::new(stage)) {
            let next = next.index();
            self.stages[next].missing -= 1;
            if self.stages[next].missing == 0 {
                self.stages[next].ready = now;
                self.ready.insert(next);
            }
        }
        self.left -= 1;
        self.advance_turn();
    }

    fn advance_turn(&mut self) {
        let rest = &self.stages[self.turn..];
        self.turn += rest.iter().take_while(|s| s.state == State::Done).count();
    }
}

fn needs(dag: &Dag, devices: &[usize], mut want: impl FnMut(&Node, Option<usize>) -> EntryId) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for (stage, node) in dag.nodes.node_weights().enumerate() {
        for load in &node.residents {
            let node = &dag.nodes[*load];
            let group = dag.plan.group(stage).filter(|_| node.cost.left().device > 0);
            let load = load.index();
            if let Some(need) = needs.iter_mut().find(|need| need.load == load && need.group == group) {
                need.left += 1;
                continue;
            }
            let entry = want(node, group.map(|group| devices[group]));
            needs.push(Need { load, group, left: 1, entry });
        }
    }
    needs
}

/// Takes up to `bytes` out of `coins`, each keeping its purse.
pub(crate) fn take_coins(coins: &mut [Coin], mut bytes: Footprint) -> Vec<Coin> {
    let mut taken = Vec::new();
    for coin in coins {
        let part = coin.charge.bytes.min(bytes);
        if part != Footprint::ZERO {
            coin.charge.bytes -= part;
            bytes -= part;
            let charge = Charge { bytes: part, ..coin.charge };
            taken.push(Coin { charge, ..*coin });
        }
    }
    taken
}
