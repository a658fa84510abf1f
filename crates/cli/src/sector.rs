//! A C1 from a file, checked against what the user says it is.

use std::path::Path;

use anyhow::Context as _;
use cuzk_synth::c1::{self, Identity};
use cuzk_synth::{PorepCircuit, SectorShape, Statement};
use cuzk_values::{C1, Scalar};

use crate::args::SectorCheck;
use crate::failure::{Classify as _, Failure};
use crate::printer::Printer;

/// A C1, and how it came.
pub(crate) struct Sector {
    pub(crate) c1: C1,
    pub(crate) shape: SectorShape,
}

/// Reads a C1 in any encoding, and checks it.
pub(crate) fn read(printer: Printer, path: &Path, known: &SectorCheck) -> Result<Sector, Failure> {
    let here = || path.display().to_string();
    let file = fs_err::File::open(path).or_input()?;
    let c1 = c1::decode(file).with_context(here).or_input()?;
    let shape = c1::shape_of(&c1).with_context(here).or_input()?;
    let identity = Identity {
        prover_id: known.miner_addr.map(|miner| c1::prover_id(miner.0)),
        sector_number: known.sector_number,
        porep_id: None,
    };
    let checked = c1::check_identity(&c1, &identity).with_context(here).or_input()?;
    if known.miner_addr.is_some() && !checked {
        printer.warn("warning: this C1 does not say how it was sealed: its miner could not be checked");
    }
    Ok(Sector { c1, shape })
}

/// As [`read`], and follows every path in its trees, so that no proof is begun that
/// cannot verify.
pub(crate) fn read_provable(printer: Printer, path: &Path, known: &SectorCheck) -> Result<Sector, Failure> {
    let sector = read(printer, path, known)?;
    c1::check_trees(&sector.c1).with_context(|| path.display().to_string()).or_input()?;
    Ok(sector)
}

impl Sector {
    /// The circuit that the sector's proofs are of.
    pub(crate) fn circuit(&self) -> Result<PorepCircuit, Failure> {
        circuit(self.shape)
    }

    /// The public inputs of each partition, ONE first.
    pub(crate) fn public_inputs(&self) -> Result<Vec<Vec<Scalar>>, Failure> {
        let circuit = self.circuit()?;
        let partitions = 0..self.c1.partitions.len();
        partitions.map(|i| circuit.public_inputs(&self.c1, i)).collect::<Result<_, _>>().or_input()
    }
}

/// The PoRep circuit of a sector size.
pub(crate) fn circuit(shape: SectorShape) -> Result<PorepCircuit, Failure> {
    PorepCircuit::of_size(shape.sector_size()).with_context(|| format!("no circuit for {shape}")).or_bug()
}
