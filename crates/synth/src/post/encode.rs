//! From a PoSt to bytes, with serde's own derivations of the same structs.

use std::io::{BufWriter, Write};

use cuzk_values::{MerkleProof, Node, Post, PostKind, PostSector};
use serde::Serialize;

use super::{Encoding, kind_name, shape_of, version_name};
use crate::TreeKind;
use crate::input::InputError;
use crate::input::encode::{Base64List, Field, Path, bincode_into, object, path, prover};
use crate::registered::PostProof;

/// Writes a PoSt. [`decode`](super::decode) reads the same of it; of the bare
/// forms with what they have no place for given.
///
/// # Errors
/// [`InputError::SectorSize`], [`InputError::Write`].
pub fn encode(post: &Post, encoding: Encoding, out: impl Write) -> Result<(), InputError> {
    let shape = shape_of(post)?;
    let proofs = post.sectors.iter().map(|sector| SectorProof::of(sector, shape.sector.trees));
    let mut out = BufWriter::new(out);
    match encoding {
        Encoding::Bincode => {
            for proof in proofs {
                bincode_into(&mut out, &proof)?;
            }
        }
        Encoding::List => Base64List(proofs).write(&mut out)?,
        Encoding::Json => {
            let registered = PostProof { shape: shape.sector, kind: post.kind, version: post.version };
            let window = post.kind == PostKind::Window;
            let fields = [
                Some(("kind", Field::Text(kind_name(post.kind)))),
                registered.name().map(|name| ("registered_proof", Field::Text(name))),
                window.then(|| ("version", Field::Text(version_name(post.version)))),
                Some(("sector_size", Field::Number(post.sector_size))),
                Some(prover(&post.prover_id)),
                Some(("randomness", Field::Hash(post.randomness))),
                window.then(|| ("partition_index", Field::Number(post.partition.into()))),
            ];
            object(fields.into_iter().flatten(), Base64List(proofs), &mut out)?;
        }
    }
    out.flush().map_err(InputError::Write)
}

/// `filecoin_proofs::FallbackPoStSectorProof`.
#[derive(Serialize)]
struct SectorProof<'a> {
    sector_id: u64,
    comm_r: Node,
    vanilla_proof: Proof<'a>,
}

/// `storage_proofs_post::fallback::Proof`.
#[derive(Serialize)]
struct Proof<'a> {
    sectors: Vec<Opened<'a>>,
}

/// `storage_proofs_post::fallback::SectorProof`.
#[derive(Serialize)]
struct Opened<'a> {
    inclusion_proofs: Vec<Path<'a>>,
    comm_c: Node,
    comm_r_last: Node,
}

impl<'a> SectorProof<'a> {
    fn of(sector: &'a PostSector, trees: TreeKind) -> Self {
        let PostSector { number, comm_r, comm_c, comm_r_last, .. } = *sector;
        let inclusion = |challenge: &'a MerkleProof| path(challenge, comm_r_last, trees);
        let inclusion_proofs = sector.challenges.iter().map(inclusion).collect();
        let sectors = vec![Opened { inclusion_proofs, comm_c, comm_r_last }];
        Self { sector_id: number, comm_r, vanilla_proof: Proof { sectors } }
    }
}
