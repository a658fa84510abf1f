//! The inputs of all proofs: what their readers, checks and writers have in common.
//!
//! [`decode`] reads an input of any kind; [`c1`](crate::c1),
//! [`post`](crate::post) and [`snap`](crate::snap) read one kind each. All of
//! them read a stream in one pass straight into the noun, compressed or not,
//! and believe nothing: lengths are limited before anything is allocated for
//! them, field elements must be canonical, indices and levels must be those of
//! the sector size, what is stated twice must agree.
//!
//! A fault names its path, as
//! `vanilla_proofs[3].vanilla_proof.sectors[0].inclusion_proofs[9].data.Sub.base_proof.path[2].hashes[6]`,
//! the byte where it is known, the sector where there are several, and the values.
//!
//! ```
//! use cuzk_synth::input::{self, Input, Known};
//! use cuzk_synth::{fixture, post};
//!
//! let mut file = Vec::new();
//! post::encode(&fixture::window_post(2048, 1)?, post::Encoding::Json, &mut file)?;
//! let Input::Post(post) = input::decode(&file[..], &Known::default())? else { panic!("a PoSt") };
//! assert_eq!(post.sectors.len(), 2);
//! post::check_trees(&post)?;
//! # Ok::<(), cuzk_synth::input::InputError>(())
//! ```

pub(crate) mod bincode;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod error;
pub(crate) mod json;
pub(crate) mod layers;
pub(crate) mod merkle;
pub(crate) mod open;
pub(crate) mod reader;
pub(crate) mod request;
pub(crate) mod upstream;
pub(crate) mod watch;
pub(crate) mod window;

pub use decode::{Input, Known, decode, decode_noting};
pub use error::{InputError, Location, Path, Problem, Segment};
pub use json::parse_hash;
pub use layers::{Layer, Layers};
pub use watch::{Progress, Watch, unwatched};
pub use window::MAX_BYTES;
