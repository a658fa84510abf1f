// The rows of constraint matrices times a compact witness. `crates/synth/src/gpu` defines the same
// on the host and says what calls what.
//
// Scalars are canonical Montgomery forms.

#include "eval/columns.cuh"
#include "eval/rows.cuh"

using namespace cuzk;

// places[i] of a run that repeats: see `Places` of `crates/values`. Copy k's are start + k period + run.
extern "C" __global__ void __launch_bounds__(256)
    eval_places(uint32_t start, uint32_t period, uint64_t first, const uint32_t *run, uint64_t runs, uint32_t *places,
                uint64_t n) {
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; first + i < n;
         i += uint64_t(gridDim.x) * blockDim.x)
        places[first + i] = start + uint32_t(i / runs) * period + run[i % runs];
}

// The bits and the ranks of 32 columns: see `eval/columns.cuh`.
extern "C" __global__ void __launch_bounds__(256)
    eval_columns(const Fr *inputs, uint64_t n_inputs, const uint32_t *ones, uint64_t n_ones, const uint32_t *wide_at,
                 uint64_t n_wide, uint2 *blocks, uint64_t n, uint32_t *ranks, uint64_t) {
    for (uint64_t word = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; word < n;
         word += uint64_t(gridDim.x) * blockDim.x)
        eval::columns(word, inputs, n_inputs, ones, n_ones, wide_at, n_wide, blocks + word, ranks + word);
}

// The rows of the slices, the first `repeated` of which stand there as often as the run: see
// `eval/rows.cuh`. A warp takes a slice of a copy at a time.
extern "C" __global__ void __launch_bounds__(256, 4)
    eval_rows(eval::Run run, uint64_t repeated, const uint4 *slices, uint64_t n_slices, const uint32_t *rows, uint64_t,
              const uint2 *entries, uint64_t, const uint32_t *bound, uint64_t, const Fr *coefficients, uint64_t,
              const int32_t *small, uint64_t, const Fr *digits, uint64_t, const uint2 *blocks, uint64_t,
              const uint32_t *ranks, uint64_t, const Fr *inputs, uint64_t n_inputs, const Fr *wide, uint64_t, Fr *out,
              uint64_t) {
    const eval::Columns columns = {blocks, ranks, inputs, uint32_t(n_inputs), wide};
    const eval::Coefficients table = {coefficients, small, digits};
    const uint64_t of_copies = repeated * run.count, all = of_copies + (n_slices - repeated);
    const uint64_t warps = uint64_t(gridDim.x) * (blockDim.x / 32);
    for (uint64_t i = uint64_t(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; i < all; i += warps) {
        const uint32_t copy = i < of_copies ? uint32_t(i / repeated) : 0;
        const uint64_t at = i < of_copies ? i % repeated : i - of_copies + repeated;
        eval::slice(run, copy, bound, __ldg(slices + at), rows, entries, table, columns, out);
    }
}
