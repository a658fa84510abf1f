// Transforms over the scalar field of BLS12-381, and what the quotient needs beside them.
// `crates/ntt/src/gpu` defines the same on the host and says what calls what.
//
// Scalars are canonical Montgomery forms.

#include "ntt.cuh"

using namespace cuzk;

// One pass: see `ntt.cuh`. A block has one tile of 2^log_tile scalars.
extern "C" __global__ void __launch_bounds__(128, 4)
    ntt_pass(uint32_t log_n, uint32_t above, uint32_t levels, uint32_t log_tile, uint32_t flags,
             const Fixed *twiddles, uint64_t, const Fixed *low, uint64_t lows, const Fixed *high, uint64_t,
             const Fixed *coset_low, uint64_t coset_lows, const Fixed *coset_high, uint64_t, Fr *data, uint64_t) {
    extern __shared__ uint4 shared[];
    ntt::pass<3>(shared, log_n, above, levels, log_tile, flags, twiddles, {low, lows, high},
                 {coset_low, coset_lows, coset_high}, data);
}

// c[i] = a[i] b[i]
extern "C" __global__ void product(const Fr *a, uint64_t, const Fr *b, uint64_t, Fr *c, uint64_t n) {
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        (Fr::load_constant(a + i) * Fr::load_constant(b + i)).store(c + i);
}

// a[i] = a[i] b[i]
extern "C" __global__ void multiply(const Fr *b, uint64_t, Fr *a, uint64_t n) {
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        (Fr::load_constant(b + i) * Fr::load(a + i)).store(a + i);
}

// Bits of an index at each end of which a square of the permutation has all.
constexpr uint32_t SIDE = 4;

// a[rev(i)] = c[i] - a[i], in place, i of log_n bits. A block takes the scalars with one
// value in the middle bits, and those with the reversed value: squares of 2^SIDE rows of
// neighbours, which change places transposed.
extern "C" __global__ void __launch_bounds__(256)
    reverse_difference(uint32_t log_n, const Fr *c, uint64_t, Fr *a, uint64_t n) {
    if (log_n < 2 * SIDE) {
        for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) {
            const uint32_t j = ntt::reversed(uint32_t(i), log_n);
            if (i > j) continue;
            const Fr x = Fr::load_constant(c + i) - Fr::load(a + i), y = Fr::load_constant(c + j) - Fr::load(a + j);
            x.store(a + j);
            y.store(a + i);
        }
        return;
    }
    constexpr uint32_t ROW = 1 << SIDE;
    __shared__ Fr squares[2][ROW][ROW + 1];
    const uint32_t middle = log_n - 2 * SIDE, m = blockIdx.x, image = ntt::reversed(m, middle);
    if (m > image) return;
    const uint32_t row = threadIdx.x / ROW, column = threadIdx.x % ROW;
    const auto at = [=](uint32_t m) { return (uint64_t(row) << (middle + SIDE)) + (uint64_t(m) << SIDE) + column; };
    const uint32_t r = ntt::reversed(row, SIDE), s = ntt::reversed(column, SIDE);
    for (int k = 0; k < (m == image ? 1 : 2); k++) {
        const uint64_t i = at(k ? image : m);
        (Fr::load_constant(c + i) - Fr::load(a + i)).store(&squares[k][s][r]);
    }
    __syncthreads();
    Fr::load(&squares[0][row][column]).store(a + at(image));
    if (m != image) Fr::load(&squares[1][row][column]).store(a + at(m));
}
