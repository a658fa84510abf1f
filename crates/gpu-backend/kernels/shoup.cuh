// Products of Fr with fixed factors, after V. Shoup (D. Harvey, Faster arithmetic for
// number-theoretic transforms, J. Symb. Comp. 60, 2014): with w' = floor(w 2^256 / p) known, the
// quotient of w x by p is the high half of w' x but for one, and the remainder needs
// low halves alone. That is 86 wide products and 14 low ones; Montgomery's takes 112 wide ones.
// A factor is a number w, not its Montgomery form: so the product has the form of x.
//
// Sums in transforms are loose: below LOOSE = 2p + 2^224, which the highest limb tells.

#pragma once

#include "field.cuh"

namespace cuzk {

// A factor w below p, with w'.
struct alignas(16) Fixed {
    Fr w, quotient;

    static __device__ __forceinline__ Fixed load(const Fixed *p) {
        return {Fr::load_constant(&p->w), Fr::load_constant(&p->quotient)};
    }
};

// p = Q 2^64 - 2^32 + 1, six limbs of Q.
static __device__ constexpr uint32_t fr_q(int i) { return FrParams::modulus(i + 2) + (i == 0); }
static_assert(FrParams::modulus(0) == 1 && FrParams::modulus(1) == 0xffffffff && FrParams::modulus(2) != 0xffffffff,
              "the modulus is of this form");

// 2p
static __device__ constexpr uint32_t fr_2p(int i) {
    return FrParams::modulus(i) << 1 | (i ? FrParams::modulus(i - 1) >> 31 : 0);
}

// Adds y times every second limb of x from `from` to `to` to the pairs of limbs from sum on,
// in a chain. Nothing carries out but into the limb above, where there is `above`.
static __device__ __forceinline__ void add_row(uint32_t *sum, const uint32_t *x, uint32_t y, int from, int to, bool above) {
    int k = 0;
#pragma unroll
    for (int i = from; i <= to; i += 2, k += 2) {
        sum[k] = i == from ? mad_lo_cc(x[i], y, sum[k]) : madc_lo_cc(x[i], y, sum[k]);
        sum[k + 1] = i + 2 <= to || above ? madc_hi_cc(x[i], y, sum[k + 1]) : madc_hi(x[i], y, sum[k + 1]);
    }
    if (above) sum[k] = addc(sum[k], 0);
}

// The same, and of limb to + 2 the low half alone.
static __device__ __forceinline__ void add_row_low(uint32_t *sum, const uint32_t *x, uint32_t y, int from, int to) {
    int k = 0;
#pragma unroll
    for (int i = from; i <= to; i += 2, k += 2) {
        sum[k] = i == from ? mad_lo_cc(x[i], y, sum[k]) : madc_lo_cc(x[i], y, sum[k]);
        sum[k + 1] = madc_hi_cc(x[i], y, sum[k + 1]);
    }
    sum[k] = from <= to ? madc_lo(x[to + 2], y, sum[k]) : x[to + 2] * y + sum[k];
}

// w x, below 1.91 p, of a loose x.
static __device__ __forceinline__ Fr operator*(const Fixed &w, const Fr &x) {
    // q = floor(w' x / 2^256), or one less: products of limbs i + j < 6 are left out, which are
    // below 2^227 together. In e those of even i + j, limbs 6 to 15; in o, 7 to 15.
    uint32_t e[10], o[9];
#pragma unroll
    for (int k = 0; k < 10; k++) e[k] = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) o[k] = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        // The top pair of every second row is new, and takes a carry.
        const int even = j < 7 ? 6 - j : 1, odd = 7 - j;
        add_row(e + even + j - 6, w.quotient.l, x.l[j], even, 6 + j % 2, j % 2 == 0 && j > 0);
        add_row(o + odd + j - 7, w.quotient.l, x.l[j], odd, 7 - j % 2, j % 2 == 1);
    }
    uint32_t q[8];
    add_cc(e[1], o[0]);
#pragma unroll
    for (int k = 0; k < 7; k++) q[k] = addc_cc(e[k + 2], o[k + 1]);
    q[7] = addc(e[9], o[8]);

    // r = w x - q p mod 2^256, where -q p = -q Q 2^64 + q 2^32 - q.
    uint32_t minus_q[8], low[8], high[7], constant[6]; // high is a limb higher than low
    minus_q[0] = sub_cc(0, q[0]);
#pragma unroll
    for (int k = 1; k < 7; k++) minus_q[k] = subc_cc(0, q[k]);
    minus_q[7] = subc(0, q[7]);
#pragma unroll
    for (int k = 0; k < 8; k++) low[k] = minus_q[k];
#pragma unroll
    for (int k = 0; k < 7; k++) high[k] = q[k];
#pragma unroll
    for (int k = 0; k < 6; k++) constant[k] = fr_q(k);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const int even = j % 2, odd = 1 - j % 2;
        if (j < 7) add_row(low + even + j, w.w.l, x.l[j], even, 6 - j, false);
        add_row_low(high + odd + j - 1, w.w.l, x.l[j], odd, 5 - j);
    }
#pragma unroll
    for (int j = 0; j < 6; j++) {
        const int even = j % 2, odd = 1 - j % 2;
        if (j < 5) add_row(low + 2 + even + j, constant, minus_q[j], even, 4 - j, false);
        add_row_low(high + 2 + odd + j - 1, constant, minus_q[j], odd, 3 - j);
    }
    Fr r;
    r.l[0] = low[0];
    r.l[1] = add_cc(low[1], high[0]);
#pragma unroll
    for (int k = 2; k < 7; k++) r.l[k] = addc_cc(low[k], high[k - 1]);
    r.l[7] = addc(low[7], high[6]);
    return r;
}

// a + b, loose, of a loose a and a b below 2p.
static __device__ __forceinline__ Fr add_loose(const Fr &a, const Fr &b) {
    Fr r;
    r.l[0] = add_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < 8; i++) r.l[i] = addc_cc(a.l[i], b.l[i]);
    const uint32_t carry = addc(0, 0);
    const uint32_t large = carry | (r.l[7] > fr_2p(7));
    asm volatile("{\n\t"
                 ".reg .pred large;\n\t"
                 "setp.ne.u32 large, %8, 0;\n\t"
                 "@large sub.cc.u32 %0, %0, %9;\n\t"
                 "@large subc.cc.u32 %1, %1, %10;\n\t"
                 "@large subc.cc.u32 %2, %2, %11;\n\t"
                 "@large subc.cc.u32 %3, %3, %12;\n\t"
                 "@large subc.cc.u32 %4, %4, %13;\n\t"
                 "@large subc.cc.u32 %5, %5, %14;\n\t"
                 "@large subc.cc.u32 %6, %6, %15;\n\t"
                 "@large subc.u32 %7, %7, %16;\n\t}"
                 : "+r"(r.l[0]), "+r"(r.l[1]), "+r"(r.l[2]), "+r"(r.l[3]), "+r"(r.l[4]), "+r"(r.l[5]), "+r"(r.l[6]),
                   "+r"(r.l[7])
                 : "r"(large), "n"(fr_2p(0)), "n"(fr_2p(1)), "n"(fr_2p(2)), "n"(fr_2p(3)), "n"(fr_2p(4)),
                   "n"(fr_2p(5)), "n"(fr_2p(6)), "n"(fr_2p(7)));
    return r;
}

// a - b, loose, of a loose a and a b of at most 2p.
static __device__ __forceinline__ Fr sub_loose(const Fr &a, const Fr &b) {
    Fr r;
    r.l[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < 8; i++) r.l[i] = subc_cc(a.l[i], b.l[i]);
    const uint32_t below = subc(0, 0);
    asm volatile("{\n\t"
                 ".reg .pred below;\n\t"
                 "setp.ne.u32 below, %8, 0;\n\t"
                 "@below add.cc.u32 %0, %0, %9;\n\t"
                 "@below addc.cc.u32 %1, %1, %10;\n\t"
                 "@below addc.cc.u32 %2, %2, %11;\n\t"
                 "@below addc.cc.u32 %3, %3, %12;\n\t"
                 "@below addc.cc.u32 %4, %4, %13;\n\t"
                 "@below addc.cc.u32 %5, %5, %14;\n\t"
                 "@below addc.cc.u32 %6, %6, %15;\n\t"
                 "@below addc.u32 %7, %7, %16;\n\t}"
                 : "+r"(r.l[0]), "+r"(r.l[1]), "+r"(r.l[2]), "+r"(r.l[3]), "+r"(r.l[4]), "+r"(r.l[5]), "+r"(r.l[6]),
                   "+r"(r.l[7])
                 : "r"(below), "n"(fr_2p(0)), "n"(fr_2p(1)), "n"(fr_2p(2)), "n"(fr_2p(3)), "n"(fr_2p(4)),
                   "n"(fr_2p(5)), "n"(fr_2p(6)), "n"(fr_2p(7)));
    return r;
}

// A loose x to x mod p: at most two p are too many.
static __device__ __forceinline__ Fr canonical(const Fr &x) { return x.reduced().reduced(); }

} // namespace cuzk
