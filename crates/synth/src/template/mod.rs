//! Circuits as files: recorded once, loaded at every start, compared with
//! upstream's whenever somebody asks.
//!
//! A template is a [`Recording`](crate::Recording) under the key of its circuit.
//! Nothing in a file is trusted: see [`decode`].

mod compare;
mod decode;
mod encode;
mod error;
mod format;
#[cfg(test)]
mod mutations;
mod path;
mod store;
mod varint;

pub use compare::{Watch, compare};
pub use decode::decode;
pub use encode::encode;
pub use error::TemplateError;
pub use format::{MULTIPLE, key};
pub use path::row_path;
pub use store::{Loaded, Origin, Store, Stored};
