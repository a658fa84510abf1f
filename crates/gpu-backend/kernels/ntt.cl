// Transforms over the scalar field of BLS12-381, and what the quotient needs beside them.
// `crates/ntt/src/gpu` defines the same on the host and says what calls what.
//
// Scalars are canonical Montgomery forms.

#include "ntt.clh"

// One pass: see `ntt.cuh`. A group has one tile of 2^log_tile scalars.
kernel void ntt_pass(uint log_n, uint above, uint levels, uint log_tile, uint flags, global const Fixed *twiddles,
                     ulong twiddles_n, global const Fixed *low, ulong lows, global const Fixed *high, ulong highs,
                     global const Fixed *coset_low, ulong coset_lows, global const Fixed *coset_high,
                     ulong coset_highs, global Fr *data, ulong n, local Fr *tile) {
    const Place place = place_of(get_group_id(0), log_n, above, levels, log_tile, flags & NTT_DIT);
    const Powers roots = {low, 63 - clz(lows), high};
    const Powers coset = {coset_low, 63 - clz(coset_lows), coset_high};
    const uint size = 1u << log_tile, first = get_local_id(0), threads = get_local_size(0);
    for (uint k = first; k < size; k += threads) {
        const uint i = nth(place, k), at = index_of(place, i);
        Fr x = data[at];
        if (flags & NTT_SCALE_IN) x = times_power(coset, flags & NTT_DIT ? reversed(at, log_n) : at, x);
        if (flags & NTT_TWIST) {
            uint e = exponent_of(place, i);
            if (flags & NTT_INVERSE) e = -e & (uint)((1ul << log_n) - 1);
            x = flags & NTT_LOW ? times_power(roots, e, x) : times_multiple(roots, e, x);
        }
        tile[i] = x;
    }
    // Level l has 2^l groups of rows, each with a twiddle of its own.
    for (uint level = 0; level < levels; level++) {
        const uint log_half = levels - 1 - level + place.log_columns;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = first; k < size / 2; k += threads) {
            const uint group = k >> log_half;
            const uint i = (group << (log_half + 1)) + (k & ((1u << log_half) - 1));
            const Fr a = tile[i];
            Fr b = tile[i + (1u << log_half)];
            if (group > 0) b = fixed_mul(twiddles[group], b);
            tile[i] = Fr_add(a, b);
            tile[i + (1u << log_half)] = Fr_sub(a, b);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = first; k < size; k += threads) {
        const uint i = nth(place, k), at = index_of(place, i);
        Fr x = tile[i];
        if (flags & NTT_SCALE_OUT) x = times_power(coset, flags & NTT_DIT ? at : reversed(at, log_n), x);
        data[at] = x;
    }
}

// c[i] = a[i] b[i]
kernel void product(global const Fr *a, ulong as, global const Fr *b, ulong bs, global Fr *c, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) c[i] = Fr_mul(a[i], b[i]);
}

// a[i] = a[i] b[i]
kernel void multiply(global const Fr *b, ulong bs, global Fr *a, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = Fr_mul(b[i], a[i]);
}

// a[rev(i)] = c[i] - a[i], in place, i of log_n bits: a work item has both scalars of a pair.
kernel void reverse_difference(uint log_n, global const Fr *c, ulong cs, global Fr *a, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const uint j = reversed((uint)i, log_n);
        if (i > j) continue;
        const Fr x = Fr_sub(c[i], a[i]), y = Fr_sub(c[j], a[j]);
        a[j] = x;
        a[i] = y;
    }
}
