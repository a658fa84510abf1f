//! The places of an engine and how many stages each of them runs.

use super::lanes::Plan;
use crate::{Place, Placement, Topology};

/// A NUMA node that runs stages.
#[derive(Debug, Clone)]
pub(crate) struct NodePlace {
    pub(crate) id: u16,
    pub(crate) lanes: usize,
}

/// A device.
#[derive(Debug, Clone)]
pub(crate) struct DevicePlace {
    pub(crate) id: u16,
    pub(crate) lanes: usize,
    /// The index of its nearest node.
    pub(crate) near: usize,
}

/// Nodes come first, then devices, each by rising number; a place's index
/// counts through both. Every place has a berth for all runs and one for
/// critical runs.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) nodes: Vec<NodePlace>,
    pub(crate) devices: Vec<DevicePlace>,
    /// Lanes for critical runs at each place.
    pub(crate) reserved: usize,
}

/// Whom a lane serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// All runs.
    All = 0,
    /// Critical runs.
    Critical = 1,
}

/// Where a stage was sent, to be given back when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) at: At,
    pub(crate) class: Class,
}

impl Seat {
    /// The index of the device, if it is one's.
    pub(crate) fn device(self) -> Option<usize> {
        match self.at {
            At::Device(device) => Some(device),
            At::AnyNode | At::Node(_) => None,
        }
    }
}

/// The lanes that may run a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// Those of any node.
    AnyNode,
    /// Those of this node, by index.
    Node(usize),
    /// Those of this device, by index.
    Device(usize),
}

impl Places {
    pub(crate) fn lanes(&self, place: usize, class: Class) -> usize {
        match class {
            Class::Critical => self.reserved,
            Class::All => match place.checked_sub(self.nodes.len()) {
                None => self.nodes[place].lanes,
                Some(device) => self.devices[device].lanes,
            },
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.nodes.len() + self.devices.len()
    }

    pub(crate) fn place(&self, place: usize) -> Place {
        match place.checked_sub(self.nodes.len()) {
            None => Place::Numa(self.nodes[place].id),
            Some(device) => Place::Gpu(self.devices[device].id),
        }
    }

    /// The index of the node whose memory and pool `place` uses.
    pub(crate) fn node_of(&self, place: usize) -> usize {
        place.checked_sub(self.nodes.len()).map_or(place, |device| self.devices[device].near)
    }

    pub(crate) fn node(&self, id: u16) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    pub(crate) fn device(&self, id: u16) -> Option<usize> {
        self.devices.iter().position(|device| device.id == id)
    }

    pub(crate) fn berth(place: usize, class: Class) -> usize {
        2 * place + class as usize
    }

    /// The berths: lanes of a node exchange work with those of other nodes,
    /// the nearest first, and a device with none.
    pub(crate) fn berths(&self, topology: &Topology) -> Vec<Plan> {
        let near = |place: usize, class| {
            let Some(node) = self.nodes.get(place) else { return Vec::new() };
            let others = topology.nearest(node.id).into_iter().filter_map(|id| self.node(id));
            others.map(|other| Self::berth(other, class)).collect()
        };
        let plan = |place, class| Plan { lanes: self.lanes(place, class), near: near(place, class) };
        (0..self.count()).flat_map(|p| [plan(p, Class::All), plan(p, Class::Critical)]).collect()
    }

    /// Whether some place takes a stage.
    pub(crate) fn take(&self, placement: Placement) -> bool {
        match placement {
            Placement::Cpu => true,
            Placement::Gpu => !self.devices.is_empty(),
            Placement::At(Place::Numa(id)) => self.node(id).is_some(),
            Placement::At(Place::Gpu(id)) => self.device(id).is_some(),
        }
    }
}

/// The stages under way, so that no more are sent than there are lanes.
#[derive(Debug)]
pub(crate) struct Flight {
    nodes: [usize; 2],
    own: Vec<[usize; 2]>,
    devices: Vec<[usize; 2]>,
    /// By node, those that were sent there.
    sent: Vec<usize>,
}

impl Flight {
    pub(crate) fn new(places: &Places) -> Self {
        let (nodes, devices) = (places.nodes.len(), places.devices.len());
        Self { nodes: [0; 2], own: vec![[0; 2]; nodes], devices: vec![[0; 2]; devices], sent: vec![0; nodes] }
    }

    /// A seat where a lane is free; critical runs look at their own lanes first.
    pub(crate) fn seat(&self, places: &Places, at: At, critical: bool) -> Option<Seat> {
        let mut classes = [Class::Critical, Class::All].into_iter().skip(usize::from(!critical));
        classes.find(|class| self.has_lane(places, at, *class)).map(|class| Seat { at, class })
    }

    fn has_lane(&self, places: &Places, at: At, class: Class) -> bool {
        let c = class as usize;
        let any = || {
            let lanes: usize = (0..places.nodes.len()).map(|node| places.lanes(node, class)).sum();
            self.nodes[c] < lanes
        };
        match at {
            At::AnyNode => any(),
            At::Node(node) => any() && self.own[node][c] < places.lanes(node, class),
            At::Device(d) => self.devices[d][c] < places.lanes(places.nodes.len() + d, class),
        }
    }

    /// Books a stage that is sent to `node`, or to a device near it.
    pub(crate) fn depart(&mut self, seat: Seat, node: usize) {
        let c = seat.class as usize;
        match seat.at {
            At::AnyNode => self.nodes[c] += 1,
            At::Node(own) => {
                self.nodes[c] += 1;
                self.own[own][c] += 1;
            }
            At::Device(d) => self.devices[d][c] += 1,
        }
        self.sent[node] += 1;
    }

    pub(crate) fn arrive(&mut self, seat: Seat, node: usize) {
        let c = seat.class as usize;
        match seat.at {
            At::AnyNode => self.nodes[c] -= 1,
            At::Node(own) => {
                self.nodes[c] -= 1;
                self.own[own][c] -= 1;
            }
            At::Device(d) => self.devices[d][c] -= 1,
        }
        self.sent[node] -= 1;
    }

    /// How many stages were sent to `node` and are not done.
    pub(crate) fn sent(&self, node: usize) -> usize {
        self.sent[node]
    }

    /// Whether no lane is free anywhere.
    pub(crate) fn full(&self, places: &Places) -> bool {
        let devices = (0..places.devices.len()).map(At::Device);
        let mut all = devices.chain([At::AnyNode]);
        all.all(|at| self.seat(places, at, true).is_none())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sent.iter().all(|sent| *sent == 0)
    }
}
