#![doc = include_str!("../README.md")]

pub mod c1;
mod circuit;
mod cpu;
mod error;
pub mod fixture;
mod hash;
mod lookup;
pub mod naive;
mod record;
mod shape;
mod stage;
pub mod template;
mod witness;
mod zeroed;

pub use circuit::{Blank, FilecoinCircuit, ParseCircuitError, PorepCircuit, PostCircuit, SnapCircuit};
pub use cpu::{check, eval_ab, eval_c};
pub use error::SynthError;
pub use record::{Recording, record, record_blocks, record_repeating};
pub use shape::{SectorShape, TreeKind};
pub use stage::{EvalStage, WitnessStage};
pub use witness::{WitnessSize, witness};
