#![doc = include_str!("../README.md")]

mod assemble;
mod circuit;
pub mod device;
mod error;
pub mod graph;
mod load;
mod proofs;
mod prover;
pub mod stages;
mod verify;

pub use assemble::{Blinding, Sums, assemble};
pub use circuit::{Circuit, Sizes};
pub use error::Groth16Error;
pub use load::{Parameters, Residence};
pub use proofs::{Attempt, ProofGraph, Proofs};
pub use prover::Prover;
pub use verify::PreparedVerifyingKey;
