//! The kernel family `field`: elementwise arithmetic of the prime fields of BLS12-381.
//!
//! Buffers have elements of 32 bytes (`fr_`) or 48 (`fp_`): little-endian Montgomery forms
//! below the modulus, the bytes of blst's `blst_fr` and `blst_fp`. Of a kernel's buffers
//! the shortest says how many elements there are.
//!
//! | kernel | output `i` |
//! |---|---|
//! | `_add` `_sub` `_mul` | `x[i] + y[i]`, `x[i] - y[i]`, `x[i] y[i]` |
//! | `_neg` `_sqr` | `-x[i]`, `x[i]^2` |
//! | `_from` | the Montgomery form of the number `x[i]` below the modulus |
//! | `_to` | the number of the Montgomery form `x[i]` |
//! | `_times_power` | `x[i] y[i]^steps`, product after product |
//! | `_squarings` | `x[i]^(2^steps)` |
//! | `fr_times_fixed` | a number below `2p` for `w[i] x[i]` of factors `w` ([`fixed`]) and loose `x` |
//! | `fr_add_loose` `fr_sub_loose` | a loose number for `x[i] + y[i]`, `x[i] - y[i]` of loose `x` and `y` of at most `2p` |
//! | `fr_canonical` | loose `x[i]` modulo `p` |
//!
//! Loose numbers are below `2p + 2^224`, and stand for what they are modulo `p`. Which of
//! them comes out is the device's choice; here it is the one below `p`.
//!
//! Other kernels have the same arithmetic from `kernels/field.cuh`; these are there to test
//! and to time it.

use crate::host::HostArg;
use crate::{Family, Param, Signature};

/// A prime field of `N` limbs of 64 bits, `R = 2^(64 N)`, as slow and plain as it gets.
#[derive(Debug)]
pub struct Modulus<const N: usize> {
    /// The modulus `p`, odd and below `R / 2`.
    pub p: [u64; N],
    /// `R^2 mod p`
    pub r2: [u64; N],
    /// `-1/p mod 2^64`
    pub inv: u64,
}

/// The scalar field.
pub const FR: Modulus<4> = Modulus::new([
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
]);

/// The base field.
pub const FP: Modulus<6> = Modulus::new([
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
]);

impl<const N: usize> Modulus<N> {
    const fn new(p: [u64; N]) -> Self {
        // Newton's iteration, from 3 right bits to 96.
        let (mut inverse, mut i) = (p[0], 0);
        while i < 5 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(inverse.wrapping_mul(p[0])));
            i += 1;
        }
        let mut field = Self { p, r2: [0; N], inv: inverse.wrapping_neg() };
        (field.r2[0], i) = (1, 0);
        while i < 128 * N {
            field.r2 = field.add(&field.r2, &field.r2);
            i += 1;
        }
        field
    }

    /// `a + b`
    pub const fn add(&self, a: &[u64; N], b: &[u64; N]) -> [u64; N] {
        let (mut sum, mut carry, mut i) = ([0; N], 0, 0);
        while i < N {
            let limb = a[i] as u128 + b[i] as u128 + carry;
            (sum[i], carry) = (limb as u64, limb >> 64);
            i += 1;
        }
        self.reduced(&sum)
    }

    /// `a - b`
    pub const fn sub(&self, a: &[u64; N], b: &[u64; N]) -> [u64; N] {
        let (opposite, _) = difference(&self.p, b);
        self.add(a, &self.reduced(&opposite))
    }

    /// The product of Montgomery forms, `a b / R`.
    pub const fn mul(&self, a: &[u64; N], b: &[u64; N]) -> [u64; N] {
        let (mut sum, mut top, mut i) = ([0_u64; N], 0_u64, 0);
        while i < N {
            // (sum + a b_i + m p) / 2^64, where m makes that whole.
            let m = sum[0].wrapping_add(a[0].wrapping_mul(b[i])).wrapping_mul(self.inv);
            let (mut low, mut high, mut j) = (0, 0, 0);
            while j < N {
                low += sum[j] as u128 + (a[j] as u128 * b[i] as u128);
                high += (low as u64) as u128 + m as u128 * self.p[j] as u128;
                if j > 0 {
                    sum[j - 1] = high as u64;
                }
                (low, high) = (low >> 64, high >> 64);
                j += 1;
            }
            let limb = top as u128 + low + high;
            (sum[N - 1], top) = (limb as u64, (limb >> 64) as u64);
            i += 1;
        }
        self.reduced(&sum)
    }

    /// The Montgomery form of a number.
    pub const fn to_montgomery(&self, x: &[u64; N]) -> [u64; N] {
        self.mul(x, &self.r2)
    }

    /// The number of a Montgomery form.
    pub const fn from_montgomery(&self, x: &[u64; N]) -> [u64; N] {
        let mut one = [0; N];
        one[0] = 1;
        self.mul(x, &one)
    }

    /// Of a number below `2p`.
    const fn reduced(&self, x: &[u64; N]) -> [u64; N] {
        let (rest, below) = difference(x, &self.p);
        if below { *x } else { rest }
    }
}

/// `a - b mod R`, and whether `a < b`.
const fn difference<const N: usize>(a: &[u64; N], b: &[u64; N]) -> ([u64; N], bool) {
    let (mut rest, mut borrow, mut i) = ([0; N], false, 0);
    while i < N {
        let (limb, one) = a[i].overflowing_sub(b[i]);
        let (limb, two) = limb.overflowing_sub(borrow as u64);
        (rest[i], borrow) = (limb, one | two);
        i += 1;
    }
    (rest, borrow)
}

const fn unary(name: &'static str, bytes: u64) -> Signature {
    let params: &[Param] = match bytes {
        32 => &[Param::Read(32), Param::Write(32)],
        _ => &[Param::Read(48), Param::Write(48)],
    };
    Signature { name, params }
}

const fn binary(name: &'static str, bytes: u64) -> Signature {
    let params: &[Param] = match bytes {
        32 => &[Param::Read(32), Param::Read(32), Param::Write(32)],
        _ => &[Param::Read(48), Param::Read(48), Param::Write(48)],
    };
    Signature { name, params }
}

/// See the module's description.
pub static FAMILY: Family = Family::new(
    "field",
    &[
        binary("fr_add", 32),
        binary("fr_sub", 32),
        binary("fr_mul", 32),
        unary("fr_neg", 32),
        unary("fr_sqr", 32),
        unary("fr_from", 32),
        unary("fr_to", 32),
        Signature {
            name: "fr_times_power",
            params: &[Param::U32, Param::Read(32), Param::Read(32), Param::Write(32)],
        },
        Signature { name: "fr_squarings", params: &[Param::U32, Param::Read(32), Param::Write(32)] },
        Signature { name: "fr_times_fixed", params: &[Param::Read(64), Param::Read(32), Param::Write(32)] },
        binary("fr_add_loose", 32),
        binary("fr_sub_loose", 32),
        unary("fr_canonical", 32),
        binary("fp_add", 48),
        binary("fp_sub", 48),
        binary("fp_mul", 48),
        unary("fp_neg", 48),
        unary("fp_sqr", 48),
        unary("fp_from", 48),
        unary("fp_to", 48),
        Signature {
            name: "fp_times_power",
            params: &[Param::U32, Param::Read(48), Param::Read(48), Param::Write(48)],
        },
        Signature { name: "fp_squarings", params: &[Param::U32, Param::Read(48), Param::Write(48)] },
    ],
)
.host(&[
    ("fr_add", |_, args| zip(args, |x, y| FR.add(x, y))),
    ("fr_sub", |_, args| zip(args, |x, y| FR.sub(x, y))),
    ("fr_mul", |_, args| zip(args, |x, y| FR.mul(x, y))),
    ("fr_neg", |_, args| map(args, |x| FR.sub(&[0; 4], x))),
    ("fr_sqr", |_, args| map(args, |x| FR.mul(x, x))),
    ("fr_from", |_, args| map(args, |x| FR.to_montgomery(x))),
    ("fr_to", |_, args| map(args, |x| FR.from_montgomery(x))),
    ("fr_times_power", |_, args| times_power(args, &FR)),
    ("fr_squarings", |_, args| squarings(args, &FR)),
    ("fr_times_fixed", |_, args| times_fixed(args)),
    ("fr_add_loose", |_, args| zip(args, |x, y| FR.add(&canonical(x), &canonical(y)))),
    ("fr_sub_loose", |_, args| zip(args, |x, y| FR.sub(&canonical(x), &canonical(y)))),
    ("fr_canonical", |_, args| map(args, canonical)),
    ("fp_add", |_, args| zip(args, |x, y| FP.add(x, y))),
    ("fp_sub", |_, args| zip(args, |x, y| FP.sub(x, y))),
    ("fp_mul", |_, args| zip(args, |x, y| FP.mul(x, y))),
    ("fp_neg", |_, args| map(args, |x| FP.sub(&[0; 6], x))),
    ("fp_sqr", |_, args| map(args, |x| FP.mul(x, x))),
    ("fp_from", |_, args| map(args, |x| FP.to_montgomery(x))),
    ("fp_to", |_, args| map(args, |x| FP.from_montgomery(x))),
    ("fp_times_power", |_, args| times_power(args, &FP)),
    ("fp_squarings", |_, args| squarings(args, &FP)),
]);

/// A factor of [`FR`] as kernels want it for products with many others: from its Montgomery
/// form `m`, the number `w` and `floor(w R / p)`.
///
/// That is `w'` of `m = w R - w' p`, so that `w' = -m / p mod R`: the limbs by which multiples of
/// `p` are added in a Montgomery reduction of `m`.
pub fn fixed(m: &[u64; 4]) -> [u64; 8] {
    let mut rest = *m;
    let mut factor = [0; 8];
    let (number, quotient) = factor.split_at_mut(4);
    number.copy_from_slice(&FR.from_montgomery(m));
    for (i, digit) in quotient.iter_mut().enumerate() {
        *digit = rest[i].wrapping_mul(FR.inv);
        let mut carry = 0;
        for (limb, p) in rest[i..].iter_mut().zip(FR.p) {
            let sum = u128::from(*limb) + u128::from(*digit) * u128::from(p) + carry;
            (*limb, carry) = (sum as u64, sum >> 64);
        }
    }
    factor
}

/// A loose number modulo `p`.
fn canonical(x: &[u64; 4]) -> [u64; 4] {
    FR.reduced(&FR.reduced(x))
}

fn times_fixed(args: &mut [HostArg<'_>]) {
    let [HostArg::Read(w), HostArg::Read(x), HostArg::Write(out)] = args else {
        unreachable!("the signature")
    };
    let (w, x): (&[[u64; 8]], &[[u64; 4]]) = (bytemuck::cast_slice(w), bytemuck::cast_slice(x));
    for (out, (w, x)) in bytemuck::cast_slice_mut::<u8, [u64; 4]>(out).iter_mut().zip(w.iter().zip(x)) {
        let [w0, w1, w2, w3, ..] = *w;
        *out = FR.mul(&FR.to_montgomery(&[w0, w1, w2, w3]), &canonical(x));
    }
}

fn map<const N: usize>(args: &mut [HostArg<'_>], f: impl Fn(&[u64; N]) -> [u64; N])
where
    [u64; N]: bytemuck::Pod,
{
    let [HostArg::Read(x), HostArg::Write(out)] = args else { unreachable!("the signature") };
    for (out, x) in bytemuck::cast_slice_mut(out).iter_mut().zip(bytemuck::cast_slice(x)) {
        *out = f(x);
    }
}

fn zip<const N: usize>(args: &mut [HostArg<'_>], f: impl Fn(&[u64; N], &[u64; N]) -> [u64; N])
where
    [u64; N]: bytemuck::Pod,
{
    let [HostArg::Read(x), HostArg::Read(y), HostArg::Write(out)] = args else {
        unreachable!("the signature")
    };
    let (x, y): (&[[u64; N]], &[[u64; N]]) = (bytemuck::cast_slice(x), bytemuck::cast_slice(y));
    for (out, (x, y)) in bytemuck::cast_slice_mut(out).iter_mut().zip(x.iter().zip(y)) {
        *out = f(x, y);
    }
}

fn times_power<const N: usize>(args: &mut [HostArg<'_>], field: &Modulus<N>)
where
    [u64; N]: bytemuck::Pod,
{
    let [HostArg::U32(steps), rest @ ..] = args else { unreachable!("the signature") };
    let steps = *steps;
    zip(rest, |x, y| (0..steps).fold(*x, |x, _| field.mul(&x, y)));
}

fn squarings<const N: usize>(args: &mut [HostArg<'_>], field: &Modulus<N>)
where
    [u64; N]: bytemuck::Pod,
{
    let [HostArg::U32(steps), rest @ ..] = args else { unreachable!("the signature") };
    let steps = *steps;
    map(rest, |x| (0..steps).fold(*x, |x, _| field.mul(&x, &x)));
}
