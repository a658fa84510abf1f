//! What a graph must satisfy before it may run.

use petgraph::graph::{DiGraph, NodeIndex};

use super::{Node, Slot};
use crate::{BuildError, Footprint};

/// Every value is taken, every stage declares each of its outputs, and works
/// in place only on what it owns.
pub(super) fn values(nodes: &DiGraph<Node, usize>, slots: &[Slot]) -> Result<(), BuildError> {
    let mut outputs = vec![0; nodes.node_count()];
    for slot in slots {
        if let Some(maker) = slot.maker {
            outputs[maker.index()] += 1;
        }
    }
    for (node, outputs) in nodes.node_weights().zip(outputs) {
        let declared = node.cost.outputs.len();
        if outputs != declared {
            return Err(BuildError::Cost { stage: (*node.name).into(), outputs, declared });
        }
    }
    if let Some((i, slot)) = slots.iter().enumerate().find(|(_, slot)| slot.takers == 0) {
        return Err(match slot.maker {
            Some(maker) => {
                let node: &Node = &nodes[maker];
                BuildError::Dangling { stage: (*node.name).into(), output: i - node.first_output }
            }
            None => BuildError::Unused,
        });
    }
    nodes.node_weights().try_for_each(|node| in_place(node, slots))
}

/// The input of the graph counts for nothing here: its weight differs from run to run.
fn in_place(node: &Node, slots: &[Slot]) -> Result<(), BuildError> {
    let owned = node.inputs.iter().map(|i| &slots[*i]).filter(|slot| slot.share.is_none());
    let owned = owned.fold(Footprint::ZERO, |sum, slot| sum + slot.bytes);
    let first = node.cost.outputs.first().copied().unwrap_or_default();
    let in_place = node.cost.in_place;
    if in_place.fits(owned) && in_place.fits(first) {
        return Ok(());
    }
    Err(BuildError::InPlace { stage: (*node.name).into(), in_place, owned, first })
}

/// Device memory is touched by stages of devices alone.
pub(super) fn devices(nodes: &DiGraph<Node, usize>, slots: &[Slot]) -> Result<(), BuildError> {
    for node in nodes.node_weights().filter(|node| !node.placement.is_device()) {
        let loads = node.residents.iter().map(|load: &NodeIndex| nodes[*load].first_output);
        let inputs = node.inputs.iter().copied().chain(loads).map(|slot| slots[slot].bytes.device);
        let own = [node.cost.scratch.device, node.cost.left().device];
        let device = own.into_iter().chain(inputs).fold(0, u64::saturating_add);
        if device > 0 {
            return Err(BuildError::OffDevice {
                stage: (*node.name).into(),
                bytes: Footprint::device(device),
            });
        }
    }
    Ok(())
}
