// Made by `cargo run -p cuzk-gpu-backend --example constants`; a test compares it.
//
// Limbs have 32 bits, the lowest first. R = 2^(32 LIMBS); INV = -1/p mod 2^32.

#pragma once

#include <cstdint>

// The scalar field of BLS12-381.
struct FrParams {
    static constexpr int LIMBS = 8;
    static constexpr uint32_t INV = 0xffffffff;
    // p
    static __device__ constexpr uint32_t modulus(int i) {
        constexpr uint32_t limbs[LIMBS] = {
            0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402, 0x09a1d805, 0x3339d808,
            0x299d7d48, 0x73eda753,
        };
        return limbs[i];
    }
    // R mod p, the Montgomery form of 1
    static __device__ constexpr uint32_t r(int i) {
        constexpr uint32_t limbs[LIMBS] = {
            0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa, 0xecbc4ff5, 0x998c4fef,
            0xacc5056f, 0x1824b159,
        };
        return limbs[i];
    }
    // R^2 mod p
    static __device__ constexpr uint32_t r2(int i) {
        constexpr uint32_t limbs[LIMBS] = {
            0xf3f29c6d, 0xc999e990, 0x87925c23, 0x2b6cedcb, 0x7254398f, 0x05d31496,
            0x9f59ff11, 0x0748d9d9,
        };
        return limbs[i];
    }
};

// The base field of BLS12-381.
struct FpParams {
    static constexpr int LIMBS = 12;
    static constexpr uint32_t INV = 0xfffcfffd;
    // p
    static __device__ constexpr uint32_t modulus(int i) {
        constexpr uint32_t limbs[LIMBS] = {
            0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,
            0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea,
        };
        return limbs[i];
    }
    // R mod p, the Montgomery form of 1
    static __device__ constexpr uint32_t r(int i) {
        constexpr uint32_t limbs[LIMBS] = {
            0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857,
            0x70525745, 0x77ce5853, 0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3,
        };
        return limbs[i];
    }
    // R^2 mod p
    static __device__ constexpr uint32_t r2(int i) {
        constexpr uint32_t limbs[LIMBS] = {
            0x1c341746, 0xf4df1f34, 0x09d104f1, 0x0a76e6a6, 0x4c95b6d5, 0x8de5476c,
            0x939d83c0, 0x67eb88a9, 0xb519952d, 0x9a793e85, 0x92cae3aa, 0x11988fe5,
        };
        return limbs[i];
    }
};
