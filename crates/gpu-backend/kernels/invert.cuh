// Inversion in a prime field by division steps.
//
// D. J. Bernstein, B.-Y. Yang, Fast constant-time gcd computation and modular
// inversion, TCHES 2019(3), with delta starting at 1/2 (P. Wuille's variant): for odd f
//
//   (delta, f, g) -> (1 - delta, g, (g - f) / 2)             if delta > 0 and g is odd
//                    (1 + delta, f, (g + (g mod 2) f) / 2)   else
//
// ends in g = 0 and f = +-1 from f = p and g = x. STEPS of them depend on the lowest bits of f
// and g alone; they are a matrix by which f, g are multiplied, and d, e as well, of which
// d x = f and e x = g modulo p hold throughout. Time depends on x, which is no secret.

#pragma once

#include "field.cuh"

namespace cuzk {

// A signed number in two's complement, 32 bits wider than the field's.
template <int N>
struct Signed {
    uint32_t l[N + 1];
};

// (u a + v b + m p) / 2^30, which is no fraction, for |u| + |v| <= 2^30 and 0 <= m < 2^30.
template <class P>
static __device__ __forceinline__ Signed<P::LIMBS> combined(int32_t u, const Signed<P::LIMBS> &a, int32_t v,
                                                            const Signed<P::LIMBS> &b, uint32_t m) {
    constexpr int N = P::LIMBS;
    Signed<N> r;
    int64_t carry = 0;
    uint32_t below = 0;
#pragma unroll
    for (int i = 0; i <= N; i++) {
        // Each product is below 2^62 in magnitude, and so are the first two together.
        if (i < N)
            carry += int64_t(u) * int64_t(a.l[i]) + int64_t(v) * int64_t(b.l[i]) +
                     int64_t(uint64_t(m) * P::modulus(i));
        else
            carry += int64_t(u) * int32_t(a.l[N]) + int64_t(v) * int32_t(b.l[N]);
        const uint32_t limb = uint32_t(carry);
        if (i > 0) r.l[i - 1] = __funnelshift_r(below, limb, 30);
        below = limb;
        carry >>= 32;
    }
    r.l[N] = __funnelshift_r(below, uint32_t(carry), 30);
    return r;
}

// 1 / x in Montgomery form, and 0 for 0.
template <class P>
static __device__ __forceinline__ Field<P> inverse_of(const Field<P> &x) {
    constexpr int N = P::LIMBS, STEPS = 30;
    Signed<N> f, g, d, e;
#pragma unroll
    for (int i = 0; i <= N; i++) {
        f.l[i] = i < N ? P::modulus(i) : 0;
        g.l[i] = i < N ? x.l[i] : 0;
        d.l[i] = 0;
        e.l[i] = i == 0;
    }
    int32_t delta = 1; // twice delta
    for (;;) {
        uint32_t any = 0;
#pragma unroll
        for (int i = 0; i <= N; i++) any |= g.l[i];
        if (any == 0) break;
        // 2^STEPS (f', g') = (u f + v g, q f + r g)
        int32_t u = 1, v = 0, q = 0, r = 1;
        uint32_t a = f.l[0], b = g.l[0];
#pragma unroll 5
        for (int k = 0; k < STEPS; k++) {
            const bool odd = b & 1, swap = odd && delta > 0;
            // g becomes the sum of itself and of f, of -f or of nothing; f becomes what g was, or stays.
            const int32_t sign = odd ? (swap ? -1 : 1) : 0;
            const uint32_t c = b;
            const int32_t s = q, t = r;
            b = (b + sign * a) >> 1;
            q += sign * u;
            r += sign * v;
            a = swap ? c : a;
            u = (swap ? s : u) * 2;
            v = (swap ? t : v) * 2;
            delta = (swap ? -delta : delta) + 2;
        }
        const Signed<N> f0 = f, d0 = d;
        f = combined<P>(u, f0, v, g, 0);
        g = combined<P>(q, f0, r, g, 0);
        // A multiple of p makes them divisible. It adds less than p to their magnitude each time,
        // of which there are some thirty.
        constexpr uint32_t MASK = (1u << STEPS) - 1;
        const uint32_t md = (u * d0.l[0] + v * e.l[0]) * P::INV & MASK;
        const uint32_t me = (q * d0.l[0] + r * e.l[0]) * P::INV & MASK;
        d = combined<P>(u, d0, v, e, md);
        e = combined<P>(q, d0, r, e, me);
    }
    // d = f / x. To f = 1, and then by 64 p above 0 and below p.
    const bool minus = int32_t(f.l[N]) < 0;
    Signed<N> y;
    int64_t carry = 0;
#pragma unroll
    for (int i = 0; i <= N; i++) {
        const int64_t limb = i < N ? int64_t(d.l[i]) : int64_t(int32_t(d.l[N]));
        carry += (minus ? -limb : limb) + (i < N ? int64_t(P::modulus(i)) * 64 : 0);
        y.l[i] = uint32_t(carry);
        carry >>= 32;
    }
#pragma unroll 1
    for (int shift = 6; shift >= 0; shift--) {
        Signed<N> less;
        int64_t borrow = 0;
#pragma unroll
        for (int i = 0; i <= N; i++) {
            borrow += int64_t(y.l[i]) - (i < N ? int64_t(P::modulus(i)) << shift : 0);
            less.l[i] = uint32_t(borrow);
            borrow >>= 32;
        }
        const bool below = int32_t(less.l[N]) < 0;
#pragma unroll
        for (int i = 0; i <= N; i++) y.l[i] = below ? y.l[i] : less.l[i];
    }
    // x = a R: y = 1 / (a R), and 1 / a = y R is in Montgomery form y R^2.
    Field<P> result;
#pragma unroll
    for (int i = 0; i < N; i++) result.l[i] = y.l[i];
    return result.to_montgomery().to_montgomery();
}

} // namespace cuzk
