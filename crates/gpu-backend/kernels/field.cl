// Elementwise arithmetic of the scalar field (fr_) and the base field (fp_) of
// BLS12-381, which tests need. `src/field.rs` defines the same on the host.
//
// Elements are canonical Montgomery forms, but for what _from takes and _to gives, and what
// is multiplied by a factor, added and subtracted loosely: that is made canonical here. Of
// two buffers and the output the shortest says how many there are.

#include "shoup.clh"

// i < n for all work items of the launch.
#define EACH(n) for (ulong i = get_global_id(0); i < (n); i += get_global_size(0))

#define UNARY(name, F, expression)                                                      \
    kernel void name(global const F *x, ulong xs, global F *out, ulong n) {             \
        EACH(min(xs, n)) {                                                              \
            const F a = x[i];                                                           \
            out[i] = expression;                                                        \
        }                                                                               \
    }

#define BINARY(name, F, expression)                                                     \
    kernel void name(global const F *x, ulong xs, global const F *y, ulong ys, global F *out, ulong n) { \
        EACH(min(min(xs, ys), n)) {                                                     \
            const F a = x[i], b = y[i];                                                 \
            out[i] = expression;                                                        \
        }                                                                               \
    }

#define FIELD(prefix, F)                                                                \
    BINARY(prefix##_add, F, F##_add(a, b))                                              \
    BINARY(prefix##_sub, F, F##_sub(a, b))                                              \
    BINARY(prefix##_mul, F, F##_mul(a, b))                                              \
    UNARY(prefix##_neg, F, F##_neg(a))                                                  \
    UNARY(prefix##_sqr, F, F##_sqr(a))                                                  \
    UNARY(prefix##_from, F, F##_mont(a))                                                \
    UNARY(prefix##_to, F, F##_unmont(a))                                                \
    kernel void prefix##_times_power(uint steps, global const F *x, ulong xs, global const F *y, ulong ys, \
                                     global F *out, ulong n) {                          \
        EACH(min(min(xs, ys), n)) {                                                     \
            F a = x[i];                                                                 \
            const F b = y[i];                                                           \
            for (uint k = 0; k < steps; k++) a = F##_mul(b, a);                         \
            out[i] = a;                                                                 \
        }                                                                               \
    }                                                                                   \
    kernel void prefix##_squarings(uint steps, global const F *x, ulong xs, global F *out, ulong n) { \
        EACH(min(xs, n)) {                                                              \
            F a = x[i];                                                                 \
            for (uint k = 0; k < steps; k++) a = F##_sqr(a);                            \
            out[i] = a;                                                                 \
        }                                                                               \
    }

FIELD(fr, Fr)
FIELD(fp, Fp)

kernel void fr_times_fixed(global const Fixed *w, ulong ws, global const Fr *x, ulong xs, global Fr *out, ulong n) {
    EACH(min(min(ws, xs), n)) out[i] = fixed_mul(w[i], x[i]);
}
BINARY(fr_add_loose, Fr, Fr_add(fr_canonical_of(a), fr_canonical_of(b)))
BINARY(fr_sub_loose, Fr, Fr_sub(fr_canonical_of(a), fr_canonical_of(b)))
UNARY(fr_canonical, Fr, fr_canonical_of(a))
