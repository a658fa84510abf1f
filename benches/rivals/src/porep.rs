//! A PoRep's C2 as upstream makes and verifies it (filecoin-proofs 19.1.0), by the prover
//! that bellperson's features choose: a module of each program that has such a prover.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bellperson::groth16::prepare_verifying_key;
use filecoin_proofs::parameters::setup_params;
use filecoin_proofs::{
    DefaultPieceDomain, DefaultPieceHasher, DefaultTreeDomain, PoRepConfig, SealCommitPhase1Output,
    SectorShapeBase, as_safe_commitment, seal_commit_phase2_circuit_proofs,
};
use rand::rngs::OsRng;
use serde_json::Value;
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::{self, CompoundProof};
use storage_proofs_core::multi_proof::MultiProof;
use storage_proofs_porep::stacked::{ChallengeRequirements, PublicInputs, StackedCompound, StackedDrg, Tau};

/// The trees of 2 KiB, 8 MiB and 512 MiB sectors; only their heights differ.
type Tree = SectorShapeBase;
type Compound = StackedCompound<Tree, DefaultPieceHasher>;

/// Sectors of these trees, by the number of `StackedDrg…V1_1`, the start of a PoRep's id.
const SECTORS: [(u8, u64); 3] = [(5, 2 << 10), (6, 8 << 20), (7, 512 << 20)];
const NODE_BYTES: u64 = 32;

/// What a C2 is made from, and what its proof is verified by.
pub(crate) struct Porep {
    config: PoRepConfig,
    c1: SealCommitPhase1Output<Tree>,
    inputs: PublicInputs<DefaultTreeDomain, DefaultPieceDomain>,
}

impl Porep {
    /// Reads a C1: JSON of filecoin-proofs' struct, or the wrapper that lotus-bench and Curio write.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let read = || Self::decode(&std::fs::read(file)?);
        read().with_context(|| file.display().to_string())
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut value: Value = serde_json::from_slice(bytes)?;
        if let Some(inner) = value["Phase1Out"].as_str() {
            value = serde_json::from_slice(&STANDARD.decode(inner)?)?;
            // filecoin-proofs-api's struct has these under the name of the proof.
            let tagged = value["vanilla_proofs"].as_object().context("vanilla_proofs")?;
            value["vanilla_proofs"] = tagged.values().next().context("vanilla_proofs")?.clone();
        }
        // The struct does not say its sector's size: the data's tree is binary, and its paths as long as it is high.
        let path = &value["vanilla_proofs"][0][0]["comm_d_proofs"]["data"]["Single"]["path"]["path"];
        let height = path.as_array().context("a path of the data")?.len();
        let known = SECTORS.iter().find(|(_, bytes)| *bytes == NODE_BYTES << height);
        let (number, bytes) =
            known.with_context(|| format!("no such sector: {} bytes", NODE_BYTES << height))?;
        let mut id = [0; 32];
        id[0] = *number;

        let c1: SealCommitPhase1Output<Tree> = serde_json::from_value(value)?;
        let inputs = PublicInputs {
            replica_id: c1.replica_id,
            tau: Some(Tau {
                comm_d: as_safe_commitment::<DefaultPieceDomain, _>(&c1.comm_d, "comm_d")?,
                comm_r: as_safe_commitment(&c1.comm_r, "comm_r")?,
            }),
            k: None,
            seed: Some(c1.seed),
        };
        Ok(Self { config: PoRepConfig::new_groth16(*bytes, id, ApiVersion::V1_2_0), c1, inputs })
    }

    /// Upstream's C2; the first loads the parameters that the rest finds in memory.
    pub(crate) fn prove(&self) -> Result<Vec<u8>> {
        // Its `Clone` asks one of the tree's type too.
        let c1 = SealCommitPhase1Output { vanilla_proofs: self.c1.vanilla_proofs.clone(), ..self.c1 };
        Ok(seal_commit_phase2_circuit_proofs::<Tree>(&self.config, c1, 0.into())?.proof)
    }

    /// What upstream's `verify_seal` does once it has the replica id.
    pub(crate) fn verify(&self, proof: &[u8]) -> Result<()> {
        let partitions = usize::from(self.config.partitions);
        let setup = compound_proof::SetupParams {
            vanilla_params: setup_params(&self.config)?,
            partitions: Some(partitions),
            priority: false,
        };
        let public = <Compound as CompoundProof<StackedDrg<'_, Tree, DefaultPieceHasher>, _>>::setup(&setup)?;
        let key = Compound::verifying_key::<OsRng>(None, &public.vanilla_params)?;
        let key = prepare_verifying_key(&key);
        let proof = MultiProof::new_from_bytes(Some(partitions), proof, &key)?;
        let requirements = ChallengeRequirements { minimum_challenges: self.config.minimum_challenges() };
        ensure!(Compound::verify(&public, &self.inputs, &proof, &requirements)?, "the proof does not verify");
        Ok(())
    }
}
