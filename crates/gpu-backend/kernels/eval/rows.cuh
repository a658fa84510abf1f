// Rows of a sparse matrix times the columns' values.
//
// Rows are kept in slices of 32 lanes, sorted by length within a window of rows, their entries
// transposed so that a warp reads them side by side: SELL-C-sigma (M. Kreutzer et al., A unified sparse
// matrix data format for efficient general sparse matrix-vector multiplication on modern processors
// with wide SIMD units, SIAM J. Sci. Comput. 36(5), 2014), with C = 32, but a long row has
// 2, 4, ... 32 lanes.
//
// Nearly all values are bits, and most coefficients small: those terms are summed as integers. The
// field is entered for the others, which a lane sets aside, and once a row.

#pragma once

#include "columns.cuh"

namespace cuzk::eval {

// The run of rows that stands several times in the matrix: `Repeat` of `crates/values`.
struct Run {
    uint32_t count, first_row, rows, first_input, inputs, first_aux, aux, arguments;

    static constexpr uint32_t BOUND = 1u << 31;

    // A stored column as a copy has it.
    __device__ __forceinline__ uint32_t column(uint32_t stored, uint32_t copy, const uint32_t *bound) const {
        if (stored - first_aux < aux) return stored + copy * aux;
        if (stored - first_input < inputs) return stored + copy * inputs;
        return stored < BOUND ? stored : __ldg(bound + uint64_t(copy) * arguments + (stored - BOUND));
    }
    // A stored row as it stands in the matrix.
    __device__ __forceinline__ uint32_t row(uint32_t stored, uint32_t copy) const {
        if (stored < first_row) return stored;
        return stored + (stored - first_row < rows ? copy : count - 1) * rows;
    }
};

struct Coefficients {
    const Fr *values;
    // Each as an integer, or 0 where it has none below 2^31.
    const int32_t *small;
    // The integers from -DIGITS to DIGITS.
    const Fr *digits;
};

constexpr int DIGITS = 8;

// No entry: its coefficient.
constexpr uint32_t NONE = ~0u;

// Entries that are on their way at once.
constexpr uint32_t AHEAD = 4;

// The scalar of an integer.
static __device__ __forceinline__ Fr integer(int64_t value, const Fr *digits) {
    if (value >= -DIGITS && value <= DIGITS) return Fr::load_constant(digits + DIGITS + value);
    const uint64_t magnitude = value < 0 ? -uint64_t(value) : uint64_t(value);
    Fr x = Fr::zero();
    x.l[0] = uint32_t(magnitude), x.l[1] = uint32_t(magnitude >> 32);
    x = x.to_montgomery();
    return value < 0 ? -x : x;
}

// The sum of a scalar over lanes that differ in bit d of their number.
static __device__ __forceinline__ Fr paired(const Fr &x, uint32_t d) {
    Fr other;
#pragma unroll
    for (int i = 0; i < Fr::N; i++) other.l[i] = __shfl_xor_sync(~0u, x.l[i], d);
    return x + other;
}

// out[row] of the rows of a slice. Its words: the first of its entries, in units of 32; the first of its
// rows; entries of a lane; log2 of a row's lanes, and above 8 bits how many rows. A row's entries
// go to its lanes in turn.
static __device__ __forceinline__ void slice(const Run &run, uint32_t copy, const uint32_t *bound, uint4 slice,
                                             const uint32_t *rows, const uint2 *entries, const Coefficients &table,
                                             const Columns &columns, Fr *out) {
    const uint32_t lane = threadIdx.x % 32, length = slice.z, log_lanes = slice.w & 0xff, count = slice.w >> 8;
    entries += 32 * uint64_t(slice.x) + lane;
    int64_t sum = 0;
    Fr field = Fr::zero();
    bool entered = false;
    for (uint32_t first = 0; first < length; first += AHEAD, entries += 32 * AHEAD) {
        uint2 entry[AHEAD], block[AHEAD];
        int32_t small[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            entry[k] = first + k < length ? __ldg(entries + 32 * k) : make_uint2(NONE, NONE);
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
            block[k] = make_uint2(0, 0), small[k] = 0;
            if (entry[k].y == NONE) continue;
            entry[k].x = run.column(entry[k].x, copy, bound);
            block[k] = columns.block(entry[k].x);
            small[k] = __ldg(table.small + entry[k].y);
        }
        uint32_t aside = 0;
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
            const uint32_t one = block[k].x >> entry[k].x % 32 & 1, wide = block[k].y >> entry[k].x % 32 & 1;
            sum += one ? small[k] : 0;
            aside |= (wide | (one & (small[k] == 0))) << k;
        }
        entered |= aside != 0;
        while (aside) {
            const uint2 it = __ldg(entries + 32 * (__ffs(aside) - 1)); // again: registers have no index
            aside &= aside - 1;
            const uint32_t column = run.column(it.x, copy, bound);
            const uint2 bits = columns.block(column);
            if (!(bits.y >> column % 32 & 1)) {
                field = field + Fr::load_constant(table.values + it.y);
                continue;
            }
            const Fr value = columns.value(column, bits);
            const int32_t factor = __ldg(table.small + it.y);
            if (factor == 1) field = field + value;
            else if (factor == -1) field = field - value;
            else field = field + value * Fr::load_constant(table.values + it.y);
        }
    }
    for (uint32_t d = 0; d < log_lanes; d++) sum += __shfl_xor_sync(~0u, sum, 1u << d);
    if (__any_sync(~0u, entered))
        for (uint32_t d = 0; d < log_lanes; d++) field = paired(field, 1u << d);
    const uint32_t row = lane >> log_lanes;
    if (row >= count || (row << log_lanes) != lane) return;
    field = field + integer(sum, table.digits);
    field.store(out + run.row(__ldg(rows + slice.y + row), copy));
}

} // namespace cuzk::eval
