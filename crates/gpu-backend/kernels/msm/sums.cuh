// Sums of buckets, and of a window's buckets by their magnitudes.
//
// Sorted entries are cut into chunks of equal length, one a thread, so that no thread
// waits for another whatever the scalars are. What a chunk sees of a bucket is the
// whole of it, which goes to the bucket, or part of it: only of its first and its
// last bucket. Parts go to a list that is sorted by bucket, too, two slots a thread, and
// the list is cut into chunks again, one a warp, until there is one chunk.

#pragma once

#include "../curve.cuh"

namespace cuzk {

// The number of a bucket that is none.
constexpr uint32_t NONE = ~uint32_t(0);

// Where thread t writes what its first and last bucket share with other threads. The
// last of one thread and the first of the next, which are of one bucket, lie at an
// even place and the one above, so that the next level meets both in one chunk.
static __device__ __forceinline__ uint64_t head_slot(uint64_t t) { return 2 * t + 1; }
static __device__ __forceinline__ uint64_t tail_slot(uint64_t t) { return 2 * t + 2; }

// The state of a thread that walks along points sorted by bucket.
template <class F>
struct Walk {
    Xyzz<F> sum;
    uint32_t bucket;
    bool shared; // with a thread before

    // What was summed, to its bucket or to the head's slot.
    __device__ __forceinline__ void flush(uint64_t t, Xyzz<F> *buckets, uint32_t *numbers, Xyzz<F> *parts) {
        if (shared) {
            numbers[head_slot(t)] = bucket;
            sum.store(parts + head_slot(t));
        } else {
            sum.store(buckets + bucket);
        }
        shared = false;
    }

    // The last flush. `continues`: a thread after this has more of the bucket. A part
    // in the middle of a bucket is followed by infinity, so that parts of one
    // bucket have no gaps between them.
    __device__ __forceinline__ void finish(uint64_t t, bool continues, Xyzz<F> *buckets, uint32_t *numbers,
                                           Xyzz<F> *parts) {
        const bool middle = shared && continues;
        if (shared || !continues) flush(t, buckets, numbers, parts);
        if (!continues) return;
        numbers[tail_slot(t)] = bucket;
        if (middle)
            Xyzz<F>::infinity().store(parts + tail_slot(t));
        else
            sum.store(parts + tail_slot(t));
    }
};

// Slots that a level writes: as many as there are threads, twice, and the first and last one.
static __device__ __forceinline__ void no_parts(uint64_t t, uint32_t *numbers) {
    if (t == 0) numbers[0] = NONE;
    numbers[head_slot(t)] = NONE;
    numbers[tail_slot(t)] = NONE;
}

// Thread t sums entries t chunk to (t + 1) chunk of the `total`.
template <class F>
static __device__ __forceinline__ void accumulate(uint64_t t, uint32_t chunk, uint32_t total,
                                                  Points<F> points, const uint64_t *sorted,
                                                  Xyzz<F> *buckets, uint32_t *numbers, Xyzz<F> *parts) {
    no_parts(t, numbers);
    const uint64_t begin = t * chunk;
    if (begin >= total) return;
    const uint32_t end = begin + chunk < total ? begin + chunk : total;
    uint64_t entry = sorted[begin];
    Affine<F> point = points.of(entry);
    Walk<F> walk;
    walk.sum = Xyzz<F>::infinity();
    walk.bucket = entry >> 32;
    walk.shared = begin > 0 && sorted[begin - 1] >> 32 == walk.bucket;
    for (uint32_t i = begin + 1;; i++) {
        // The next point is on its way while this one is added.
        const uint64_t next = sorted[i < end ? i : end - 1];
        const Affine<F> ahead = points.of(next);
        point.negate_if(entry & 1);
        if (uint32_t(entry >> 32) != walk.bucket) {
            walk.flush(t, buckets, numbers, parts);
            walk.bucket = entry >> 32;
            walk.sum = Xyzz<F>::infinity();
        }
        walk.sum.add(point);
        if (i >= end) break;
        entry = next;
        point = ahead;
    }
    walk.finish(t, end < total && sorted[end] >> 32 == walk.bucket, buckets, numbers, parts);
}

// The points of the lane that is d above, which has to be in the warp.
template <class F>
static __device__ __forceinline__ Xyzz<F> from_lane_above(const Xyzz<F> &sum, uint32_t d) {
    Xyzz<F> other;
    uint32_t *to = reinterpret_cast<uint32_t *>(&other);
    const uint32_t *from = reinterpret_cast<const uint32_t *>(&sum);
#pragma unroll
    for (int i = 0; i < int(sizeof(Xyzz<F>) / 4); i++) to[i] = __shfl_down_sync(~0u, from[i], d);
    return other;
}

// Slots of a warp.
constexpr uint32_t MERGE = 64;

// Warp t sums the slots from MERGE t on of a list of parts. A lane has an even slot and the one above, which
// are of one bucket. Lanes of a bucket are neighbours: the first of them gets the sum of all in steps,
// after each of which a lane has the sum of twice as many from itself on.
template <class F>
static __device__ __forceinline__ void merge(uint64_t t, uint32_t lane, uint64_t slots, const uint32_t *numbers,
                                             const Xyzz<F> *parts, Xyzz<F> *buckets, uint32_t *numbers_out,
                                             Xyzz<F> *parts_out) {
    const uint64_t begin = MERGE * t, end = begin + MERGE, slot = begin + 2 * lane;
    const uint32_t bucket = slot < slots ? numbers[slot] : NONE;
    Xyzz<F> sum = Xyzz<F>::infinity();
    if (bucket != NONE) {
        sum = Xyzz<F>::load(parts + slot);
        if (slot + 1 < slots) sum.add(Xyzz<F>::load(parts + slot + 1));
    }
    __syncwarp();
#pragma unroll 1
    for (uint32_t d = 1; d < 32; d *= 2) {
        const uint32_t above = __shfl_down_sync(~0u, bucket, d);
        const bool same = bucket != NONE && lane + d < 32 && above == bucket;
        if (!__any_sync(~0u, same)) break;
        const Xyzz<F> other = from_lane_above(sum, d);
        if (same) sum.add(other);
        __syncwarp();
    }
    const uint32_t below = __shfl_up_sync(~0u, bucket, 1), last = __shfl_sync(~0u, bucket, 31);
    const bool shared = lane == 0 && bucket != NONE && begin > 0 && numbers[begin - 1] == bucket;
    const bool continues = last != NONE && end < slots && numbers[end] == last;
    if (lane == 0) {
        if (t == 0) numbers_out[0] = NONE;
        numbers_out[head_slot(t)] = shared ? bucket : NONE;
        numbers_out[tail_slot(t)] = continues ? last : NONE;
    }
    if (bucket == NONE || (lane > 0 && below == bucket)) return;
    const bool goes_on = continues && bucket == last;
    if (shared) sum.store(parts_out + head_slot(t));
    if (shared && goes_on)
        Xyzz<F>::infinity().store(parts_out + tail_slot(t));
    else if (goes_on)
        sum.store(parts_out + tail_slot(t));
    else if (!shared)
        sum.store(buckets + bucket);
}

// Thread t takes buckets t 2^log to (t + 1) 2^log: their sum goes to sums[t], and the sum of
// j + 1 times the j-th of them to weighted[t]. Running sums, two additions a bucket
// (Knuth, TAOCP 2, 4.6.4, exercise 9).
template <class F>
static __device__ __forceinline__ void fold(uint64_t t, uint32_t log, const Xyzz<F> *buckets, Xyzz<F> *sums,
                                            Xyzz<F> *weighted) {
    Xyzz<F> sum = Xyzz<F>::infinity(), total = Xyzz<F>::infinity();
    // One addition in the code does for both: it fits the caches of instructions.
#pragma unroll 1
    for (uint64_t i = uint64_t(2) << log; i-- > 0;) {
        const bool first = i % 2 == 1;
        Xyzz<F> to = first ? sum : total;
        to.add(first ? Xyzz<F>::load(buckets + (t << log) + i / 2) : sum);
        if (first)
            sum = to;
        else
            total = to;
    }
    sum.store(sums + t);
    total.store(weighted + t);
}

// The sum of the points of neighbouring lanes, a power of two of them, in the first.
template <class F>
static __device__ __forceinline__ void add_lanes(Xyzz<F> &sum, uint32_t lane, uint32_t lanes) {
    for (uint32_t d = lanes / 2; d > 0; d /= 2) {
        const Xyzz<F> other = from_lane_above(sum, d);
        if (lane % lanes < d) sum.add(other);
    }
}

// What is left of a window is sum_t weighted_t + 2^log sum_t t sums_t. With t = 2^columns h + l the
// second is sum_l l C_l + 2^columns sum_h h R_h, C_l and R_h the sums of columns and rows. The
// lines of a window are R_h, h < 2^rows, then C_l, l < 2^columns, then the sums of the
// rows of the weighted points.
constexpr uint32_t LINE_LANES = 16;

template <class F>
static __device__ __forceinline__ void line(uint64_t line, uint32_t lane, uint32_t rows, uint32_t columns,
                                            const Xyzz<F> *sums, const Xyzz<F> *weighted, Xyzz<F> *lines) {
    const uint32_t height = 1u << rows, width = 1u << columns, of_window = 2 * height + width;
    const uint64_t window = line / of_window;
    const uint32_t k = line % of_window;
    const bool column = k >= height && k < height + width;
    const Xyzz<F> *points = k < height + width ? sums : weighted;
    points += window << (rows + columns);
    points += column ? k - height : uint64_t(k < height ? k : k - height - width) << columns;
    const uint32_t count = column ? height : width, stride = column ? width : 1;
    Xyzz<F> sum = Xyzz<F>::infinity();
    for (uint32_t i = lane % LINE_LANES; i < count; i += LINE_LANES)
        sum.add(Xyzz<F>::load(points + uint64_t(i) * stride));
    add_lanes(sum, lane, LINE_LANES);
    if (lane % LINE_LANES == 0) sum.store(lines + line);
}

// A window's last points: the sum of its weighted points; then for each bit of l and of h the
// sum of the C_l and R_h that have it. A warp a point.
template <class F>
static __device__ __forceinline__ void bit(uint64_t warp, uint32_t lane, uint32_t rows, uint32_t columns,
                                           const Xyzz<F> *lines, Xyzz<F> *points) {
    const uint32_t height = 1u << rows, width = 1u << columns;
    const uint64_t window = warp / (1 + rows + columns);
    const uint32_t k = warp % (1 + rows + columns);
    lines += window * (2 * height + width);
    if (k == 0)
        lines += height + width;
    else if (k <= columns)
        lines += height;
    const uint32_t count = k == 0 || k > columns ? height : width;
    const uint32_t mask = k == 0 ? 0 : 1u << (k <= columns ? k - 1 : k - 1 - columns);
    Xyzz<F> sum = Xyzz<F>::infinity();
    for (uint32_t i = lane; i < count; i += 32)
        if ((i & mask) == mask) sum.add(Xyzz<F>::load(lines + i));
    __syncwarp();
    add_lanes(sum, lane, 32);
    if (lane == 0) sum.store(points + warp);
}

} // namespace cuzk
