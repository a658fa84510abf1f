//! Two commands in turns, each as a whole process: `turns ROUNDS A… --- B…`.
//!
//! Prints wall seconds, CPU seconds and peak memory of every run, the medians, and
//! what A takes of B. What else the machine does falls on both alike.

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use wait4::Wait4;

/// Wall seconds, CPU seconds, peak resident MiB (mapped pages included).
type Figures = [f64; 3];

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: turns ROUNDS A… --- B…";
    let (rounds, commands) = arguments.split_first().context(usage)?;
    let rounds: usize = rounds.parse().context(usage)?;
    let split = commands.iter().position(|argument| argument == "---").context(usage)?;
    let (a, b) = (&commands[..split], &commands[split + 1..]);
    ensure!(rounds > 0 && !a.is_empty() && !b.is_empty(), usage);

    println!("{:<10} {:>9} {:>9} {:>10}", "", "wall s", "CPU s", "peak MiB");
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        for (name, command, figures) in [("A", a, &mut of_a), ("B", b, &mut of_b)] {
            figures.push(run(command)?);
            print(&format!("{name} run {round}"), figures[round - 1]);
        }
    }
    let (a, b) = (medians(&of_a), medians(&of_b));
    print("A median", a);
    print("B median", b);
    println!(
        "{:<10} {:>8.1}% {:>8.1}% {:>9.1}%",
        "A / B",
        100. * a[0] / b[0],
        100. * a[1] / b[1],
        100. * a[2] / b[2]
    );
    Ok(ExitCode::SUCCESS)
}

fn run(command: &[String]) -> Result<Figures> {
    let start = Instant::now();
    let child = Command::new(&command[0]).args(&command[1..]).stdout(Stdio::null()).spawn();
    let used = child.and_then(Wait4::wait4).with_context(|| command[0].clone())?;
    ensure!(used.status.success(), "`{}` failed: {}", command.join(" "), used.status);
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok([start.elapsed().as_secs_f64(), cpu.as_secs_f64(), used.rusage.maxrss as f64 / f64::from(1 << 20)])
}

fn print(name: &str, [wall, cpu, peak]: Figures) {
    println!("{name:<10} {wall:>9.2} {cpu:>9.2} {peak:>10.0}");
}

fn medians(runs: &[Figures]) -> Figures {
    std::array::from_fn(|figure| {
        let mut row: Vec<f64> = runs.iter().map(|run| run[figure]).collect();
        row.sort_by(f64::total_cmp);
        let middle = row.len() / 2;
        if row.len() % 2 == 1 { row[middle] } else { f64::midpoint(row[middle - 1], row[middle]) }
    })
}
