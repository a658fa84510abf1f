//! The constants of `kernels/generated`, computed from blstrs.

mod ptx;

use std::fmt::Write;

use blst::{blst_fp, blst_fr};
use blstrs::{G1Affine, Scalar};
use ec_gpu_gen::SourceBuilder;
use ff::Field as _;
use group::prime::PrimeCurveAffine as _;

/// What the arithmetic of a prime field of `N` limbs of 32 bits needs.
pub(crate) struct Constants<const N: usize> {
    /// The modulus `p`.
    pub(crate) modulus: [u32; N],
    /// `R = 2^(32 N) mod p`, the Montgomery form of 1.
    pub(crate) r: [u32; N],
    /// `R^2 mod p`, which turns numbers into their Montgomery forms.
    pub(crate) r2: [u32; N],
    /// `-1/p mod 2^32`.
    pub(crate) inv: u32,
}

/// The scalar field of BLS12-381.
pub(crate) fn fr() -> Constants<8> {
    let constants = Constants::new(limbs(&(-Scalar::ONE).to_bytes_le()));
    assert_eq!(constants.r, split(blst_fr::from(Scalar::ONE).l), "blst has this Montgomery form");
    constants
}

/// The base field of BLS12-381, whose elements blstrs shows as coordinates of points.
pub(crate) fn fp() -> Constants<12> {
    let x = G1Affine::generator().x();
    let one = x * x.invert().expect("the generator's x is not 0");
    let constants = Constants::new(limbs(&(-one).to_bytes_le()));
    assert_eq!(constants.r, split(blst_fp::from(one).l), "blst has this Montgomery form");
    constants
}

impl<const N: usize> Constants<N> {
    fn new(minus_one: [u32; N]) -> Self {
        let mut modulus = minus_one;
        modulus[0] += 1; // `p - 1` is even.
        let double = |x: [u32; N]| {
            let mut twice: [u32; N] =
                std::array::from_fn(|i| x[i] << 1 | if i == 0 { 0 } else { x[i - 1] >> 31 });
            if twice.iter().rev().ge(modulus.iter().rev()) {
                let mut borrow = false;
                for (x, p) in twice.iter_mut().zip(modulus) {
                    let (difference, a) = x.overflowing_sub(p);
                    let (difference, b) = difference.overflowing_sub(u32::from(borrow));
                    (*x, borrow) = (difference, a || b);
                }
            }
            twice
        };
        let doubled = |x: [u32; N]| (0..32 * N).fold(x, |x, _| double(x));
        let r = doubled(std::array::from_fn(|i| u32::from(i == 0)));
        // Newton's iteration for the inverse of an odd number, from 3 right bits to 48.
        let inverse = (0..4).fold(modulus[0], |inverse, _| {
            inverse.wrapping_mul(2_u32.wrapping_sub(inverse.wrapping_mul(modulus[0])))
        });
        Self { modulus, r, r2: doubled(r), inv: inverse.wrapping_neg() }
    }
}

fn limbs<const N: usize>(bytes: &[u8]) -> [u32; N] {
    std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|j| bytes[4 * i + j])))
}

fn split<const N: usize, const M: usize>(words: [u64; M]) -> [u32; N] {
    std::array::from_fn(|i| (words[i / 2] >> (32 * (i % 2))) as u32)
}

/// `kernels/generated/fields.cuh`.
pub(crate) fn fields_cuh() -> String {
    let mut text = String::from(
        "// Made by `cargo run -p cuzk-gpu-backend --example constants`; a test compares it.\n\
         //\n\
         // Limbs have 32 bits, the lowest first. R = 2^(32 LIMBS); INV = -1/p mod 2^32.\n\n\
         #pragma once\n\n#include <cstdint>\n",
    );
    write_field(&mut text, "FrParams", "The scalar field of BLS12-381.", &fr());
    write_field(&mut text, "FpParams", "The base field of BLS12-381.", &fp());
    text
}

fn write_field<const N: usize>(text: &mut String, name: &str, about: &str, constants: &Constants<N>) {
    let _ = write!(text, "\n// {about}\nstruct {name} {{\n    static constexpr int LIMBS = {N};\n");
    let _ = writeln!(text, "    static constexpr uint32_t INV = 0x{:08x};", constants.inv);
    let rows = [
        ("modulus", "p", &constants.modulus),
        ("r", "R mod p, the Montgomery form of 1", &constants.r),
        ("r2", "R^2 mod p", &constants.r2),
    ];
    for (function, about, limbs) in rows {
        let _ =
            writeln!(text, "    // {about}\n    static __device__ constexpr uint32_t {function}(int i) {{");
        text.push_str("        constexpr uint32_t limbs[LIMBS] = {\n");
        for line in limbs.chunks(6) {
            let line: Vec<_> = line.iter().map(|limb| format!("0x{limb:08x}")).collect();
            let _ = writeln!(text, "            {},", line.join(", "));
        }
        text.push_str("        };\n        return limbs[i];\n    }\n");
    }
    text.push_str("};\n");
}

/// `kernels/generated/fields.clh`: `Fr`, `Fp` and `Fp2` of ec-gpu-gen's generator, and our products for
/// NVIDIA's compiler. The generator is asked for one field at a time, for it puts those of one kind in
/// any order.
pub(crate) fn fields_clh() -> String {
    let common = SourceBuilder::new().build_64_bit_limbs();
    let common = common.trim_end();
    let only = |builder: SourceBuilder| -> String {
        let source = builder.build_64_bit_limbs();
        source.strip_prefix(common).expect("it begins with what is common").trim().to_owned()
    };
    let builder = SourceBuilder::new;
    let [fr, fp] = [only(builder().add_field::<Fr>()), only(builder().add_field::<Fp>())];
    let both = only(builder().add_field::<Fp2>());
    let fp2 = both.strip_prefix(&fp).expect("it begins with the field below").trim();
    let mut text = String::from(
        "// Made by `cargo run -p cuzk-gpu-backend --example constants` with ec-gpu-gen 0.7.1, which is\n\
         // MIT OR Apache-2.0, by dignifiedquire and others; a test compares it. The products in PTX are ours.\n\
         //\n\
         // Fr is the scalar field of BLS12-381, Fp the base field, Fp2 its extension by u, u^2 = -1. Elements\n\
         // are Montgomery forms of 64-bit limbs, the lowest first, canonical.\n\n",
    );
    let parts = [common, &fr, &ptx::product("Fr", &self::fr()), &fp, &ptx::product("Fp", &self::fp()), fp2];
    for line in parts.join("\n\n").replace("\r\n", "\n").lines() {
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The fields by the names that kernels know. Of an extension the generator asks for the constants of the
/// field below.
struct Fr;
struct Fp;
struct Fp2;

macro_rules! gpu_field {
    ($field:ident, $constants:ident, $below:expr) => {
        impl ec_gpu::GpuName for $field {
            fn name() -> String {
                stringify!($field).into()
            }
        }
        impl ec_gpu::GpuField for $field {
            fn one() -> Vec<u32> {
                $constants().r.to_vec()
            }
            fn r2() -> Vec<u32> {
                $constants().r2.to_vec()
            }
            fn modulus() -> Vec<u32> {
                $constants().modulus.to_vec()
            }
            fn sub_field_name() -> Option<String> {
                $below
            }
        }
    };
}
gpu_field!(Fr, fr, None);
gpu_field!(Fp, fp, None);
gpu_field!(Fp2, fp, Some("Fp".into()));
