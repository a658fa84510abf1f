//! From an update to bytes, with serde's own derivations of the same structs.

use std::io::{BufWriter, Write};

use cuzk_values::{Node, Snap, SnapChallenge, SnapPartition};
use serde::Serialize;

use super::{Encoding, shape_of};
use crate::TreeKind;
use crate::input::InputError;
use crate::input::encode::{Base64List, Field, Path, bincode_into, object, path};
use crate::registered::UpdateProof;

/// Writes an update. [`decode`](super::decode) reads the same of it; of the bare
/// forms with what they have no place for given.
///
/// # Errors
/// [`InputError::NoUpdate`], [`InputError::Write`].
pub fn encode(snap: &Snap, encoding: Encoding, out: impl Write) -> Result<(), InputError> {
    let shape = shape_of(snap)?.sector;
    let proofs = snap.partitions.iter().map(|partition| PartitionProof::of(snap, partition, shape.trees));
    let mut out = BufWriter::new(out);
    match encoding {
        Encoding::Bincode => {
            for proof in proofs {
                bincode_into(&mut out, &proof)?;
            }
        }
        Encoding::List => Base64List(proofs).write(&mut out)?,
        Encoding::Json => {
            let registered = UpdateProof { shape }.name();
            let fields = [
                Some(("kind", Field::Text("snap"))),
                registered.map(|name| ("registered_proof", Field::Text(name))),
                Some(("sector_size", Field::Number(snap.sector_size))),
                Some(("comm_r_old", Field::Hash(snap.comm_r_old))),
                Some(("comm_r_new", Field::Hash(snap.comm_r_new))),
                Some(("comm_d_new", Field::Hash(snap.comm_d_new))),
                Some(("high_bits", Field::Number(snap.high_bits.into()))),
            ];
            object(fields.into_iter().flatten(), Base64List(proofs), &mut out)?;
        }
    }
    out.flush().map_err(InputError::Write)
}

/// `storage_proofs_update::PartitionProof`.
#[derive(Serialize)]
struct PartitionProof<'a> {
    comm_c: Node,
    apex_leafs: &'a [Node],
    challenge_proofs: Vec<ChallengeProof<'a>>,
}

/// `storage_proofs_update::ChallengeProof`.
#[allow(clippy::struct_field_names, reason = "these are upstream's names")]
#[derive(Serialize)]
struct ChallengeProof<'a> {
    proof_r_old: Path<'a>,
    proof_d_new: Path<'a>,
    proof_r_new: Path<'a>,
}

impl<'a> PartitionProof<'a> {
    fn of(snap: &Snap, partition: &'a SnapPartition, trees: TreeKind) -> Self {
        let challenge = |challenge: &'a SnapChallenge| ChallengeProof {
            proof_r_old: path(&challenge.old, snap.root_r_old, trees),
            proof_d_new: path(&challenge.data, snap.comm_d_new, TreeKind::Single),
            proof_r_new: path(&challenge.new, snap.root_r_new, trees),
        };
        Self {
            comm_c: snap.comm_c,
            apex_leafs: &partition.apex_leaves,
            challenge_proofs: partition.challenges.iter().map(challenge).collect(),
        }
    }
}
