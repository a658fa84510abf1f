//! NUMA nodes as Linux lists them in `/sys/devices/system/node`.

use super::assemble::RawNode;
use crate::system::{Probe, parse_list};

const NODES: &str = "/sys/devices/system/node";

/// The online nodes; none when the kernel has no NUMA or `/sys` is not mounted.
pub(super) fn nodes(probe: &mut Probe<'_>) -> Vec<RawNode> {
    let online = probe.parse(&format!("{NODES}/online"), parse_list).unwrap_or_default();
    let ids: Vec<u16> = online.iter().filter_map(|&id| u16::try_from(id).ok()).collect();
    ids.iter().filter_map(|&id| node(probe, id, &ids)).collect()
}

fn node(probe: &mut Probe<'_>, id: u16, online: &[u16]) -> Option<RawNode> {
    let dir = format!("{NODES}/node{id}");
    if !probe.has(&dir) {
        probe.note(format!("{dir}: the node is online but has no folder"));
        return None;
    }
    let cpus = probe.parse(&format!("{dir}/cpulist"), parse_list).unwrap_or_default();
    // One number for each online node, in the same order.
    let row = probe.parse(&format!("{dir}/distance"), row).unwrap_or_default();
    let distances = if row.len() == online.len() {
        online.iter().copied().zip(row).collect()
    } else {
        if !row.is_empty() {
            probe.note(format!("{dir}/distance: {} numbers for {} nodes", row.len(), online.len()));
        }
        Vec::new()
    };
    let meminfo = probe.text(&format!("{dir}/meminfo")).unwrap_or_default();
    Some(RawNode { id, cpus, distances, memory: Probe::kib_field(&meminfo, "MemTotal") })
}

fn row(text: &str) -> Result<Vec<u32>, std::num::ParseIntError> {
    text.split_whitespace().map(str::parse).collect()
}
