#![doc = include_str!("../README.md")]

pub mod c1;
mod circuit;
mod cpu;
mod error;
pub mod fixture;
pub mod gpu;
mod hash;
pub mod input;
mod lookup;
pub mod naive;
mod poseidon;
pub mod post;
mod record;
pub mod registered;
mod shape;
pub mod snap;
mod stage;
mod statement;
mod system;
pub mod template;
#[cfg(feature = "vanilla")]
pub mod vanilla;
mod witness;
mod writer;
mod zeroed;

pub use circuit::{Blank, FilecoinCircuit, ParseCircuitError, PorepCircuit, PostCircuit, SnapCircuit};
pub use cpu::{Evaluator, Side, check, eval_ab, eval_c};
pub use error::SynthError;
pub use record::{Recording, record, record_blocks, record_repeating};
pub use shape::{PostShape, SectorShape, SnapShape, TreeKind};
pub use stage::{EvalStage, WitnessStage};
pub use statement::Statement;
pub use witness::{WitnessSize, witness};
