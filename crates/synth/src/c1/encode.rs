//! From a C1 to bytes, with serde's own derivations of the same structs.

use std::io::{BufWriter, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use cuzk_values::{C1, ChallengeProof, ColumnProof, Node};
use serde::{Serialize, Serializer};

use super::Encoding;
use crate::input::encode::{Path, bincode_into, path};
use crate::input::{InputError, Layer};
use crate::registered::{SEAL_PROOFS, VANILLA_PROOFS, seal_proof_index, size_index};
use crate::{SectorShape, TreeKind};

/// Writes a C1. What [`decode`](super::decode) reads of it is the same C1, save
/// the `variant` and the `sector_number` in encodings that have no place for them.
///
/// # Errors
/// [`InputError::Unencodable`] where an encoding asks for what the C1 lacks:
/// filecoin-proofs-api knows the published sector sizes only and names the
/// registered seal proof, lotus also the sector number.
/// [`InputError::SectorSize`], [`InputError::Write`].
pub fn encode(c1: &C1, encoding: Encoding, out: impl Write) -> Result<(), InputError> {
    let shape = super::shape_of(c1)?;
    let mut out = BufWriter::new(out);
    let json = |e: serde_json::Error| InputError::Write(e.into());
    let api = || ApiPhase1::of(c1, shape, encoding);
    match encoding {
        Encoding::ProofsJson => serde_json::to_writer(&mut out, &Phase1::of(c1, shape)).map_err(json),
        Encoding::ApiJson => serde_json::to_writer(&mut out, &api()?).map_err(json),
        Encoding::LotusJson => lotus(c1, &api()?, &mut out),
        Encoding::ProofsBincode => bincode_into(&mut out, &Phase1::of(c1, shape)),
        Encoding::ApiBincode => bincode_into(&mut out, &api()?),
    }?;
    out.flush().map_err(InputError::Write)
}

fn lotus(c1: &C1, api: &ApiPhase1<'_>, out: &mut impl Write) -> Result<(), InputError> {
    let Some(number) = c1.sector_number else {
        let (encoding, missing) = (Layer::C1(Encoding::LotusJson), "a sector number");
        return Err(InputError::Unencodable { encoding, missing });
    };
    let mut write = || {
        write!(out, r#"{{"SectorNum":{number},"Phase1Out":""#)?;
        let mut base64 = EncoderWriter::new(&mut *out, &STANDARD);
        serde_json::to_writer(&mut base64, api)?;
        base64.finish()?;
        drop(base64);
        write!(out, r#"","SectorSize":{}}}"#, c1.sector_size)
    };
    write().map_err(InputError::Write)
}

/// `filecoin_proofs::SealCommitPhase1Output`.
#[derive(Serialize)]
struct Phase1<'a> {
    vanilla_proofs: Vec<Vec<Challenge<'a>>>,
    comm_r: Node,
    comm_d: Node,
    replica_id: Node,
    seed: [u8; 32],
    ticket: [u8; 32],
}

/// `filecoin_proofs_api::seal::SealCommitPhase1Output`.
#[derive(Serialize)]
struct ApiPhase1<'a> {
    registered_proof: SealProof,
    vanilla_proofs: Tagged<'a>,
    comm_r: Node,
    comm_d: Node,
    replica_id: Node,
    seed: [u8; 32],
    ticket: [u8; 32],
}

/// Which of `SEAL_PROOFS`.
struct SealProof(usize);

/// Which of `VANILLA_PROOFS`, and the proofs.
struct Tagged<'a>(usize, Vec<Vec<Challenge<'a>>>);

impl Serialize for SealProof {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit_variant("RegisteredSealProof", self.0 as u32, SEAL_PROOFS[self.0])
    }
}

impl Serialize for Tagged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tag = VANILLA_PROOFS[self.0];
        serializer.serialize_newtype_variant("VanillaSealProof", self.0 as u32, tag, &self.1)
    }
}

#[derive(Serialize)]
struct Challenge<'a> {
    comm_d_proofs: Path<'a>,
    comm_r_last_proof: Path<'a>,
    replica_column_proofs: Columns<'a>,
    labeling_proofs: Vec<Label<'a>>,
    encoding_proof: Label<'a>,
}

#[derive(Serialize)]
struct Columns<'a> {
    c_x: Column<'a>,
    drg_parents: Vec<Column<'a>>,
    exp_parents: Vec<Column<'a>>,
}

#[derive(Serialize)]
struct Column<'a> {
    column: Labels<'a>,
    inclusion_proof: Path<'a>,
}

#[derive(Serialize)]
struct Labels<'a> {
    index: u32,
    rows: &'a [Node],
    _h: (),
}

#[derive(Serialize)]
struct Label<'a> {
    parents: Vec<&'a Node>,
    layer_index: u32,
    node: u64,
}

impl<'a> Phase1<'a> {
    fn of(c1: &'a C1, shape: SectorShape) -> Self {
        let C1 { comm_r, comm_d, replica_id, seed, ticket, .. } = *c1;
        Self { vanilla_proofs: vanilla_proofs(c1, shape), comm_r, comm_d, replica_id, seed, ticket }
    }
}

impl<'a> ApiPhase1<'a> {
    fn of(c1: &'a C1, shape: SectorShape, encoding: Encoding) -> Result<Self, InputError> {
        let lacks = |missing| InputError::Unencodable { encoding: Layer::C1(encoding), missing };
        let tag = size_index(shape).ok_or(lacks("a published sector size"))?;
        let variant = c1.variant.ok_or(lacks("the registered seal proof"))?;
        let seal_proof = seal_proof_index(shape, variant).ok_or(lacks("a registered seal proof"))?;
        let C1 { comm_r, comm_d, replica_id, seed, ticket, .. } = *c1;
        Ok(Self {
            registered_proof: SealProof(seal_proof),
            vanilla_proofs: Tagged(tag, vanilla_proofs(c1, shape)),
            comm_r,
            comm_d,
            replica_id,
            seed,
            ticket,
        })
    }
}

fn vanilla_proofs(c1: &C1, shape: SectorShape) -> Vec<Vec<Challenge<'_>>> {
    let proof = |proof| challenge(c1, proof, shape.trees);
    c1.partitions.iter().map(|proofs| proofs.iter().map(proof).collect()).collect()
}

fn challenge<'a>(c1: &C1, proof: &'a ChallengeProof, trees: TreeKind) -> Challenge<'a> {
    let layers = proof.column.labels.len();
    let label = |layer| Label {
        parents: proof.label_parents(layer).collect(),
        layer_index: layer as u32,
        node: proof.challenge().into(),
    };
    let column = |column: &'a ColumnProof| Column {
        column: Labels { index: column.path.node, rows: &column.labels, _h: () },
        inclusion_proof: path(&column.path, c1.comm_c, trees),
    };
    Challenge {
        comm_d_proofs: path(&proof.data, c1.comm_d, TreeKind::Single),
        comm_r_last_proof: path(&proof.replica, c1.comm_r_last, trees),
        replica_column_proofs: Columns {
            c_x: column(&proof.column),
            drg_parents: proof.drg_parents.iter().map(column).collect(),
            exp_parents: proof.exp_parents.iter().map(column).collect(),
        },
        labeling_proofs: (1..=layers).map(label).collect(),
        encoding_proof: label(layers),
    }
}
