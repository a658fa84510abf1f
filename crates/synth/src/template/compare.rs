//! Whether a template is its circuit's, row by row.

use std::ops::ControlFlow;

use bellpepper_core::{Index, LinearCombination, SynthesisError, Variable};
use cuzk_pipeline_core::Cancelled;
use cuzk_values::{Bits, Densities, Row, Rows, Scalar};
use ff::Field;

use super::{TemplateError, row_path};
use crate::record::is_wide;
use crate::system::{Name, Product, System, Value, synthesize};
use crate::{FilecoinCircuit, Recording, SynthError, WitnessSize};

/// Called between rows with how many are done, of how many. `Break` stops the
/// work, which then ends with [`TemplateError::Cancelled`].
pub type Watch<'a> = dyn FnMut(usize, usize) -> ControlFlow<()> + Send + 'a;

/// Rows between two calls of a [`Watch`].
const ROWS: usize = 1 << 16;

/// Synthesises upstream's whole circuit and compares every row with the template's,
/// then the numbers of variables and rows, and the densities.
///
/// A minute or more of a core for the circuits of 32 GiB sectors. No more memory
/// is taken than for the densities, two bits a variable, and what upstream's
/// circuit holds.
///
/// # Errors
/// [`TemplateError::Row`] with the first row that differs, and where it stands in
/// upstream's circuit; [`TemplateError::Total`]; [`TemplateError::Density`];
/// [`TemplateError::Cancelled`]; [`TemplateError::Synth`].
pub fn compare(
    circuit: FilecoinCircuit,
    recording: &Recording,
    watch: &mut Watch<'_>,
) -> Result<(), TemplateError> {
    let r1cs = &recording.r1cs;
    let rows = r1cs.constraints();
    let mut comparison = Comparison {
        values: r1cs.coefficients.values(),
        inputs: r1cs.inputs as u32,
        rows: [&r1cs.a, &r1cs.b, &r1cs.c].map(|matrix| matrix.rows_in(0..rows)),
        watch,
        stop: None,
        done: 0,
        size: WitnessSize { inputs: 1, ..WitnessSize::NONE },
        densities: Densities { b_inputs: Bits::zeros(1), ..Densities::default() },
    };
    let synthesized = synthesize(circuit.blank(), &mut comparison);
    match comparison.stop {
        Some(Stop::Cancelled) => return Err(Cancelled.into()),
        Some(Stop::Row { row, matrix }) => {
            let path = row_path(circuit, r1cs, row)?;
            return Err(TemplateError::Row { row, matrix, path });
        }
        None => synthesized.map_err(SynthError::from)?,
    }
    comparison.totals(recording)
}

struct Comparison<'a> {
    /// The template's coefficients.
    values: &'a [Scalar],
    /// The template's inputs.
    inputs: u32,
    /// The template's rows that are to come.
    rows: [Rows<'a>; 3],
    watch: &'a mut Watch<'a>,
    stop: Option<Stop>,
    /// Rows that are done.
    done: usize,
    size: WitnessSize,
    densities: Densities,
}

/// Why a synthesis need not go on.
enum Stop {
    Cancelled,
    Row { row: usize, matrix: char },
}

impl Comparison<'_> {
    fn go_on(&self) -> Result<(), SynthesisError> {
        // Any error ends the synthesis; the caller looks at the reason.
        if self.stop.is_none() { Ok(()) } else { Err(SynthesisError::Unsatisfiable) }
    }

    /// Compares the next row of each matrix.
    fn row(&mut self, lcs: [&LinearCombination<Scalar>; 3]) {
        let row = self.done;
        self.done += 1;
        let (values, inputs) = (self.values, self.inputs);
        for ((matrix, rows), lc) in ['A', 'B', 'C'].into_iter().zip(&mut self.rows).zip(lcs) {
            let same = rows.next().is_some_and(|row| is_same(row, lc, values, inputs));
            if !same {
                self.stop = Some(Stop::Row { row, matrix });
                return;
            }
        }
        let all = self.done + self.rows[0].len();
        if self.done.is_multiple_of(ROWS) && (self.watch)(self.done, all).is_break() {
            self.stop = Some(Stop::Cancelled);
        }
    }

    /// Compares what is known at the end, when the rows of the inputs are left.
    fn totals(mut self, recording: &Recording) -> Result<(), TemplateError> {
        let (r1cs, size) = (&recording.r1cs, recording.size);
        for (what, template, circuit) in [
            ("inputs", size.inputs, self.size.inputs),
            ("auxiliary variables", size.aux, self.size.aux),
            ("variables that may be neither 0 nor 1", size.wide, self.size.wide),
            ("constraints", r1cs.constraints(), self.done + self.size.inputs),
        ] {
            if template != circuit {
                return Err(TemplateError::Total { what, template, circuit });
            }
        }
        let one = Scalar::ONE;
        for input in 0..size.inputs {
            let of_input = LinearCombination::from_coeff(Variable::new_unchecked(Index::Input(input)), one);
            self.row([&of_input, &LinearCombination::zero(), &LinearCombination::zero()]);
            if let Some(Stop::Row { row, matrix }) = self.stop {
                return Err(TemplateError::Row { row, matrix, path: format!("input {input} * 0 = 0") });
            }
        }
        let (template, circuit) = (&r1cs.densities, &self.densities);
        for (what, matrix, template, circuit) in [
            ("auxiliary variable", 'A', &template.a_aux, &circuit.a_aux),
            ("input", 'B', &template.b_inputs, &circuit.b_inputs),
            ("auxiliary variable", 'B', &template.b_aux, &circuit.b_aux),
        ] {
            if template != circuit {
                let differs = |index: &usize| template.get(*index) != circuit.get(*index);
                let index = (0..template.len().max(circuit.len())).find(differs).unwrap_or_default();
                return Err(TemplateError::Density { what, index, matrix });
            }
        }
        Ok(())
    }
}

/// Whether a row of the template has a linear combination's terms.
#[inline]
fn is_same(mut row: Row<'_>, lc: &LinearCombination<Scalar>, values: &[Scalar], inputs: u32) -> bool {
    let of_inputs = lc.iter_inputs().map(|(index, coefficient)| (*index as u32, coefficient));
    let of_aux = lc.iter_aux().map(|(index, coefficient)| (inputs + *index as u32, coefficient));
    let mut terms = of_inputs.chain(of_aux).filter(|(_, coefficient)| !coefficient.is_zero_vartime());
    let same = terms.all(|(column, coefficient)| {
        row.next().is_some_and(|(at, index)| at == column && values[index as usize] == *coefficient)
    });
    same && row.next().is_none()
}

impl System for Comparison<'_> {
    fn alloc(&mut self, name: Name<'_>, _: Value<'_>) -> Result<Variable, SynthesisError> {
        self.go_on()?;
        self.size.wide += usize::from(is_wide(&name.get()));
        self.densities.a_aux.push(false);
        self.densities.b_aux.push(false);
        self.size.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.size.aux - 1)))
    }

    fn alloc_input(&mut self, _: Name<'_>, _: Value<'_>) -> Result<Variable, SynthesisError> {
        self.go_on()?;
        self.densities.b_inputs.push(false);
        self.size.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(self.size.inputs - 1)))
    }

    fn enforce(&mut self, _: Name<'_>, product: Product<'_>) {
        if self.stop.is_some() {
            return;
        }
        let [a, b, c] = product.get();
        let used =
            |(index, coefficient): (&usize, &Scalar)| (!coefficient.is_zero_vartime()).then_some(*index);
        let Densities { a_aux, b_inputs, b_aux } = &mut self.densities;
        a.iter_aux().filter_map(used).for_each(|index| a_aux.set(index));
        b.iter_inputs().filter_map(used).for_each(|index| b_inputs.set(index));
        b.iter_aux().filter_map(used).for_each(|index| b_aux.set(index));
        self.row([&a, &b, &c]);
    }
}
