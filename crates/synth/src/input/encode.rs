//! What all kinds of input have in common on their way to bytes: Merkle paths,
//! with serde's own derivations of the same structs; bincode 1; base64 in JSON.

use std::io::Write;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use cuzk_values::{MerkleProof, Node};
use serde::Serialize;

use super::InputError;
use super::error::hex;
use crate::TreeKind;
use crate::c1::prover_id;

/// Writes as `bincode::serialize` does.
pub(crate) fn bincode_into(out: impl Write, value: &impl Serialize) -> Result<(), InputError> {
    bincode::serialize_into(out, value).map_err(|e| match *e {
        bincode::ErrorKind::Io(e) => InputError::Write(e),
        e => InputError::Write(std::io::Error::other(e)),
    })
}

/// `storage_proofs_core::merkle::MerkleProof`.
#[derive(Serialize)]
pub(crate) struct Path<'a> {
    data: Data<'a>,
}

#[derive(Serialize)]
enum Data<'a> {
    Single { root: Node, leaf: Node, path: Section<'a> },
    Sub { base_proof: Section<'a>, sub_proof: Section<'a>, root: Node, leaf: Node },
    Top { base_proof: Section<'a>, sub_proof: Section<'a>, top_proof: Section<'a>, root: Node, leaf: Node },
}

#[derive(Serialize)]
struct Section<'a> {
    path: Vec<Level<'a>>,
}

#[derive(Serialize)]
struct Level<'a> {
    hashes: &'a [Node],
    index: u64,
}

/// A path of a tree that upstream divides as `trees` says.
pub(crate) fn path(proof: &MerkleProof, root: Node, trees: TreeKind) -> Path<'_> {
    let level = |l: cuzk_values::Level<'_>| (l.index as u64, l.siblings.len());
    let mut siblings = &proof.siblings[..];
    let mut levels = Vec::with_capacity(proof.tree.height());
    for (index, count) in proof.levels().map(level) {
        let (hashes, above) = siblings.split_at(count);
        siblings = above;
        levels.push(Level { hashes, index });
    }
    let leaf = proof.leaf;
    let mut upper = levels.split_off(levels.len() - trees.apart()).into_iter();
    let mut section = || Section { path: upper.next().into_iter().collect() };
    let base = Section { path: levels };
    let data = match trees {
        TreeKind::Single => Data::Single { root, leaf, path: base },
        TreeKind::Sub => Data::Sub { base_proof: base, sub_proof: section(), root, leaf },
        TreeKind::Top => {
            Data::Top { base_proof: base, sub_proof: section(), top_proof: section(), root, leaf }
        }
    };
    Path { data }
}

/// A value in JSON.
pub(crate) enum Field {
    Number(u64),
    /// A name, which needs no escapes.
    Text(&'static str),
    /// 32 bytes, in hex.
    Hash([u8; 32]),
}

/// Who proves: the miner's id, where the bytes are those of one.
pub(crate) fn prover(prover_id: &Node) -> (&'static str, Field) {
    match miner_id(prover_id) {
        Some(miner) => ("miner_id", Field::Number(miner)),
        None => ("prover_id", Field::Hash(*prover_id)),
    }
}

/// The miner whose [`prover_id`] this is.
fn miner_id(prover: &Node) -> Option<u64> {
    let (digits, _) = prover.split_at(10);
    let number = digits.iter().rev().fold(0, |number: u128, digit| number << 7 | u128::from(digit & 0x7f));
    u64::try_from(number).ok().filter(|miner| prover_id(*miner) == *prover)
}

/// Things that are written in bincode and base64, as a list of JSON.
pub(crate) struct Base64List<I>(pub(crate) I);

impl<T: Serialize, I: Iterator<Item = T>> Base64List<I> {
    pub(crate) fn write(self, out: &mut impl Write) -> Result<(), InputError> {
        out.write_all(b"[").map_err(InputError::Write)?;
        for (i, item) in self.0.enumerate() {
            out.write_all(if i == 0 { b"\"" } else { b",\"" }).map_err(InputError::Write)?;
            let mut base64 = EncoderWriter::new(&mut *out, &STANDARD);
            bincode_into(&mut base64, &item)?;
            base64.finish().map_err(InputError::Write)?;
            drop(base64);
            out.write_all(b"\"").map_err(InputError::Write)?;
        }
        out.write_all(b"]").map_err(InputError::Write)
    }
}

/// An object of JSON: fields, and `vanilla_proofs` as the last one.
pub(crate) fn object<T: Serialize>(
    fields: impl Iterator<Item = (&'static str, Field)>,
    proofs: Base64List<impl Iterator<Item = T>>,
    out: &mut impl Write,
) -> Result<(), InputError> {
    let write = || {
        out.write_all(b"{")?;
        for (name, field) in fields {
            match field {
                Field::Number(number) => write!(out, "\"{name}\":{number},")?,
                Field::Text(text) => write!(out, "\"{name}\":\"{text}\",")?,
                Field::Hash(bytes) => write!(out, "\"{name}\":\"{}\",", hex(&bytes))?,
            }
        }
        out.write_all(b"\"vanilla_proofs\":")
    };
    write().map_err(InputError::Write)?;
    proofs.write(out)?;
    out.write_all(b"}\n").map_err(InputError::Write)
}
