#![doc = include_str!("../README.md")]

mod check;
mod decode;
mod digest;
mod error;
mod file;
mod format;
pub mod gpu;
mod key;
mod lanes;
mod list;
mod map;
pub mod naive;
mod names;
mod progress;
mod setup;
mod stage;
mod subgroup;

pub use check::{Depth, Report, check, check_key};
pub use decode::Point;
pub use digest::{Digest, Listed, Manifest};
pub use error::{Fault, SrsError};
pub use file::ParameterFile;
pub use format::{G1_BYTES, G2_BYTES, Layout, Query, Section};
pub use key::{Insecure, Meta, encode_key, verifying_key};
pub use list::{Entry, list};
pub use map::{LastWords, exit_on_bus_error};
pub use names::{
    DEFAULT_FOLDER, FOLDER_VARIABLE, FileKind, Folder, Origin, ParameterSet, Published, TEST_FOLDER, VERSION,
};
pub use progress::{Progress, Watch, unwatched};
pub use setup::{Made, Setup, Trapdoor, write_parameters};
pub use stage::Load;
