// Elementwise arithmetic of the scalar field (fr_) and the base field (fp_) of
// BLS12-381, which tests and measurements of `field.cuh` need. `src/field.rs`
// defines the same on the host.
//
// Elements are canonical Montgomery forms (see `field.cuh`), but for what _from takes and
// _to gives, and what is multiplied by a factor, added to and subtracted from with
// `shoup.cuh`, which is loose. Of two buffers and the output the shortest says how many there are.

#include "shoup.cuh"

using namespace cuzk;

template <class F, class Op>
static __device__ __forceinline__ void each(uint64_t n, F *out, Op op) {
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        op(i).store(out + i);
}

static __device__ __forceinline__ uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

#define UNARY(name, F, expression)                                                               \
    extern "C" __global__ void name(const F *x, uint64_t xs, F *out, uint64_t n) {              \
        each(least(xs, n), out, [=](uint64_t i) {                                               \
            const F a = F::load_constant(x + i);                                                \
            return expression;                                                                  \
        });                                                                                     \
    }

#define BINARY(name, F, expression)                                                              \
    extern "C" __global__ void name(const F *x, uint64_t xs, const F *y, uint64_t ys, F *out, uint64_t n) { \
        each(least(least(xs, ys), n), out, [=](uint64_t i) {                                    \
            const F a = F::load_constant(x + i), b = F::load_constant(y + i);                   \
            return expression;                                                                  \
        });                                                                                     \
    }

// a b^steps: each product waits for the one before.
template <class F>
static __device__ __forceinline__ F times_power(F a, const F &b, uint32_t steps) {
#pragma unroll 1
    for (uint32_t k = 0; k < steps; k++) a = b * a;
    return a;
}

// a^(2^steps)
template <class F>
static __device__ __forceinline__ F squarings(F a, uint32_t steps) {
#pragma unroll 1
    for (uint32_t k = 0; k < steps; k++) a = a.squared();
    return a;
}

#define FIELD(prefix, F)                                                                         \
    BINARY(prefix##_add, F, a + b)                                                              \
    BINARY(prefix##_sub, F, a - b)                                                              \
    BINARY(prefix##_mul, F, a *b)                                                               \
    UNARY(prefix##_neg, F, -a)                                                                  \
    UNARY(prefix##_sqr, F, a.squared())                                                         \
    UNARY(prefix##_from, F, a.to_montgomery())                                                  \
    UNARY(prefix##_to, F, a.from_montgomery())                                                  \
    extern "C" __global__ void prefix##_times_power(uint32_t steps, const F *x, uint64_t xs, const F *y, \
                                                    uint64_t ys, F *out, uint64_t n) {          \
        each(least(least(xs, ys), n), out, [=](uint64_t i) {                                    \
            return times_power(F::load_constant(x + i), F::load_constant(y + i), steps);        \
        });                                                                                     \
    }                                                                                           \
    extern "C" __global__ void prefix##_squarings(uint32_t steps, const F *x, uint64_t xs, F *out, uint64_t n) { \
        each(least(xs, n), out, [=](uint64_t i) { return squarings(F::load_constant(x + i), steps); }); \
    }

FIELD(fr, Fr)
FIELD(fp, Fp)

extern "C" __global__ void fr_times_fixed(const Fixed *w, uint64_t ws, const Fr *x, uint64_t xs, Fr *out, uint64_t n) {
    each(least(least(ws, xs), n), out, [=](uint64_t i) { return Fixed::load(w + i) * Fr::load_constant(x + i); });
}
BINARY(fr_add_loose, Fr, add_loose(a, b))
BINARY(fr_sub_loose, Fr, sub_loose(a, b))
UNARY(fr_canonical, Fr, canonical(a))
