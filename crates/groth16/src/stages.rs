//! The stages that belong to no verb: `finalize`, `verify`, `proof`.

use std::borrow::Cow;
use std::sync::Arc;

use cuzk_msm::Sum;
use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Stage};
use cuzk_values::{G1Projective, G2Projective, PartitionProof, Proof, Srs, Witness};

use crate::{Blinding, Groth16Error, PreparedVerifyingKey, Sums, assemble};

/// `finalize`: the five sums → the partition's proof.
pub struct Finalize {
    blinding: Option<Blinding>,
}

impl Finalize {
    /// The stage of one partition; r and s come from the operating system
    /// unless they are given.
    pub fn new(blinding: Option<Blinding>) -> Self {
        Self { blinding }
    }
}

impl Stage for Finalize {
    type In = (
        Arc<Srs>,
        Sum<G1Projective>,
        Sum<G1Projective>,
        Sum<G1Projective>,
        Sum<G1Projective>,
        Sum<G2Projective>,
    );
    type Out = PartitionProof;
    type Error = Groth16Error;

    fn name(&self) -> Cow<'static, str> {
        "finalize".into()
    }
    fn kind(&self, error: &Groth16Error) -> ErrorKind {
        error.kind()
    }
    fn cost(&self) -> Cost {
        Cost::free().output(Footprint::ZERO)
    }
    fn run(&self, _: &Cx<'_>, (srs, h, l, a, b_g1, b_g2): Self::In) -> Result<PartitionProof, Groth16Error> {
        let blinding = match self.blinding {
            Some(given) => given,
            None => Blinding::from_os()?,
        };
        let sums = Sums { h: h.0, l: l.0, a: a.0, b_g1: b_g1.0, b_g2: b_g2.0 };
        Ok(assemble(&srs.vk, &sums, blinding))
    }
}

/// `verify`: a proof → itself, if it verifies.
pub struct Verify {
    partition: usize,
    key: Option<Arc<PreparedVerifyingKey>>,
}

impl Verify {
    /// The stage of one partition. Without a key nothing verifies.
    pub fn new(partition: usize, key: Option<Arc<PreparedVerifyingKey>>) -> Self {
        Self { partition, key }
    }
}

impl Stage for Verify {
    type In = (PartitionProof, Arc<Witness>);
    type Out = PartitionProof;
    type Error = Groth16Error;

    fn name(&self) -> Cow<'static, str> {
        "verify".into()
    }
    fn kind(&self, error: &Groth16Error) -> ErrorKind {
        error.kind()
    }
    fn cost(&self) -> Cost {
        Cost::free().output(Footprint::ZERO)
    }
    fn run(&self, cx: &Cx<'_>, (proof, witness): Self::In) -> Result<PartitionProof, Groth16Error> {
        let key = self.key.as_ref().ok_or(Groth16Error::NoParameters)?;
        cx.install(|| key.verify(self.partition, &proof, &witness.inputs))?;
        Ok(proof)
    }
}

/// `proof`: the partitions' proofs, in order → the proof.
pub struct Collect {
    partitions: usize,
}

impl Collect {
    /// The stage of a proof of so many partitions.
    pub fn new(partitions: usize) -> Self {
        Self { partitions }
    }
}

impl Stage for Collect {
    type In = Vec<PartitionProof>;
    type Out = Proof;
    type Error = Groth16Error;

    fn name(&self) -> Cow<'static, str> {
        "proof".into()
    }
    fn kind(&self, error: &Groth16Error) -> ErrorKind {
        error.kind()
    }
    fn cost(&self) -> Cost {
        Cost::free().output(Footprint::host((self.partitions * size_of::<PartitionProof>()) as u64))
    }
    fn run(&self, _: &Cx<'_>, parts: Vec<PartitionProof>) -> Result<Proof, Groth16Error> {
        Ok(Proof(parts))
    }
}
