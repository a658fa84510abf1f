// The kernels of `src/suite.rs`, which every backend is tested with.
//
// A buffer is two arguments: where it is, and how many elements it has.

#include <cstdint>

static __device__ uint64_t first() { return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
static __device__ uint64_t stride() { return uint64_t(gridDim.x) * blockDim.x; }

extern "C" __global__ void iota(uint32_t start, uint32_t *out, uint64_t n) {
    for (uint64_t i = first(); i < n; i += stride()) out[i] = start + uint32_t(i);
}

extern "C" __global__ void axpy(uint64_t a, const uint64_t *x, uint64_t xs, uint64_t *y, uint64_t ys) {
    const uint64_t n = xs < ys ? xs : ys;
    for (uint64_t i = first(); i < n; i += stride()) y[i] += a * x[i];
}

struct Key {
    uint64_t words[2];
};

extern "C" __global__ void xor_key(Key key, const ulonglong2 *x, uint64_t xs, ulonglong2 *y, uint64_t ys) {
    const uint64_t n = xs < ys ? xs : ys;
    for (uint64_t i = first(); i < n; i += stride())
        y[i] = make_ulonglong2(x[i].x ^ key.words[0], x[i].y ^ key.words[1]);
}
