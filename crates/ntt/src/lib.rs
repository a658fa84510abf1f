#![doc = include_str!("../README.md")]

mod arith;
mod cpu;
mod domain;
mod error;
pub mod gpu;
pub mod naive;
mod quotient;
mod roots;
mod small;
mod stage;

#[doc(hidden)]
pub use cpu::Path;
pub use domain::Domain;
pub use error::NttError;
pub use quotient::{quotient, quotient_with_c};
pub use stage::Quotient;
