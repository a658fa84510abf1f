//! The prover as a graph: a proof of a witness, a partition, a whole statement.
//!
//! Read it top to bottom: that is also the order in which stages run when
//! memory is short.

use std::sync::Arc;

use cuzk_msm::{MsmA, MsmB1, MsmB2, MsmH, MsmL, Sum};
use cuzk_ntt::Quotient;
use cuzk_pipeline_core::{Builder, Graph, Port, Shared};
use cuzk_synth::{EvalStage, Statement, WitnessStage};
use cuzk_values::{G1Projective, G2Projective, PartitionProof, Proof, Witness};

use crate::stages::{Collect, Finalize, Verify};
use crate::{Blinding, Groth16Error, Prover};

/// A witness in, its verified proof out. Errors name the `partition`; `r` and
/// `s` come from the operating system unless `blinding` gives them.
pub fn prove<'g>(
    g: &mut Builder<'g>,
    prover: &Prover,
    witness: Shared<'g, Witness>,
    partition: usize,
    blinding: Option<Blinding>,
) -> Port<'g, PartitionProof> {
    let srs = prover.load_srs(g);
    let (h, l, a, b_g1, b_g2) = match prover.accelerator() {
        Some(device) => device.sums(g, witness),
        None => sums(g, prover, witness),
    };
    let proof = g.stage(Finalize::new(blinding), (srs, h, l, a, b_g1, b_g2));
    g.stage(Verify::new(partition, prover.key()), (proof, witness))
}

/// The five sums of a witness, with h, l, a, b in G1 and b in G2 in this order.
pub type SumPorts<'g> = (
    Port<'g, Sum<G1Projective>>,
    Port<'g, Sum<G1Projective>>,
    Port<'g, Sum<G1Projective>>,
    Port<'g, Sum<G1Projective>>,
    Port<'g, Sum<G2Projective>>,
);

/// The five sums on the CPU.
fn sums<'g>(g: &mut Builder<'g>, prover: &Prover, witness: Shared<'g, Witness>) -> SumPorts<'g> {
    let (r1cs, srs) = (prover.load_circuit(g), prover.load_srs(g));
    let sizes = prover.sizes();
    let ab = g.stage(EvalStage::new(sizes.witness, sizes.log_domain), (witness, r1cs));
    let h = g.stage(Quotient::new(prover.domain()), ab);
    let h = g.stage(MsmH::new(sizes.queries.h), (h, srs));

    let wide = sizes.witness.inputs + sizes.witness.wide;
    let l = g.stage(MsmL::new(prover.densities(), wide), (witness, srs));
    let a = g.stage(MsmA::new(prover.densities(), wide), (witness, srs));
    let b_g1 = g.stage(MsmB1::new(prover.densities(), wide), (witness, srs));
    let b_g2 = g.stage(MsmB2::new(prover.densities(), wide), (witness, srs));
    (h, l, a, b_g1, b_g2)
}

/// A whole proof: the input of a statement in, the verified proofs of its
/// partitions out.
///
/// `blindings` fixes r and s of each partition, for tests and comparisons;
/// partitions without one take theirs from the operating system.
///
/// # Errors
/// [`Groth16Error::Graph`].
pub fn proof<S: Statement>(
    prover: &Prover,
    statement: S,
    partitions: usize,
    blindings: &[Blinding],
) -> Result<Graph<Arc<S::Input>, Proof>, Groth16Error> {
    Ok(Graph::build(|g, input| {
        let input = g.share_arc(input);
        let mut parts = Vec::with_capacity(partitions);
        for i in 0..partitions {
            g.part(i as u32);
            let witness = g.stage(WitnessStage::new(statement, i), input);
            let witness = g.share(witness);
            parts.push(prove(g, prover, witness, i, blindings.get(i).copied()));
        }
        g.part(None);
        Ok(g.stage(Collect::new(partitions), parts))
    })?)
}
