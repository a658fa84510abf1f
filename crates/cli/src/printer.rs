//! The only way to stdout and stderr.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::{Value as Json, json};

use crate::failure::{Class, Failure};
use crate::interrupt;

/// Prints results on stdout, and everything else on stderr.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    json: bool,
    quiet: bool,
}

#[allow(clippy::unused_self, reason = "what is printed goes through a printer, whatever it asks")]
impl Printer {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    /// Whether progress may be drawn, or must be plain lines, or nothing.
    pub(crate) fn progress(self) -> Progress {
        match (self.quiet, io::stderr().is_terminal()) {
            (true, _) => Progress::None,
            (false, true) => Progress::Bars,
            (false, false) => Progress::Lines,
        }
    }

    /// The result of a command: one JSON object, or the text.
    pub(crate) fn result(self, json: &Json, text: &str) -> Result<(), Failure> {
        if self.json { self.raw(&format!("{json:#}\n")) } else { self.raw(&with_newline(text)) }
    }

    /// Prints the whole text, even if an interrupt comes meanwhile.
    fn raw(self, text: &str) -> Result<(), Failure> {
        interrupt::heeded(|| self.unheeded(text))
    }

    fn unheeded(self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // A reader that has seen enough (`cuzk … | head`) is no fault.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|e| {
                Failure::new(Class::Resource, anyhow::Error::new(e).context("cannot write to stdout"))
            }),
        }
    }

    /// A line about what is going on.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            self.warn(text);
        }
    }

    /// A line that is shown even with `--quiet`.
    pub(crate) fn warn(self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// The end of a command that failed.
    pub(crate) fn failure(self, failure: &Failure) {
        let (out, err) = self.failure_texts(failure);
        let _ = io::stderr().lock().write_all(err.as_bytes());
        let _ = self.unheeded(&out);
    }

    /// What a failure has printed on stdout and on stderr.
    pub(crate) fn failure_texts(self, failure: &Failure) -> (String, String) {
        let hint = failure.hint.as_ref().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        let body = json!({ "error": {
            "class": failure.class.name(),
            "code": failure.class.code(),
            "message": failure.to_string(),
            "hint": failure.hint,
        }});
        let out = if self.json { format!("{body:#}\n") } else { String::new() };
        (out, format!("error: {failure}\n{hint}"))
    }
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Bars that redraw themselves.
    Bars,
    /// A line now and then.
    Lines,
    /// Nothing.
    None,
}

fn with_newline(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
