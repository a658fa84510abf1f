//! Parameters for tests: whoever makes them can forge proofs.

mod fixed_base;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod qap;
mod trapdoor;
mod write;

use std::io::Write;
use std::path::{Path, PathBuf};

use blstrs::{G1Affine, Scalar};
use cuzk_values::{R1cs, VerifyingKey};
use ff::{Field, PrimeField};
use group::Curve;
use group::prime::PrimeCurveAffine;

use crate::format::{Layout, Query};
use crate::{Insecure, Meta, ParameterSet, Point, SrsError, Watch, encode_key};
use fixed_base::FixedBase;
use qap::{Evaluations, Secrets, evaluate};
use write::{Points, Target};

pub use trapdoor::Trapdoor;

/// Where test parameters go, and what is written beside them.
#[derive(Debug, Clone)]
pub struct Setup<'a> {
    /// The folder, which is made if it is not there.
    pub folder: &'a Path,
    /// The circuit's stem, as [`ParameterSet`] has it.
    pub stem: &'a str,
    /// Bytes of the sectors that the circuit proves, for `.meta`.
    pub sector_size: u64,
    /// Writes the names that upstream's tools read, instead of `insecure-test-` ones.
    /// The `.meta` file says that they are insecure all the same.
    pub official_names: bool,
    /// Replaces files that are there.
    pub replace: bool,
}

/// What [`Setup::run`] made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The parameter file.
    pub params: PathBuf,
    /// The verifying key.
    pub vk: PathBuf,
    /// The sector size, and the warning.
    pub meta: PathBuf,
    /// Bytes of the parameter file.
    pub bytes: u64,
}

impl Setup<'_> {
    /// Makes the parameters of a circuit, insecure by nature: for tests.
    ///
    /// Runs on the caller's rayon pool, within a few times the memory of the circuit's
    /// variables. Files appear under their names when all are complete and on disk,
    /// and not at all otherwise.
    ///
    /// # Errors
    /// [`SrsError::Exists`], [`SrsError::Io`] (the disk is full, before anything is
    /// computed), [`SrsError::Circuit`], [`SrsError::TooLarge`],
    /// [`SrsError::Trapdoor`], [`SrsError::Cancelled`].
    pub fn run(&self, r1cs: &R1cs, trapdoor: &Trapdoor, watch: &mut Watch<'_>) -> Result<Made, SrsError> {
        let names = if self.official_names { ParameterSet::official } else { ParameterSet::insecure_test };
        let set = names(self.stem)?;
        let bytes = layout(r1cs)?.file_bytes();
        std::fs::create_dir_all(self.folder).map_err(SrsError::io(self.folder, "create"))?;
        let open = |name: String| Target::create(self.folder, &name, self.replace);
        let (mut params, mut vk, mut meta) = (open(set.params())?, open(set.vk())?, open(set.meta())?);
        params.reserve(bytes)?;
        let key = write_parameters(r1cs, trapdoor, &mut params, watch).map_err(|error| match error {
            SrsError::Write(source) => SrsError::io(params.path(), "write")(source),
            error => error,
        })?;
        vk.write_all(&encode_key(&key)).map_err(SrsError::io(vk.path(), "write"))?;
        meta.write_all(&self.meta(trapdoor)?).map_err(SrsError::io(meta.path(), "write"))?;
        let [vk, meta, params] = Target::publish([vk, meta, params])?;
        Ok(Made { params, vk, meta, bytes })
    }

    fn meta(&self, trapdoor: &Trapdoor) -> Result<Vec<u8>, SrsError> {
        let insecure = Insecure {
            warning: "TEST PARAMETERS: whoever made them can forge proofs".into(),
            seed: trapdoor.seed,
            made_by: concat!("cuzk ", env!("CARGO_PKG_VERSION")).into(),
        };
        let meta = Meta { sector_size: self.sector_size, insecure: Some(insecure) };
        serde_json::to_vec(&meta).map_err(|source| SrsError::Json { path: self.folder.into(), source })
    }
}

fn layout(r1cs: &R1cs) -> Result<Layout, SrsError> {
    let rows = r1cs.constraints() as u64;
    for (what, matrix) in [("constraints of B", &r1cs.b), ("constraints of C", &r1cs.c)] {
        if matrix.rows() as u64 != rows {
            return Err(SrsError::TooLarge { what, count: matrix.rows() as u64, limit: rows });
        }
    }
    // bellperson's domain is smaller than the field's largest.
    let limit = 1 << (Scalar::S - 1);
    if rows > limit {
        return Err(SrsError::TooLarge { what: "constraints", count: rows, limit });
    }
    let lengths = r1cs.query_lengths();
    let most = lengths.inputs.max(lengths.l).max(lengths.a).max(lengths.b) as u64;
    if most > u32::MAX.into() {
        return Err(SrsError::TooLarge { what: "points", count: most, limit: u32::MAX.into() });
    }
    Ok(Layout::new(&lengths))
}

/// Writes the parameters of a circuit, as bellperson 0.27's `generate_parameters` has
/// them for the same secrets and generators, byte for byte; returns the verifying key.
///
/// # Errors
/// As [`Setup::run`], and [`SrsError::Write`].
pub fn write_parameters(
    r1cs: &R1cs,
    trapdoor: &Trapdoor,
    to: &mut impl Write,
    watch: &mut Watch<'_>,
) -> Result<VerifyingKey, SrsError> {
    let layout = layout(r1cs)?;
    let (gamma_inverse, delta_inverse) = trapdoor.inverses()?;
    let secrets = Secrets { trapdoor, gamma_inverse, delta_inverse };
    let total = layout.file_bytes();
    let Evaluations { mut a, mut b, mut ext } = evaluate(r1cs, &secrets, total, watch)?;

    let lengths = *layout.lengths();
    let g1 = fixed_base::g1(&trapdoor.g1, lengths.h + lengths.l + lengths.a + lengths.b);
    let key = verifying_key(trapdoor, g1.as_ref(), &ext[..r1cs.inputs]);
    let mut points = Points { to, watch, total, done: 0 };
    points.bytes(&encode_key(&key))?;

    // h_i = tau^i (tau^n - 1) / delta
    let tau = trapdoor.tau;
    let first = (tau.pow_vartime([1_u64 << r1cs.log_domain()]) - Scalar::ONE) * delta_inverse;
    points.query(Query::H, g1.as_ref(), lengths.h, |range| {
        let start = first * tau.pow_vartime([range.start as u64]);
        std::iter::successors(Some(start), |power| Some(power * tau)).take(range.len()).collect()
    })?;
    ext.drain(..r1cs.inputs);
    points.scalars(Query::L, g1.as_ref(), &ext)?;
    drop(ext);
    a.retain(|u| !u.is_zero_vartime());
    points.scalars(Query::A, g1.as_ref(), &a)?;
    drop(a);
    b.retain(|v| !v.is_zero_vartime());
    points.scalars(Query::BG1, g1.as_ref(), &b)?;
    drop(g1);
    let g2 = fixed_base::g2(&trapdoor.g2, lengths.b);
    points.scalars(Query::BG2, g2.as_ref(), &b)?;
    points.finish()?;
    Ok(key)
}

fn verifying_key(trapdoor: &Trapdoor, g1: &dyn FixedBase, ic: &[Scalar]) -> VerifyingKey {
    let mut bytes = vec![0; ic.len() * G1Affine::BYTES];
    g1.multiply(ic, &mut bytes);
    let one = |secret: &Scalar| (trapdoor.g1.to_curve() * secret).to_affine();
    let two = |secret: &Scalar| (trapdoor.g2.to_curve() * secret).to_affine();
    VerifyingKey {
        alpha_g1: one(&trapdoor.alpha),
        beta_g1: one(&trapdoor.beta),
        beta_g2: two(&trapdoor.beta),
        gamma_g2: two(&trapdoor.gamma),
        delta_g1: one(&trapdoor.delta),
        delta_g2: two(&trapdoor.delta),
        ic: bytes.chunks_exact(G1Affine::BYTES).filter_map(|bytes| G1Affine::decode(bytes).ok()).collect(),
    }
}
