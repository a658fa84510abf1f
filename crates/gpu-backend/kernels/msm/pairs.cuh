// Buckets halved: entries in pairs, those of one bucket added in affine coordinates.
//
// An affine addition takes 5 products and a square against 8 and 2 of XYZZ, and a
// share of an inversion: Montgomery's trick (Math. Comp. 48, 1987, section 10.3.1) makes
// one of many for three products each. A round is
//
//   count    how many entries each tile of pairs leaves: one for a pair of one bucket, two for
//            another; their sums say where each goes
//   forward  every thread multiplies the denominators of its pairs; what it has before each
//            is kept
//   invert   of all threads' products
//   backward every thread goes back through its pairs, with the inverse of each denominator,
//            and writes what is left
//
// What is left is sorted by bucket as before, for the next round or for the sums of
// buckets; the points beside it, all abscissas and then, from `ordinate` on, all ordinates.
// A tile belongs to a warp: pair 32 k + l of it to lane l.

#pragma once

#include "../curve.cuh"
#include "../invert.cuh"

namespace cuzk {

// Pairs of a thread.
constexpr int PAIRS = 32;
// Entries of a tile.
constexpr uint64_t TILE = 2 * 32 * PAIRS;

static __device__ __forceinline__ uint32_t bucket_of(uint64_t entry) { return entry >> 32; }

// What the sum of two points is, besides infinity where they are opposite.
enum class Sum { CHORD, TANGENT, FIRST, SECOND, INFINITY_ };

// The sum's kind and its denominator: x2 - x1, or 2 y, where there is one. `y` gives the
// ordinates, which are seldom needed.
template <class F, class Y1, class Y2>
static __device__ __forceinline__ Sum kind(const F &x1, const F &x2, Y1 y1, Y2 y2, F &denominator) {
    if (x1.is_zero() && y1().is_zero()) return Sum::SECOND;
    if (x2.is_zero() && y2().is_zero()) return Sum::FIRST;
    denominator = x2 - x1;
    if (!denominator.is_zero()) return Sum::CHORD;
    const F y = y1();
    if (y != y2()) return Sum::INFINITY_;
    denominator = y.doubled();
    return Sum::TANGENT;
}

template <class F>
static __device__ __forceinline__ void forward(uint64_t warp, uint32_t lane, uint32_t total,
                                               Points<F> points, const uint64_t *entries, F *before,
                                               F *products) {
    F product = F::one();
    const uint64_t first = warp * (TILE / 2) + lane;
    for (int k = 0; k < PAIRS; k++) {
        const uint64_t pair = first + 32 * k;
        if (2 * pair + 1 >= total) break;
        const ulonglong2 both = reinterpret_cast<const ulonglong2 *>(entries)[pair];
        if (bucket_of(both.x) != bucket_of(both.y)) continue;
        const F x1 = points.abscissa(uint32_t(both.x) >> 1);
        const F x2 = points.abscissa(uint32_t(both.y) >> 1);
        F denominator;
        const Sum sum = kind(
            x1, x2, [&] { return points.ordinate_of(both.x); }, [&] { return points.ordinate_of(both.y); },
            denominator);
        if (sum != Sum::CHORD && sum != Sum::TANGENT) continue;
        product.store(before + pair);
        product = F::mul_lazy(denominator, product); // below 2p, which is a factor
    }
    product.store(products + warp * 32 + lane);
}

template <class F>
static __device__ __forceinline__ void backward(uint64_t warp, uint32_t lane, uint32_t total,
                                                Points<F> points, const uint64_t *entries,
                                                const F *before, const F *inverses, const uint32_t *offsets,
                                                uint64_t *entries_out, F *points_out, uint64_t ordinate) {
    const uint64_t first = warp * (TILE / 2);
    if (2 * first >= total) return;
    F inverse = F::load_constant(inverses + warp * 32 + lane);
    // Pairs of the tile, with the last entry if it has no other; and of them those of two buckets.
    const uint64_t left = (uint64_t(total) + 1) / 2 - first;
    const uint32_t pairs = left < TILE / 2 ? left : TILE / 2;
    const uint32_t begin = offsets[warp];
    uint32_t split = offsets[warp + 1] - begin - pairs;
    for (int k = PAIRS - 1; k >= 0; k--) {
        const uint64_t pair = first + 32 * k + lane;
        const bool one = 2 * pair < total, two = 2 * pair + 1 < total;
        ulonglong2 both = make_ulonglong2(0, 0);
        if (two)
            both = reinterpret_cast<const ulonglong2 *>(entries)[pair];
        else if (one)
            both.x = entries[2 * pair];
        const bool differ = two && bucket_of(both.x) != bucket_of(both.y);
        const uint32_t others = __ballot_sync(~0u, differ);
        split -= __popc(others);
        if (!one) continue;
        uint32_t at = begin + 32 * k + lane + split + __popc(others & ((1u << lane) - 1));
        Affine<F> a = points.of(both.x);
        a.negate_if(both.x & 1);
        if (two) {
            Affine<F> b = points.of(both.y);
            b.negate_if(both.y & 1);
            if (differ) {
                b.x.store(points_out + at + 1);
                b.y.store(points_out + at + 1 + ordinate);
                entries_out[at + 1] = (both.y >> 32) << 32 | (at + 1) << 1;
            } else {
                F denominator;
                const Sum sum = kind(
                    a.x, b.x, [&] { return a.y; }, [&] { return b.y; }, denominator);
                if (sum == Sum::SECOND) a = b;
                if (sum == Sum::INFINITY_) a = {F::zero(), F::zero()};
                if (sum == Sum::CHORD || sum == Sum::TANGENT) {
                    // Both are below 2p, as those before them were.
                    const F quotient = F::mul_lazy(inverse, F::load_constant(before + pair));
                    inverse = F::mul_lazy(denominator, inverse);
                    F numerator = b.y - a.y;
                    if (sum == Sum::TANGENT) {
                        const F xx = a.x.squared();
                        numerator = xx.doubled() + xx;
                    }
                    const F slope = numerator * quotient;
                    const F x = slope.squared() - a.x - b.x;
                    a.y = slope * (a.x - x) - a.y;
                    a.x = x;
                }
            }
        }
        a.x.store(points_out + at);
        a.y.store(points_out + at + ordinate);
        entries_out[at] = (both.x >> 32) << 32 | at << 1;
    }
}

// Inverts products[t + i threads] for all i, in place. None is 0.
template <class F>
static __device__ __forceinline__ void invert(uint64_t t, uint64_t threads, uint64_t n, F *products, F *before) {
    F product = F::one();
    uint64_t i = t;
    for (; i < n; i += threads) {
        product.store(before + i);
        product = F::mul_lazy(F::load(products + i), product); // below 2p
    }
    F inverse = inverse_of(product.reduced());
    while (i > t) {
        i -= threads;
        const F each = F::load(products + i);
        F::mul_lazy(inverse, F::load(before + i)).store(products + i);
        inverse = F::mul_lazy(each, inverse);
    }
}

} // namespace cuzk

// counts[tile]: entries that each of the tiles leaves, of totals[last] in all. A warp a tile.
extern "C" __global__ void __launch_bounds__(128)
    msm_count(uint64_t tiles, uint64_t last, const uint64_t *entries, uint64_t, const uint32_t *totals,
              uint64_t, uint32_t *counts, uint64_t) {
    using namespace cuzk;
    const uint64_t warp = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const uint32_t lane = threadIdx.x % 32, total = totals[last];
    if (warp >= tiles) return;
    uint32_t count = 0;
    for (int k = 0; k < PAIRS; k++) {
        const uint64_t pair = warp * (TILE / 2) + 32 * k + lane;
        if (2 * pair + 1 < total) {
            const ulonglong2 both = reinterpret_cast<const ulonglong2 *>(entries)[pair];
            count += 1 + (bucket_of(both.x) != bucket_of(both.y));
        } else if (2 * pair < total) {
            count++;
        }
    }
#pragma unroll
    for (int d = 16; d > 0; d /= 2) count += __shfl_down_sync(~0u, count, d);
    if (lane == 0) counts[warp] = count;
}
