//! All of Filecoin's circuits.

use std::fmt;
use std::str::FromStr;

use cuzk_values::PostKind;

use super::{Blank, PorepCircuit, PostCircuit, SnapCircuit};
use crate::{Recording, SectorShape, SynthError};

/// One of Filecoin's circuits, as `porep-32GiB`, `window-post-32GiB`,
/// `winning-post-32GiB` or `snap-32GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilecoinCircuit {
    /// A partition of a PoRep.
    Porep(PorepCircuit),
    /// A partition of a WindowPoSt, or a WinningPoSt.
    Post(PostCircuit),
    /// A partition of an update.
    Snap(SnapCircuit),
}

/// What is proved, as it stands in a circuit's name.
#[derive(Debug, Clone, Copy)]
enum Statement {
    Porep,
    Post(PostKind),
    Snap,
}

impl Statement {
    const ALL: [(&str, Self); 4] = [
        ("porep", Self::Porep),
        ("window-post", Self::Post(PostKind::Window)),
        ("winning-post", Self::Post(PostKind::Winning)),
        ("snap", Self::Snap),
    ];

    fn of_shape(self, shape: SectorShape) -> Option<FilecoinCircuit> {
        let size = shape.sector_size();
        match self {
            Self::Porep => PorepCircuit::of_size(size).map(FilecoinCircuit::Porep),
            Self::Post(kind) => PostCircuit::of_size(kind, size).map(FilecoinCircuit::Post),
            Self::Snap => SnapCircuit::of_size(size).map(FilecoinCircuit::Snap),
        }
    }
}

impl FilecoinCircuit {
    /// All circuits: by statement, then by sector size.
    pub fn all() -> impl Iterator<Item = Self> {
        let shapes = |statement: Statement| {
            SectorShape::ALL.into_iter().filter_map(move |shape| statement.of_shape(shape))
        };
        Statement::ALL.into_iter().flat_map(move |(_, statement)| shapes(statement))
    }

    /// The sectors' shape.
    pub fn shape(&self) -> SectorShape {
        match self {
            Self::Porep(circuit) => circuit.shape(),
            Self::Post(circuit) => circuit.shape(),
            Self::Snap(circuit) => circuit.shape(),
        }
    }

    /// How many equal sub-circuits it has, and what they are of: `challenges` or `sectors`.
    pub fn blocks(&self) -> (usize, &'static str) {
        match self {
            Self::Porep(circuit) => (circuit.shape().challenges, "challenges"),
            Self::Post(circuit) => (circuit.sectors(), "sectors"),
            Self::Snap(circuit) => (circuit.challenges(), "challenges"),
        }
    }

    /// The stem of the names of the circuit's parameter files.
    ///
    /// # Errors
    /// [`SynthError::Upstream`], which no circuit is known to cause.
    pub fn parameter_id(&self) -> Result<String, SynthError> {
        match self {
            Self::Porep(circuit) => circuit.parameter_id(),
            Self::Post(circuit) => Ok(circuit.parameter_id()),
            Self::Snap(circuit) => Ok(circuit.parameter_id()),
        }
    }

    /// The circuit's constraints, what repeats stored once.
    ///
    /// # Errors
    /// [`SynthError`], which no circuit is known to cause.
    pub fn record(&self) -> Result<Recording, SynthError> {
        match self {
            Self::Porep(circuit) => circuit.record(),
            Self::Post(circuit) => circuit.record(),
            Self::Snap(circuit) => circuit.record(),
        }
    }

    /// Upstream's whole circuit, without values.
    pub fn blank(&self) -> Blank {
        let (blocks, _) = self.blocks();
        self.blank_of(blocks)
    }

    /// Upstream's circuit without values, at the least as far as the end of its
    /// first sub-circuit.
    pub(crate) fn blank_beginning(&self) -> Blank {
        self.blank_of(1)
    }

    fn blank_of(&self, blocks: usize) -> Blank {
        match self {
            Self::Porep(circuit) => Blank::porep(circuit.shape(), blocks),
            Self::Post(circuit) => Blank::post(*circuit, blocks),
            Self::Snap(circuit) => Blank::snap(*circuit),
        }
    }

    /// What upstream calls the first sub-circuit's namespaces, and those of `block`.
    pub(crate) fn block_names(&self, block: u32) -> [String; 2] {
        let name = |block| match self {
            Self::Porep(_) => format!("challenge_{block}/"),
            Self::Post(_) => format!("sector_{block}/"),
            Self::Snap(_) => format!("(c_index={block}"),
        };
        [name(0), name(block)]
    }

    /// What it proves: `porep`, `window-post`, `winning-post` or `snap`.
    pub fn statement(&self) -> &'static str {
        match self {
            Self::Porep(_) => "porep",
            Self::Post(circuit) => match circuit.kind() {
                PostKind::Window => "window-post",
                PostKind::Winning => "winning-post",
            },
            Self::Snap(_) => "snap",
        }
    }
}

impl fmt::Display for FilecoinCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}-{}", self.statement(), self.shape()))
    }
}

/// A text that names no circuit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no circuit: write porep-32GiB, window-post-32GiB, winning-post-32GiB or snap-32GiB")]
pub struct ParseCircuitError(String);

impl FromStr for FilecoinCircuit {
    type Err = ParseCircuitError;

    fn from_str(text: &str) -> Result<Self, ParseCircuitError> {
        let known = Self::all().find(|circuit| circuit.to_string().eq_ignore_ascii_case(text));
        known.ok_or_else(|| ParseCircuitError(text.to_owned()))
    }
}

impl From<PorepCircuit> for FilecoinCircuit {
    fn from(circuit: PorepCircuit) -> Self {
        Self::Porep(circuit)
    }
}

impl From<PostCircuit> for FilecoinCircuit {
    fn from(circuit: PostCircuit) -> Self {
        Self::Post(circuit)
    }
}

impl From<SnapCircuit> for FilecoinCircuit {
    fn from(circuit: SnapCircuit) -> Self {
        Self::Snap(circuit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circuit_is_known_by_its_name() {
        assert_eq!(FilecoinCircuit::all().count(), 39);
        for circuit in FilecoinCircuit::all() {
            assert_eq!(circuit.to_string().parse(), Ok(circuit));
        }
        assert_eq!("Window-PoSt-64gib".parse::<FilecoinCircuit>().unwrap().blocks(), (2300, "sectors"));
        for text in ["", "porep", "porep-1TiB", "snap-1GiB", "post-2KiB", "porep-2KiB "] {
            assert!(text.parse::<FilecoinCircuit>().is_err(), "{text}");
        }
    }
}
