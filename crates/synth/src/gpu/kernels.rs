//! The kernel family `eval`, and what its kernels do, as functions on the host.

use blst::blst_fr;
use cuzk_gpu_backend::host::HostArg;
use cuzk_gpu_backend::{Family, Grid, Param, Signature};
use cuzk_values::{Repeat, Scalar};
use ff::Field;

use super::slices::{Entry, LANES, NONE, Slice};

/// Bytes of a scalar.
pub(super) const SCALAR: u64 = 32;

const U32S: Param = Param::Read(4);
const SCALARS: Param = Param::Read(SCALAR);

/// The kernels of this crate; `kernels/eval.cu` has the same for NVIDIA's devices.
///
/// | kernel | takes | does |
/// |---|---|---|
/// | `eval_places` | start, period, how many are before the run; run; places | the positions of [`Places`](cuzk_values::Places)' run |
/// | `eval_columns` | inputs, ones, places; blocks, ranks | a compact witness as columns: of 32 columns a word of bits that are 1 and one of those that are wide, and how many auxiliary variables before are wide, less its own inputs that are |
/// | `eval_rows` | run, repeated slices; slices, rows, entries, arguments; coefficients, those that are small, small integers; blocks, ranks, inputs, wide values; out | `out[i] = Σ coefficient · column` over the entries of row `i` |
pub static FAMILY: Family = Family::new(
    "eval",
    &[
        Signature {
            name: "eval_places",
            params: &[Param::U32, Param::U32, Param::U64, U32S, Param::Write(4)],
        },
        Signature { name: "eval_columns", params: &[SCALARS, U32S, U32S, Param::Write(8), Param::Write(4)] },
        Signature {
            name: "eval_rows",
            params: &[
                Param::Value(size_of::<Run>()),
                Param::U64,
                Param::Read(size_of::<Slice>() as u64),
                U32S,
                Param::Read(size_of::<Entry>() as u64),
                U32S,
                SCALARS,
                U32S,
                SCALARS,
                Param::Read(8),
                U32S,
                SCALARS,
                SCALARS,
                Param::Write(SCALAR),
            ],
        },
    ],
)
.host(&[("eval_places", places), ("eval_columns", columns), ("eval_rows", rows)]);

/// The run of rows that a matrix repeats, as `eval_rows` takes it: how often; its first row, and
/// how many; its own inputs likewise, and auxiliary variables; the arguments of a copy.
pub(super) type Run = [u32; 8];

pub(super) fn run(repeat: &Repeat) -> Run {
    let Repeat { count, rows, inputs, aux, .. } = repeat;
    let part = |range: &std::ops::Range<u32>| (range.start, range.end - range.start);
    let ((row, rows), (input, inputs), (first_aux, aux)) = (part(rows), part(inputs), part(aux));
    [*count, row, rows, input, inputs, first_aux, aux, repeat.arguments(0).len() as u32]
}

pub(super) fn limbs(scalar: &Scalar) -> [u64; 4] {
    blst_fr::from(*scalar).l
}

fn scalar(limbs: &[u64; 4]) -> Scalar {
    Scalar::from(blst_fr { l: *limbs })
}

fn scalars(bytes: &[u8]) -> impl Fn(usize) -> Scalar {
    let limbs: &[[u64; 4]] = bytemuck::cast_slice(bytes);
    move |i| scalar(&limbs[i])
}

fn places(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(start),
        HostArg::U32(period),
        HostArg::U64(first),
        HostArg::Read(run),
        HostArg::Write(places),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (run, places): (&[u32], &mut [u32]) = (bytemuck::cast_slice(run), bytemuck::cast_slice_mut(places));
    let copies = (0..).flat_map(|copy| run.iter().map(move |place| (copy, place)));
    for (out, (copy, place)) in places[*first as usize..].iter_mut().zip(copies) {
        *out = *start + copy * *period + place;
    }
}

fn columns(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::Read(inputs),
        HostArg::Read(ones),
        HostArg::Read(wide_at),
        HostArg::Write(blocks),
        HostArg::Write(ranks),
    ] = args
    else {
        unreachable!("the signature")
    };
    let inputs: Vec<Scalar> = bytemuck::cast_slice(inputs).iter().map(scalar).collect();
    let (ones, wide_at): (&[u32], &[u32]) = (bytemuck::cast_slice(ones), bytemuck::cast_slice(wide_at));
    let blocks: &mut [[u32; 2]] = bytemuck::cast_slice_mut(blocks);
    blocks.fill([0, 0]);
    let mut set = |column: usize, wide: usize| blocks[column / 32][wide] |= 1 << (column % 32);
    let mut own = vec![0; ranks.len() / 4];
    for (column, input) in inputs.iter().enumerate() {
        if *input == Scalar::ONE {
            set(column, 0);
        } else if *input != Scalar::ZERO {
            set(column, 1);
            own[column / 32] += 1;
        }
    }
    let bits = (0..32 * ones.len()).filter(|i| ones[i / 32] >> (i % 32) & 1 == 1);
    bits.for_each(|aux| set(inputs.len() + aux, 0));
    let wide_columns = || wide_at.iter().map(|at| inputs.len() + *at as usize);
    wide_columns().for_each(|column| set(column, 1));
    let mut before = wide_columns().enumerate().peekable();
    let mut rank = 0;
    for (word, (out, own)) in bytemuck::cast_slice_mut::<u8, u32>(ranks).iter_mut().zip(own).enumerate() {
        while let Some((i, _)) = before.next_if(|(_, column)| *column < 32 * word) {
            rank = i as u32 + 1;
        }
        *out = rank.wrapping_sub(own);
    }
}

fn rows(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::Value(run),
        HostArg::U64(repeated),
        HostArg::Read(slices),
        HostArg::Read(rows),
        HostArg::Read(entries),
        HostArg::Read(bound),
        HostArg::Read(coefficients),
        HostArg::Read(_),
        HostArg::Read(_),
        HostArg::Read(blocks),
        HostArg::Read(ranks),
        HostArg::Read(inputs),
        HostArg::Read(wide),
        HostArg::Write(out),
    ] = args
    else {
        unreachable!("the signature")
    };
    let [count, first_row, run_rows, first_input, own_inputs, first_aux, own_aux, arguments] =
        bytemuck::pod_read_unaligned::<Run>(run);
    let (slices, entries): (&[Slice], &[Entry]) =
        (bytemuck::cast_slice(slices), bytemuck::cast_slice(entries));
    let (rows, bound): (&[u32], &[u32]) = (bytemuck::cast_slice(rows), bytemuck::cast_slice(bound));
    let (blocks, ranks): (&[[u32; 2]], &[u32]) = (bytemuck::cast_slice(blocks), bytemuck::cast_slice(ranks));
    let n_inputs = inputs.len() / SCALAR as usize;
    let [coefficient, input, wide] = [coefficients, inputs, wide].map(|bytes| scalars(bytes));
    let out: &mut [[u64; 4]] = bytemuck::cast_slice_mut(out);

    let column_of = |stored: u32, copy: u32| {
        if stored.wrapping_sub(first_aux) < own_aux {
            stored + copy * own_aux
        } else if stored.wrapping_sub(first_input) < own_inputs {
            stored + copy * own_inputs
        } else if stored >= Repeat::BOUND {
            bound[(copy * arguments + (stored - Repeat::BOUND)) as usize]
        } else {
            stored
        }
    };
    let value_of = |column: u32| {
        let ([ones, wides], bit) = (blocks[column as usize / 32], column % 32);
        if wides >> bit & 1 == 0 {
            return if ones >> bit & 1 == 1 { Scalar::ONE } else { Scalar::ZERO };
        }
        let below = (wides & ((1 << bit) - 1)).count_ones();
        let rank = ranks[column as usize / 32].wrapping_add(below);
        if (column as usize) < n_inputs { input(column as usize) } else { wide(rank as usize) }
    };
    for (at, [first, numbers, per_lane, shape]) in slices.iter().enumerate() {
        let (lanes, places) = (1 << (shape & 0xff), (shape >> 8) as usize);
        let units = entries[LANES * *first as usize..].chunks(LANES).take(*per_lane as usize);
        for (copy, place) in (0..if at < *repeated as usize { count } else { 1 })
            .flat_map(|c| (0..places).map(move |p| (c, p)))
        {
            let entries = units.clone().flat_map(|unit| &unit[lanes * place..][..lanes]);
            let terms = entries.filter(|entry| **entry != NONE).filter_map(|[column, index]| {
                let value = value_of(column_of(*column, copy));
                (value != Scalar::ZERO).then(|| coefficient(*index as usize) * value)
            });
            let stored = rows[*numbers as usize + place];
            let moved = if stored < first_row {
                0
            } else {
                (if stored - first_row < run_rows { copy } else { count - 1 }) * run_rows
            };
            out[(stored + moved) as usize] = limbs(&terms.sum());
        }
    }
}
