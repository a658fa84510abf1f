//! The same bench on one CPU and on two.

use std::process::{Command, ExitCode};

use criterion::Criterion;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Says, to a child, how many CPUs it has.
const CPUS: &str = "CUZK_RIVALS_CPUS";

/// Runs `benches` in a process that has one CPU, then in one that has two.
///
/// The rivals size their thread pools once, by the CPUs that the process may use,
/// and each in its own way; an affinity is what they all go by.
pub fn on_one_and_two(benches: fn(&mut Criterion, usize)) -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "how a parent speaks to its child, no configuration")]
    match std::env::var(CPUS).ok().and_then(|cpus| cpus.parse().ok()) {
        Some(cpus) => child(benches, cpus),
        None => parent(),
    }
}

fn parent() -> ExitCode {
    let program = std::env::current_exe().expect("the path of this program");
    for cpus in ["1", "2"] {
        let child = Command::new(&program).args(std::env::args_os().skip(1)).env(CPUS, cpus).status();
        if !child.expect("this program starts").success() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn child(benches: fn(&mut Criterion, usize), cpus: usize) -> ExitCode {
    let allowed = sched_getaffinity(Pid::from_raw(0)).expect("this process's CPUs");
    let mut chosen = CpuSet::new();
    let mut found = 0;
    for cpu in (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu).is_ok_and(|set| set)).take(cpus) {
        chosen.set(cpu).expect("a CPU of the set");
        found += 1;
    }
    if found < cpus {
        println!("this machine lets the process use {found} CPU only: nothing measured on {cpus}");
        return ExitCode::SUCCESS;
    }
    // Threads inherit it; none but this one exists yet.
    sched_setaffinity(Pid::from_raw(0), &chosen).expect("an affinity of allowed CPUs");
    let mut criterion = Criterion::default().configure_from_args();
    benches(&mut criterion, cpus);
    criterion.final_summary();
    ExitCode::SUCCESS
}
