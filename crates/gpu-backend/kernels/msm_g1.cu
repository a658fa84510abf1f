// Multi-scalar multiplication in G1 of BLS12-381.

#include "msm/kernels.cuh"

CUZK_MSM(cuzk::Fp, 3, 4)
