//! Filecoin's C2 of a 2 KiB sector as upstream makes it on a CPU (filecoin-proofs
//! 19.1.0, bellperson 0.27): `c2_rival C1.json [PROOF]`.
//!
//! The parameters come from `FIL_PROOFS_PARAMETER_CACHE` under their official names
//! (`cuzk setup porep --official-names`). Prints one line of JSON: seconds of wall
//! and CPU time and the most memory resident, of the whole process.

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bellperson::groth16::prepare_verifying_key;
use filecoin_proofs::parameters::setup_params;
use filecoin_proofs::{
    DefaultPieceDomain, DefaultPieceHasher, DefaultTreeDomain, PoRepConfig, SealCommitPhase1Output,
    SectorShape2KiB, as_safe_commitment, seal_commit_phase2_circuit_proofs,
};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use rand::rngs::OsRng;
use serde_json::{Value, json};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::{self, CompoundProof};
use storage_proofs_core::multi_proof::MultiProof;
use storage_proofs_porep::stacked::{ChallengeRequirements, PublicInputs, StackedCompound, StackedDrg, Tau};

type Tree = SectorShape2KiB;
type Compound = StackedCompound<Tree, DefaultPieceHasher>;

const SECTOR_BYTES: u64 = 2048;
/// `StackedDrg2KiBV1_1`: its number is the start of the PoRep's id.
const POREP: u8 = 5;

fn main() -> Result<()> {
    let start = Instant::now();
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context("usage: c2_rival C1.json [PROOF]")?;
    let c1 = read_c1(&std::fs::read(&file).with_context(|| file.clone())?).with_context(|| file.clone())?;
    let decoded = start.elapsed().as_secs_f64();

    let mut id = [0; 32];
    id[0] = POREP;
    let config = PoRepConfig::new_groth16(SECTOR_BYTES, id, ApiVersion::V1_2_0);
    let inputs = PublicInputs {
        replica_id: c1.replica_id,
        tau: Some(Tau {
            comm_d: as_safe_commitment::<DefaultPieceDomain, _>(&c1.comm_d, "comm_d")?,
            comm_r: as_safe_commitment(&c1.comm_r, "comm_r")?,
        }),
        k: None,
        seed: Some(c1.seed),
    };
    let proof = seal_commit_phase2_circuit_proofs::<Tree>(&config, c1, 0.into())?.proof;
    let proved = start.elapsed().as_secs_f64();
    ensure!(verify(&config, &inputs, &proof)?, "the proof does not verify");
    if let Some(out) = arguments.next() {
        std::fs::write(&out, &proof).context(out)?;
    }

    let all = start.elapsed().as_secs_f64();
    let line = json!({
        "wall_s": all,
        "cpu_s": cpu_seconds(&getrusage(UsageWho::RUSAGE_SELF)?),
        "vm_hwm_bytes": peak_bytes()?,
        "decode_s": decoded,
        "prove_s": proved - decoded,
        "verify_s": all - proved,
    });
    println!("{line}");
    Ok(())
}

/// JSON of filecoin-proofs' struct, or the wrapper that lotus-bench and Curio write.
fn read_c1(bytes: &[u8]) -> Result<SealCommitPhase1Output<Tree>> {
    let mut value: Value = serde_json::from_slice(bytes)?;
    if let Some(inner) = value["Phase1Out"].as_str() {
        value = serde_json::from_slice(&STANDARD.decode(inner)?)?;
        // filecoin-proofs-api's struct has these under the name of the proof.
        let tagged = value["vanilla_proofs"].as_object_mut().context("vanilla_proofs")?;
        let Some(proofs) = tagged.remove("StackedDrg2KiBV1") else { bail!("not a 2 KiB sector") };
        value["vanilla_proofs"] = proofs;
    }
    Ok(serde_json::from_value(value)?)
}

/// What upstream's `verify_seal` does once it has the replica id.
fn verify(
    config: &PoRepConfig,
    inputs: &PublicInputs<DefaultTreeDomain, DefaultPieceDomain>,
    proof: &[u8],
) -> Result<bool> {
    let partitions = usize::from(config.partitions);
    let setup = compound_proof::SetupParams {
        vanilla_params: setup_params(config)?,
        partitions: Some(partitions),
        priority: false,
    };
    let public = <Compound as CompoundProof<StackedDrg<'_, Tree, DefaultPieceHasher>, _>>::setup(&setup)?;
    let key = Compound::verifying_key::<OsRng>(None, &public.vanilla_params)?;
    let key = prepare_verifying_key(&key);
    let proof = MultiProof::new_from_bytes(Some(partitions), proof, &key)?;
    let requirements = ChallengeRequirements { minimum_challenges: config.minimum_challenges() };
    Compound::verify(&public, inputs, &proof, &requirements)
}

fn cpu_seconds(usage: &Usage) -> f64 {
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

/// The kernel's high-water mark of what was resident, mapped files included.
fn peak_bytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib << 10)
}
