//! Topologies of machines laid out in files, and the one that the tests run on.
#![allow(missing_docs, reason = "tests")]

mod machine;

use cuzk_pipeline_core::topology::{Node, PinError, Source, Topology, pin_current_thread};
use machine::Machine;
use rustix::thread::sched_getaffinity;

const NODES: &str = "/sys/devices/system/node";

fn two_nodes() -> Machine {
    Machine::new()
        .file(&format!("{NODES}/online"), "0-1\n")
        .node(0, "0-3,8-11", "10 21", 64)
        .node(1, "4-7,12-15", "21 10", 32)
        .file("/sys/devices/system/cpu/online", "0-15\n")
}

fn cpus(topology: &Topology) -> Vec<(u16, Vec<usize>)> {
    topology.nodes().iter().map(|node| (node.id(), node.cpus().to_vec())).collect()
}

#[test]
fn two_nodes_with_distances_and_memory() {
    let topology = Topology::detect_at(two_nodes().status("0-15", "0-1").root());
    assert_eq!(topology.source(), Source::Sysfs);
    assert_eq!(cpus(&topology), [(0, vec![0, 1, 2, 3, 8, 9, 10, 11]), (1, vec![4, 5, 6, 7, 12, 13, 14, 15])]);
    assert_eq!(topology.nodes()[0].distances(), [10, 21]);
    assert_eq!(topology.nodes()[1].distances(), [21, 10]);
    assert_eq!(topology.node(1).unwrap().memory(), Some(32 << 30));
    assert_eq!(topology.notes(), [""; 0]);
    assert!(!topology.pins(), "these CPUs are not ours");
    let shown = topology.to_string();
    assert!(shown.starts_with("2 NUMA nodes, 16 CPUs, from sysfs\n"), "{shown}");
    assert!(shown.contains("  node 1: CPUs 4-7,12-15, memory 32 GiB, distances 21 10\n"), "{shown}");
    assert!(topology.to_json().contains(r#""cpu_list":"4-7,12-15","cores":8,"memory_bytes":34359738368"#));
}

#[test]
fn taskset_cpuset_and_offline_cpus_bound_the_nodes() {
    let topology = Topology::detect_at(
        two_nodes()
            .status("2-13", "0")
            .file("/sys/devices/system/cpu/online", "0-4,6-15\n")
            .file("/proc/self/cgroup", "0::/a/b\n")
            .file("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .dir("/sys/fs/cgroup/a/b")
            .file("/sys/fs/cgroup/a/b/cpuset.cpus.effective", "\n")
            .file("/sys/fs/cgroup/a/cpuset.cpus.effective", "0-3,5-12\n")
            .root(),
    );
    assert_eq!(cpus(&topology), [(0, vec![2, 3, 8, 9, 10, 11]), (1, vec![6, 7, 12])]);
    assert_eq!(topology.node(1).unwrap().memory(), Some(0), "its memory is not ours to use");
    assert_eq!(topology.node(0).unwrap().memory(), Some(64 << 30));
}

#[test]
fn a_v1_cpuset_bounds_the_nodes() {
    let topology = Topology::detect_at(
        two_nodes()
            .file("/proc/self/cgroup", "3:cpuset:/docker/x\n1:cpu,cpuacct:/\n0::/\n")
            .file("/proc/self/mountinfo", "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n")
            .file("/sys/fs/cgroup/cpuset/docker/x/cpuset.cpus", "0-15\n")
            .file("/sys/fs/cgroup/cpuset/docker/x/cpuset.effective_cpus", "0-1,4\n")
            .root(),
    );
    assert_eq!(cpus(&topology), [(0, vec![0, 1]), (1, vec![4])]);
}

#[test]
fn a_node_without_cpus_and_one_without_memory() {
    let topology = Topology::detect_at(
        Machine::new()
            .file(&format!("{NODES}/online"), "0-1,4")
            .node(0, "0-1", "10 20 40", 8)
            .node(1, "2-3", "20 10 30", 0)
            .node(4, "", "40 30 10", 64)
            .root(),
    );
    assert_eq!(cpus(&topology), [(0, vec![0, 1]), (1, vec![2, 3]), (4, vec![])]);
    assert_eq!(topology.node(1).unwrap().memory(), Some(0));
    assert_eq!(topology.compute_nodes().map(Node::id).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(topology.nearest(0), [1], "memory alone runs no stage");
    assert_eq!(topology.nearest(4), [1, 0], "nor does it keep its data from the nearest that do");
}

#[test]
fn a_lost_distance_table_and_a_lost_node_are_filled_in() {
    let topology = Topology::detect_at(
        Machine::new()
            .file(&format!("{NODES}/online"), "0,2-3")
            .node(0, "0", "10 11", 8)
            .file(&format!("{NODES}/node2/cpulist"), "1")
            .root(),
    );
    assert_eq!(cpus(&topology), [(0, vec![0]), (2, vec![1])]);
    assert_eq!(topology.nodes()[0].distances(), [10, 20]);
    assert_eq!(topology.nodes()[1].distances(), [20, 10]);
    assert_eq!(topology.nodes()[1].memory(), None);
    let notes = topology.notes().join("\n");
    assert!(notes.contains("node3") && notes.contains("2 numbers for 3 nodes"), "{notes}");
}

#[test]
fn a_table_for_a_lost_node_still_names_the_right_ones() {
    let machine = Machine::new()
        .file(&format!("{NODES}/online"), "0-2")
        .node(0, "0", "10 99 30", 8)
        .node(2, "1", "31 99 10", 8);
    let topology = Topology::detect_at(machine.root());
    assert_eq!(topology.nodes()[0].distances(), [10, 30]);
    assert_eq!(topology.nodes()[1].distances(), [31, 10]);
}

#[test]
fn without_nodes_all_cpus_are_one() {
    let topology = Topology::detect_at(Machine::new().status("3-5", "0").memory(16, 8).root());
    assert_eq!(topology.source(), Source::Flat);
    assert_eq!(cpus(&topology), [(0, vec![3, 4, 5])]);
    assert_eq!(topology.nodes()[0].memory(), Some(16 << 30));

    let nothing = Topology::detect_at(Machine::new().root());
    assert_eq!(cpus(&nothing), [(0, vec![0])]);
    assert_eq!(nothing.nodes()[0].memory(), None);
}

#[test]
fn nodes_that_have_none_of_our_cpus_are_given_up() {
    // The mask also contradicts the online CPUs, and stands.
    let topology = Topology::detect_at(two_nodes().status("20-21", "0").root());
    assert_eq!(topology.source(), Source::Flat);
    assert_eq!(cpus(&topology), [(0, vec![20, 21])]);
    assert_eq!(topology.notes().len(), 2, "{:?}", topology.notes());
}

#[test]
fn a_cpu_is_in_exactly_one_node() {
    let topology = Topology::detect_at(
        Machine::new()
            .file(&format!("{NODES}/online"), "0-1")
            .node(0, "0-2", "10 20", 8)
            .node(1, "2-3", "20 10", 8)
            .status("0-5", "0-1")
            .root(),
    );
    assert_eq!(cpus(&topology), [(0, vec![0, 1, 2, 4, 5]), (1, vec![3])]);
    assert_eq!(topology.notes().len(), 2, "{:?}", topology.notes());
}

#[test]
fn cores_before_their_second_threads() {
    let siblings = |machine: Machine, cpu: usize, list: &str| {
        machine.file(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"), list)
    };
    // Neighbours share a core on node 0, halves do on node 1; nothing is known of CPU 7, and CPU 5's
    // twin may not be used.
    let lists = ["0-1\n", "0-1\n", "2-3\n", "2-3\n", "4,6\n", "5,15\n", "4,6\n"];
    let machine = Machine::new()
        .file(&format!("{NODES}/online"), "0-1")
        .node(0, "0-3", "10 20", 8)
        .node(1, "4-7", "20 10", 8);
    let machine = lists.iter().enumerate().fold(machine, |m, (cpu, list)| siblings(m, cpu, list));
    let topology = Topology::detect_at(machine.root());
    assert_eq!(topology.nodes()[0].by_core(), [0, 2, 1, 3]);
    assert_eq!(topology.nodes()[1].by_core(), [4, 5, 7, 6]);
    assert_eq!(topology.nodes().iter().map(Node::cores).collect::<Vec<_>>(), [2, 3]);
    assert!(topology.to_string().contains("node 1: CPUs 4-7 on 3 cores, "), "{topology}");
    assert_eq!(Topology::fake(&[3]).nodes()[0].by_core(), [0, 1, 2]);
}

#[test]
fn garbage_is_noted_and_never_fatal() {
    for garbage in ["0-99999999999", "zero", "\u{0}\u{1}", "-", "1-0", "0-65536"] {
        let topology = Topology::detect_at(
            Machine::new()
                .file(&format!("{NODES}/online"), garbage)
                .file("/proc/self/status", format!("Cpus_allowed_list:\t{garbage}\n"))
                .file("/sys/devices/system/cpu/online", garbage)
                .root(),
        );
        assert_eq!(topology.source(), Source::Flat, "{garbage:?}");
        assert_eq!(topology.notes().len(), 3, "{garbage:?}: {:?}", topology.notes());
        let json = topology.to_json();
        let json: serde_json::Value = serde_json::from_str(&json).expect(garbage);
        assert_eq!(json["notes"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn this_machine() {
    let topology = Topology::detect();
    let mask = sched_getaffinity(None).unwrap();
    let cpus = topology.cpus();
    assert!(!cpus.is_empty());
    assert!(cpus.iter().all(|&cpu| mask.is_set(cpu)), "{topology}");
    assert_eq!(topology.pins(), topology.source() != Source::Fake);
    for node in topology.nodes() {
        assert_eq!(node.distances().len(), topology.nodes().len());
    }
    println!("{topology}{}", topology.to_json());
}

#[test]
fn a_pinned_thread_stays_on_its_cpus() {
    let cpus = Topology::detect().cpus();
    let mask = || {
        let set = sched_getaffinity(None).unwrap();
        (0..1024).filter(|&cpu| set.is_set(cpu)).collect::<Vec<_>>()
    };
    let last = *cpus.last().unwrap();
    pin_current_thread(&[last]).unwrap();
    assert_eq!(mask(), [last]);
    assert_eq!(rustix::thread::sched_getcpu(), last);
    assert_eq!(Topology::detect().cpus(), [last], "what a thread may not use is not offered to it");
    pin_current_thread(&cpus).unwrap();
    assert_eq!(mask(), cpus);
}

#[test]
fn pins_that_cannot_be() {
    assert!(matches!(pin_current_thread(&[]), Err(PinError::Empty)));
    assert!(matches!(pin_current_thread(&[0, 1 << 20]), Err(PinError::OutOfRange { cpu: 1_048_576, .. })));
    // No test machine has so many, and masks without any CPU that exists are refused.
    for absent in [&[1022][..], &[1022, 1023]] {
        let error = pin_current_thread(absent).unwrap_err();
        assert!(matches!(error, PinError::Refused { first: 1022, .. }), "{error}");
        assert!(error.to_string().contains("Invalid argument"), "{error}");
    }
}

#[test]
fn fakes() {
    let topology = Topology::fake(&[2, 3]);
    assert_eq!(cpus(&topology), [(0, vec![0, 1]), (1, vec![2, 3, 4])]);
    assert_eq!(topology.nodes()[1].distances(), [20, 10]);
    assert_eq!((topology.source(), topology.pins()), (Source::Fake, false));

    let far = |a, b, c, d| vec![a, b, c, d];
    let square = Topology::fake_with(&[
        (1, far(10, 16, 32, 22)),
        (1, far(16, 10, 22, 32)),
        (0, far(32, 22, 10, 16)),
        (1, far(22, 32, 16, 10)),
    ]);
    assert_eq!(square.nearest(0), [1, 3]);
    assert_eq!(square.nearest(3), [0, 1]);
    assert_eq!(square.nearest(9), [0; 0]);
    assert_eq!(Topology::fake(&[1, 1, 1]).nearest(1), [2, 0], "ties turn round");
    assert_eq!(cpus(&Topology::fake(&[])), [(0, vec![0])], "there is always a CPU");
}

/// What hwloc makes of its own synthetic machines, in a process of its own: it reads the variable once.
#[cfg(feature = "hwloc")]
#[test]
fn hwloc_describes_other_machines() {
    let describe = |machine: &str| {
        let out = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "show_this_machine", "--ignored", "--nocapture"])
            .env("HWLOC_SYNTHETIC", machine)
            .output()
            .unwrap();
        assert!(out.status.success(), "{machine}: {out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let shown = describe("numa:2 core:3 pu:1");
    assert!(shown.contains("2 NUMA nodes, 6 CPUs, from hwloc"), "{shown}");
    assert!(shown.contains("node 0: CPUs 0-2,") && shown.contains("node 1: CPUs 3-5,"), "{shown}");
    assert!(shown.contains("threads are not pinned"), "{shown}");
    // Threads numbered across packages, as many BIOSes do.
    let shown = describe("package:2 [numa] core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
    assert!(shown.contains("node 0: CPUs 0-1,4-5,") && shown.contains("node 1: CPUs 2-3,6-7,"), "{shown}");
}

#[test]
#[ignore = "run by `hwloc_describes_other_machines`"]
fn show_this_machine() {
    println!("{}", Topology::detect());
}
