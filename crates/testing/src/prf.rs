//! Real proofs with their keys: the `.prf` files of `fixtures/`.

use cuzk_values::{G1Affine, G2Affine, PartitionProof, Proof, Scalar, VerifyingKey};

/// A verifying key, and proofs with the public inputs (ONE first) that they are of.
#[derive(Debug, Clone)]
pub struct Prf {
    /// The key.
    pub vk: VerifyingKey,
    /// The proofs.
    pub proofs: Vec<(PartitionProof, Vec<Scalar>)>,
}

/// Ten partitions of a 32 GiB PoRep.
pub const SEAL_32GIB_X10: &[u8] = include_bytes!("../fixtures/seal32_x10.prf");
/// A 32 GiB WinningPoSt.
pub const WINNING_32GIB: &[u8] = include_bytes!("../fixtures/winning32.prf");

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> &'a [u8; N] {
        let (head, rest) = self.0.split_first_chunk().expect("the file goes on");
        self.0 = rest;
        head
    }
    fn count(&mut self) -> usize {
        u64::from_be_bytes(*self.take()) as usize
    }
    fn g1(&mut self) -> G1Affine {
        G1Affine::from_uncompressed(self.take()).expect("a point of G1")
    }
    fn g2(&mut self) -> G2Affine {
        G2Affine::from_uncompressed(self.take()).expect("a point of G2")
    }
    fn vk(&mut self) -> VerifyingKey {
        let (alpha_g1, beta_g1, beta_g2) = (self.g1(), self.g1(), self.g2());
        let (gamma_g2, delta_g1, delta_g2) = (self.g2(), self.g1(), self.g2());
        let ic = u32::from_be_bytes(*self.take());
        let ic = (0..ic).map(|_| self.g1()).collect();
        VerifyingKey { alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, ic }
    }
    fn proof(&mut self) -> PartitionProof {
        Proof::from_bytes(self.take::<192>()).expect("a proof").0[0]
    }
    fn inputs(&mut self, n: usize) -> Vec<Scalar> {
        let one = std::iter::once(Scalar::from(1));
        one.chain((0..n).map(|_| Scalar::from_bytes_be(self.take()).expect("a canonical scalar"))).collect()
    }
}

impl Prf {
    /// Reads `n u64 BE, inputs u64 BE, key, n × (proof, inputs × 32 B)`.
    ///
    /// # Panics
    /// On any other layout.
    pub fn seal(bytes: &[u8]) -> Self {
        let mut r = Reader(bytes);
        let (n, inputs) = (r.count(), r.count());
        let vk = r.vk();
        let proofs = (0..n).map(|_| (r.proof(), r.inputs(inputs))).collect();
        assert!(r.0.is_empty(), "{} bytes too many", r.0.len());
        Self { vk, proofs }
    }

    /// Reads `proof, inputs u64 BE, inputs × 32 B, key`.
    ///
    /// # Panics
    /// On any other layout.
    pub fn winning(bytes: &[u8]) -> Self {
        let mut r = Reader(bytes);
        let proof = r.proof();
        let inputs = r.count();
        let inputs = r.inputs(inputs);
        let vk = r.vk();
        assert!(r.0.is_empty(), "{} bytes too many", r.0.len());
        Self { vk, proofs: vec![(proof, inputs)] }
    }
}
