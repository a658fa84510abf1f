// `y += a * x`: see axpy.rs.

#include <cstdint>

extern "C" __global__ void axpy(uint64_t a, const uint64_t *x, uint64_t xs, uint64_t *y, uint64_t ys) {
    const uint64_t n = xs < ys ? xs : ys;
    const uint64_t stride = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) y[i] += a * x[i];
}
