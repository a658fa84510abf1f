//! Which parameters a command uses, and where they are.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuzk_groth16::{Groth16Error, Parameters, Prover, Residence};
use cuzk_pipeline_core::RunError;
use cuzk_srs::{
    Depth, Digest, FOLDER_VARIABLE, Folder, LastWords, Origin, ParameterFile, ParameterSet, Published,
    VERSION,
};
use cuzk_synth::FilecoinCircuit;
use cuzk_values::BasesError;

use crate::args::{Circuits, Machine, ParamsDir};
use crate::failure::{Class, Classify as _, Failure};
use crate::printer::Printer;
use crate::progress::Meter;
use crate::{circuits, interrupt, machine};

/// The parameters of one circuit.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) circuit: FilecoinCircuit,
    pub(crate) folder: Folder,
    pub(crate) set: ParameterSet,
    /// Whether they are test parameters, which prove nothing to anybody.
    pub(crate) insecure: bool,
}

impl Chosen {
    /// The parameters of a circuit, as the options and the environment have it.
    pub(crate) fn of(options: &ParamsDir, circuit: impl Into<FilecoinCircuit>) -> Result<Self, Failure> {
        let circuit = circuit.into();
        let stem = stem(circuit)?;
        let (folder, insecure) = (folder(options)?, options.test_params);
        let set = if insecure { ParameterSet::insecure_test(&stem) } else { ParameterSet::official(&stem) };
        Ok(Self { circuit, folder, set: set.or_bug()?, insecure })
    }

    pub(crate) fn params(&self) -> PathBuf {
        self.folder.path.join(self.set.params())
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.folder.path.join(self.set.vk())
    }

    /// Says what is used, and how little it is worth where it is worth nothing.
    pub(crate) fn announce(&self, printer: Printer) {
        printer.note(&format!("parameters: {}", self.folder));
        if self.insecure {
            printer.warn(
                "warning: INSECURE test parameters: no chain accepts this proof, and anybody may forge one",
            );
        }
    }

    /// A prover with these parameters. The file's header is looked at before the
    /// circuit is loaded or, which takes seconds, recorded; and the counts once it is.
    pub(crate) fn prover(
        &self,
        printer: Printer,
        circuits: &Circuits,
        residence: Residence,
    ) -> Result<Prover, Failure> {
        let path = self.params();
        let failure = |error| self.failure(error);
        cuzk_srs::check(&path, None, Depth::Header, false, &mut cuzk_srs::unwatched).map_err(failure)?;
        self.check_digest(printer, &path)?;
        let circuit = circuits::circuit(printer, circuits, self.circuit)?;
        let file = ParameterFile::open(&path, &circuit.sizes().queries).map_err(failure)?;
        Prover::new(circuit, Parameters::File(Arc::new(file), residence)).or_input()
    }

    /// Compares the file's digest with the published one where the user asks for it
    /// (`FIL_PROOFS_VERIFY_PRODUCTION_PARAMS`), and says where nothing is compared.
    fn check_digest(&self, printer: Printer, path: &Path) -> Result<(), Failure> {
        if self.insecure {
            return Ok(());
        }
        let name = self.set.params();
        let Some(known) = Published::of(&name).and_then(|set| set.params_digest) else {
            printer.warn(&format!(
                "warning: no digest is known of {name}: its points are checked, not its origin"
            ));
            return Ok(());
        };
        if !asked_to_verify() {
            return Ok(());
        }
        let meter = Meter::bytes(printer, "hashing parameters");
        let digest = || Digest::of_file(path, &mut |p| meter_watch(&meter, p)).or_resource();
        let digest = interrupt::heeded(digest)?.to_string();
        if digest.starts_with(known) {
            return Ok(());
        }
        let error =
            anyhow::anyhow!("{}: its digest is {digest}, and the published file's {known}", path.display());
        Err(Failure::new(Class::Input, error).hint("fetch the file again"))
    }

    /// A run that failed, with what the user can do.
    pub(crate) fn run_failure(&self, machine: &Machine, error: RunError) -> Failure {
        let unproved = match &error {
            RunError::Stage { source, .. } => {
                matches!(source.downcast_ref(), Some(Groth16Error::Invalid { .. }))
            }
            _ => false,
        };
        let failure = Failure::from(error);
        let damaged = failure.error.chain().any(<dyn std::error::Error>::is::<BasesError>);
        let params = self.params();
        let params = params.display();
        if unproved {
            let hint = format!(
                "either {params} is not the circuit's, which `cuzk params check` can tell, \
                 or this machine miscalculates"
            );
            Failure { class: Class::NotVerified, ..failure.hint(hint) }
        } else if damaged {
            failure.hint(format!("{params} is damaged, or changed: `cuzk params check` looks at it in full"))
        } else {
            machine::with_hint(machine, failure)
        }
    }

    /// The command that makes them, where they are test parameters.
    fn setup(&self) -> String {
        let (statement, shape) = (self.circuit.statement(), self.circuit.shape());
        let command = format!("cuzk setup {statement} --sector-size {shape}");
        match self.folder.origin {
            Origin::Explicit => format!("{command} --out {}", self.folder.path.display()),
            _ => command,
        }
    }

    /// A failure to open them, with what the user can do.
    pub(crate) fn failure(&self, error: cuzk_srs::SrsError) -> Failure {
        let shape = self.circuit.shape();
        let missing = matches!(error, cuzk_srs::SrsError::Missing { .. });
        let class = if missing { Class::Resource } else { error.kind().into() };
        let hint = match (missing, self.insecure) {
            (true, true) => format!("make them: {}", self.setup()),
            (true, false) => format!(
                "fetch Filecoin's parameters for {shape} sectors (lotus fetch-params, curio fetch-params), \
                 name their folder with --params or {FOLDER_VARIABLE}, or try with --test-params"
            ),
            (false, _) => self.again(),
        };
        Failure::new(class, error).hint(hint)
    }

    /// How to come by them where what is there is no good.
    pub(crate) fn again(&self) -> String {
        if self.insecure {
            format!("make them again: {} --force", self.setup())
        } else {
            "fetch the file again; `cuzk params check` looks at it in full".into()
        }
    }
}

/// The stem of the names of a circuit's parameters, without the version.
pub(crate) fn stem(circuit: FilecoinCircuit) -> Result<String, Failure> {
    let id = circuit.parameter_id().or_bug()?;
    Ok(id.strip_prefix(&format!("{VERSION}-")).unwrap_or(&id).to_owned())
}

/// Says what happened where a parameter file cannot be read any more while it is used.
pub(crate) fn expect_bus_errors(printer: Printer) -> Result<(), Failure> {
    let failure =
        Failure::new(Class::Resource, anyhow::anyhow!("a parameter file could not be read on (SIGBUS)"))
            .hint("it was cut short while it was in use, or its disk failed; no proof was written");
    let (stdout, stderr) = printer.failure_texts(&failure);
    let words = LastWords { stdout, stderr, code: failure.class.code().into() };
    cuzk_srs::exit_on_bus_error(words).or_bug()
}

/// The folder that the options and the environment choose.
pub(crate) fn folder(options: &ParamsDir) -> Result<Folder, Failure> {
    let option = options.params.clone();
    if options.test_params { test_folder(option) } else { Ok(Folder::resolve(option, environment())) }
}

/// The folder of test parameters.
pub(crate) fn test_folder(option: Option<PathBuf>) -> Result<Folder, Failure> {
    let data = data_folder().or_else(|| option.clone()).ok_or_else(|| {
        let error = anyhow::anyhow!("neither XDG_DATA_HOME nor HOME says where test parameters are kept");
        Failure::new(Class::Input, error).hint("name a folder, with --params (or --out for `cuzk setup`)")
    })?;
    Ok(Folder::for_tests(option, &data))
}

/// `FIL_PROOFS_VERIFY_PRODUCTION_PARAMS`, as upstream's settings read it.
fn asked_to_verify() -> bool {
    std::env::var_os("FIL_PROOFS_VERIFY_PRODUCTION_PARAMS")
        .is_some_and(|v| v == "1" || v.eq_ignore_ascii_case("true"))
}

/// Shows progress, and stops where the user interrupts.
pub(crate) fn meter_watch(meter: &Meter, p: cuzk_srs::Progress) -> ControlFlow<()> {
    meter.set(p.done, p.total);
    if interrupt::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn environment() -> Option<std::ffi::OsString> {
    std::env::var_os(FOLDER_VARIABLE)
}

/// Where a user's data lies (XDG Base Directory Specification).
fn data_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("XDG_DATA_HOME").filter(|p| p.is_absolute()).or_else(|| Some(set("HOME")?.join(".local/share")))
}
