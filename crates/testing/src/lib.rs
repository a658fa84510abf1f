#![doc = include_str!("../README.md")]

#[cfg(feature = "circuits")]
pub mod circuits;
pub mod prf;
