// Multi-scalar multiplication in G2 of BLS12-381.

#define F Fp2

#include "curve.clh"
#include "msm/digits.clh"
#include "msm/pairs.clh"
#include "msm/sums.clh"
#include "msm/witness.clh"
