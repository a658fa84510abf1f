// Points of parameter files to the form that sums want, where they lie: `points.cu` says which.

#include "field.clh"

// A number of 48 bytes, big-endian.
Fp big_endian(Fp bytes) {
    Fp x;
    for (int i = 0; i < Fp_LIMBS; i++) x.val[i] = as_ulong(as_uchar8(bytes.val[Fp_LIMBS - 1 - i]).s76543210);
    return x;
}

// The coordinate of these bytes. `sound` is cleared if it is not below the modulus, as none is that
// has one of the encoding's flags.
Fp Fp_read(Fp bytes, bool *sound) {
    const Fp number = big_endian(bytes);
    *sound = *sound && !Fp_gte(number, Fp_P);
    return Fp_mont(number);
}

// c1 comes first.
Fp2 Fp2_read(Fp2 bytes, bool *sound) {
    const Fp2 x = {Fp_read(bytes.c1, sound), Fp_read(bytes.c0, sound)};
    return x;
}

// b of y^2 = x^3 + b, 4 in G1 and 4 + 4u in G2, from 1.
Fp Fp_b() { return Fp_double(Fp_double(Fp_ONE)); }
Fp2 Fp2_b() {
    const Fp2 b = {Fp_b(), Fp_b()};
    return b;
}

// `first_bad` becomes the greatest of itself and the complements of the indices of those that are no
// points. Where x is zero no point is in the subgroup.
#define POINTS(name, F)                                                                     \
    kernel void name(global F *points, ulong n, global uint *first_bad, ulong first_bad_n) { \
        const ulong i = get_global_id(0);                                                   \
        if (i >= n) return;                                                                 \
        bool sound = true;                                                                  \
        const F x = F##_read(points[2 * i], &sound), y = F##_read(points[2 * i + 1], &sound); \
        const F cube = F##_mul(F##_sqr(x), x);                                              \
        sound = sound && !F##_is_zero(x) && F##_eq(F##_sqr(y), F##_add(cube, F##_b()));     \
        points[2 * i] = x;                                                                  \
        points[2 * i + 1] = y;                                                              \
        if (!sound) atomic_max(first_bad, ~(uint)i);                                        \
    }

POINTS(points_g1, Fp)
POINTS(points_g2, Fp2)
