#![doc = include_str!("../README.md")]

mod accumulate;
mod arith;
mod bucket;
mod cpu;
mod curve;
mod digits;
mod error;
mod fold;
pub mod gpu;
pub mod naive;
mod ones;
mod pool;
mod rounds;
mod select;
mod stage;

pub use arith::Arithmetic;
pub use cpu::{Checkpoint, Density, msm, msm_bases, msm_compact, msm_with};
pub use curve::{Curve, G1, G2};
pub use error::MsmError;
pub use stage::{MsmA, MsmB1, MsmB2, MsmH, MsmL, Sum};
