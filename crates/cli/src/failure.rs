//! How a command fails: what happened, and the exit code that says who must act.

use std::any::Any;
use std::fmt;
use std::process::ExitCode;

use cuzk_pipeline_core::{ErrorKind, RunError};

/// Who must act on a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// This program is at fault.
    Bug,
    /// An argument or an input file is bad.
    Input,
    /// The proof does not verify.
    NotVerified,
    /// Memory, disk or parameters are missing.
    Resource,
    /// A device failed.
    Device,
    /// The user stopped it.
    Interrupted,
}

impl Class {
    /// The process's exit code, as `cuzk --help` lists them.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Bug => 1,
            Self::Input => 2,
            Self::NotVerified => 3,
            Self::Resource => 4,
            Self::Device => 5,
            Self::Interrupted => 130,
        }
    }

    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Input => "input",
            Self::NotVerified => "not-verified",
            Self::Resource => "resource",
            Self::Device => "device",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<ErrorKind> for Class {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Input => Self::Input,
            ErrorKind::Resource => Self::Resource,
            ErrorKind::Device => Self::Device,
            _ => Self::Bug,
        }
    }
}

/// A command that did not do what it was told.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) class: Class,
    pub(crate) error: anyhow::Error,
    /// What the user can do.
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(class: Class, error: impl Into<anyhow::Error>) -> Self {
        Self { class, error: error.into(), hint: None }
    }

    /// What a panic leaves. Its trace is on stderr already.
    pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Self::new(Class::Bug, anyhow::anyhow!("panicked: {text}")).hint("please report this")
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.class.code())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let class = match &error {
            RunError::Cancelled => Class::Interrupted,
            other => other.kind().into(),
        };
        Self::new(class, error)
    }
}

/// Gives an error its class on its way up.
pub(crate) trait Classify<T> {
    /// The user's argument or file is bad.
    fn or_input(self) -> Result<T, Failure>;
    /// Something that the program needs is missing.
    fn or_resource(self) -> Result<T, Failure>;
    /// This program is wrong.
    fn or_bug(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> Classify<T> for Result<T, E> {
    fn or_input(self) -> Result<T, Failure> {
        self.map_err(|e| Failure::new(Class::Input, e))
    }
    fn or_resource(self) -> Result<T, Failure> {
        self.map_err(|e| Failure::new(Class::Resource, e))
    }
    fn or_bug(self) -> Result<T, Failure> {
        self.map_err(|e| Failure::new(Class::Bug, e))
    }
}
