#![doc = include_str!("../README.md")]

mod scalar;

#[cfg(target_arch = "x86_64")]
pub use scalar::Ifma;
pub use scalar::{BestJob, Bounds, Constant, Job, Lanes, MAX_DOT, Portable, for_best};
