//! Filecoin's own circuits, without values.

use std::io;
use std::marker::PhantomData;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_values::Scalar;
use filecoin_hashers::poseidon::PoseidonHasher;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_post::fallback::{FallbackPoStCircuit, Sector};
use storage_proofs_update::EmptySectorUpdateCircuit;

use super::upstream::{Compound, Header, public_params};
use super::{PostCircuit, SnapCircuit};
use crate::c1::upstream::{WithTree, with_tree};
use crate::system::{Erased, synthesize_erased};
use crate::{SectorShape, SynthError};

/// One of Filecoin's own circuits without values, whole or its beginning: what
/// templates are recorded from and compared with.
///
/// It is made and synthesised by the crates `storage-proofs-*`.
#[derive(Debug, Clone, Copy)]
pub struct Blank(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// So many challenges of a PoRep.
    Porep(SectorShape, usize),
    /// So many sectors of a PoSt.
    Post(PostCircuit, usize),
    /// SnapDeals, whose challenges cannot be had one by one.
    Snap(SnapCircuit),
}

impl Blank {
    pub(super) fn porep(shape: SectorShape, challenges: usize) -> Self {
        Self(Kind::Porep(shape, challenges))
    }

    pub(super) fn post(circuit: PostCircuit, sectors: usize) -> Self {
        Self(Kind::Post(circuit, sectors))
    }

    pub(super) fn snap(circuit: SnapCircuit) -> Self {
        Self(Kind::Snap(circuit))
    }
}

impl Circuit<Scalar> for Blank {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let shape = match self.0 {
            Kind::Porep(shape, _) => shape,
            Kind::Post(circuit, _) => circuit.shape(),
            Kind::Snap(circuit) => circuit.shape(),
        };
        synthesize_erased(cs, |cs| with_tree(shape, Synthesis { cs, kind: self.0 }))
    }
}

struct Synthesis<'a, 'b> {
    cs: &'a mut Erased<'b>,
    kind: Kind,
}

impl WithTree for Synthesis<'_, '_> {
    type Output = Result<(), SynthesisError>;

    fn run<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>>(self) -> Self::Output {
        let Self { cs, kind } = self;
        match kind {
            Kind::Porep(_, 0) => Header::<Tree>(None, PhantomData).synthesize(cs),
            Kind::Porep(shape, challenges) => {
                let params = public_params::<Tree>(shape, challenges).map_err(refused)?;
                Compound::<Tree>::blank_circuit(&params).synthesize(cs)
            }
            Kind::Post(circuit, sectors) => {
                let sector = Sector::<Tree>::blank_circuit(&circuit.public_params());
                let sectors = vec![sector; sectors];
                FallbackPoStCircuit { prover_id: None, sectors }.synthesize(cs)
            }
            Kind::Snap(circuit) => {
                EmptySectorUpdateCircuit::<Tree>::blank(circuit.public_params()).synthesize(cs)
            }
        }
    }
}

/// An error of ours that goes through upstream's type.
fn refused(error: SynthError) -> SynthesisError {
    io::Error::other(error).into()
}
