//! Ctrl-C, SIGTERM and SIGHUP.
//!
//! The first ends the process: when the work that heeds it has tidied up, or at once
//! where none does. The second ends it whatever there is.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cuzk_pipeline_core::CancelToken;

use crate::failure::{Class, Failure};
use crate::printer::Printer;

struct Watch {
    seen: bool,
    /// How many pieces of work heed an interrupt now.
    heeding: usize,
    tokens: Vec<CancelToken>,
}

fn watch() -> MutexGuard<'static, Watch> {
    static WATCH: Mutex<Watch> = Mutex::new(Watch { seen: false, heeding: 0, tokens: Vec::new() });
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to listen.
///
/// # Errors
/// Where the system refuses the handler.
pub(crate) fn listen(printer: Printer) -> Result<(), Failure> {
    let handler = move || {
        let mut watch = watch();
        if watch.seen {
            exit();
        }
        watch.seen = true;
        if watch.heeding == 0 {
            // Nothing that heeds can start while the watch is locked.
            printer.failure(&failure());
            exit();
        }
        watch.tokens.iter().for_each(CancelToken::cancel);
        printer.note("interrupted: waiting for what runs now; once more ends at once");
    };
    ctrlc::set_handler(handler).map_err(|e| Failure::new(Class::Bug, e))
}

#[allow(clippy::exit, reason = "nothing is left to tidy up, or the user will not wait for it")]
fn exit() -> ! {
    std::process::exit(Class::Interrupted.code().into())
}

/// Does work that has something to tidy up, and that looks at [`interrupted`], holds
/// a token, or is short. Where an interrupt made it fail, the failure says so.
pub(crate) fn heeded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    struct Heeding;
    impl Drop for Heeding {
        fn drop(&mut self) {
            watch().heeding -= 1;
        }
    }
    watch().heeding += 1;
    let _heeding = Heeding;
    work().map_err(|failed| if interrupted() { failure() } else { failed })
}

/// Cancels `token` at the first interrupt.
pub(crate) fn cancels(token: &CancelToken) {
    let mut watch = watch();
    watch.tokens.push(token.clone());
    if watch.seen {
        token.cancel();
    }
}

/// Whether the user has asked for the end.
pub(crate) fn interrupted() -> bool {
    watch().seen
}

/// The failure that says so.
pub(crate) fn failure() -> Failure {
    Failure::new(Class::Interrupted, anyhow::anyhow!("interrupted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_without_an_interrupt_stays_what_it_is() {
        let failed = heeded::<()>(|| Err(Failure::new(Class::Resource, anyhow::anyhow!("full"))));
        assert_eq!(failed.unwrap_err().class, Class::Resource);
    }
}
