//! Trees and paths in the types of `storage-proofs-core`.

use cuzk_values::{MerkleProof, Node};
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::{Hasher, PoseidonArity};
use generic_array::typenum::{U0, U2, U8, Unsigned};
use storage_proofs_core::merkle::{self, LCTree, MerkleTreeTrait};

use super::InputError;
use crate::{SectorShape, TreeKind};

/// Code that wants to know a sector's trees as a type. See [`with_tree`].
pub trait WithTree {
    /// What comes out.
    type Output;

    /// Runs with upstream's type of the trees.
    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output;
}

/// Runs `f` with the type that upstream gives the trees of sectors of this shape
/// (`SectorShapeBase`, `Sub2`, `Sub8`, `Top2` in `filecoin-proofs`).
pub fn with_tree<F: WithTree>(shape: SectorShape, f: F) -> F::Output {
    match (shape.trees, shape.log_nodes % 3) {
        (TreeKind::Single, _) => f.run::<LCTree<PoseidonHasher, U8, U0, U0>>(),
        (TreeKind::Sub, 0) => f.run::<LCTree<PoseidonHasher, U8, U8, U0>>(),
        (TreeKind::Sub, _) => f.run::<LCTree<PoseidonHasher, U8, U2, U0>>(),
        (TreeKind::Top, _) => f.run::<LCTree<PoseidonHasher, U8, U8, U2>>(),
    }
}

/// That `Tree` is the type that [`with_tree`] gives for sectors of this shape.
pub(crate) fn check_tree<Tree: MerkleTreeTrait>(shape: SectorShape) -> Result<(), InputError> {
    let apart = [Tree::SubTreeArity::USIZE, Tree::TopTreeArity::USIZE];
    let expected = with_tree(shape, ApartArities);
    if apart != expected {
        let message = format!("sub and top arities {apart:?} where a {shape} sector has {expected:?}");
        return Err(InputError::Upstream(message));
    }
    Ok(())
}

struct ApartArities;

impl WithTree for ApartArities {
    type Output = [usize; 2];

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> [usize; 2] {
        [Tree::SubTreeArity::USIZE, Tree::TopTreeArity::USIZE]
    }
}

/// A path in upstream's type.
pub(crate) fn merkle_proof<H, A, S, T>(path: &MerkleProof, root: Node) -> merkle::MerkleProof<H, A, S, T>
where
    H: Hasher,
    A: 'static + PoseidonArity,
    S: 'static + PoseidonArity,
    T: 'static + PoseidonArity,
{
    let level = |l: cuzk_values::Level<'_>| (l.siblings.iter().map(|s| (*s).into()).collect(), l.index);
    merkle::MerkleProof::from_parts(path.leaf.into(), root.into(), path.levels().map(level).collect())
}
