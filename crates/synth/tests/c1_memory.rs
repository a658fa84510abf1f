//! What reading a C1 takes, measured in a process that does nothing else.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::io::{Seek, Write};
use std::process::{Command, Stdio};

use cuzk_pipeline_core::Value;
use cuzk_synth::{c1, fixture};

/// A file of 51 MB is read into 8 MB, and little more is touched on the way.
#[test]
fn reading_takes_what_the_c1_weighs() {
    let mut file = tempfile::tempfile().unwrap();
    c1::encode(&fixture::porep(32 << 30, 3).unwrap(), c1::Encoding::LotusJson, &mut file).unwrap();
    file.flush().unwrap();
    file.rewind().unwrap();
    let test = ["--exact", "read_from_stdin", "--ignored", "--nocapture"];
    let child = Command::new(std::env::current_exe().unwrap()).args(test).stdin(Stdio::from(file)).output();
    let child = child.unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
    println!("{}", said.lines().find(|line| line.starts_with("peak")).unwrap());
}

/// A line of `/proc/self/status`, in bytes.
fn status(name: &str) -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

#[test]
#[ignore = "run by `reading_takes_what_the_c1_weighs`"]
fn read_from_stdin() {
    let before = status("VmHWM");
    let c1 = c1::decode(std::io::stdin().lock()).unwrap();
    let (grown, declared) = (status("VmHWM") - before, c1.footprint().host);
    println!("\npeak RSS grew by {grown} bytes for a C1 of {declared}");
    assert!(grown >= declared - declared / 8, "{grown} for a C1 that says it weighs {declared}");
    assert!(grown < declared + declared / 4 + (2 << 20), "{grown} for a C1 of {declared}");
}
