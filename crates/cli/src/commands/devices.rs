//! `cuzk devices`

use cuzk_gpu_backend::{DeviceInfo, Kind, discover};
use serde_json::{Value as Json, json};

use crate::failure::{Classify as _, Failure};
use crate::printer::Printer;

pub(crate) fn run(printer: Printer) -> Result<(), Failure> {
    let (mut list, mut text) = (Vec::new(), String::new());
    for found in discover() {
        let kind: Kind = found.backend.parse().or_bug()?;
        let families = kind.families();
        let without = families.as_ref().is_some_and(Vec::is_empty);
        let devices = found.devices.as_ref().map(|devices| devices.iter().map(device).collect::<Vec<_>>());
        list.push(json!({
            "backend": found.backend,
            "devices": devices.as_deref().unwrap_or_default(),
            "unavailable": found.devices.as_ref().err().map(ToString::to_string),
            "kernels": families,
        }));
        text += &found.to_string();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if without {
            text += &format!(
                "{}: this build has no kernels: `cargo xtask kernels` makes them, and the next build embeds them\n",
                found.backend
            );
        }
    }
    printer.result(&json!({ "backends": list }), text.trim_end())
}

fn device(info: &DeviceInfo) -> Json {
    json!({
        "id": info.id(), "index": info.index, "name": info.name, "arch": info.arch, "driver": info.driver,
        "memory_bytes": info.memory, "units": info.units, "node": info.node,
    })
}
