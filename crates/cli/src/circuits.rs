//! Where circuits are kept, and how commands come to one.

use std::path::{Path, PathBuf};

use cuzk_groth16::Circuit;
use cuzk_synth::template::{Loaded, Origin, Store};
use cuzk_synth::{FilecoinCircuit, Recording};

use crate::args::{Circuits, CircuitsDir};
use crate::failure::{Class, Classify as _, Failure};
use crate::printer::Printer;

/// The folder that an option or the environment names.
pub(crate) fn store(options: &CircuitsDir) -> Result<Store, Failure> {
    let folder = options.circuits.clone().or_else(|| Some(cache_folder()?.join("cuzk/circuits")));
    folder.map(Store::new).ok_or_else(|| {
        let error = anyhow::anyhow!("neither XDG_CACHE_HOME nor HOME says where circuits are kept");
        Failure::new(Class::Input, error).hint("name a folder, with --circuits")
    })
}

/// The file that a circuit is kept in, if it is kept.
pub(crate) fn path(options: &Circuits, circuit: FilecoinCircuit) -> Option<PathBuf> {
    let store = if options.no_circuits { None } else { store(&options.dir).ok() };
    store.map(|store| store.path(circuit))
}

/// A circuit's constraints: from the store, or recorded. What an engine has let go
/// comes the same way again.
pub(crate) fn circuit(
    printer: Printer,
    options: &Circuits,
    circuit: impl Into<FilecoinCircuit>,
) -> Result<Circuit, Failure> {
    let circuit = circuit.into();
    // Without a home there is nothing to keep circuits in; they are recorded.
    let store = if options.no_circuits { None } else { store(&options.dir).ok() };
    announce(printer, store.as_ref(), circuit);
    let circuit = match store {
        None => Circuit::filecoin(circuit),
        Some(store) => {
            let path = store.path(circuit);
            Circuit::stored(circuit, store, move |loaded| tell(printer, &path, loaded))
        }
    };
    circuit.or_bug()
}

/// A circuit's constraints and the size of its witnesses: from the store, or
/// recorded and kept there.
pub(crate) fn load(
    printer: Printer,
    store: Option<&Store>,
    circuit: FilecoinCircuit,
) -> Result<Recording, Failure> {
    announce(printer, store, circuit);
    let Some(store) = store else { return circuit.record().or_bug() };
    let loaded = store.load_or_record(circuit).or_bug()?;
    tell(printer, &store.path(circuit), &loaded);
    Ok(loaded.recording)
}

/// Says what will take seconds.
fn announce(printer: Printer, store: Option<&Store>, circuit: FilecoinCircuit) {
    match store {
        None => printer.note(&format!("recording the circuit {circuit}")),
        Some(store) if !store.path(circuit).exists() => printer
            .note(&format!("recording the circuit {circuit}, to be kept in {}", store.folder().display())),
        Some(_) => {}
    }
}

/// Says what went wrong with a circuit's file.
fn tell(printer: Printer, path: &Path, Loaded { origin, unsaved, .. }: &Loaded) {
    if let Origin::Rebuilt(why) = origin {
        let path = path.display();
        printer.warn(&format!("warning: {path} is not usable, and the circuit was recorded again: {why}"));
    }
    if let Some(why) = unsaved {
        let folder = path.parent().unwrap_or(path).display();
        printer.warn(&format!("warning: the circuit is not kept in {folder}: {why}"));
    }
}

/// Where a user's caches lie (XDG Base Directory Specification).
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME").filter(|p| p.is_absolute()).or_else(|| Some(set("HOME")?.join(".cache")))
}
