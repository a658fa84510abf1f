//! The memory budget `auto`: what this process may still take.

use std::fmt;
use std::path::Path;

use super::format_bytes;
use crate::json;
use crate::system::{Group, Probe, parse_list, show_list};

/// From here on a limit is none: v1 writes `0x7ffffffffffff000` (or a little less, where pages
/// are larger) for no limit, and v2 takes such numbers too.
const UNLIMITED: u64 = 1 << 62;

/// What bounds the memory that is left to this process, and the budget that follows.
///
/// The budget is the smallest [`room`](MemoryBound::room) less the [`margin`](Self::margin).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLimits {
    bounds: Vec<MemoryBound>,
    notes: Vec<String>,
}

/// One bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBound {
    /// The file, or what else said so.
    pub source: String,
    /// Bytes that may be used in all.
    pub limit: u64,
    /// Bytes of these that are used and would not be given back for the asking: caches of files
    /// are left out, as `MemAvailable` leaves them out.
    pub used: u64,
}

impl MemoryBound {
    /// Bytes that this bound leaves.
    pub fn room(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
}

impl MemoryLimits {
    /// Looks at this process and this machine, now.
    pub fn detect() -> Self {
        Self::detect_at(Path::new("/"))
    }

    /// As [`detect`](Self::detect), with `/proc` and `/sys` below `root`.
    pub fn detect_at(root: &Path) -> Self {
        let mut probe = Probe::new(root);
        let mut bounds = vec![];
        for group in probe.groups("memory") {
            bounds.extend(group_bounds(&mut probe, &group));
        }
        bounds.extend(allowed_nodes(&mut probe));
        bounds.extend(available(&mut probe));
        Self { bounds, notes: probe.notes }
    }

    /// All bounds that were found: control groups from the innermost on, then nodes, then the machine.
    pub fn bounds(&self) -> &[MemoryBound] {
        &self.bounds
    }

    /// The bound that leaves least.
    pub fn tightest(&self) -> Option<&MemoryBound> {
        self.bounds.iter().min_by_key(|bound| bound.room())
    }

    /// The bytes that are left alone, for what no ledger counts: code, stacks, page tables, the
    /// allocator's slack, and other processes that grow.
    ///
    /// 5 % of the room, at least 1 GiB, but never more than an eighth of the room.
    pub fn margin(&self) -> u64 {
        let room = self.tightest().map_or(0, MemoryBound::room);
        (room / 20).max(1 << 30).min(room / 8)
    }

    /// The bytes that an engine may be given; `None` when nothing says how much memory there is.
    pub fn budget(&self) -> Option<u64> {
        Some(self.tightest()?.room() - self.margin())
    }

    /// What could not be read, one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// One JSON object: `budget_bytes` (or null), `margin_bytes`, `bounds` (`source`,
    /// `limit_bytes`, `used_bytes`, `room_bytes`, `tightest`) and `notes`.
    pub fn to_json(&self) -> String {
        let tightest = self.tightest();
        let bounds = self.bounds.iter().map(|bound| {
            format!(
                r#"{{"source":{},"limit_bytes":{},"used_bytes":{},"room_bytes":{},"tightest":{}}}"#,
                json::string(&bound.source),
                bound.limit,
                bound.used,
                bound.room(),
                tightest.is_some_and(|tightest| std::ptr::eq(tightest, bound)),
            )
        });
        let budget = self.budget().map_or("null".into(), |bytes| bytes.to_string());
        format!(
            r#"{{"budget_bytes":{budget},"margin_bytes":{},"bounds":[{}],"notes":[{}]}}"#,
            self.margin(),
            bounds.collect::<Vec<_>>().join(","),
            self.notes.iter().map(|note| json::string(note)).collect::<Vec<_>>().join(","),
        )
    }
}

/// One line for the budget, one a bound, an arrow at the tightest.
impl fmt::Display for MemoryLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.budget() {
            Some(bytes) => writeln!(
                f,
                "memory budget {}, a margin of {} being left alone",
                format_bytes(bytes),
                format_bytes(self.margin())
            )?,
            None => writeln!(f, "memory budget unknown: nothing says how much there is")?,
        }
        for bound in &self.bounds {
            let arrow = if self.tightest().is_some_and(|t| std::ptr::eq(t, bound)) { "->" } else { "  " };
            let (room, limit) = (format_bytes(bound.room()), format_bytes(bound.limit));
            let used = format_bytes(bound.used);
            writeln!(f, "{arrow} {room:>10} left of {limit:>10}, {used:>10} used: {}", bound.source)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "   note: {note}"))
    }
}

/// The limits that one group sets. `memory.high` counts as one: beyond it the kernel slows the
/// process down until it gives memory back.
fn group_bounds(probe: &mut Probe<'_>, group: &Group) -> Vec<MemoryBound> {
    let (limits, usage, caches): (&[&str], _, _) = if group.v2 {
        (&["memory.max", "memory.high"], "memory.current", ["active_file", "inactive_file"])
    } else {
        (&["memory.limit_in_bytes"], "memory.usage_in_bytes", ["total_active_file", "total_inactive_file"])
    };
    let stat = probe.text(&group.file("memory.stat")).unwrap_or_default();
    let mut bounds = vec![];
    for name in limits {
        let source = group.file(name);
        let limit = probe.parse(&source, number).flatten();
        bounds.extend(limit.map(|limit| (source, limit)));
    }
    if !group.v2 {
        // In a container the ancestors' folders are out of sight; their least limit is not.
        let limit = stat_field(&stat, "hierarchical_memory_limit").filter(|&limit| limit < UNLIMITED);
        let inherited = limit.filter(|limit| bounds.iter().all(|(_, own)| limit < own));
        bounds.extend(inherited.map(|limit| (group.file("memory.stat") + " (inherited)", limit)));
    }
    if bounds.is_empty() {
        return vec![];
    }
    let usage = probe.parse(&group.file(usage), number).flatten().unwrap_or(0);
    let caches: u64 = caches.iter().filter_map(|key| stat_field(&stat, key)).fold(0, u64::saturating_add);
    let used = usage.saturating_sub(caches);
    bounds.into_iter().map(|(source, limit)| MemoryBound { source, limit, used }).collect()
}

/// A number of bytes; `None` for no limit.
fn number(text: &str) -> Result<Option<u64>, std::num::ParseIntError> {
    if text == "max" { Ok(None) } else { text.parse().map(|n: u64| (n < UNLIMITED).then_some(n)) }
}

/// A line `key value` of `memory.stat`.
fn stat_field(stat: &str, key: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// What is left on the NUMA nodes whose memory the process may use, when these are not all.
fn allowed_nodes(probe: &mut Probe<'_>) -> Option<MemoryBound> {
    let nodes = "/sys/devices/system/node";
    let with_memory = probe.parse(&format!("{nodes}/has_memory"), parse_list)?;
    let mut mems = probe.allowed_mems()?;
    mems.retain(|node| with_memory.binary_search(node).is_ok());
    if mems.is_empty() || mems.len() == with_memory.len() {
        return None;
    }
    let (mut limit, mut used) = (0_u64, 0_u64);
    for node in &mems {
        let path = format!("{nodes}/node{node}/meminfo");
        let text = probe.text(&path).unwrap_or_default();
        let field = |key| Probe::kib_field(&text, key);
        let (Some(total), Some(free)) = (field("MemTotal"), field("MemFree")) else {
            probe.note(format!("{path}: no MemTotal or no MemFree, so that the node counts as full"));
            continue;
        };
        let caches = ["Active(file)", "Inactive(file)"].iter().filter_map(|key| field(key));
        let left = caches.fold(free, u64::saturating_add).min(total);
        limit = limit.saturating_add(total);
        used = used.saturating_add(total - left);
    }
    Some(MemoryBound { source: format!("memory of NUMA nodes {}", show_list(&mems)), limit, used })
}

/// The whole machine's `MemAvailable`, which counts caches as the kernel would give them back.
fn available(probe: &mut Probe<'_>) -> Option<MemoryBound> {
    let text = probe.text("/proc/meminfo")?;
    let field = |key| Probe::kib_field(&text, key);
    let (key, available) = ["MemAvailable", "MemFree"].iter().find_map(|key| Some((key, field(key)?)))?;
    let limit = field("MemTotal")?.max(available);
    Some(MemoryBound { source: format!("/proc/meminfo {key}"), limit, used: limit - available })
}
