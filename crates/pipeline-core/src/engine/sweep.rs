//! Drops what runs leave behind, on a thread of its own: to free gigabytes
//! takes time that the scheduler does not have, and a drop may panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crossbeam_channel::{Receiver, Sender};
use tracing::error;

use super::schedule::{Message, Swept};
use super::work::message;

/// What to drop, and whom to tell.
pub(crate) struct Sweep {
    pub(crate) what: Box<dyn Any + Send>,
    pub(crate) then: Option<Swept>,
}

/// Drops whatever arrives until nobody can send any more.
pub(crate) fn serve(inbox: &Receiver<Sweep>, messages: &Sender<Message>) {
    for Sweep { what, then } in inbox {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(what))) {
            error!(message = message(panic), "a value panicked when it was dropped");
        }
        if let Some(swept) = then {
            let _ = messages.send(Message::Swept(swept));
        }
    }
}
