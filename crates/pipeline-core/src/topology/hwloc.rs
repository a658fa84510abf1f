//! NUMA nodes as hwloc sees them.
//!
//! hwloc knows machines that `/sys` describes badly, and reads descriptions of others
//! (`HWLOC_XMLFILE`, `HWLOC_SYNTHETIC`). The binding gives each CPU's local nodes but neither
//! memory nor distances of a node; these come from `/sys` when the description is this machine's.
//!
//! The binding's `objects_with_type` panics on NUMA nodes, whose depth is virtual in hwloc 2, and
//! its `name` frees hwloc's own string, so that neither is called here.

use hwloc2::{ObjectType, Topology as Hwloc};

use super::assemble::{RawNode, assemble};
use super::{Source, Topology, sysfs};
use crate::system::Probe;

/// What hwloc says; `None` when it says nothing of use.
pub(super) fn look(probe: &mut Probe<'_>) -> Option<Topology> {
    let hwloc = Hwloc::new()?;
    let mut nodes = nodes(&hwloc)?;
    // hwloc withdraws its binding calls when the description is of another machine.
    if !hwloc.support().cpu().set_current_thread() {
        let mut topology = assemble(&mut Probe::new("/nowhere".as_ref()), nodes, Source::Hwloc);
        topology.notes.push("hwloc describes another machine: threads are not pinned".into());
        return Some(topology);
    }
    for listed in sysfs::nodes(probe) {
        match nodes.iter_mut().find(|node| node.id == listed.id) {
            Some(node) => (node.distances, node.memory) = (listed.distances, listed.memory),
            None => nodes.push(RawNode { cpus: Vec::new(), ..listed }),
        }
    }
    Some(assemble(probe, nodes, Source::Hwloc))
}

/// The nodes, each with the CPUs whose first local node it is.
fn nodes(hwloc: &Hwloc) -> Option<Vec<RawNode>> {
    let depth = hwloc.depth_for_type(&ObjectType::PU).ok()?;
    let mut nodes: Vec<RawNode> = Vec::new();
    for cpu in hwloc.objects_at_depth(depth) {
        let local = cpu.nodeset()?.first();
        let id = u16::try_from(local).ok()?;
        let at = nodes.iter().position(|node| node.id == id).unwrap_or_else(|| {
            nodes.push(RawNode { id, cpus: Vec::new(), distances: Vec::new(), memory: None });
            nodes.len() - 1
        });
        nodes[at].cpus.push(cpu.os_index() as usize);
    }
    (!nodes.is_empty()).then_some(nodes)
}
