// Arithmetic of prime fields in Montgomery form, on 32-bit limbs in registers.
//
// An element x is kept as x R mod p, R = 2^(32 LIMBS), lowest limb first: the
// bytes of blst_fr and blst_fp. Elements are canonical, below p, wherever a name
// does not say otherwise.
//
// Products are Montgomery's (P. L. Montgomery, Modular multiplication without
// trial division, Math. Comp. 44, 1985), one limb of an operand after the other
// (operand scanning, CIOS of C. K. Koc et al., IEEE Micro 16(3), 1996). A wide
// product a_j b is added to a pair of limbs, and neighbouring products overlap by
// a limb; so those of even j are added to one accumulator and those of odd j to
// another, which is a limb higher. Then each pair is one IMAD.WIDE with the carry
// of the pair below, and the two accumulators meet once a step, in one limb.
//
// A carry lives in the flag CC.CF between one asm statement and the next: they are
// volatile, so they stay in order, and the compiler has no use of its own for the
// flag between them (nothing here is wider than 64 bits).

#pragma once

#include "generated/fields.cuh"

namespace cuzk {

// Sums with a carry in (addc) and out (_cc).
#define CUZK_PTX2(name, op)                                                            \
    static __device__ __forceinline__ uint32_t name(uint32_t a, uint32_t b) {         \
        uint32_t r;                                                                   \
        asm volatile(op " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                   \
        return r;                                                                     \
    }
// The low or high half of a product, plus a limb.
#define CUZK_PTX3(name, op)                                                            \
    static __device__ __forceinline__ uint32_t name(uint32_t a, uint32_t b, uint32_t c) { \
        uint32_t r;                                                                   \
        asm volatile(op " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));       \
        return r;                                                                     \
    }
CUZK_PTX2(add_cc, "add.cc.u32")
CUZK_PTX2(addc_cc, "addc.cc.u32")
CUZK_PTX2(addc, "addc.u32")
CUZK_PTX2(sub_cc, "sub.cc.u32")
CUZK_PTX2(subc_cc, "subc.cc.u32")
CUZK_PTX2(subc, "subc.u32")
CUZK_PTX3(mad_lo_cc, "mad.lo.cc.u32")
CUZK_PTX3(madc_lo_cc, "madc.lo.cc.u32")
CUZK_PTX3(madc_hi_cc, "madc.hi.cc.u32")
CUZK_PTX3(madc_hi, "madc.hi.u32")
CUZK_PTX3(madc_lo, "madc.lo.u32")
#undef CUZK_PTX3
#undef CUZK_PTX2

// An element of the field with parameters P.
template <class P>
struct alignas(16) Field {
    static constexpr int N = P::LIMBS;
    static_assert(N % 4 == 0, "limbs are loaded by four");
    uint32_t l[N];

    static __device__ __forceinline__ Field zero() {
        Field x;
#pragma unroll
        for (int i = 0; i < N; i++) x.l[i] = 0;
        return x;
    }
    static __device__ __forceinline__ Field one() {
        Field x;
#pragma unroll
        for (int i = 0; i < N; i++) x.l[i] = P::r(i);
        return x;
    }

    // 128 bits at a time. `p` is that of an element in global or shared memory.
    static __device__ __forceinline__ Field load(const Field *p) {
        Field x;
#pragma unroll
        for (int i = 0; i < N / 4; i++) {
            const uint4 v = reinterpret_cast<const uint4 *>(p)[i];
            x.l[4 * i] = v.x, x.l[4 * i + 1] = v.y, x.l[4 * i + 2] = v.z, x.l[4 * i + 3] = v.w;
        }
        return x;
    }
    // The same of memory that nobody writes while the kernel runs.
    static __device__ __forceinline__ Field load_constant(const Field *p) {
        Field x;
#pragma unroll
        for (int i = 0; i < N / 4; i++) {
            const uint4 v = __ldg(reinterpret_cast<const uint4 *>(p) + i);
            x.l[4 * i] = v.x, x.l[4 * i + 1] = v.y, x.l[4 * i + 2] = v.z, x.l[4 * i + 3] = v.w;
        }
        return x;
    }
    __device__ __forceinline__ void store(Field *p) const {
#pragma unroll
        for (int i = 0; i < N / 4; i++)
            reinterpret_cast<uint4 *>(p)[i] = make_uint4(l[4 * i], l[4 * i + 1], l[4 * i + 2], l[4 * i + 3]);
    }

    __device__ __forceinline__ bool is_zero() const {
        uint32_t any = 0;
#pragma unroll
        for (int i = 0; i < N; i++) any |= l[i];
        return any == 0;
    }
    friend __device__ __forceinline__ bool operator==(const Field &a, const Field &b) {
        uint32_t any = 0;
#pragma unroll
        for (int i = 0; i < N; i++) any |= a.l[i] ^ b.l[i];
        return any == 0;
    }
    friend __device__ __forceinline__ bool operator!=(const Field &a, const Field &b) { return !(a == b); }

    // Any x below 2p to x mod p.
    __device__ __forceinline__ Field reduced() const {
        Field r;
        r.l[0] = sub_cc(l[0], P::modulus(0));
#pragma unroll
        for (int i = 1; i < N; i++) r.l[i] = subc_cc(l[i], P::modulus(i));
        const bool below = subc(0, 0) != 0;
#pragma unroll
        for (int i = 0; i < N; i++) r.l[i] = below ? l[i] : r.l[i];
        return r;
    }

    friend __device__ __forceinline__ Field operator+(const Field &a, const Field &b) {
        Field r;
        r.l[0] = add_cc(a.l[0], b.l[0]);
#pragma unroll
        for (int i = 1; i < N - 1; i++) r.l[i] = addc_cc(a.l[i], b.l[i]);
        r.l[N - 1] = addc(a.l[N - 1], b.l[N - 1]); // 2p is below R
        return r.reduced();
    }
    friend __device__ __forceinline__ Field operator-(const Field &a, const Field &b) {
        Field r;
        r.l[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
        for (int i = 1; i < N; i++) r.l[i] = subc_cc(a.l[i], b.l[i]);
        const uint32_t mask = subc(0, 0); // all ones if a is below b
        r.l[0] = add_cc(r.l[0], P::modulus(0) & mask);
#pragma unroll
        for (int i = 1; i < N - 1; i++) r.l[i] = addc_cc(r.l[i], P::modulus(i) & mask);
        r.l[N - 1] = addc(r.l[N - 1], P::modulus(N - 1) & mask);
        return r;
    }
    __device__ __forceinline__ Field operator-() const {
        const uint32_t mask = is_zero() ? 0 : ~uint32_t(0);
        Field r;
        r.l[0] = sub_cc(P::modulus(0) & mask, l[0]);
#pragma unroll
        for (int i = 1; i < N - 1; i++) r.l[i] = subc_cc(P::modulus(i) & mask, l[i]);
        r.l[N - 1] = subc(P::modulus(N - 1) & mask, l[N - 1]);
        return r;
    }
    __device__ __forceinline__ Field doubled() const { return *this + *this; }

    // The product a b / R mod p.
    friend __device__ __forceinline__ Field operator*(const Field &a, const Field &b) {
        return mul_lazy(a, b).reduced();
    }

    // The product without the last subtraction: below p + a b / R for a below R - p
    // and any b below R. With a canonical this is below 2p.
    static __device__ __forceinline__ Field mul_lazy(const Field &a, const Field &b) {
        // The sum so far is even + 2^32 odd.
        uint32_t x[N], y[N];
#pragma unroll
        for (int j = 0; j < N; j++) x[j] = y[j] = 0;
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            step(x, y, a.l, b.l[i]);
            step(y, x, a.l, b.l[i + 1]);
        }
        return joined(x, y);
    }

    // x^2 / R mod p.
    __device__ __forceinline__ Field squared() const { return sqr_lazy(*this).reduced(); }

    // The square without the last subtraction, below 2p, of a canonical a: the
    // products of different limbs once, doubled, and the reduction after them.
    static __device__ __forceinline__ Field sqr_lazy(const Field &a) {
        uint32_t even[2 * N], odd[2 * N]; // odd is a limb higher
#pragma unroll
        for (int k = 0; k < 2 * N; k++) even[k] = odd[k] = 0;
#pragma unroll
        for (int i = 0; i < N - 1; i++) {
            row(odd + 2 * i, a.l + i + 1, a.l[i], N - 1 - i);
            if (i + 2 < N) row(even + 2 * i + 2, a.l + i + 2, a.l[i], N - 2 - i);
        }
        // even + 2^32 odd, then twice that plus the squares.
        uint32_t t[2 * N];
        t[0] = 0;
        t[1] = add_cc(even[1], odd[0]);
#pragma unroll
        for (int k = 2; k < 2 * N - 1; k++) t[k] = addc_cc(even[k], odd[k - 1]);
        t[2 * N - 1] = addc(even[2 * N - 1], odd[2 * N - 2]);
#pragma unroll
        for (int k = 2 * N - 1; k > 0; k--) t[k] = __funnelshift_l(t[k - 1], t[k], 1);
        t[0] = mad_lo_cc(a.l[0], a.l[0], 0);
        t[1] = madc_hi_cc(a.l[0], a.l[0], t[1]);
#pragma unroll
        for (int i = 1; i < N; i++) {
            t[2 * i] = madc_lo_cc(a.l[i], a.l[i], t[2 * i]);
            t[2 * i + 1] = i < N - 1 ? madc_hi_cc(a.l[i], a.l[i], t[2 * i + 1])
                                     : madc_hi(a.l[i], a.l[i], t[2 * i + 1]);
        }
        // The low half is reduced to at most p, and the high half, at most p^2 / R, added.
        uint32_t y[N];
#pragma unroll
        for (int j = 0; j < N; j++) y[j] = 0;
        const Field low = redc(t, y);
        Field r;
        r.l[0] = add_cc(low.l[0], t[N]);
#pragma unroll
        for (int j = 1; j < N - 1; j++) r.l[j] = addc_cc(low.l[j], t[N + j]);
        r.l[N - 1] = addc(low.l[N - 1], t[2 * N - 1]);
        return r;
    }

    // A number below p to its Montgomery form x R mod p.
    __device__ __forceinline__ Field to_montgomery() const {
        Field r2;
#pragma unroll
        for (int i = 0; i < N; i++) r2.l[i] = P::r2(i);
        return r2 * *this;
    }
    // The number x of a Montgomery form x R mod p: the reduction alone.
    __device__ __forceinline__ Field from_montgomery() const {
        uint32_t x[N], y[N];
#pragma unroll
        for (int j = 0; j < N; j++) x[j] = l[j], y[j] = 0;
        return redc(x, y).reduced();
    }

private:
    // even + 2^32 odd = (even' + 2^32 odd') / 2^32 + a b + m p with m such that 2^32 divides
    // it. The sum before was even' = odd and odd' = even, whose lowest limb is zero: so
    // the quotient by 2^32 costs no more than names and the sum of one limb.
    static __device__ __forceinline__ void step(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b) {
        shift(even, odd, a + 1, b);
        chain(even, odd, a, b);
        reduce<false>(even, odd);
    }

    // The sum divided by 2^32, and the odd products added.
    static __device__ __forceinline__ void shift(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b) {
        even[0] = add_cc(even[0], odd[1]);
#pragma unroll
        for (int j = 0; j < N - 2; j += 2) {
            odd[j] = madc_lo_cc(a[j], b, odd[j + 2]);
            odd[j + 1] = madc_hi_cc(a[j], b, odd[j + 3]);
        }
        odd[N - 2] = madc_lo_cc(a[N - 2], b, 0);
        odd[N - 1] = madc_hi(a[N - 2], b, 0);
    }

    // The even products added, and their carry.
    static __device__ __forceinline__ void chain(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b) {
        even[0] = mad_lo_cc(a[0], b, even[0]);
        even[1] = madc_hi_cc(a[0], b, even[1]);
#pragma unroll
        for (int j = 2; j < N; j += 2) {
            even[j] = madc_lo_cc(a[j], b, even[j]);
            even[j + 1] = madc_hi_cc(a[j], b, even[j + 1]);
        }
        odd[N - 1] = addc(odd[N - 1], 0);
    }

    // m p added, with m such that the lowest limb of the sum is zero. With SHIFT the sum is
    // divided by 2^32 first, as in `shift`.
    template <bool SHIFT>
    static __device__ __forceinline__ void reduce(uint32_t *even, uint32_t *odd) {
        if constexpr (SHIFT) even[0] = add_cc(even[0], odd[1]);
        if constexpr (LOW_LIMBS_ARE_EASY) {
            const uint32_t carry = SHIFT ? addc(0, 0) : 0;
            // m p = m (2^64 - 2^32 + 1) + 2^64 m (p >> 64) where m = -t mod 2^32 of the lowest limb t.
            // If t is not 0, then t + m is a carry, and with it the limbs above get
            // m 2^32 - m + 1 = (2^32 - 1 - t) 2^32 + t + 1: sums instead of products.
            const uint32_t t = even[0], m = sub_cc(0, t), mask = subc(0, 0);
            add_cc(t, m);
            odd[0] = addc_cc(odd[SHIFT ? 2 : 0], t);
            odd[1] = addc_cc(odd[SHIFT ? 3 : 1], ~t & mask);
            add_products<3, SHIFT>(odd, m);
            if constexpr (SHIFT) even[1] = add_cc(even[1], carry);
            else add_cc(0, 0);
            add_products<2, false>(even, m);
        } else {
            const uint32_t m = even[0] * P::INV;
            if constexpr (!SHIFT) add_cc(0, 0);
            add_products<1, SHIFT>(odd, m);
            add_cc(0, 0);
            add_products<0, false>(even, m);
        }
        odd[N - 1] = addc(odd[N - 1], 0);
    }

    // p = 1 - 2^32 mod 2^64, as that of Fr.
    static constexpr bool LOW_LIMBS_ARE_EASY = P::modulus(0) == 1 && P::modulus(1) == 0xffffffff;

    // m times every second limb of p from FROM on, and the carry in, to the accumulator of those
    // limbs. With SHIFT it moves by two limbs.
    template <int FROM, bool SHIFT>
    static __device__ __forceinline__ void add_products(uint32_t *sum, uint32_t m) {
#pragma unroll
        for (int i = FROM; i < N; i += 2) {
            const int j = i / 2 * 2, k = SHIFT ? j + 2 : j;
            sum[j] = madc_lo_cc(P::modulus(i), m, k < N ? sum[k] : 0);
            sum[j + 1] = madc_hi_cc(P::modulus(i), m, k < N ? sum[k + 1] : 0);
        }
    }

    // The quotient of even + 2^32 odd by 2^32, the lowest limb of even being zero.
    static __device__ __forceinline__ Field quotient(const uint32_t *even, const uint32_t *odd) {
        Field r;
        r.l[0] = add_cc(odd[0], even[1]);
#pragma unroll
        for (int j = 1; j < N - 1; j++) r.l[j] = addc_cc(odd[j], even[j + 1]);
        r.l[N - 1] = addc(odd[N - 1], 0);
        return r;
    }
    // After an even number of steps the last `even` is y.
    static __device__ __forceinline__ Field joined(const uint32_t *x, const uint32_t *y) {
        return quotient(y, x);
    }

    // x / R mod p, at most p, of the N limbs of x; y is zero.
    static __device__ __forceinline__ Field redc(uint32_t *x, uint32_t *y) {
        reduce<false>(x, y);
#pragma unroll
        for (int i = 1; i < N; i++) i % 2 ? reduce<true>(y, x) : reduce<true>(x, y);
        return joined(x, y);
    }

    // The products of b with every second of n limbs, from the first on, added to a row
    // of pairs; the carry goes to the limb above, which has room.
    static __device__ __forceinline__ void row(uint32_t *sum, const uint32_t *a, uint32_t b, int n) {
        sum[0] = mad_lo_cc(a[0], b, sum[0]);
        sum[1] = madc_hi_cc(a[0], b, sum[1]);
#pragma unroll
        for (int j = 2; j < n; j += 2) {
            sum[j] = madc_lo_cc(a[j], b, sum[j]);
            sum[j + 1] = madc_hi_cc(a[j], b, sum[j + 1]);
        }
        const int above = (n + 1) / 2 * 2;
        sum[above] = addc(sum[above], 0);
    }
};

using Fr = Field<FrParams>;
using Fp = Field<FpParams>;

} // namespace cuzk
