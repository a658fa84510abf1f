//! An input of any kind.

use std::io::Read;

use cuzk_values::{C1, Post, Snap};

use super::InputError;
use super::error::Fault;
use super::json::Json;
use super::layers::Layers;
use super::open::{Opened, SNIFFED, open};
use super::request::{Proofs, Request};
use super::watch::Watch;
use super::window::Window;
use crate::{c1, post, snap};

/// The input of a proof, whatever its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A PoRep's.
    C1(C1),
    /// A WindowPoSt's or a WinningPoSt's.
    Post(Post),
    /// A sector update's.
    Snap(Snap),
}

/// What the caller knows of an input, whatever its kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    /// If it is a PoRep's.
    pub c1: c1::Identity,
    /// If it is a PoSt's.
    pub post: post::Known,
    /// If it is an update's.
    pub snap: snap::Known,
}

/// Reads an input of any kind, in any encoding of its kind, compressed or not;
/// checks it as [`c1::decode`], [`post::decode`] and [`snap::decode`] do, and a
/// C1 with [`c1::check_identity`].
///
/// # Errors
/// [`InputError::Invalid`], with the path, the byte and the value.
pub fn decode(input: impl Read, known: &Known) -> Result<Input, InputError> {
    decode_noting(input, known, &mut Layers::default())
}

/// As [`decode`]; notes the encodings as they are recognised.
///
/// # Errors
/// As [`decode`].
pub fn decode_noting(input: impl Read, known: &Known, layers: &mut Layers) -> Result<Input, InputError> {
    layers.0.clear();
    let input = read(Window::new(input), known, layers).map_err(|fault| fault.error(layers))?;
    if let Input::C1(c1) = &input {
        c1::check_identity(c1, &known.c1)?;
    }
    Ok(input)
}

impl Input {
    /// Follows every path in the trees that decoding leaves out, because it
    /// takes seconds: [`c1::check_trees`], [`post::check_trees`], [`snap::check_trees`].
    ///
    /// # Errors
    /// [`InputError::Invalid`], with the path that goes astray; [`InputError::Cancelled`].
    pub fn check_trees(&self, watch: &Watch<'_>) -> Result<(), InputError> {
        match self {
            Self::C1(c1) => c1::check_trees_watched(c1, watch),
            Self::Post(post) => post::check_trees_watched(post, watch),
            Self::Snap(snap) => snap::check_trees_watched(snap, watch),
        }
    }
}

fn read(window: Window<'_>, known: &Known, layers: &mut Layers) -> Result<Input, Fault> {
    let is_binary = |start: &[u8]| c1::sniff_bincode(start).is_some() || Proofs::recognises(start);
    let mut request = Request::default();
    match open(window, layers, is_binary)? {
        Opened::Json(mut json) => {
            if is_c1(&mut json)? {
                return c1::read_json(json, layers).map(Input::C1);
            }
            request.read_json(json, layers)?;
        }
        Opened::Binary(mut window) => {
            let start = window.start(SNIFFED)?;
            if let Some(encoding) = c1::sniff_bincode(start) {
                return c1::read_bincode(window, encoding, layers).map(Input::C1);
            }
            request.read_bincode(window, layers)?;
        }
    }
    match request.proofs {
        Proofs::Snap(_) => snap::settle(request, &known.snap).map(Input::Snap),
        _ => post::settle(request, &known.post).map(Input::Post),
    }
}

/// Whether JSON is a C1's: it has no field of a request's, and its vanilla proofs are
/// no texts, as far as they start within what is buffered.
fn is_c1(json: &mut Json<'_>) -> Result<bool, Fault> {
    const FIELD: &[u8] = b"\"vanilla_proofs\"";
    if json.token()? == b'[' || is_request(json)? {
        return Ok(false);
    }
    let start = json.0.start(usize::MAX)?;
    let field = start.windows(FIELD.len()).position(|window| window == FIELD);
    let Some(after) = field.map(|at| &start[at + FIELD.len()..]) else { return Ok(true) };
    let mut marks = after.iter().filter(|byte| !byte.is_ascii_whitespace());
    let list = marks.next() == Some(&b':') && marks.next() == Some(&b'[');
    Ok(!(list && matches!(marks.next(), Some(b'"' | b']'))))
}

/// Whether an object of JSON has a field of a request's that no C1 has, within what
/// is buffered.
pub(crate) fn is_request(json: &mut Json<'_>) -> Result<bool, Fault> {
    const FIELDS: [&[u8]; 4] = [b"\"kind\"", b"\"miner_id\"", b"\"randomness\"", b"\"comm_r_old\""];
    let start = json.0.start(usize::MAX)?;
    let has = |name: &[u8]| start.windows(name.len()).any(|window| window == name);
    Ok(FIELDS.into_iter().any(has))
}
