#![doc = include_str!("../README.md")]

pub mod c1;
pub mod fixture;
mod hash;
mod shape;

pub use shape::{SectorShape, TreeKind};
