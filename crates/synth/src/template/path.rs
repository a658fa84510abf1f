//! Where in upstream's circuit a row stands.

use bellpepper_core::{Index, SynthesisError, Variable};
use cuzk_values::R1cs;

use crate::system::{Name, Product, System, Value, synthesize};
use crate::{FilecoinCircuit, SynthError};

/// The namespaces, and the name, of a row of a circuit's template in upstream's
/// circuit, as `challenge_3/labeling_proof_1/…`.
///
/// Upstream's circuit is synthesised up to the row, or up to the same row of the
/// first of equal sub-circuits: a second or two of a core.
///
/// # Errors
/// [`SynthError::Synthesis`], which no circuit is known to cause.
///
/// # Panics
/// If there is no such row.
pub fn row_path(circuit: FilecoinCircuit, r1cs: &R1cs, row: usize) -> Result<String, SynthError> {
    let rows = r1cs.constraints();
    assert!(row < rows, "row {row} of {rows}");
    if let Some(input) = (row + r1cs.inputs).checked_sub(rows) {
        return Ok(format!("input {input} * 0 = 0"));
    }
    let (stored, copy) = r1cs.a.repeat().stored(row);
    let mut finder = Finder { namespaces: Vec::new(), left: stored, found: None };
    let synthesized = synthesize(circuit.blank_beginning(), &mut finder);
    match (finder.found, synthesized) {
        (Some(path), _) => {
            let [first, name] = circuit.block_names(copy);
            Ok(path.replacen(&first, &name, 1))
        }
        (None, Err(error)) => Err(error.into()),
        (None, Ok(())) => {
            Err(SynthError::Foreign { what: "constraints at the least", found: rows, expected: row })
        }
    }
}

/// Follows the namespaces up to a row.
struct Finder {
    namespaces: Vec<String>,
    /// Rows that come before.
    left: usize,
    found: Option<String>,
}

impl Finder {
    fn go_on(&self) -> Result<(), SynthesisError> {
        // Any error ends the synthesis; the caller looks at what was found.
        if self.found.is_none() { Ok(()) } else { Err(SynthesisError::Unsatisfiable) }
    }
}

impl System for Finder {
    fn alloc(&mut self, _: Name<'_>, _: Value<'_>) -> Result<Variable, SynthesisError> {
        self.go_on()?;
        // All under one index, so that linear combinations stay short.
        Ok(Variable::new_unchecked(Index::Aux(0)))
    }

    fn alloc_input(&mut self, _: Name<'_>, _: Value<'_>) -> Result<Variable, SynthesisError> {
        self.go_on()?;
        Ok(Variable::new_unchecked(Index::Input(1)))
    }

    fn enforce(&mut self, name: Name<'_>, _: Product<'_>) {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None if self.found.is_none() => {
                let name = name.get();
                let names = self.namespaces.iter().chain([&name]).map(String::as_str);
                self.found = Some(names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join("/"));
            }
            None => {}
        }
    }

    fn push_namespace(&mut self, name: Name<'_>) {
        self.namespaces.push(name.get());
    }

    fn pop_namespace(&mut self) {
        self.namespaces.pop();
    }
}
