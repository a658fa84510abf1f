// The kernels of a family of `cuzk_msm`, for points over `field`.
//
// A buffer is two arguments: where it is, and how many elements it has. The headers say
// what the kernels do, and crates/msm/src/gpu how they follow each other.

#pragma once

#include <cstdint>

#include "digits.cuh"
#include "pairs.cuh"
#include "sums.cuh"
#include "witness.cuh"

static __device__ __forceinline__ uint64_t thread() { return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// `accumulating` and `going_back` are the blocks of those kernels that are to fit a
// multiprocessor: registers for these are what measured best.
#define CUZK_MSM(field, accumulating, going_back)                                                      \
    extern "C" __global__ void __launch_bounds__(128, accumulating) msm_accumulate(                    \
        uint32_t chunk, uint64_t threads, uint64_t last, uint32_t step, uint64_t ordinate,             \
        const field *points, uint64_t,                                                                 \
        const uint64_t *sorted, uint64_t, const uint32_t *totals, uint64_t,                            \
        cuzk::Xyzz<field> *buckets, uint64_t,                                                          \
        uint32_t *numbers, uint64_t, cuzk::Xyzz<field> *parts, uint64_t) {                             \
        if (thread() < threads)                                                                        \
            cuzk::accumulate<field>(thread(), chunk, totals[last], {points, step, ordinate},           \
                sorted, buckets, numbers,                                                              \
                                    parts);                                                            \
    }                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) msm_forward(                                     \
        uint64_t tiles, uint64_t last, uint32_t step, uint64_t ordinate, const field *points,          \
        uint64_t, const uint64_t *entries,                                                             \
        uint64_t, const uint32_t *totals, uint64_t, field *before, uint64_t, field *products,          \
        uint64_t) {                                                                                    \
        if (thread() / 32 < tiles)                                                                     \
            cuzk::forward<field>(thread() / 32, threadIdx.x % 32, totals[last], {points, step,         \
                ordinate}, entries, before,                                                            \
                                 products);                                                            \
    }                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) msm_invert(                                      \
        uint64_t threads, uint64_t n, field *products, uint64_t, field *before, uint64_t) {            \
        if (thread() < threads) cuzk::invert<field>(thread(), threads, n, products, before);           \
    }                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128, going_back) msm_backward(                        \
        uint64_t tiles, uint64_t last, uint64_t ordinate_out, uint32_t step, uint64_t ordinate,        \
        const field *points, uint64_t, const uint64_t *entries,                                        \
        uint64_t, const uint32_t *totals, uint64_t, const field *before, uint64_t,                     \
        const field *inverses,                                                                         \
        uint64_t, const uint32_t *offsets, uint64_t, uint64_t *entries_out, uint64_t,                  \
        field *points_out, uint64_t) {                                                                 \
        if (thread() / 32 < tiles)                                                                     \
            cuzk::backward<field>(thread() / 32, threadIdx.x % 32, totals[last], {points, step,        \
                ordinate}, entries, before,                                                            \
                                  inverses, offsets, entries_out, points_out, ordinate_out);           \
    }                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) msm_merge(                                       \
        uint64_t warps, uint64_t slots, const uint32_t *numbers, uint64_t,                             \
        const cuzk::Xyzz<field> *parts, uint64_t, cuzk::Xyzz<field> *buckets, uint64_t,                \
        uint32_t *numbers_out, uint64_t, cuzk::Xyzz<field> *parts_out, uint64_t) {                     \
        if (thread() / 32 < warps)                                                                     \
            cuzk::merge<field>(thread() / 32, threadIdx.x % 32, slots, numbers, parts, buckets,        \
                numbers_out, parts_out);                                                               \
    }                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) msm_fold(                                        \
        uint32_t log, uint64_t threads, const cuzk::Xyzz<field> *buckets, uint64_t,                    \
        cuzk::Xyzz<field> *sums,                                                                       \
        uint64_t, cuzk::Xyzz<field> *weighted, uint64_t) {                                             \
        if (thread() < threads) cuzk::fold<field>(thread(), log, buckets, sums, weighted);             \
    }                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) msm_lines(                                       \
        uint32_t rows, uint32_t columns, uint64_t n, const cuzk::Xyzz<field> *sums, uint64_t,          \
        const cuzk::Xyzz<field> *weighted, uint64_t, cuzk::Xyzz<field> *lines, uint64_t) {             \
        const uint64_t line = thread() / cuzk::LINE_LANES;                                             \
        /* All lanes of a warp take part; those past the end repeat the last line. */                  \
        cuzk::line<field>(line < n ? line : n - 1, threadIdx.x % 32, rows, columns, sums, weighted,    \
            lines);                                                                                    \
    }                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128)                                                  \
        msm_bits(uint32_t rows, uint32_t columns, uint64_t n, const cuzk::Xyzz<field> *lines,          \
                         uint64_t, cuzk::Xyzz<field> *points, uint64_t) {                              \
        const uint64_t warp = thread() / 32;                                                           \
        if (warp < n) cuzk::bit<field>(warp, threadIdx.x % 32, rows, columns, lines, points);          \
    }
