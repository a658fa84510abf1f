//! `cuzk topology`

use cuzk_pipeline_core::Topology;
use cuzk_pipeline_core::limits::{MemoryLimits, ThreadLimits};
use serde_json::{Value as Json, json};

use crate::failure::{Classify as _, Failure};
use crate::printer::Printer;

pub(crate) fn run(printer: Printer) -> Result<(), Failure> {
    let (topology, memory, threads) = (Topology::detect(), MemoryLimits::detect(), ThreadLimits::detect());
    let json = json!({
        "topology": parsed(&topology.to_json())?,
        "memory": parsed(&memory.to_json())?,
        "threads": threads.threads(),
    });
    printer.result(&json, &format!("{topology}\n{memory}\n{threads}"))
}

fn parsed(text: &str) -> Result<Json, Failure> {
    serde_json::from_str(text).or_bug()
}
