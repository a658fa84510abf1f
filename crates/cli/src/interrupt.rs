//! Ctrl-C, SIGTERM and SIGHUP: the first asks everything to stop, the second exits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuzk_pipeline_core::CancelToken;

use crate::failure::{Class, Failure};

struct Watch {
    seen: AtomicBool,
    tokens: Mutex<Vec<CancelToken>>,
}

fn watch() -> &'static Arc<Watch> {
    static WATCH: OnceLock<Arc<Watch>> = OnceLock::new();
    WATCH.get_or_init(|| Arc::new(Watch { seen: AtomicBool::new(false), tokens: Mutex::default() }))
}

/// Starts to listen.
///
/// # Errors
/// Where the system refuses the handler.
pub(crate) fn listen() -> Result<(), Failure> {
    let watch = watch().clone();
    let handler = move || {
        if watch.seen.swap(true, Ordering::SeqCst) {
            #[allow(clippy::exit, reason = "a second interrupt must not wait for anything")]
            std::process::exit(Class::Interrupted.code().into());
        }
        watch.tokens.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(CancelToken::cancel);
    };
    ctrlc::set_handler(handler).map_err(|e| Failure::new(Class::Bug, e))
}

/// Cancels `token` at the first interrupt.
pub(crate) fn cancels(token: &CancelToken) {
    watch().tokens.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
    if interrupted() {
        token.cancel();
    }
}

/// Whether the user has asked for the end.
pub(crate) fn interrupted() -> bool {
    watch().seen.load(Ordering::SeqCst)
}

/// The failure that says so.
pub(crate) fn failure() -> Failure {
    Failure::new(Class::Interrupted, anyhow::anyhow!("interrupted"))
}
