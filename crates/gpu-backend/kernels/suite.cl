// The kernels of `src/suite.rs`, which every backend is tested with.
//
// A buffer is two arguments: where it is, and how many elements it has.

kernel void iota(uint start, global uint *out, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = start + (uint)i;
}

kernel void axpy(ulong a, global const ulong *x, ulong xs, global ulong *y, ulong ys) {
    const ulong n = min(xs, ys);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) y[i] += a * x[i];
}

kernel void xor_key(ulong2 key, global const ulong2 *x, ulong xs, global ulong2 *y, ulong ys) {
    const ulong n = min(xs, ys);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) y[i] = x[i] ^ key;
}
