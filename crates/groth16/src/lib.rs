#![doc = include_str!("../README.md")]

mod assemble;
mod circuit;
mod error;
pub mod graph;
mod load;
mod prover;
pub mod stages;
mod verify;

pub use assemble::{Blinding, Sums, assemble};
pub use circuit::{Circuit, Sizes};
pub use error::Groth16Error;
pub use load::{Parameters, Residence};
pub use prover::Prover;
pub use verify::PreparedVerifyingKey;
