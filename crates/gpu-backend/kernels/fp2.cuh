// The quadratic extension of Fp, by u with u^2 = -1: c0 + c1 u, 96 bytes, blst_fp2's.
//
// It has the operations of Field that curves and their sums need. Products are
// Karatsuba's, three of Fp; squares take two. They are not inlined: a sum of points has
// some ten of them, and code that fits the caches of instructions is faster.

#pragma once

#include "field.cuh"
#include "invert.cuh"

namespace cuzk {

struct alignas(16) Fp2 {
    Fp c0, c1;

    static __device__ __forceinline__ Fp2 zero() { return {Fp::zero(), Fp::zero()}; }
    static __device__ __forceinline__ Fp2 one() { return {Fp::one(), Fp::zero()}; }
    static __device__ __forceinline__ Fp2 load(const Fp2 *p) { return {Fp::load(&p->c0), Fp::load(&p->c1)}; }
    static __device__ __forceinline__ Fp2 load_constant(const Fp2 *p) {
        return {Fp::load_constant(&p->c0), Fp::load_constant(&p->c1)};
    }
    __device__ __forceinline__ void store(Fp2 *p) const { c0.store(&p->c0), c1.store(&p->c1); }

    __device__ __forceinline__ bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
    friend __device__ __forceinline__ bool operator==(const Fp2 &a, const Fp2 &b) {
        return a.c0 == b.c0 && a.c1 == b.c1;
    }
    friend __device__ __forceinline__ bool operator!=(const Fp2 &a, const Fp2 &b) { return !(a == b); }
    friend __device__ __forceinline__ Fp2 operator+(const Fp2 &a, const Fp2 &b) {
        return {a.c0 + b.c0, a.c1 + b.c1};
    }
    friend __device__ __forceinline__ Fp2 operator-(const Fp2 &a, const Fp2 &b) {
        return {a.c0 - b.c0, a.c1 - b.c1};
    }
    __device__ __forceinline__ Fp2 operator-() const { return {-c0, -c1}; }
    __device__ __forceinline__ Fp2 doubled() const { return {c0.doubled(), c1.doubled()}; }

    static __device__ __noinline__ Fp2 product(Fp2 a, Fp2 b) {
        const Fp low = a.c0 * b.c0, high = a.c1 * b.c1;
        const Fp both = (a.c0 + a.c1) * (b.c0 + b.c1);
        return {low - high, both - low - high};
    }
    static __device__ __noinline__ Fp2 square(Fp2 a) {
        return {(a.c0 + a.c1) * (a.c0 - a.c1), (a.c0 * a.c1).doubled()};
    }
    friend __device__ __forceinline__ Fp2 operator*(const Fp2 &a, const Fp2 &b) { return product(a, b); }
    __device__ __forceinline__ Fp2 squared() const { return square(*this); }

    // Here every product is canonical.
    static __device__ __forceinline__ Fp2 mul_lazy(const Fp2 &a, const Fp2 &b) { return product(a, b); }
    __device__ __forceinline__ Fp2 reduced() const { return *this; }
};

// 1 / x = (c0 - c1 u) / (c0^2 + c1^2), and 0 for 0.
static __device__ __forceinline__ Fp2 inverse_of(const Fp2 &x) {
    const Fp norm = inverse_of(x.c0.squared() + x.c1.squared());
    return {x.c0 * norm, -x.c1 * norm};
}

} // namespace cuzk
