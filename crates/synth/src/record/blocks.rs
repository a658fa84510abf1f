//! Recording circuits whose sub-circuits each use other variables of the header.

use std::collections::BTreeMap;

use bellpepper_core::{Circuit, Index, SynthesisError, Variable};
use cuzk_values::Scalar;

use super::recorder::{AUX, Mark, Recorder, terms};
use super::{Recording, finish};
use crate::SynthError;
use crate::system::{Name, Product, System, Value, synthesize};

/// Records a circuit that is a header and then equal sub-circuits, which may
/// each use other variables of the header: its repeated rows are stored once,
/// with arguments ([`Repeat::bound`](cuzk_values::Repeat)).
///
/// `block_of` gives the number of the sub-circuit, from 0 on, that an outermost
/// namespace of this name belongs to; those of the header belong to none.
///
/// The circuit is synthesised whole. The header and the first sub-circuit are
/// recorded; of the others only the rows are looked at in which the first one
/// uses variables of the header. A variable that it uses must stand in all its places for one
/// variable of the header in each of the others. That the sub-circuits are equal otherwise is
/// presumed.
///
/// # Errors
/// As [`record`](super::record); [`SynthError::Unequal`] for a sub-circuit that
/// has not the size of the first, or does not use the header in its places.
pub fn record_blocks(
    circuit: impl Circuit<Scalar>,
    block_of: fn(&str) -> Option<u32>,
) -> Result<Recording, SynthError> {
    let mut blocks = Blocks {
        block_of,
        recorder: Recorder::start(),
        depth: 0,
        block: None,
        header: Mark::default(),
        copies: None,
        unequal: None,
    };
    let synthesized = synthesize(circuit, &mut blocks);
    blocks.recorder.fits()?;
    if blocks.unequal.is_none() {
        synthesized?;
        blocks.leave_block();
    }
    if let Some((block, what)) = blocks.unequal {
        return Err(SynthError::Unequal { block, what });
    }
    let end = blocks.recorder.mark();
    let Some(block) = blocks.block else {
        return finish(blocks.recorder, [end; 2], 1, &[]);
    };
    let arguments = blocks.copies.map(Copies::arguments).unwrap_or_default();
    finish(blocks.recorder, [blocks.header, end], block + 1, &arguments)
}

/// A variable of the header in whose place each copy has another.
pub(super) struct Argument {
    /// The first copy's, as recorded.
    pub(super) first: u32,
    /// Those of all copies, as recorded.
    pub(super) columns: Vec<u32>,
}

struct Blocks {
    block_of: fn(&str) -> Option<u32>,
    recorder: Recorder,
    /// How many namespaces are open.
    depth: u32,
    /// The sub-circuit that is being synthesised.
    block: Option<u32>,
    /// Where the first sub-circuit starts.
    header: Mark,
    copies: Option<Copies>,
    unequal: Option<(u32, &'static str)>,
}

/// How the sub-circuits after the first use the header.
struct Copies {
    /// The size of each.
    size: Mark,
    /// The rows of the first sub-circuit in which it uses the header, and the
    /// header's columns there. ONE does not count.
    uses: Vec<(u32, [Vec<u32>; 3])>,
    /// How much of the current sub-circuit has been seen.
    seen: Mark,
    /// The next of `uses`.
    next: usize,
    /// For each column of the header that the first sub-circuit uses, what the
    /// sub-circuits up to the current one have in its place.
    columns: BTreeMap<u32, Vec<u32>>,
}

impl Copies {
    /// Learns from a recorder that has recorded the header and the first sub-circuit.
    fn new(recorder: &mut Recorder, header: Mark) -> Self {
        let end = recorder.mark();
        let size = Mark {
            inputs: end.inputs - header.inputs,
            aux: end.aux - header.aux,
            wide: 0,
            rows: end.rows - header.rows,
        };
        let matrices = recorder.matrices();
        let (mut uses, mut columns) = (Vec::new(), BTreeMap::new());
        for row in 0..size.rows {
            let of_header = matrices.each_ref().map(|matrix| {
                let columns = matrix.columns_of((header.rows + row) as usize).iter().copied();
                columns.filter(|column| is_shared(*column, header)).collect::<Vec<_>>()
            });
            if of_header.iter().any(|columns| !columns.is_empty()) {
                columns.extend(of_header.iter().flatten().map(|column| (*column, vec![*column])));
                uses.push((row, of_header));
            }
        }
        Self { size, uses, seen: Mark::default(), next: 0, columns }
    }

    fn enter_block(&mut self) {
        (self.seen, self.next) = (Mark::default(), 0);
    }

    /// What makes sub-circuit `block` another one than the first, once it has been seen whole.
    fn leave_block(&mut self, block: u32) -> Result<(), &'static str> {
        if self.seen != self.size {
            return Err("another number of variables or rows");
        }
        let complete = |columns: &Vec<u32>| columns.len() == block as usize + 1;
        if self.columns.values().all(complete) { Ok(()) } else { Err("variables of the header missing") }
    }

    /// Compares a row with the first sub-circuit's.
    fn row(&mut self, block: u32, header: Mark, rows: [Vec<u32>; 3]) -> Result<(), &'static str> {
        let firsts = &self.uses[self.next].1;
        self.next += 1;
        for (first, row) in firsts.iter().zip(rows) {
            let row: Vec<u32> = row.into_iter().filter(|column| is_shared(*column, header)).collect();
            if row.len() != first.len() {
                return Err("a row with another number of the header's variables");
            }
            for (first, column) in first.iter().zip(row) {
                let columns = self.columns.entry(*first).or_default();
                match columns.get(block as usize) {
                    None => columns.push(column),
                    Some(known) if *known == column => {}
                    Some(_) => return Err("two variables in the place of one"),
                }
            }
        }
        Ok(())
    }

    fn arguments(self) -> Vec<Argument> {
        let arguments = self.columns.into_iter().map(|(first, columns)| Argument { first, columns });
        arguments.filter(|Argument { first, columns }| columns.iter().any(|column| column != first)).collect()
    }
}

/// Whether a column is one of the header's variables, ONE not counted.
fn is_shared(column: u32, header: Mark) -> bool {
    (1..header.inputs).contains(&column) || (AUX..AUX + header.aux).contains(&column)
}

impl Blocks {
    /// Whether the current sub-circuit is a copy that is not recorded.
    fn copy(&mut self) -> Option<(u32, &mut Copies)> {
        self.block.filter(|block| *block > 0).zip(self.copies.as_mut())
    }

    fn namespace(&mut self, name: &str) {
        let block = (self.block_of)(name);
        if block == self.block {
            return;
        }
        let expected = self.block.map_or(0, |block| block + 1);
        self.leave_block();
        match block {
            Some(block) if block == expected => self.block = Some(block),
            _ => self.unequal = self.unequal.or(Some((expected, "its namespace out of order"))),
        }
        match (block, &mut self.copies) {
            (Some(0), _) => self.header = self.recorder.mark(),
            (Some(_), Some(copies)) => copies.enter_block(),
            _ => {}
        }
    }

    fn leave_block(&mut self) {
        if self.block == Some(0) {
            self.copies = Some(Copies::new(&mut self.recorder, self.header));
        } else if let Some((block, copies)) = self.copy()
            && let Err(what) = copies.leave_block(block)
        {
            self.unequal = self.unequal.or(Some((block, what)));
        }
    }

    fn unequal(&self) -> Result<(), SynthesisError> {
        // Any error ends the synthesis; the caller looks at the reason.
        if self.unequal.is_some() { Err(SynthesisError::Unsatisfiable) } else { Ok(()) }
    }
}

impl System for Blocks {
    fn alloc(&mut self, name: Name<'_>, value: Value<'_>) -> Result<Variable, SynthesisError> {
        self.unequal()?;
        let first = self.header.aux as usize;
        match self.copy() {
            None => self.recorder.alloc(name, value),
            Some((_, copies)) => {
                // All under one index, so that linear combinations stay short.
                copies.seen.aux += 1;
                Ok(Variable::new_unchecked(Index::Aux(first)))
            }
        }
    }

    fn alloc_input(&mut self, name: Name<'_>, value: Value<'_>) -> Result<Variable, SynthesisError> {
        self.unequal()?;
        let first = self.header.inputs as usize;
        match self.copy() {
            None => self.recorder.alloc_input(name, value),
            Some((_, copies)) => {
                copies.seen.inputs += 1;
                Ok(Variable::new_unchecked(Index::Input(first)))
            }
        }
    }

    fn enforce(&mut self, name: Name<'_>, product: Product<'_>) {
        let header = self.header;
        let Some((block, copies)) = self.copy() else {
            return self.recorder.enforce(name, product);
        };
        let row = copies.seen.rows;
        copies.seen.rows += 1;
        if copies.uses.get(copies.next).is_some_and(|(used, _)| *used == row) {
            let rows = product.get().each_ref().map(|lc| terms(lc).map(|(column, _)| column).collect());
            if let Err(what) = copies.row(block, header, rows) {
                self.unequal = self.unequal.or(Some((block, what)));
            }
        }
    }

    fn push_namespace(&mut self, name: Name<'_>) {
        if self.depth == 0 {
            self.namespace(&name.get());
        }
        self.depth += 1;
    }

    fn pop_namespace(&mut self) {
        self.depth -= 1;
    }
}
