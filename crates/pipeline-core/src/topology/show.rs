//! A topology for people and for programs.

use std::fmt::{self, Write};

use super::{Source, Topology};
use crate::json;
use crate::limits::format_bytes;
use crate::system::show_list;

impl Source {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hwloc => "hwloc",
            Self::Sysfs => "sysfs",
            Self::Flat => "flat",
            Self::Fake => "fake",
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, cpus) = (self.nodes.len(), self.cpus().len());
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        writeln!(
            f,
            "{nodes} NUMA node{}, {cpus} CPU{}, from {}",
            plural(nodes),
            plural(cpus),
            self.source.name()
        )?;
        for node in &self.nodes {
            write!(f, "  node {}: CPUs {}", node.id, show_list(&node.cpus))?;
            if node.cores < node.cpus.len() {
                write!(f, " on {} cores", node.cores)?;
            }
            match node.memory {
                Some(bytes) => write!(f, ", memory {}", format_bytes(bytes))?,
                None => write!(f, ", memory unknown")?,
            }
            f.write_str(", distances")?;
            node.distances.iter().try_for_each(|distance| write!(f, " {distance}"))?;
            f.write_char('\n')?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))
    }
}

impl Topology {
    /// One JSON object: `source`, `pins`, `nodes` (`id`, `cpus` as an array and `cpu_list` as
    /// ranges, `cores`, `memory_bytes` or null, `distances`) and `notes`.
    pub fn to_json(&self) -> String {
        let nodes = self.nodes.iter().map(|node| {
            let memory = node.memory.map_or("null".into(), |bytes| bytes.to_string());
            format!(
                r#"{{"id":{},"cpus":{:?},"cpu_list":"{}","cores":{},"memory_bytes":{memory},"distances":{:?}}}"#,
                node.id,
                node.cpus,
                show_list(&node.cpus),
                node.cores,
                node.distances,
            )
        });
        let (source, pins) = (self.source.name(), self.pins);
        let nodes = nodes.collect::<Vec<_>>().join(",");
        let notes = self.notes.iter().map(|note| json::string(note)).collect::<Vec<_>>().join(",");
        format!(r#"{{"source":"{source}","pins":{pins},"nodes":[{nodes}],"notes":[{notes}]}}"#)
    }
}
