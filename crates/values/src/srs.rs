//! The structured reference string of one circuit.

use cuzk_pipeline_core::{Footprint, Value};

use crate::{Bases, Bits, G1Affine, G2Affine};

/// Groth16's verifying key (Groth, EUROCRYPT 2016, section 3.2, with `gamma`
/// and `delta` apart as bellman has them).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    /// `[alpha]_1`
    pub alpha_g1: G1Affine,
    /// `[beta]_1`
    pub beta_g1: G1Affine,
    /// `[beta]_2`
    pub beta_g2: G2Affine,
    /// `[gamma]_2`
    pub gamma_g2: G2Affine,
    /// `[delta]_1`
    pub delta_g1: G1Affine,
    /// `[delta]_2`
    pub delta_g2: G2Affine,
    /// `[(beta u_i + alpha v_i + w_i) / gamma]_1` for each public input, ONE first.
    pub ic: Vec<G1Affine>,
}

impl Value for VerifyingKey {
    fn footprint(&self) -> Footprint {
        Footprint::host((self.ic.capacity() * size_of::<G1Affine>()) as u64)
    }
}

/// Which variables occur in A and B: those that do not have no base there.
///
/// A variable occurs where a linear combination has it with a coefficient that is
/// not zero, whatever the witness (bellperson 0.27, `LinearCombination` and
/// `DensityTracker`). All inputs occur in A.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Densities {
    /// Auxiliary variables in A.
    pub a_aux: Bits,
    /// Inputs in B.
    pub b_inputs: Bits,
    /// Auxiliary variables in B.
    pub b_aux: Bits,
}

impl Value for Densities {
    fn footprint(&self) -> Footprint {
        self.a_aux.footprint() + self.b_inputs.footprint() + self.b_aux.footprint()
    }
}

/// How many points each query of a circuit's parameters has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLengths {
    /// Public inputs, ONE included: the points of `ic`.
    pub inputs: usize,
    /// `2^k - 1`
    pub h: usize,
    /// All auxiliary variables.
    pub l: usize,
    /// All inputs, then the auxiliary variables that occur in A.
    pub a: usize,
    /// The inputs, then the auxiliary variables that occur in B.
    pub b: usize,
}

/// The parameters of one circuit: what a prover needs besides the witness.
#[derive(Debug, Clone)]
pub struct Srs {
    /// The verifying key.
    pub vk: VerifyingKey,
    /// `[x^i (x^n - 1) / delta]_1`
    pub h: Bases<G1Affine>,
    /// `[(beta u_i + alpha v_i + w_i) / delta]_1` for each auxiliary variable.
    pub l: Bases<G1Affine>,
    /// `[u_i]_1` where it is not zero: inputs, then auxiliary variables.
    pub a: Bases<G1Affine>,
    /// `[v_i]_1` where it is not zero: inputs, then auxiliary variables.
    pub b_g1: Bases<G1Affine>,
    /// `[v_i]_2` where it is not zero: inputs, then auxiliary variables.
    pub b_g2: Bases<G2Affine>,
}

impl Srs {
    /// The points of each query.
    pub fn lengths(&self) -> QueryLengths {
        QueryLengths {
            inputs: self.vk.ic.len(),
            h: self.h.len(),
            l: self.l.len(),
            a: self.a.len(),
            b: self.b_g1.len(),
        }
    }
}

impl Value for Srs {
    fn footprint(&self) -> Footprint {
        self.vk.footprint()
            + self.h.footprint()
            + self.l.footprint()
            + self.a.footprint()
            + self.b_g1.footprint()
            + self.b_g2.footprint()
    }
}
