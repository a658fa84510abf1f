// Scalars as signed digits, and their sorting by bucket.
//
// A scalar of the upper half of the field stands for minus its negative, so that 254
// bits remain. Adding 2^(bits - 1) in every window but the last turns signed digits
// into plain bits: window w of the sum, less 2^(bits - 1), is the digit. A digit is
// kept as magnitude << 1 | negative, magnitude up to 2^(bits - 1); 0 is none. The first
// `wide` windows are of `bits`, the others of one less.
//
// Bucket m - 1 of a window is that of magnitude m. A bucket's number, within all
// windows, is window << (bits - 1) | magnitude - 1. Buckets are sorted in two steps:
// entries go to partitions, by the number's bits above the `low` lowest, and then to
// their place within a partition. Their order within a bucket is not defined.
//
// An entry is what << 32 | point << 1 | negative; `what` is the number of the bucket, in
// a partition not sorted yet without its window.

#pragma once

#include "../field.cuh"

namespace cuzk {

constexpr int PARTITION_THREADS = 512;
constexpr int PARTITION_ITEMS = 16; // at most
constexpr int SORT_THREADS = 1024;
// The most partitions of a window, and the most buckets of a partition.
constexpr int MOST_PARTITIONS = 4096;
constexpr int MOST_BUCKETS = 2048;

// The sum of the values of all threads with a lower number. Every thread of the block
// calls it; `sums` has room for the block's warps.
template <int THREADS>
static __device__ uint32_t exclusive_sum(uint32_t value, uint32_t *sums, uint32_t *total) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t inclusive = value;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t below = __shfl_up_sync(~0u, inclusive, d);
        if (lane >= d) inclusive += below;
    }
    __syncthreads(); // `sums` may still be read from the last time
    if (lane == 31) sums[warp] = inclusive;
    __syncthreads();
    uint32_t before = 0, all = 0;
#pragma unroll
    for (int w = 0; w < THREADS / 32; w++) {
        const uint32_t sum = sums[w];
        if (w < warp) before += sum;
        all += sum;
    }
    *total = all;
    return before + inclusive - value;
}

// Turns counts into the sums of those before each, in shared memory. All of the block.
template <int THREADS>
static __device__ void scan_shared(uint32_t *counts, uint32_t n, uint32_t *sums) {
    uint32_t carry = 0;
    for (uint32_t first = 0; first < n; first += THREADS) {
        const uint32_t i = first + threadIdx.x;
        const uint32_t count = i < n ? counts[i] : 0;
        uint32_t total;
        const uint32_t before = exclusive_sum<THREADS>(count, sums, &total);
        if (i < n) counts[i] = carry + before;
        carry += total;
    }
    __syncthreads();
}

} // namespace cuzk

struct Offset {
    uint32_t l[8];
};

// digits[w n + i] of window first + w of scalars[start + i], w < count, i < n, of scalars in
// Montgomery form. `windows` are all windows of a scalar; `offset` is what is added. If they are
// `picked`, then of the scalar that picks[i] names (witness.cuh), and of 0 from `*terms` on.
extern "C" __global__ void msm_digits(uint32_t bits, uint32_t wide, uint32_t windows, uint32_t first, uint32_t count,
                                      Offset offset, uint64_t start, uint64_t n, uint32_t picked, uint64_t inputs,
                                      const uint64_t *picks, uint64_t, const uint32_t *terms, uint64_t,
                                      const cuzk::Fr *of_inputs, uint64_t, const cuzk::Fr *scalars,
                                      uint64_t, uint32_t *digits, uint64_t) {
    using namespace cuzk;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
         i += uint64_t(gridDim.x) * blockDim.x) {
        if (picked && i >= *terms) {
            for (uint32_t w = 0; w < count; w++) digits[w * n + i] = 0;
            continue;
        }
        const Fr *scalar = scalars + start + i;
        if (picked) {
            const uint32_t which = picks[i] >> 32;
            scalar = which < inputs ? of_inputs + which : scalars + which - inputs;
        }
        Fr k = Fr::load_constant(scalar).from_montgomery();
        const Fr minus = -k; // r - k, or 0
        // Whether minus is below k.
        sub_cc(minus.l[0], k.l[0]);
#pragma unroll
        for (int j = 1; j < 8; j++) subc_cc(minus.l[j], k.l[j]);
        const bool negative = subc(0, 0) != 0;
#pragma unroll
        for (int j = 0; j < 8; j++) k.l[j] = negative ? minus.l[j] : k.l[j];
        k.l[0] = add_cc(k.l[0], offset.l[0]);
#pragma unroll
        for (int j = 1; j < 7; j++) k.l[j] = addc_cc(k.l[j], offset.l[j]);
        k.l[7] = addc(k.l[7], offset.l[7]); // below 2^256: see the plan
        for (uint32_t w = 0; w < first + count; w++) {
            const uint32_t width = w < wide ? bits : bits - 1;
            const uint32_t half = 1u << (width - 1), mask = 2 * half - 1;
            if (w >= first) {
                const int32_t digit = int32_t(k.l[0] & mask) - (w + 1 < windows ? int32_t(half) : 0);
                const uint32_t magnitude = digit < 0 ? -digit : digit;
                digits[(w - first) * n + i] = magnitude ? magnitude << 1 | ((digit < 0) != negative) : 0;
            }
#pragma unroll
            for (int j = 0; j < 7; j++) k.l[j] = __funnelshift_r(k.l[j], k.l[j + 1], width);
            k.l[7] >>= width;
        }
    }
}

// counts[w partitions + p] += digits of window w in partition p. Window w is blockIdx.y.
extern "C" __global__ void __launch_bounds__(cuzk::PARTITION_THREADS)
    msm_histogram(uint32_t low, uint32_t partitions, uint64_t n, const uint32_t *digits, uint64_t,
                  uint32_t *counts, uint64_t) {
    using namespace cuzk;
    __shared__ uint32_t count[MOST_PARTITIONS];
    for (uint32_t p = threadIdx.x; p < partitions; p += PARTITION_THREADS) count[p] = 0;
    __syncthreads();
    digits += blockIdx.y * n;
    for (uint64_t i = uint64_t(blockIdx.x) * PARTITION_THREADS + threadIdx.x; i < n;
         i += uint64_t(gridDim.x) * PARTITION_THREADS) {
        const uint32_t digit = digits[i];
        if (digit) atomicAdd(&count[((digit >> 1) - 1) >> low], 1);
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < partitions; p += PARTITION_THREADS)
        if (count[p]) atomicAdd(&counts[blockIdx.y * partitions + p], count[p]);
}

// sums[i] = counts[0] + ... + counts[i - 1], for i up to n. One block of 1024.
extern "C" __global__ void __launch_bounds__(1024)
    msm_scan(uint64_t n, const uint32_t *counts, uint64_t, uint32_t *sums, uint64_t) {
    using namespace cuzk;
    constexpr int ITEMS = 4;
    __shared__ uint32_t warps[32];
    uint32_t carry = 0;
    for (uint64_t first = 0; first < n; first += 1024 * ITEMS) {
        const uint64_t at = first + threadIdx.x * ITEMS;
        uint32_t count[ITEMS], sum = 0, total;
#pragma unroll
        for (int k = 0; k < ITEMS; k++) sum += count[k] = at + k < n ? counts[at + k] : 0;
        uint32_t before = carry + exclusive_sum<1024>(sum, warps, &total);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (at + k < n) sums[at + k] = before;
            before += count[k];
        }
        carry += total;
    }
    if (threadIdx.x == 0) sums[n] = carry;
}

// Entries to their partitions. cursors[w partitions + p] is where the next entry of the
// partition goes. Window w is blockIdx.y; entry i is of point start + i, or of the one that
// picks[i] names. A thread takes `items` of a tile.
extern "C" __global__ void __launch_bounds__(cuzk::PARTITION_THREADS)
    msm_partition(uint32_t items, uint32_t low, uint32_t partitions, uint64_t start, uint64_t n, uint32_t picked,
                  const uint64_t *picks, uint64_t, const uint32_t *digits, uint64_t, uint32_t *cursors, uint64_t,
                  uint64_t *entries, uint64_t) {
    using namespace cuzk;
    extern __shared__ uint64_t stage[]; // an entry for each digit of a tile
    __shared__ uint32_t first[MOST_PARTITIONS]; // of a partition within the tile
    __shared__ uint32_t place[MOST_PARTITIONS]; // where its first goes, less that
    __shared__ uint32_t warps[PARTITION_THREADS / 32];
    digits += blockIdx.y * n;
    cursors += blockIdx.y * partitions;
    const uint64_t size = uint64_t(items) * PARTITION_THREADS;
    for (uint64_t tile = blockIdx.x * size; tile < n; tile += gridDim.x * size) {
        for (uint32_t p = threadIdx.x; p < partitions; p += PARTITION_THREADS) first[p] = 0;
        __syncthreads();
        uint32_t digit[PARTITION_ITEMS], rank[PARTITION_ITEMS];
#pragma unroll
        for (uint32_t k = 0; k < PARTITION_ITEMS; k++) {
            const uint64_t i = tile + k * PARTITION_THREADS + threadIdx.x;
            digit[k] = k < items && i < n ? digits[i] : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < PARTITION_ITEMS; k++)
            rank[k] = digit[k] ? atomicAdd(&first[((digit[k] >> 1) - 1) >> low], 1) : 0;
        __syncthreads();
        for (uint32_t p = threadIdx.x; p < partitions; p += PARTITION_THREADS)
            place[p] = first[p] ? atomicAdd(&cursors[p], first[p]) : 0;
        scan_shared<PARTITION_THREADS>(first, partitions, warps);
        for (uint32_t p = threadIdx.x; p < partitions; p += PARTITION_THREADS) place[p] -= first[p];
        uint32_t mine = 0, all;
#pragma unroll
        for (uint32_t k = 0; k < PARTITION_ITEMS; k++) {
            if (!digit[k]) continue;
            mine++;
            const uint32_t bucket = (digit[k] >> 1) - 1;
            const uint64_t i = tile + k * PARTITION_THREADS + threadIdx.x;
            const uint64_t point = picked ? uint32_t(picks[i]) : start + i;
            stage[first[bucket >> low] + rank[k]] = uint64_t(bucket) << 32 | point << 1 | (digit[k] & 1);
        }
        exclusive_sum<PARTITION_THREADS>(mine, warps, &all);
        __syncthreads();
        for (uint32_t s = threadIdx.x; s < all; s += PARTITION_THREADS) {
            const uint64_t entry = stage[s];
            entries[place[uint32_t(entry >> 32) >> low] + s] = entry;
        }
        __syncthreads();
    }
}

// The entries of each partition, from offsets[p] to offsets[p + 1], sorted by bucket. The
// first is partition `base` within all windows. A block sorts a partition at a time: in shared
// memory if it has up to `capacity` entries, of 6 bytes each, else in place.
extern "C" __global__ void __launch_bounds__(cuzk::SORT_THREADS)
    msm_sort(uint32_t low, uint32_t partitions, uint64_t base, uint32_t capacity, const uint32_t *offsets,
             uint64_t, const uint64_t *entries, uint64_t, uint64_t *sorted, uint64_t) {
    using namespace cuzk;
    constexpr int AHEAD = 4; // loads that are on their way at once
    extern __shared__ uint32_t points[]; // `capacity`, and as many buckets
    uint16_t *const buckets_of = reinterpret_cast<uint16_t *>(points + capacity);
    __shared__ uint32_t next[MOST_BUCKETS];
    __shared__ uint32_t warps[SORT_THREADS / 32];
    const uint32_t buckets = 1u << low, mask = buckets - 1;
    for (uint64_t partition = blockIdx.x; partition < partitions; partition += gridDim.x) {
        const uint32_t begin = offsets[partition], end = offsets[partition + 1];
        const uint64_t number = (base + partition) << low;
        const bool staged = end - begin <= capacity;
        for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) next[b] = 0;
        __syncthreads();
        for (uint32_t first = begin; first < end; first += AHEAD * SORT_THREADS) {
            uint32_t bucket[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                const uint32_t i = first + k * SORT_THREADS + threadIdx.x;
                bucket[k] = i < end ? entries[i] >> 32 & mask : MOST_BUCKETS;
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++)
                if (bucket[k] < MOST_BUCKETS) atomicAdd(&next[bucket[k]], 1);
        }
        __syncthreads();
        scan_shared<SORT_THREADS>(next, buckets, warps);
        for (uint32_t first = begin; first < end; first += AHEAD * SORT_THREADS) {
            uint64_t entry[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                const uint32_t i = first + k * SORT_THREADS + threadIdx.x;
                entry[k] = i < end ? entries[i] : 0;
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                if (first + k * SORT_THREADS + threadIdx.x >= end) continue;
                const uint32_t bucket = uint32_t(entry[k] >> 32) & mask;
                const uint32_t at = atomicAdd(&next[bucket], 1);
                if (staged) {
                    points[at] = uint32_t(entry[k]);
                    buckets_of[at] = bucket;
                } else {
                    sorted[begin + at] = (number | bucket) << 32 | uint32_t(entry[k]);
                }
            }
        }
        __syncthreads();
        if (staged)
            for (uint32_t i = threadIdx.x; i < end - begin; i += SORT_THREADS)
                sorted[begin + i] = (number | buckets_of[i]) << 32 | points[i];
        __syncthreads();
    }
}
