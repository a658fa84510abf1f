// Points of parameter files to the form that sums want, where they lie. The crate `cuzk-srs`
// (`src/gpu/kernels.rs`) defines the same on the host.
//
// A stored point is its uncompressed encoding: coordinates of 48 bytes, big-endian, x y in G1
// and x.c1 x.c0 y.c1 y.c0 in G2. It becomes its affine coordinates in Montgomery form, x y and
// x.c0 x.c1 y.c0 y.c1. A thread has a point of its own, so that one takes the other's place.

#include "curve.cuh"
#include "fp2.cuh"

using namespace cuzk;

// A number of 48 bytes, big-endian.
static __device__ __forceinline__ Fp big_endian(const Fp *bytes) {
    const Fp words = Fp::load(bytes);
    Fp x;
#pragma unroll
    for (int i = 0; i < Fp::N; i++) x.l[i] = __byte_perm(words.l[Fp::N - 1 - i], 0, 0x0123);
    return x;
}

// The coordinate that is stored at `bytes`. `sound` is cleared if it is not below the modulus, as
// none is that has one of the encoding's flags.
static __device__ __forceinline__ void read(const Fp *bytes, Fp &x, bool &sound) {
    const Fp number = big_endian(bytes);
    sound &= number.reduced() == number;
    x = number.to_montgomery();
}
static __device__ __forceinline__ void read(const Fp2 *bytes, Fp2 &x, bool &sound) {
    read(&bytes->c0, x.c1, sound);
    read(&bytes->c1, x.c0, sound);
}

// b of y^2 = x^3 + b, 4 in G1 and 4 + 4u in G2, from 1.
static __device__ __forceinline__ Fp four() { return Fp::one().doubled().doubled(); }
static __device__ __forceinline__ void set_b(Fp &b) { b = four(); }
static __device__ __forceinline__ void set_b(Fp2 &b) { b = {four(), four()}; }

// `first_bad` becomes the greatest of itself and the complements of the indices of those that are no
// points: zero stays zero if all are. Files count points in 32 bits, so that no index has the
// complement zero. Where x is zero no point is in the subgroup, and blst refuses it.
template <class F>
static __device__ __forceinline__ void decode(Affine<F> *points, uint64_t n, uint32_t *first_bad) {
    const uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Affine<F> p;
    bool sound = true;
    read(&points[i].x, p.x, sound);
    read(&points[i].y, p.y, sound);
    F b;
    set_b(b);
    sound = sound && !p.x.is_zero() && p.y.squared() == p.x.squared() * p.x + b;
    p.x.store(&points[i].x);
    p.y.store(&points[i].y);
    if (!sound) atomicMax(first_bad, ~uint32_t(i));
}

extern "C" __global__ void __launch_bounds__(128)
    points_g1(Affine<Fp> *points, uint64_t n, uint32_t *first_bad, uint64_t) {
    decode(points, n, first_bad);
}
extern "C" __global__ void __launch_bounds__(128)
    points_g2(Affine<Fp2> *points, uint64_t n, uint32_t *first_bad, uint64_t) {
    decode(points, n, first_bad);
}
