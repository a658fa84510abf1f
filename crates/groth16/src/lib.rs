#![doc = include_str!("../README.md")]

mod assemble;
mod error;
mod verify;

pub use assemble::{Blinding, Sums, assemble};
pub use error::Groth16Error;
pub use verify::PreparedVerifyingKey;
