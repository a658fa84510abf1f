// A compact witness as the columns of a matrix see it: the public inputs, then the auxiliary
// variables.
//
// Of 32 columns a block has two words of bits: which are 1, and which are wide, neither 0 nor 1 by
// their place. A wide input is looked up by its column, a wide auxiliary variable by its rank among
// the wide ones: that of the block, and the wide bits below its own. Both bitmaps of 2^27 columns
// are 32 MiB, which the L2 holds.

#pragma once

#include "../field.cuh"

namespace cuzk::eval {

// How many of n ascending numbers are below x.
static __device__ __forceinline__ uint64_t below(const uint32_t *numbers, uint64_t n, uint64_t x) {
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (__ldg(numbers + middle) < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Block `word` and its rank. The block that has inputs and auxiliary variables counts its wide inputs
// off, so that they may be among the bits below. Bits of `ones` past the last variable are zero.
static __device__ __forceinline__ void columns(uint64_t word, const Fr *inputs, uint64_t n_inputs,
                                               const uint32_t *ones, uint64_t n_ones, const uint32_t *wide_at,
                                               uint64_t n_wide, uint2 *block, uint32_t *rank) {
    const uint64_t first = 32 * word;
    uint2 bits = make_uint2(0, 0);
    for (uint64_t column = first; column < first + 32 && column < n_inputs; column++) {
        const Fr value = Fr::load_constant(inputs + column);
        const bool one = value == Fr::one();
        bits.x |= uint32_t(one) << (column - first);
        bits.y |= uint32_t(!one && !value.is_zero()) << (column - first);
    }
    uint32_t before = -__popc(bits.y);
    if (first + 32 > n_inputs) {
        // Bit `skip` of the block is auxiliary variable `aux`.
        const uint32_t skip = first < n_inputs ? uint32_t(n_inputs - first) : 0;
        const uint64_t aux = first + skip - n_inputs, at = aux / 32;
        const uint32_t low = at < n_ones ? __ldg(ones + at) : 0, high = at + 1 < n_ones ? __ldg(ones + at + 1) : 0;
        bits.x |= __funnelshift_r(low, high, uint32_t(aux % 32)) << skip;
        uint64_t i = below(wide_at, n_wide, aux);
        before += uint32_t(i);
        for (; i < n_wide; i++) {
            const uint64_t place = __ldg(wide_at + i);
            if (place >= aux + (32 - skip)) break;
            bits.y |= 1u << (place - aux + skip);
        }
    }
    *block = bits;
    *rank = before;
}

// All of them.
struct Columns {
    const uint2 *blocks;
    const uint32_t *ranks;
    const Fr *inputs;
    uint32_t n_inputs;
    const Fr *wide;

    __device__ __forceinline__ uint2 block(uint32_t column) const { return __ldg(blocks + column / 32); }

    // The value of a wide column of `block`.
    __device__ __forceinline__ Fr value(uint32_t column, uint2 block) const {
        if (column < n_inputs) return Fr::load_constant(inputs + column);
        const uint32_t below = block.y & ((1u << column % 32) - 1);
        return Fr::load_constant(wide + uint32_t(__ldg(ranks + column / 32) + __popc(below)));
    }
};

} // namespace cuzk::eval
