#![doc = include_str!("../README.md")]

mod bases;
mod bits;
mod c1;
mod compact;
mod device;
mod places;
mod poly;
mod post;
mod proof;
mod r1cs;
mod snap;
mod srs;
mod witness;

pub use bases::{Bases, BasesError, EncodedPoints, PointSource};
pub use bits::{Bits, BitsIter};
pub use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
pub use c1::{
    C1, ChallengeProof, ColumnProof, DRG_PARENTS, EXP_PARENTS, LABEL_PARENTS, Level, MerkleProof, Node,
    PoRepVariant, TreeShape,
};
pub use compact::{CompactScalars, CompactScalarsBuilder};
pub use device::{DeviceBases, DeviceWitness, OnDevice};
pub use places::{Places, PlacesIter};
pub use poly::{Basis, Coeffs, CosetEvals, Evals, Host, Memory, Poly, PolyError};
pub use post::{Post, PostKind, PostSector, PostVersion};
pub use proof::{PROOF_BYTES, PartitionProof, Proof, ProofError};
pub use r1cs::{Coefficients, Matrix, MatrixBuilder, R1cs, R1csError, Repeat, Row, Rows, Stretch};
pub use snap::{Snap, SnapChallenge, SnapPartition};
pub use srs::{Densities, QueryLengths, Srs, VerifyingKey};
pub use witness::Witness;
