//! Which devices there are, and why others are not.

use std::fmt;

use cuzk_pipeline_core::limits::format_bytes;

use crate::{Backend, Error, Kind, Visit};

/// What a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// [`Backend::NAME`].
    pub backend: &'static str,
    /// Its number in its backend, after what the environment hides.
    pub index: u16,
    /// The vendor's name of it.
    pub name: String,
    /// The code that it runs, as `sm_90`.
    pub arch: String,
    /// The driver and its version.
    pub driver: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Multiprocessors or compute units.
    pub units: u32,
    /// The most threads of a block.
    pub max_threads: u32,
    /// The most shared memory of a block, in bytes.
    pub max_shared: u32,
    /// The NUMA node that it is attached to, where known.
    pub node: Option<u16>,
}

impl DeviceInfo {
    /// A device of which only this is known.
    pub fn new(backend: &'static str, index: u16, name: impl Into<String>) -> Self {
        Self {
            backend,
            index,
            name: name.into(),
            arch: String::new(),
            driver: String::new(),
            memory: 0,
            units: 1,
            max_threads: 1,
            max_shared: 0,
            node: None,
        }
    }

    /// The short name in errors, as `cuda0`.
    pub fn id(&self) -> String {
        format!("{}{}", self.backend, self.index)
    }
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, name, arch, memory) = (self.id(), &self.name, &self.arch, format_bytes(self.memory));
        write!(f, "{id}: {name}, {arch}, {memory}, {} units, {}", self.units, self.driver)?;
        if let Some(node) = self.node {
            write!(f, ", at node {node}")?;
        }
        Ok(())
    }
}

/// What one backend found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Discovery {
    /// [`Backend::NAME`].
    pub backend: &'static str,
    /// Its devices, or why it has none.
    pub devices: Result<Vec<DeviceInfo>, Error>,
}

/// Asks every backend that this crate knows, the fastest first. The host comes last: it is there
/// for tests, and no engine should take it for an accelerator.
pub fn discover() -> Vec<Discovery> {
    let ask = |kind: Kind| Discovery { backend: kind.name(), devices: kind.visit(Devices).flatten() };
    Kind::ALL.into_iter().map(ask).collect()
}

/// The devices of a backend.
struct Devices;

impl Visit for Devices {
    type Out = Result<Vec<DeviceInfo>, Error>;

    fn visit<B: Backend>(self) -> Self::Out {
        B::devices()
    }
}

impl fmt::Display for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.devices {
            Ok(devices) => devices.iter().try_for_each(|device| writeln!(f, "{device}")),
            Err(error) => writeln!(f, "{}: {error}", self.backend),
        }
    }
}
