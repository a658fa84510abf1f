#![doc = include_str!("../README.md")]

mod inputs;
mod race;
mod threads;

pub use inputs::{full_width, points, to_ark_g1, to_ark_g2, to_ark_scalars, witness_like};
pub use race::Race;
pub use threads::on_one_and_two;
