// Multi-scalar multiplication in G2 of BLS12-381.

#include "fp2.cuh"
#include "msm/kernels.cuh"

CUZK_MSM(cuzk::Fp2, 2, 2)
