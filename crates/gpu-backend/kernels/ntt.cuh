// One pass of a number-theoretic transform over Fr: several levels of it at once, on
// tiles in shared memory.
//
// The 2^log_n scalars are an array [block][row][column] of 2^above, 2^levels and 2^below.
// A pass takes the rows of one block and one column for the coefficients of a polynomial
// and evaluates it at y u^i, u the root of unity of order 2^levels. Over all passes that is
// the transform (J. W. Cooley, J. W. Tukey, Math. Comp. 19, 1965, with more than one factor):
//
//   * decimation in frequency (Flow::Dif): natural order to bit-reversed, passes from the
//     highest levels to the lowest. y belongs to the block: w^(rev(block) 2^below);
//   * decimation in time (Flow::Dit): bit-reversed order to natural, passes from the lowest
//     levels to the highest. y belongs to the column: w^(column 2^above). Rows are
//     in bit-reversed order; counted in that order they are the same as the other's.
//
// So a pass is: multiply row r by y^r ("twist"), then the same levels of butterflies
// a + b t, a - b t for every tile, whose twiddles t are a table of half as many as there are
// rows. Entry q of the table is u^rev(q), the twiddle of the q-th group of each level.
//
// y^r is a power w^e. Powers of w come from two tables, low[e mod 2^h] high[e / 2^h]; h is
// such that only passes with as many y as scalars need the first one, and the others one
// load. Factors of a coset, base^i, come from two such tables too.

#pragma once

#include "shoup.cuh"

namespace cuzk::ntt {

// What a pass does; `crates/ntt/src/gpu` has the same numbers.
enum Flags : uint32_t {
    DIT = 1,         // decimation in time
    INVERSE = 2,     // the twist is by powers of 1/w
    TWIST = 4,       // multiply the rows by y^r
    LOW = 8,         // the twist needs both tables
    SCALE_IN = 16,   // multiply by the factors of the coset before the levels
    SCALE_OUT = 32,  // and after them
};

// x base^i by i: base^i = low[i mod 2^h] high[i / 2^h].
struct Powers {
    const Fixed *low;
    uint32_t h;
    const Fixed *high;

    __device__ Powers(const Fixed *low, uint64_t lows, const Fixed *high) : low(low), high(high) {
        h = 63 - __clzll(lows);
    }
    // i a multiple of 2^h, and low[0] = 1.
    __device__ __forceinline__ Fr times_multiple(uint32_t i, const Fr &x) const { return Fixed::load(high + (i >> h)) * x; }
    __device__ __forceinline__ Fr times(uint32_t i, const Fr &x) const {
        return Fixed::load(low + (i & ((1u << h) - 1))) * times_multiple(i, x);
    }
};

// The lowest `bits` bits of x in reverse; x is below 2^bits.
static __device__ __forceinline__ uint32_t reversed(uint32_t x, uint32_t bits) {
    return bits == 0 ? 0 : __brev(x) >> (32 - bits);
}

// 2^log_columns columns (of one block, or the only ones of as many blocks), each of 2^levels
// rows, in shared memory. The halves of scalars are apart, and there is a gap after
// every eight, so that neighbours and every eighth are in different banks.
struct Tile {
    uint4 *low, *high;
    uint32_t levels, log_columns;
    bool contiguous; // below is 0: rows are neighbours in memory, and here

    static __device__ __forceinline__ uint32_t gapped(uint32_t i) { return i + (i >> 3); }

    __device__ Tile(uint4 *shared, uint32_t levels, uint32_t log_columns, bool contiguous)
        : low(shared), high(shared + gapped(1u << (levels + log_columns)) + 4), levels(levels),
          log_columns(log_columns), contiguous(contiguous) {}

    __device__ __forceinline__ uint32_t size() const { return 1u << (levels + log_columns); }
    __device__ __forceinline__ uint32_t index(uint32_t row, uint32_t column) const {
        return contiguous ? (column << levels) + row : (row << log_columns) + column;
    }
    __device__ __forceinline__ Fr load(uint32_t i) const {
        const uint4 a = low[gapped(i)], b = high[gapped(i)];
        Fr x;
        x.l[0] = a.x, x.l[1] = a.y, x.l[2] = a.z, x.l[3] = a.w;
        x.l[4] = b.x, x.l[5] = b.y, x.l[6] = b.z, x.l[7] = b.w;
        return x;
    }
    __device__ __forceinline__ void store(uint32_t i, const Fr &x) const {
        low[gapped(i)] = make_uint4(x.l[0], x.l[1], x.l[2], x.l[3]);
        high[gapped(i)] = make_uint4(x.l[4], x.l[5], x.l[6], x.l[7]);
    }
};

// Which part of the array a tile is.
struct Place {
    uint64_t base;          // the first scalar
    uint32_t log_n, above, below;
    uint32_t block, column; // of the first scalar
    bool dit;

    __device__ Place(const Tile &tile, uint32_t index, uint32_t log_n, uint32_t above, bool dit)
        : log_n(log_n), above(above), below(log_n - above - tile.levels), dit(dit) {
        if (tile.contiguous) {
            block = index << tile.log_columns;
            column = 0;
            base = uint64_t(block) << tile.levels;
        } else {
            const uint32_t log_tiles = below - tile.log_columns;
            block = index >> log_tiles;
            column = (index & ((1u << log_tiles) - 1)) << tile.log_columns;
            base = (uint64_t(block) << (tile.levels + below)) + column;
        }
    }

    // Where a scalar of the tile is in the array, by its row in natural order.
    __device__ __forceinline__ uint64_t at(const Tile &tile, uint32_t row, uint32_t column) const {
        const uint64_t stored = dit ? reversed(row, tile.levels) : row;
        return base + (tile.contiguous ? (column << tile.levels) + stored : (stored << below) + column);
    }

    // e of y^row = w^e.
    __device__ __forceinline__ uint32_t exponent(const Tile &tile, uint32_t row, uint32_t column_here) const {
        if (dit) return (row * (column + column_here)) << above;
        const uint32_t b = tile.contiguous ? block + column_here : block;
        return (row * reversed(b, above)) << below;
    }
};

// Between global and shared memory, neighbouring threads at neighbouring halves of scalars.
template <class Move>
static __device__ __forceinline__ void each_half(const Tile &tile, const Place &place, Fr *data, Move move) {
#pragma unroll 4
    for (uint32_t u = threadIdx.x; u < 2 * tile.size(); u += blockDim.x) {
        const uint32_t i = u / 2;
        uint32_t row, column;
        uint64_t offset;
        if (tile.contiguous) {
            row = i & ((1u << tile.levels) - 1), column = i >> tile.levels;
            offset = i;
        } else {
            row = i >> tile.log_columns, column = i & ((1u << tile.log_columns) - 1);
            offset = (uint64_t(row) << place.below) + column;
        }
        if (place.dit) row = reversed(row, tile.levels);
        const uint32_t to = Tile::gapped(tile.index(row, column));
        move(reinterpret_cast<uint4 *>(data + place.base + offset) + u % 2, (u % 2 ? tile.high : tile.low) + to);
    }
}

static __device__ __forceinline__ void load(const Tile &tile, const Place &place, Fr *data) {
#if __CUDA_ARCH__ >= 800
    each_half(tile, place, data, [](const uint4 *global, uint4 *shared) {
        const uint32_t to = uint32_t(__cvta_generic_to_shared(shared));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    });
    asm volatile("cp.async.wait_all;" ::: "memory");
#else
    each_half(tile, place, data, [](const uint4 *global, uint4 *shared) { *shared = *global; });
#endif
    __syncthreads();
}

static __device__ __forceinline__ void store(const Tile &tile, const Place &place, Fr *data) {
    each_half(tile, place, data, [](uint4 *global, const uint4 *shared) { *global = *shared; });
}

// Makes each scalar x product(row, column, x), and canonical where that is asked for.
template <class Product>
static __device__ __forceinline__ void multiply(const Tile &tile, bool canonical, Product product) {
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < tile.size(); i += blockDim.x) {
        const uint32_t mask_rows = (1u << tile.levels) - 1, mask_columns = (1u << tile.log_columns) - 1;
        const uint32_t row = tile.contiguous ? i & mask_rows : i >> tile.log_columns;
        const uint32_t column = tile.contiguous ? i >> tile.levels : i & mask_columns;
        const Fr x = product(row, column, tile.load(i));
        tile.store(i, canonical ? x.reduced() : x);
    }
    __syncthreads();
}

// COUNT levels from `level` on, of 2^COUNT rows at a time, in registers. The first group of
// each of the FIRST levels has the twiddle 1. Scalars are below 2p before the first level,
// loose after each, and canonical after the last of a tile where that is asked for.
template <int COUNT, bool FIRST>
static __device__ __forceinline__ void butterflies(const Tile &tile, uint32_t level, const Fixed *twiddles,
                                                   bool canonical_out) {
    constexpr uint32_t ROWS = 1 << COUNT;
    const uint32_t log_distance = tile.levels - level - COUNT;
    for (uint32_t g = threadIdx.x; g < tile.size() >> COUNT; g += blockDim.x) {
        uint32_t r, column;
        if (tile.contiguous)
            r = g & ((1u << (tile.levels - COUNT)) - 1), column = g >> (tile.levels - COUNT);
        else
            r = g >> tile.log_columns, column = g & ((1u << tile.log_columns) - 1);
        const uint32_t group = FIRST ? 0 : r >> log_distance;
        const uint32_t row = (group << (log_distance + COUNT)) + (r & ((1u << log_distance) - 1));
        const uint32_t first = tile.index(row, column);
        const uint32_t step = tile.contiguous ? 1u << log_distance : 1u << (log_distance + tile.log_columns);
        Fr x[ROWS];
#pragma unroll
        for (uint32_t m = 0; m < ROWS; m++) x[m] = tile.load(first + m * step);
#pragma unroll
        for (uint32_t l = 0; l < COUNT; l++) {
            const uint32_t half = ROWS >> (l + 1);
#pragma unroll
            for (uint32_t q = 0; q < 1u << l; q++) {
                const bool one = FIRST && q == 0;
                Fixed t;
                if (!one) t = Fixed::load(twiddles + (group << l) + q);
#pragma unroll
                for (uint32_t i = 2 * half * q; i < 2 * half * q + half; i++) {
                    // Products are below 2p, loose sums may not be.
                    const Fr a = x[i], b = !one ? t * x[i + half] : l == 0 ? x[i + half] : x[i + half].reduced();
                    x[i] = add_loose(a, b);
                    x[i + half] = sub_loose(a, b);
                }
            }
        }
        if (canonical_out && level + COUNT == tile.levels) {
#pragma unroll
            for (uint32_t m = 0; m < ROWS; m++) x[m] = canonical(x[m]);
        }
#pragma unroll
        for (uint32_t m = 0; m < ROWS; m++) tile.store(first + m * step, x[m]);
    }
    __syncthreads();
}

// All levels of the tile, RADIX at a time.
template <int RADIX>
static __device__ __forceinline__ void levels(const Tile &tile, const Fixed *twiddles, bool canonical) {
    if (tile.levels >= RADIX)
        butterflies<RADIX, true>(tile, 0, twiddles, canonical);
    else if (RADIX > 2 && tile.levels == 2)
        butterflies<2, true>(tile, 0, twiddles, canonical);
    else if (tile.levels == 1)
        butterflies<1, true>(tile, 0, twiddles, canonical);
    uint32_t level = RADIX;
    for (; level + RADIX <= tile.levels; level += RADIX) butterflies<RADIX, false>(tile, level, twiddles, canonical);
    if (RADIX > 2 && tile.levels == level + 2) butterflies<2, false>(tile, level, twiddles, canonical);
    if (tile.levels == level + 1) butterflies<1, false>(tile, level, twiddles, canonical);
}

// A pass over one tile of 2^log_tile scalars.
template <int RADIX>
static __device__ __forceinline__ void pass(uint4 *shared, uint32_t log_n, uint32_t above, uint32_t levels_,
                                            uint32_t log_tile, uint32_t flags, const Fixed *twiddles,
                                            const Powers &roots, const Powers &coset, Fr *data) {
    const Tile tile(shared, levels_, log_tile - levels_, log_n == above + levels_);
    const Place place(tile, blockIdx.x, log_n, above, flags & DIT);
    load(tile, place, data);
    if (flags & SCALE_IN)
        multiply(tile, levels_ == 0, [&](uint32_t row, uint32_t column, const Fr &x) {
            const uint32_t at = uint32_t(place.at(tile, row, column));
            return coset.times(flags & DIT ? reversed(at, log_n) : at, x);
        });
    if (flags & TWIST)
        multiply(tile, levels_ == 0, [&](uint32_t row, uint32_t column, const Fr &x) {
            uint32_t e = place.exponent(tile, row, column);
            if (flags & INVERSE) e = -e & uint32_t((uint64_t(1) << log_n) - 1);
            return flags & LOW ? roots.times(e, x) : roots.times_multiple(e, x);
        });
    // Between passes scalars may be loose.
    const bool last = (flags & DIT ? above : place.below) == 0;
    levels<RADIX>(tile, twiddles, last && !(flags & SCALE_OUT));
    if (flags & SCALE_OUT)
        multiply(tile, true, [&](uint32_t row, uint32_t column, const Fr &x) {
            const uint32_t at = uint32_t(place.at(tile, row, column));
            return coset.times(flags & DIT ? at : reversed(at, log_n), x);
        });
    store(tile, place, data);
}

} // namespace cuzk::ntt
