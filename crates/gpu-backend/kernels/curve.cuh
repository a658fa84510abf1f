// Points of a curve y^2 = x^3 + b over any field F that has field.cuh's operations.
//
// Affine points are x, y in Montgomery form, one after the other: 96 bytes in G1,
// blst_p1_affine's. Infinity is (0, 0), where no point of either curve is (b is not 0).
//
// Sums are XYZZ: x = X / ZZ and y = Y / ZZZ with ZZ^3 = ZZZ^2, infinity where ZZ = 0.
// The formulas are those of the Explicit-Formulas Database, "XYZZ coordinates for
// short Weierstrass curves" (www.hyperelliptic.org/EFD, shortw/xyzz), by their names
// there. None of them covers all pairs of points: what they leave out is told apart
// here, so that every sum is right for any two points.

#pragma once

#include "field.cuh"

namespace cuzk {

template <class F>
struct Affine {
    F x, y;

    __device__ __forceinline__ bool is_infinity() const { return x.is_zero() && y.is_zero(); }

    __device__ __forceinline__ void negate_if(bool negative) {
        if (negative) y = -y;
    }
};

// Points in memory that nobody writes while the kernel runs: the abscissas, `step` elements
// apart, and each ordinate `ordinate` elements after its abscissa. A kernel that reads
// abscissas alone moves half of the bytes if they lie apart from the ordinates.
template <class F>
struct Points {
    const F *x;
    uint32_t step;
    uint64_t ordinate;

    __device__ __forceinline__ F abscissa(uint64_t i) const { return F::load_constant(x + i * step); }
    // Negated where an entry says so.
    __device__ __forceinline__ F ordinate_of(uint64_t entry) const {
        const F y = F::load_constant(x + uint64_t(uint32_t(entry) >> 1) * step + ordinate);
        return entry & 1 ? -y : y;
    }
    // The point of an entry, not negated.
    __device__ __forceinline__ Affine<F> of(uint64_t entry) const {
        const F *p = x + uint64_t(uint32_t(entry) >> 1) * step;
        return {F::load_constant(p), F::load_constant(p + ordinate)};
    }
};

template <class F>
struct Xyzz {
    F x, y, zz, zzz;

    __device__ __forceinline__ bool is_infinity() const { return zz.is_zero(); }
    static __device__ __forceinline__ Xyzz infinity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
    static __device__ __forceinline__ Xyzz of(const Affine<F> &p) {
        return p.is_infinity() ? infinity() : Xyzz{p.x, p.y, F::one(), F::one()};
    }

    static __device__ __forceinline__ Xyzz load(const Xyzz *p) {
        return {F::load(&p->x), F::load(&p->y), F::load(&p->zz), F::load(&p->zzz)};
    }
    __device__ __forceinline__ void store(Xyzz *p) const {
        x.store(&p->x), y.store(&p->y), zz.store(&p->zz), zzz.store(&p->zzz);
    }

    // this += q, mostly "madd-2008-s": 8 products and 2 squares.
    __device__ __forceinline__ void add(const Affine<F> &q) {
        if (q.is_infinity()) return;
        if (is_infinity()) {
            *this = {q.x, q.y, F::one(), F::one()};
            return;
        }
        const F p = q.x * zz - x;
        const F r = q.y * zzz - y;
        if (p.is_zero()) { // the same x: q or -q
            if (r.is_zero())
                *this = twice(*this);
            else
                *this = infinity();
            return;
        }
        const F pp = p.squared();
        zz = zz * pp;
        const F ppp = p * pp;
        zzz = zzz * ppp;
        finish(r, x * pp, ppp, y);
    }

    // this += q, mostly "add-2008-s": 12 products and 2 squares.
    __device__ __forceinline__ void add(const Xyzz &q) {
        if (q.is_infinity()) return;
        if (is_infinity()) {
            *this = q;
            return;
        }
        const F u = x * q.zz, s = y * q.zzz;
        const F p = q.x * zz - u;
        const F r = q.y * zzz - s;
        if (p.is_zero()) {
            if (r.is_zero())
                *this = twice(*this);
            else
                *this = infinity();
            return;
        }
        const F pp = p.squared();
        zz = zz * q.zz * pp;
        const F ppp = p * pp;
        zzz = zzz * q.zzz * ppp;
        finish(r, u * pp, ppp, s);
    }

    // p + p, "dbl-2008-s-1" with a = 0. Right for infinity, too; no point that is a sum
    // of points of the odd order r is of order 2. Seldom needed: not inlined.
    static __device__ __noinline__ Xyzz twice(Xyzz p) {
        const F u = p.y.doubled();
        const F v = u.squared();
        const F w = u * v;
        const F s = p.x * v;
        const F xx = p.x.squared();
        const F m = xx.doubled() + xx;
        Xyzz sum;
        sum.x = m.squared() - s.doubled();
        sum.y = m * (s - sum.x) - w * p.y;
        sum.zz = v * p.zz;
        sum.zzz = w * p.zzz;
        return sum;
    }

private:
    // What both additions end with.
    __device__ __forceinline__ void finish(const F &r, const F &q, const F &ppp, const F &s) {
        const F t = s * ppp;
        x = r.squared() - ppp - q.doubled();
        y = r * (q - x) - t;
    }
};

} // namespace cuzk
