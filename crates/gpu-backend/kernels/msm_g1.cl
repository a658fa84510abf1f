// Multi-scalar multiplication in G1 of BLS12-381.

#define F Fp

#include "curve.clh"
#include "msm/digits.clh"
#include "msm/pairs.clh"
#include "msm/sums.clh"
#include "msm/witness.clh"
