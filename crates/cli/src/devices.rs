//! Which devices prove: options, the environment, what there is.

use std::ffi::OsString;
use std::sync::Arc;

use cuzk_gpu_backend::{
    Backend, Context, Device as _, DeviceInfo, Error, Kind, MemoryReport, Visit, keep_programs_in,
};
use cuzk_groth16::Prover;
use cuzk_groth16::device::{Room, families};
use cuzk_pipeline_core::limits::format_bytes;
use cuzk_pipeline_core::{Device, ErrorKind, Run, RunError};
use cuzk_values::Proof;

use crate::args::DeviceOptions;
use crate::circuits;
use crate::failure::{Class, Failure};
use crate::machine;
use crate::printer::Printer;
use crate::units::Memory;

/// Stages that a device is handed at once: one of them may wait for sums while others queue.
const LANES: usize = 4;

/// Device memory that is left to the driver and to other processes' comings and goings.
const MARGIN: u64 = 512 << 20;

/// The most of a device's memory that is kept from runs because buffers may take more than was asked for.
const SLACK: u64 = 4 << 30;

/// What an option or a variable asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The first backend with a device, or the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// This backend, or an error.
    Backend(Kind),
}

impl std::str::FromStr for Wish {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            name => name
                .parse()
                .map(Self::Backend)
                .map_err(|_| format!("`{name}` is none of auto, cpu, cuda, opencl")),
        }
    }
}

impl std::fmt::Display for Wish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Backend(kind) => kind.fmt(f),
        }
    }
}

/// The variables by which the ecosystem's tools pick a framework, the more special one first.
const FRAMEWORKS: [&str; 2] = ["BELLMAN_GPU_FRAMEWORK", "FIL_PROOFS_GPU_FRAMEWORK"];

/// What is wished for, and by whom: the option, else the environment.
pub(crate) fn wish(
    option: Option<Wish>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<(Wish, &'static str), Failure> {
    if let Some(wish) = option {
        return Ok((wish, "--backend"));
    }
    // bellperson 0.26, `gpu::utils`: set to anything but 0, the empty string included.
    if variable("BELLMAN_NO_GPU").is_some_and(|value| value != "0") {
        return Ok((Wish::Cpu, "BELLMAN_NO_GPU"));
    }
    for name in FRAMEWORKS {
        let Some(value) = variable(name).filter(|value| !value.is_empty()) else { continue };
        let kind = match value.to_str() {
            Some("cuda") => Kind::Cuda,
            Some("opencl") => Kind::OpenCl,
            _ => {
                let error = anyhow::anyhow!("{name} is `{}`; it may be cuda or opencl", value.display());
                return Err(Failure::new(Class::Input, error));
            }
        };
        return Ok((Wish::Backend(kind), name));
    }
    Ok((Wish::Auto, "what there is"))
}

/// A backend and devices of it, opened for an engine.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) kind: Kind,
    pub(crate) devices: Vec<Used>,
    /// Whether somebody asked for them: the CPU is no replacement then.
    pub(crate) chosen: bool,
}

/// A device that an engine will own.
pub(crate) struct Used {
    pub(crate) info: DeviceInfo,
    /// What runs may hold of it.
    pub(crate) budget: u64,
    /// The most bytes of one buffer.
    largest: u64,
    handle: Arc<dyn std::any::Any + Send + Sync>,
}

impl std::fmt::Debug for Used {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.info)
    }
}

impl Used {
    /// As an engine takes it.
    pub(crate) fn device(&self) -> Device {
        let device = Device::new(self.info.index, self.budget).lanes(LANES).handle(self.handle.clone());
        self.info.node.map_or(device.clone(), |node| device.near(node))
    }
}

impl Opened {
    /// What a graph for any of them may plan with: the least of each.
    pub(crate) fn room(&self) -> Room {
        let least = |of: &dyn Fn(&Used) -> u64| self.devices.iter().map(of).min().unwrap_or(0);
        Room {
            bytes: least(&|used| used.budget),
            largest: least(&|used| used.largest),
            units: least(&|used| used.info.units.into()) as u32,
        }
    }

    /// The prover of these devices; or that of the CPU, where its proofs do not fit them and nobody
    /// asked for them.
    pub(crate) fn prover(&self, printer: Printer, prover: &Prover) -> Result<Prover, Failure> {
        let room = self.room();
        let of_device = format!("it may use {} of a device", format_bytes(room.bytes));
        match prover.on(self.kind, room) {
            Ok(prover) => Ok(prover),
            Err(error) if error.kind() == ErrorKind::Resource && !self.chosen => {
                printer.note(&format!("proving on the CPU: {error}; {of_device}"));
                Ok(prover.clone())
            }
            Err(error) => {
                let failure = Failure::new(error.kind().into(), error);
                Err(failure.hint(format!("{of_device}: --device-memory, or --backend cpu")))
            }
        }
    }
}

/// Opens the devices that the options and the environment choose; `None` for the CPU.
pub(crate) fn open(printer: Printer, options: &DeviceOptions) -> Result<Option<Opened>, Failure> {
    Ok(open_all(printer, options, 1)?.pop())
}

/// As [`open`], but of up to `most` backends.
pub(crate) fn open_all(
    printer: Printer,
    options: &DeviceOptions,
    most: usize,
) -> Result<Vec<Opened>, Failure> {
    let (wish, by) = wish(options.backend, |name| std::env::var_os(name))?;
    let twice = |(i, device): (usize, &u16)| options.device[..i].contains(device).then_some(*device);
    if let Some(device) = options.device.iter().enumerate().find_map(twice) {
        let error = anyhow::anyhow!("--device names device {device} twice");
        return Err(Failure::new(Class::Input, error));
    }
    let kinds = match wish {
        Wish::Cpu if !options.device.is_empty() => {
            let error = anyhow::anyhow!("--device names devices, and {by} says that the CPU proves");
            return Err(Failure::new(Class::Input, error));
        }
        Wish::Cpu => {
            printer.note(&format!("proving on the CPU, as {by} says"));
            return Ok(Vec::new());
        }
        Wish::Backend(kind) => vec![kind],
        // The host is no accelerator: it is there for tests.
        Wish::Auto => vec![Kind::Cuda, Kind::OpenCl],
    };
    let programs = circuits::cache_folder().map(|cache| cache.join("cuzk/opencl"));
    if let Some(folder) = &programs {
        keep_programs_in(folder);
    }
    let none_kept = || {
        programs
            .as_ref()
            .is_none_or(|folder| std::fs::read_dir(folder).map_or(true, |mut all| all.next().is_none()))
    };
    // A device that was asked for by number, or a backend by name, is not replaced.
    let chosen = wish != Wish::Auto || !options.device.is_empty();
    let (mut all, mut reasons) = (Vec::new(), Vec::new());
    for kind in kinds {
        let open = || missing(kind).and_then(|()| kind.visit(Open { options }).flatten());
        match machine::with_drivers(open) {
            Ok(devices) => {
                for used in &devices {
                    let budget = format_bytes(used.budget);
                    printer.note(&format!("proving on {}, with {budget} of it, as {by} says", used.info));
                }
                if kind == Kind::OpenCl && none_kept() {
                    printer
                        .note("the driver compiles the kernels for the first proof, which may take a minute");
                }
                all.push(Opened { kind, devices, chosen });
                if all.len() == most {
                    break;
                }
            }
            Err(error) => reasons.push(error.to_string()),
        }
    }
    let reasons = reasons.join("; ");
    if all.is_empty() && chosen {
        let failure = Failure::new(Class::Device, anyhow::anyhow!(reasons));
        return Err(failure.hint("`cuzk devices` lists what there is, and why others are not"));
    }
    if all.is_empty() {
        printer.note(&format!("proving on the CPU: {reasons}"));
    }
    Ok(all)
}

/// The prover of the devices, with these; or that of the CPU, alone.
pub(crate) fn choose(
    printer: Printer,
    opened: Option<Opened>,
    prover: Prover,
) -> Result<(Prover, Option<Opened>), Failure> {
    let Some(opened) = opened else { return Ok((prover, None)) };
    let prover = opened.prover(printer, &prover)?;
    let used = prover.accelerator().is_some();
    Ok((prover, used.then_some(opened)))
}

/// Where proofs were made.
pub(crate) struct Made {
    /// The backend, or `cpu`, of the last attempt.
    pub(crate) backend: &'static str,
    /// Attempts that a device lost.
    pub(crate) lost: u32,
}

impl Made {
    /// On the devices, or the CPU.
    pub(crate) fn on(opened: Option<&Opened>) -> Self {
        Self { backend: opened.map_or("cpu", |opened| opened.kind.name()), lost: 0 }
    }

    /// One more attempt, after one that a device lost.
    pub(crate) fn again(&mut self, cpu: bool) {
        self.lost += 1;
        if cpu {
            self.backend = "cpu";
        }
    }
}

/// Says that a device failed, and where the proof is made again.
pub(crate) fn told(
    printer: Printer,
    follow: impl Fn(&Run<Proof>),
) -> impl FnMut(&RunError, &Run<Proof>, bool) {
    move |error, run, cpu| {
        follow(run);
        let place = if cpu { "the CPU" } else { "the devices that are left" };
        let error = anyhow::Error::new(error.clone());
        printer.warn(&format!("warning: {error:#}: the proof is made again on {place}"));
    }
}

/// Whether this build has all the kernels that a proof needs.
fn missing(kind: Kind) -> Result<(), Error> {
    let Some(built) = kind.families() else { return Ok(()) };
    let needed = families().into_iter().filter(|family| !built.contains(family));
    let missing: Vec<_> = needed.collect();
    if missing.is_empty() {
        return Ok(());
    }
    let reason = format!(
        "this build has no kernels of {}; where they are compiled ahead, `cargo xtask kernels` does it",
        missing.join(", ")
    );
    Err(Error::Unavailable { backend: kind.name(), reason })
}

struct Open<'a> {
    options: &'a DeviceOptions,
}

impl Visit for Open<'_> {
    type Out = Result<Vec<Used>, Error>;

    fn visit<B: Backend>(self) -> Self::Out {
        let infos = B::devices()?;
        let count = infos.len();
        let indices: Vec<u16> = match &self.options.device[..] {
            [] => infos.iter().map(|info| info.index).collect(),
            chosen => chosen.to_vec(),
        };
        let open = |index: &u16| {
            let Some(info) = infos.iter().find(|info| info.index == *index) else {
                return Err(Error::NoDevice { backend: B::NAME, index: *index, count });
            };
            let limit = match self.options.device_memory {
                Memory::Auto => None,
                Memory::Bytes(bytes) => Some(bytes),
            };
            let context = Context::<B>::open(*index, limit)?;
            let MemoryReport { free, largest, .. } = context.device().memory()?;
            let most = limit.map_or(free.saturating_sub(MARGIN.min(free / 8)), |limit| limit.min(free));
            // A buffer that comes again for another may be larger by an eighth.
            let budget = most - (most / 8).min(SLACK);
            Ok(Used { info: info.clone(), budget, largest, handle: Arc::new(context) })
        };
        indices.iter().map(open).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wished(option: Option<Wish>, set: &[(&str, &str)]) -> Result<(Wish, &'static str), Failure> {
        wish(option, |name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn options_come_before_variables_and_special_ones_before_general_ones() {
        let cuda = [("FIL_PROOFS_GPU_FRAMEWORK", "cuda")];
        let both = [("FIL_PROOFS_GPU_FRAMEWORK", "cuda"), ("BELLMAN_GPU_FRAMEWORK", "opencl")];
        assert_eq!(wished(None, &[]).unwrap(), (Wish::Auto, "what there is"));
        assert_eq!(wished(None, &cuda).unwrap().0, Wish::Backend(Kind::Cuda));
        assert_eq!(wished(None, &both).unwrap(), (Wish::Backend(Kind::OpenCl), "BELLMAN_GPU_FRAMEWORK"));
        assert_eq!(wished(Some(Wish::Cpu), &both).unwrap(), (Wish::Cpu, "--backend"));
        assert_eq!(wished(None, &[("BELLMAN_GPU_FRAMEWORK", "metal")]).unwrap_err().class, Class::Input);
    }

    #[test]
    fn any_value_of_bellman_no_gpu_but_zero_means_the_cpu() {
        for (value, expected) in [("true", Wish::Cpu), ("1", Wish::Cpu), ("", Wish::Cpu), ("0", Wish::Auto)] {
            assert_eq!(wished(None, &[("BELLMAN_NO_GPU", value)]).unwrap().0, expected, "{value}");
        }
    }
}
