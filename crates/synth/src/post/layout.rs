//! `filecoin_proofs::FallbackPoStSectorProof` and what is in it
//! (`storage_proofs_post::fallback::Proof`, 19.1.0), in the words of a
//! [`Reader`], and its way into the noun.

use cuzk_values::{MerkleProof, Node, PostSector};

use crate::SectorShape;
use crate::input::error::{Fault, Problem};
use crate::input::merkle::path;
use crate::input::open::{tag, word};
use crate::input::reader::{Reader, count};

/// The most sectors of a partition of any size.
pub(crate) const MAX_SECTORS: usize = 2349;

/// The most challenges in a sector.
const MAX_CHALLENGES: usize = 66;

/// The sectors while they are read.
#[derive(Default)]
pub(crate) struct Sectors {
    pub(super) sectors: Vec<PostSector>,
    /// The shape that the first path has.
    pub(super) shape: Option<SectorShape>,
}

/// Whether bytes that start so are a sector's proof. Its number and `comm_r` may
/// be anything; then come one sector, some challenges, and the tag of a path.
pub(crate) fn is_sector(start: &[u8]) -> bool {
    let tells = || {
        let challenges = (1..=1000).contains(&word(start, 48)?);
        Some(word(start, 40)? == 1 && challenges && tag(start, 56)? < 3)
    };
    tells() == Some(true)
}

impl Sectors {
    /// A `FallbackPoStSectorProof`.
    pub(crate) fn read<R: Reader>(&mut self, r: &mut R) -> Result<(), Fault> {
        let (mut number, mut comm_r, mut opened) = (0, Node::default(), None);
        r.record(&["sector_id", "comm_r", "vanilla_proof"], |r, i| {
            match i {
                0 => number = r.u64()?,
                1 => comm_r = r.node()?,
                _ => r.record(&["sectors"], |r, _| {
                    let found = r.list(1, |r, _| {
                        opened = Some(self.opened(r)?);
                        Ok(())
                    })?;
                    Ok(count(found, 1)?)
                })?,
            }
            Ok(())
        })
        .map_err(|fault| fault.of_sector(number))?;
        let Some((challenges, comm_c, comm_r_last)) = opened else { return Err(Problem::Missing.into()) };
        let challenges = challenges.into_boxed_slice();
        self.sectors.push(PostSector { number, comm_r, comm_c, comm_r_last, challenges });
        Ok(())
    }

    /// A `SectorProof`: the paths, `comm_c`, `comm_r_last`.
    fn opened<R: Reader>(&mut self, r: &mut R) -> Result<(Vec<MerkleProof>, Node, Node), Fault> {
        let mut challenges = Vec::new();
        let (mut comm_c, mut comm_r_last, mut root) = (Node::default(), Node::default(), None);
        r.record(&["inclusion_proofs", "comm_c", "comm_r_last"], |r, i| {
            match i {
                0 => {
                    r.list(MAX_CHALLENGES, |r, _| {
                        let path = path(r)?;
                        let shape = self.shape.map_or_else(|| path.octal_shape(), Ok)?;
                        self.shape = Some(shape);
                        let root = *root.get_or_insert(path.root);
                        challenges.push(path.settle(shape.tree_c(), shape.trees, root)?);
                        Ok(())
                    })?;
                }
                1 => comm_c = r.node()?,
                _ => {
                    comm_r_last = r.node()?;
                    if let Some(root) = root.filter(|root| *root != comm_r_last) {
                        let of = "the root of the sector's paths";
                        return Err(Problem::nodes_differ(&comm_r_last, &root, of).into());
                    }
                }
            }
            Ok(())
        })?;
        Ok((challenges, comm_c, comm_r_last))
    }
}
