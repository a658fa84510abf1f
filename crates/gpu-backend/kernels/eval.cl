// The rows of constraint matrices times a compact witness. `crates/synth/src/gpu` defines the same
// on the host and says what calls what.
//
// Scalars are canonical Montgomery forms.

#include "field.clh"
#include "eval/columns.clh"
#include "eval/rows.clh"

// places[i] of a run that repeats: see `Places` of `crates/values`. Copy k's are start + k period + run.
kernel void eval_places(uint start, uint period, ulong first, global const uint *run, ulong runs, global uint *places,
                        ulong n) {
    for (ulong i = get_global_id(0); first + i < n; i += get_global_size(0))
        places[first + i] = start + (uint)(i / runs) * period + run[i % runs];
}

// The bits and the ranks of 32 columns: see `eval/columns.cuh`.
kernel void eval_columns(global const Fr *inputs, ulong n_inputs, global const uint *ones, ulong n_ones,
                         global const uint *wide_at, ulong n_wide, global uint2 *blocks, ulong n, global uint *ranks,
                         ulong ranks_n) {
    for (ulong word = get_global_id(0); word < n; word += get_global_size(0)) {
        uint2 bits = bits_of_inputs(word, inputs, n_inputs);
        ranks[word] = rank_and_bits(word, n_inputs, ones, n_ones, wide_at, n_wide, &bits);
        blocks[word] = bits;
    }
}

// The rows of the slices, the first `repeated` of which stand there as often as the run: see
// `eval/rows.cuh`. A slice of a copy is of 32 neighbouring work items; a row's first lane adds what
// the others have.
kernel void eval_rows(Run run, ulong repeated, global const uint4 *slices, ulong n_slices, global const uint *rows,
                      ulong rows_n, global const uint2 *entries, ulong entries_n, global const uint *bound,
                      ulong bound_n, global const Fr *coefficients, ulong coefficients_n, global const int *small,
                      ulong small_n, global const Fr *digits, ulong digits_n, global const uint2 *blocks,
                      ulong blocks_n, global const uint *ranks, ulong ranks_n, global const Fr *inputs,
                      ulong n_inputs, global const Fr *wide, ulong wide_n, global Fr *out, ulong out_n) {
    local Sum sums[ROWS_THREADS];
    const Columns columns = {blocks, ranks, inputs, n_inputs, wide};
    const Coefficients table = {coefficients, small, digits};
    const ulong of_copies = repeated * run.count, all = of_copies + (n_slices - repeated);
    const ulong i = get_global_id(0) / LANES;
    const uint t = get_local_id(0), lane = t % LANES;
    uint copy = 0;
    uint4 slice = (uint4)(0);
    if (i < all) {
        copy = i < of_copies ? i / repeated : 0;
        slice = slices[i < of_copies ? i % repeated : i - of_copies + repeated];
    }
    const Sum sum = sum_of(run, copy, bound, entries + LANES * (ulong)slice.x + lane, slice.z, table, columns);
    sums[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint log_lanes = slice.w & 0xff, row = lane >> log_lanes;
    if (row >= slice.w >> 8 || row << log_lanes != lane) return;
    out[row_in(run, rows[slice.y + row], copy)] = total_of(sums + t, 1u << log_lanes, table);
}
