//! Budgets and thread counts of machines laid out in files.
#![allow(missing_docs, reason = "tests")]

mod machine;

use cuzk_pipeline_core::limits::{
    MemoryLimits, ParseBytesError, ThreadLimits, allowed_threads, format_bytes, parse_bytes,
};
use machine::Machine;

const GIB: u64 = 1 << 30;
const V1_NONE: &str = "9223372036854771712\n";
const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
const V1: &str = "33 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
                  34 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

fn v2(path: &str) -> Machine {
    Machine::new()
        .memory(256, 200)
        .file("/proc/self/cgroup", format!("0::{path}\n"))
        .file("/proc/self/mountinfo", V2)
}

/// The tightest bound's source and room.
fn tightest(machine: &Machine) -> (String, u64) {
    let limits = MemoryLimits::detect_at(machine.root());
    let bound = limits.tightest().expect("some bound");
    (bound.source.clone(), bound.room())
}

#[test]
fn without_groups_the_machine_decides() {
    let limits = MemoryLimits::detect_at(Machine::new().memory(256, 200).root());
    assert_eq!(limits.bounds().len(), 1);
    assert_eq!(limits.tightest().unwrap().room(), 200 * GIB);
    assert_eq!(limits.margin(), 10 * GIB);
    assert_eq!(limits.budget(), Some(190 * GIB));
    assert!(limits.notes().is_empty());
}

#[test]
fn every_ancestor_bounds() {
    let at = |dir: &str, file: &str| format!("/sys/fs/cgroup{dir}/{file}");
    let machine = v2("/a/b/c")
        .file(&at("/a/b/c", "memory.max"), "max\n")
        .file(&at("/a/b/c", "memory.high"), format!("{}\n", 90 * GIB))
        .file(&at("/a/b/c", "memory.current"), format!("{GIB}\n"))
        .file(&at("/a/b", "memory.max"), "max\n")
        .file(&at("/a", "memory.max"), format!("{}\n", 100 * GIB))
        .file(&at("/a", "memory.current"), format!("{}\n", 60 * GIB))
        .file(
            &at("/a", "memory.stat"),
            format!("anon 1\nactive_file {}\ninactive_file {}\n", 7 * GIB, 3 * GIB),
        );
    let limits = MemoryLimits::detect_at(machine.root());
    let rooms: Vec<_> = limits.bounds().iter().map(|b| (b.source.as_str(), b.room() / GIB)).collect();
    assert_eq!(
        rooms,
        [
            ("/sys/fs/cgroup/a/b/c/memory.high", 89),
            // 100, less 60 used of which 10 are file caches.
            ("/sys/fs/cgroup/a/memory.max", 50),
            ("/proc/meminfo MemAvailable", 200),
        ]
    );
    assert_eq!(limits.budget(), Some(50 * GIB - limits.margin()));
    let shown = limits.to_string();
    assert!(
        shown.contains("->     50 GiB left of    100 GiB,     50 GiB used: /sys/fs/cgroup/a/memory.max"),
        "{shown}"
    );
    assert!(shown.contains("       89 GiB left of"), "{shown}");
    assert!(
        limits.to_json().contains(r#""source":"/sys/fs/cgroup/a/memory.max","limit_bytes":107374182400,"#)
    );
}

#[test]
fn v1_bounds_and_its_no_limit_is_none() {
    let at = |dir: &str, file: &str| format!("/sys/fs/cgroup/memory{dir}/{file}");
    let machine = Machine::new()
        .memory(256, 200)
        .file("/proc/self/cgroup", "4:memory:/x/y\n1:cpu,cpuacct:/x\n0::/\n")
        .file("/proc/self/mountinfo", V1)
        .file(&at("/x/y", "memory.limit_in_bytes"), V1_NONE)
        .file(&at("/x/y", "memory.usage_in_bytes"), "4096\n")
        .file(&at("/x", "memory.limit_in_bytes"), format!("{}\n", 30 * GIB))
        .file(&at("/x", "memory.usage_in_bytes"), format!("{}\n", 12 * GIB))
        .file(
            &at("/x", "memory.stat"),
            format!(
                "cache 1\ninactive_file 7\ntotal_inactive_file {}\nhierarchical_memory_limit {}\n",
                2 * GIB,
                30 * GIB
            ),
        )
        .file(&at("", "memory.limit_in_bytes"), "9223372036854710272\n");
    assert_eq!(tightest(&machine), (at("/x", "memory.limit_in_bytes"), 20 * GIB));
    assert_eq!(MemoryLimits::detect_at(machine.root()).bounds().len(), 2, "what is no limit is no bound");
}

#[test]
fn v1_in_a_container_inherits_what_it_cannot_see() {
    // Docker without a cgroup namespace: the mount's root is the container's own group.
    let machine = Machine::new()
        .memory(256, 200)
        .file("/proc/self/cgroup", "4:memory:/docker/abc\n")
        .file(
            "/proc/self/mountinfo",
            "33 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
        )
        .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", V1_NONE)
        .file("/sys/fs/cgroup/memory/memory.usage_in_bytes", format!("{GIB}"))
        .file("/sys/fs/cgroup/memory/memory.stat", format!("hierarchical_memory_limit {}\n", 17 * GIB));
    assert_eq!(tightest(&machine), ("/sys/fs/cgroup/memory/memory.stat (inherited)".into(), 16 * GIB));
}

#[test]
fn in_a_cgroup_namespace_the_root_is_the_group() {
    let machine = v2("/").file("/sys/fs/cgroup/memory.max", format!("{}", 8 * GIB));
    assert_eq!(tightest(&machine), ("/sys/fs/cgroup/memory.max".into(), 8 * GIB));
    // Moved out of the namespace's root, or a path that the mount does not show.
    for path in ["/../other", "/kubepods/pod1/x"] {
        let machine = v2(path)
            .file("/sys/fs/other/memory.max", "4096")
            .file("/sys/fs/cgroup/memory.max", format!("{}", 8 * GIB));
        assert_eq!(tightest(&machine), ("/sys/fs/cgroup/memory.max".into(), 8 * GIB), "{path}");
    }
}

#[test]
fn hybrid_counts_both() {
    let machine = Machine::new()
        .memory(256, 200)
        .file("/proc/self/cgroup", "4:memory:/x\n0::/user.slice\n")
        .file(
            "/proc/self/mountinfo",
            format!("{V1}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"),
        )
        .file("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", format!("{}", 20 * GIB))
        .file("/sys/fs/cgroup/unified/user.slice/memory.max", format!("{}", 10 * GIB));
    assert_eq!(tightest(&machine).1, 10 * GIB);
    assert_eq!(MemoryLimits::detect_at(machine.root()).bounds().len(), 3);
}

#[test]
fn mounts_with_blanks_and_foreign_roots() {
    let machine = Machine::new()
        .memory(256, 200)
        .file("/proc/self/cgroup", "0::/yours\n")
        .file(
            "/proc/self/mountinfo",
            "1 2 0:1 /you /mnt rw - cgroup2 c rw\n3 2 0:1 / /my\\040groups rw - cgroup2 c rw\n",
        )
        .file("/mnt/memory.max", "1073741824")
        .file("/mnt/rs/memory.max", "1073741824")
        .file("/my groups/yours/memory.max", "2147483648");
    assert_eq!(
        tightest(&machine),
        ("/my groups/yours/memory.max".into(), 2 * GIB),
        "another's limit is not ours"
    );
}

#[test]
fn forbidden_nodes_leave_the_others_memory() {
    let nodes = "/sys/devices/system/node";
    let machine = |mems: &str| {
        Machine::new()
            .memory(96, 90)
            .status("0-3", mems)
            .file(&format!("{nodes}/has_memory"), "0-1\n")
            .node(0, "0-1", "10 20", 64)
            .node(1, "2-3", "20 10", 32)
    };
    // Half is free, and 1 MiB is a cache.
    assert_eq!(tightest(&machine("1,7")), ("memory of NUMA nodes 1".into(), 16 * GIB + (1 << 20)));
    assert_eq!(tightest(&machine("0-7")).1, 90 * GIB, "all nodes are no bound");
    let lost = machine("0").file(&format!("{nodes}/node0/meminfo"), "nothing\n");
    let limits = MemoryLimits::detect_at(lost.root());
    assert_eq!((limits.budget(), limits.notes().len()), (Some(0), 1));
}

#[test]
fn what_cannot_be_read_is_noted() {
    let machine = v2("/a")
        .dir("/sys/fs/cgroup/a/memory.max")
        .file("/sys/fs/cgroup/a/memory.high", "lots\n")
        .file("/sys/fs/cgroup/memory.max", "-5\n");
    let limits = MemoryLimits::detect_at(machine.root());
    assert_eq!(limits.budget(), Some(190 * GIB));
    let notes = limits.notes().join("\n");
    assert_eq!(limits.notes().len(), 3, "{notes}");
    let json: serde_json::Value = serde_json::from_str(&limits.to_json()).expect("valid JSON");
    assert_eq!(
        (json["budget_bytes"].as_u64(), json["bounds"][0]["tightest"].as_bool()),
        (limits.budget(), Some(true))
    );
    assert!(notes.contains("a/memory.max: ") && notes.contains("memory.high: `lots`"), "{notes}");
}

#[test]
fn nothing_known_is_no_budget_and_overuse_is_none_left() {
    let limits = MemoryLimits::detect_at(Machine::new().root());
    assert_eq!((limits.budget(), limits.margin()), (None, 0));
    assert!(limits.to_string().contains("unknown"));
    let machine = v2("/")
        .file("/sys/fs/cgroup/memory.max", format!("{GIB}"))
        .file("/sys/fs/cgroup/memory.current", format!("{}", 2 * GIB))
        .file(
            "/sys/fs/cgroup/memory.stat",
            "inactive_file 18446744073709551615\nactive_file 18446744073709551615\n",
        );
    assert_eq!(tightest(&machine).1, GIB, "caches are never more than all");
    let machine = machine.file("/sys/fs/cgroup/memory.stat", "");
    assert_eq!(MemoryLimits::detect_at(machine.root()).budget(), Some(0));
}

#[test]
fn old_kernels_have_no_memavailable() {
    let machine = Machine::new().file("/proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 524288 kB\n");
    assert_eq!(tightest(&machine), ("/proc/meminfo MemFree".into(), GIB / 2));
}

#[test]
fn margins_scale_down() {
    let margin = |gib| MemoryLimits::detect_at(Machine::new().memory(gib, gib).root()).margin();
    assert_eq!([1, 2, 8].map(margin), [GIB / 8, GIB / 4, GIB]);
    assert_eq!([16, 20, 1000].map(margin), [GIB, GIB, 50 * GIB]);
}

#[test]
fn this_machine() {
    let limits = MemoryLimits::detect();
    let budget = limits.budget().expect("Linux says how much memory there is");
    let total = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total: u64 = total.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(budget > 0 && budget < total << 10, "{limits}");
    println!("{limits}{}{}", limits.to_json(), ThreadLimits::detect());
    let parallel = std::thread::available_parallelism().unwrap().get();
    assert_eq!(allowed_threads(), parallel, "std reads the same limits");
}

#[test]
fn quotas_bound_threads() {
    let threads = |machine: &Machine| ThreadLimits::detect_at(machine.root());
    let machine = v2("/a/b").status("0-15", "0");
    assert_eq!(threads(&machine).threads(), 16);
    let machine = machine.file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_eq!((threads(&machine).threads(), threads(&machine).quota()), (16, None));
    let machine = machine.file("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    let limits = threads(&machine);
    assert_eq!(limits.threads(), 2, "a third thread would be half throttled");
    assert_eq!(limits.quota().unwrap().source, "/sys/fs/cgroup/a/cpu.max");
    assert_eq!(limits.to_string(), "2 threads: CPUs 0-15, quota 2.50 CPUs by /sys/fs/cgroup/a/cpu.max\n");
    for (text, count) in [("50000 100000", 1), ("0 100000", 16), ("1 0", 16), ("x", 16), ("9e99 1", 16)] {
        let machine = v2("/").status("0-15", "0").file("/sys/fs/cgroup/cpu.max", text);
        assert_eq!(threads(&machine).threads(), count, "{text}");
    }
    let v1 = |quota: &str| {
        Machine::new()
            .status("0-7", "0")
            .file("/proc/self/cgroup", "1:cpu,cpuacct:/q\n")
            .file("/proc/self/mountinfo", V1)
            .file("/sys/fs/cgroup/cpu,cpuacct/q/cpu.cfs_quota_us", quota)
            .file("/sys/fs/cgroup/cpu,cpuacct/q/cpu.cfs_period_us", "100000\n")
    };
    assert_eq!(threads(&v1("-1\n")).threads(), 8);
    assert_eq!(threads(&v1("300000\n")).threads(), 3);
}

#[test]
fn sizes_are_read_strictly() {
    let good: [(&str, u64); 10] = [
        ("0B", 0),
        ("1B", 1),
        ("14GiB", 14 * GIB),
        ("14 GiB", 14 * GIB),
        ("1.5KiB", 1536),
        ("0.1MB", 100_000),
        ("2TB", 2_000_000_000_000),
        ("16777215TiB", ((1 << 24) - 1) << 40),
        ("18446744073709551615B", u64::MAX),
        ("0.000000001GB", 1),
    ];
    for (text, bytes) in good {
        assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
    }
    for text in
        ["", "GiB", " 1GiB", "-1GiB", "+1GiB", ".5GiB", "1.GiB", "1.2.3GiB", "1.0000000001GiB", "１GiB"]
    {
        assert!(matches!(parse_bytes(text), Err(ParseBytesError::Number { .. })), "{text}");
    }
    for text in ["14", "0", "1.5", "14 "] {
        assert!(matches!(parse_bytes(text), Err(ParseBytesError::NoUnit { .. })), "{text}");
    }
    for text in ["1gib", "1Gib", "1G", "1kB", "1PiB", "1GiB ", "1  GiB", "1e9B", "0x10B", "1,5GiB", "1GiB/s"]
    {
        assert!(matches!(parse_bytes(text), Err(ParseBytesError::Unit { .. })), "{text}");
    }
    for text in
        ["16777216TiB", "18446744073709551616B", "18446744073709551615.5KB", "99999999999999999999999B"]
    {
        assert!(matches!(parse_bytes(text), Err(ParseBytesError::Overflow { .. })), "{text}");
    }
    let error = parse_bytes("14").unwrap_err().to_string();
    assert!(error.contains("14GiB"), "{error}");
}

#[test]
fn sizes_are_shown_rounded_down_and_read_again() {
    let shown = [
        (0, "0 B"),
        (512, "512 B"),
        (1024, "1 KiB"),
        (1025, "1.0 KiB"),
        (GIB - 1, "1023.9 MiB"),
        (14 * GIB, "14 GiB"),
        (3 << 29, "1.5 GiB"),
        (u64::MAX, "16777215.9 TiB"),
    ];
    for (bytes, text) in shown {
        assert_eq!(format_bytes(bytes), text);
        let again = parse_bytes(text).unwrap();
        assert!(again <= bytes && bytes - again <= bytes / 9, "{text}");
    }
}
