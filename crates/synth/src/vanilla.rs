//! Real vanilla proofs, from sealed sectors and their cache folders, by
//! Filecoin's own code (`filecoin-proofs-api`, with the feature `vanilla`).
//!
//! A cache folder holds `p_aux`, `t_aux` and the trees as sealing has left them.
//! What comes back has gone through the decoders here: it is what they read from
//! upstream's bytes, and is checked as they check it.
//!
//! Upstream keeps a cache of the graph in the folder that the environment names
//! (`FIL_PROOFS_PARENT_CACHE`), and knows the published sector sizes only.

use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cuzk_pipeline_core::Cancelled;
use cuzk_values::{C1, Node, Post, PostKind, Snap};
use filecoin_proofs_api::seal::{SealPreCommitPhase2Output, seal_commit_phase1};
use filecoin_proofs_api::{
    PieceInfo, PrivateReplicaInfo, RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof, SectorId,
    UnpaddedBytesAmount,
};
use rayon::prelude::*;
use serde::de::DeserializeOwned;

use crate::input::error::{Fault, Problem};
use crate::input::layers::Layers;
use crate::input::reader::is_canonical;
use crate::input::{InputError, Progress, Watch};
use crate::registered::{PostProof, SealProof, UpdateProof};
use crate::{PostShape, c1, hash, post, snap};

/// A sealed sector on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSector {
    /// The sector's number.
    pub number: u64,
    /// The replica.
    pub replica: PathBuf,
    /// The folder of its cache.
    pub cache: PathBuf,
}

/// How the files in a cache are called that sealing leaves there.
const CACHED: [&str; 4] = ["p_aux", "t_aux", "sc-02-", "syn-porep-"];

impl SealedSector {
    /// The replica and the sealing's files are files, where they are there: to open a
    /// pipe is to wait for whoever writes into it.
    fn check_files(&self) -> Result<(), InputError> {
        check_file(&self.replica)?;
        for entry in fs_err::read_dir(&self.cache).map_err(InputError::sector)? {
            let entry = entry.map_err(InputError::sector)?;
            let name = entry.file_name();
            if CACHED.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes())) {
                check_file(&entry.path())?;
            }
        }
        Ok(())
    }
}

fn check_file(path: &Path) -> Result<(), InputError> {
    // What is missing is named by who needs it.
    let Ok(there) = path.metadata() else { return Ok(()) };
    let what = match there.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a folder",
        _ => "a pipe or a device",
    };
    Err(InputError::Sector(format!("{} is {what}, not a file", path.display())))
}

/// What a C1 takes besides the sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// How the sector is sealed.
    pub proof: SealProof,
    /// The miner: see [`c1::prover_id`].
    pub prover_id: Node,
    /// The randomness of the sealing.
    pub ticket: Node,
    /// The randomness of the challenges.
    pub seed: Node,
}

/// What a proof of spacetime takes besides the sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spacetime {
    /// Which proof it is.
    pub proof: PostProof,
    /// The miner: see [`c1::prover_id`].
    pub prover_id: Node,
    /// The randomness of the challenges.
    pub randomness: Node,
    /// Which partition of a `WindowPoSt` the sectors are. Only challenges of
    /// [`V1`](cuzk_values::PostVersion::V1) depend on it. A `WinningPoSt` has none but 0.
    pub partition: u32,
}

impl Spacetime {
    /// How many sectors a partition has room for.
    pub fn room(&self) -> usize {
        PostShape::new(self.proof.shape, self.proof.kind).sectors
    }

    /// All that can be checked before a file is opened.
    fn check(&self, sectors: usize) -> Result<(), Fault> {
        let limit = self.room();
        if sectors == 0 || sectors > limit {
            let problem = match sectors {
                0 => Problem::Missing,
                _ => Problem::TooMany { found: Some(sectors as u64), limit },
            };
            return Err(Fault::from(problem).in_field("vanilla_proofs"));
        }
        if !is_canonical(self.randomness) {
            return Err(Fault::from(Problem::Unmasked { value: self.randomness }).in_field("randomness"));
        }
        if !is_canonical(self.prover_id) {
            return Err(Fault::from(Problem::NotCanonical { value: self.prover_id }).in_field("prover_id"));
        }
        match self.proof.kind {
            PostKind::Winning if self.partition > 0 => {
                let of = "the partition that a WinningPoSt has";
                Err(Fault::from(Problem::differs(self.partition, 0, of)).in_field("partition_index"))
            }
            _ => Ok(()),
        }
    }
}

/// The C1 of a sealed sector (`seal_commit_phase1`), of all whose data one piece
/// is made. Of a synthetic sector the cache must have the synthetic proofs.
///
/// # Errors
/// [`InputError::Sector`] where the files are not those of such a sector;
/// [`InputError::Invalid`] where its proofs are wrong.
pub fn porep(sector: &SealedSector, seal: &Seal) -> Result<C1, InputError> {
    let shape = seal.proof.shape;
    let registered: RegisteredSealProof = registered(seal.proof.number(), shape.sector_size())?;
    sector.check_files()?;
    let (comm_c, comm_r_last) = p_aux(&sector.cache)?;
    let comm_d = data_root(&sector.cache)?;
    let pre_commit = SealPreCommitPhase2Output {
        registered_proof: registered,
        comm_r: hash::comm_r(&comm_c, &comm_r_last),
        comm_d,
    };
    // Of 128 bytes of a sector 127 are data.
    let size = UnpaddedBytesAmount(shape.sector_size() / 128 * 127);
    let output = seal_commit_phase1(
        &sector.cache,
        &sector.replica,
        seal.prover_id,
        SectorId::from(sector.number),
        seal.ticket,
        seal.seed,
        pre_commit,
        &[PieceInfo { commitment: comm_d, size }],
    )
    .map_err(InputError::sector)?;
    let c1 = c1::decode(&bincode::serialize(&output).map_err(InputError::upstream)?[..])?;
    Ok(C1 { sector_number: Some(sector.number), ..c1 })
}

/// The vanilla proofs of one partition of a proof of spacetime
/// (`generate_single_vanilla_proof`). `watch` hears of each sector.
///
/// # Errors
/// [`InputError::Invalid`], before any file is opened, where there are no sectors or
/// too many, or the randomness is no scalar; and where the sectors' proofs are wrong.
/// [`InputError::Sector`] where the files are not those of such a sector;
/// [`InputError::Cancelled`].
pub fn post(of: &Spacetime, sectors: &[SealedSector], watch: &Watch<'_>) -> Result<Post, InputError> {
    of.check(sectors.len()).map_err(|fault| fault.error(&Layers::default()))?;
    let Spacetime { proof: PostProof { shape, kind, version }, prover_id, randomness, partition } = *of;
    let registered: RegisteredPoStProof = registered(of.proof.number(), shape.sector_size())?;
    let shape = PostShape::new(shape, kind);
    let (done, total) = (AtomicU64::new(0), sectors.len() as u64);
    let prove = |(i, sector): (usize, &SealedSector)| {
        let first = post::first_index(version, shape, partition, i);
        let challenge = |n: usize| {
            let index = first + n as u64;
            post::challenge(&randomness, sector.number, index, shape.sector.log_nodes).into()
        };
        let challenges: Vec<u64> = (0..shape.challenges).map(challenge).collect();
        sector.check_files()?;
        let (comm_c, comm_r_last) = p_aux(&sector.cache)?;
        let comm_r = hash::comm_r(&comm_c, &comm_r_last);
        let replica =
            PrivateReplicaInfo::new(registered, comm_r, sector.cache.clone(), sector.replica.clone());
        let number = SectorId::from(sector.number);
        let proof = filecoin_proofs_api::post::generate_single_vanilla_proof(
            registered,
            number,
            &replica,
            &challenges,
        )
        .map_err(|e| InputError::Sector(format!("sector {}: {e:#}", sector.number)))?;
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        match watch(Progress { done, total }) {
            ControlFlow::Continue(()) => Ok(proof),
            ControlFlow::Break(()) => Err(InputError::Cancelled(Cancelled)),
        }
    };
    let proofs: Vec<Vec<u8>> = sectors.par_iter().enumerate().map(prove).collect::<Result<_, _>>()?;
    let known = post::Known {
        kind: Some(kind),
        version: Some(version),
        sector_size: Some(shape.sector.sector_size()),
        prover_id: Some(prover_id),
        randomness: Some(randomness),
        partition: (kind == PostKind::Window).then_some(partition),
    };
    post::decode(&proofs.concat()[..], &known)
}

/// The vanilla proofs of an update, from the sector as it was sealed and as it
/// was updated (`generate_partition_proofs`).
///
/// # Errors
/// [`InputError::Sector`] where the files are not those of such a sector;
/// [`InputError::Invalid`] where its proofs are wrong.
pub fn snap(proof: UpdateProof, sealed: &SealedSector, updated: &SealedSector) -> Result<Snap, InputError> {
    let registered: RegisteredUpdateProof = registered(proof.number(), proof.shape.sector_size())?;
    sealed.check_files()?;
    updated.check_files()?;
    let comm_r = |sector: &SealedSector| {
        p_aux(&sector.cache).map(|(comm_c, comm_r_last)| hash::comm_r(&comm_c, &comm_r_last))
    };
    let (old, new, data) = (comm_r(sealed)?, comm_r(updated)?, data_root(&updated.cache)?);
    let proofs = filecoin_proofs_api::update::generate_partition_proofs(
        registered,
        old,
        new,
        data,
        &sealed.replica,
        &sealed.cache,
        &updated.replica,
        &updated.cache,
    );
    let proofs: Vec<Vec<u8>> = proofs.map_err(InputError::sector)?.into_iter().map(|proof| proof.0).collect();
    let known = snap::Known {
        sector_size: Some(proof.shape.sector_size()),
        comm_r_old: Some(old),
        comm_r_new: Some(new),
        comm_d_new: Some(data),
        high_bits: None,
    };
    snap::decode(&proofs.concat()[..], &known)
}

/// Upstream's name of a registered proof, by its number.
fn registered<T: DeserializeOwned>(number: Option<u64>, bytes: u64) -> Result<T, InputError> {
    let number = number.ok_or(InputError::SectorSize { bytes })?;
    // bincode writes a unit variant as its index.
    bincode::deserialize(&(number as u32).to_le_bytes()).map_err(InputError::upstream)
}

/// `comm_c` and `comm_r_last`: what the file `p_aux` of a cache holds.
fn p_aux(cache: &Path) -> Result<(Node, Node), InputError> {
    let mut bytes = Vec::new();
    let path = cache.join("p_aux");
    let file = fs_err::File::open(&path).map_err(InputError::sector)?;
    file.take(65).read_to_end(&mut bytes).map_err(InputError::sector)?;
    let both = bytes.split_first_chunk().and_then(|(comm_c, rest)| Some((*comm_c, rest.try_into().ok()?)));
    match both {
        Some((comm_c, comm_r_last)) if hash::scalar(&comm_c).and(hash::scalar(&comm_r_last)).is_some() => {
            Ok((comm_c, comm_r_last))
        }
        _ => Err(InputError::Sector(format!("{}: not two commitments of 32 bytes", path.display()))),
    }
}

/// The root of `TreeD`: the last node of its file in a cache.
fn data_root(cache: &Path) -> Result<Node, InputError> {
    let mut root = Node::default();
    let mut file = fs_err::File::open(cache.join("sc-02-data-tree-d.dat")).map_err(InputError::sector)?;
    file.seek(SeekFrom::End(-32)).and_then(|_| file.read_exact(&mut root)).map_err(InputError::sector)?;
    Ok(root)
}
