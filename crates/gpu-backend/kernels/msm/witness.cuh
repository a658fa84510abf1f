// What of a witness a sum is over: the variables that have a base among some of a query's.
//
// Bit v of `density` says whether variable v has a base in the query: the inputs from bit 0 on, the
// auxiliary variables from bit `64 skip` on. Bases are in the order of the variables, so that the
// number of bits before v is the number of the base; ranks[w] are those before word w. Points
// are the query's from `origin` on, and those with numbers `first` to `first + len` are meant.
//
// Variables that are 1 become entries of a bucket of their own, after those of all windows. The others
// become picks, scalar << 32 | point, in no defined order; scalars are numbered inputs first.

#pragma once

#include "digits.cuh"

namespace cuzk {

constexpr int PICK_THREADS = 256;

struct Query {
    const uint64_t *density;
    const uint32_t *ranks;
    uint64_t origin, first, len;

    // Whether the variable of a bit in a word has one of the points, and which.
    static __device__ __forceinline__ bool point(uint64_t word, uint32_t rank, uint32_t bit, uint64_t origin,
                                                 uint64_t first, uint64_t len, uint64_t &point) {
        point = rank + __popcll(word & ((uint64_t(1) << bit) - 1)) - origin;
        return word >> bit & 1 && point - first < len;
    }
    __device__ __forceinline__ bool point_of(uint64_t v, uint64_t &p) const {
        return point(density[v / 64], ranks[v / 64], v % 64, origin, first, len, p);
    }

    // Calls `each(mask, has, point)` for the 32 low and then the 32 high bits of words `begin` to `end` of
    // `ones`, with all lanes of a warp, `mask` being those that have a point.
    template <class Each>
    __device__ __forceinline__ void each_one(uint64_t begin, uint64_t end, uint64_t skip, const uint64_t *ones,
                                             Each each) const {
        const uint32_t lane = threadIdx.x % 32;
        for (uint64_t at = begin + lane; at - lane < end; at += 32) {
            const uint64_t one = at < end ? ones[at] : 0;
            const uint64_t based = one ? density[skip + at] : 0;
            const uint32_t rank = one ? ranks[skip + at] : 0;
            uint32_t left = __ballot_sync(~0u, (one & based) != 0);
            while (left) {
                const int w = __ffs(left) - 1;
                left &= left - 1;
                const uint64_t bits = __shfl_sync(~0u, one, w), word = __shfl_sync(~0u, based, w);
                const uint32_t before = __shfl_sync(~0u, rank, w);
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const uint32_t bit = 32 * half + lane;
                    uint64_t p;
                    const bool has = point(word, before, bit, origin, first, len, p) && bits >> bit & 1;
                    each(__ballot_sync(~0u, has), has, p);
                }
            }
        }
    }
};

} // namespace cuzk

// Picks of inputs and of wide variables, `terms` together; *count is how many, 0 before.
extern "C" __global__ void __launch_bounds__(cuzk::PICK_THREADS)
    msm_picks(uint64_t inputs, uint64_t terms, uint64_t origin, uint64_t first, uint64_t len,
              const uint64_t *density, uint64_t, const uint32_t *ranks, uint64_t, const uint32_t *wide_at,
              uint64_t, uint64_t *picks, uint64_t, uint32_t *count, uint64_t) {
    using namespace cuzk;
    __shared__ uint32_t warps[PICK_THREADS / 32];
    __shared__ uint32_t place;
    const Query query = {density, ranks, origin, first, len};
    const uint64_t i = uint64_t(blockIdx.x) * PICK_THREADS + threadIdx.x;
    uint64_t p = 0;
    bool has = false;
    if (i < terms) has = query.point_of(i < inputs ? i : (inputs + 63) / 64 * 64 + wide_at[i - inputs], p);
    uint32_t all;
    const uint32_t before = exclusive_sum<PICK_THREADS>(has, warps, &all);
    if (threadIdx.x == 0) place = all ? atomicAdd(count, all) : 0;
    __syncthreads();
    if (has) picks[place + before] = i << 32 | p;
}

// counts[0] = totals[last], and counts[1 + s] are the ones of words s span to (s + 1) span that have
// a point. A warp a span.
extern "C" __global__ void __launch_bounds__(128)
    msm_ones_count(uint64_t spans, uint64_t span, uint64_t words, uint64_t skip, uint64_t origin, uint64_t first,
                   uint64_t len, uint64_t last, const uint64_t *ones, uint64_t, const uint64_t *density, uint64_t,
                   const uint32_t *ranks, uint64_t, const uint32_t *totals, uint64_t, uint32_t *counts,
                   uint64_t) {
    using namespace cuzk;
    const uint64_t s = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (s >= spans) return;
    const Query query = {density, ranks, origin, first, len};
    const uint64_t begin = s * span, end = begin + span < words ? begin + span : words;
    uint32_t count = 0;
    query.each_one(begin, end, skip, ones, [&](uint32_t mask, bool, uint64_t) { count += __popc(mask); });
    if (threadIdx.x % 32 == 0) counts[1 + s] = count;
    if (s == 0 && threadIdx.x == 0) counts[0] = totals[last];
}

// Entries of the ones of span s from places[1 + s] on, of one bucket.
extern "C" __global__ void __launch_bounds__(128)
    msm_ones(uint32_t bucket, uint64_t spans, uint64_t span, uint64_t words, uint64_t skip, uint64_t origin,
             uint64_t first, uint64_t len, const uint64_t *ones, uint64_t, const uint64_t *density, uint64_t,
             const uint32_t *ranks, uint64_t, const uint32_t *places, uint64_t, uint64_t *entries, uint64_t) {
    using namespace cuzk;
    const uint64_t s = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (s >= spans) return;
    const Query query = {density, ranks, origin, first, len};
    const uint64_t begin = s * span, end = begin + span < words ? begin + span : words;
    const uint32_t below = (1u << threadIdx.x % 32) - 1;
    uint32_t at = places[1 + s];
    query.each_one(begin, end, skip, ones, [&](uint32_t mask, bool has, uint64_t p) {
        if (has) entries[at + __popc(mask & below)] = uint64_t(bucket) << 32 | p << 1;
        at += __popc(mask);
    });
}
