//! The kernel family `ntt`, and what its kernels do, as functions on the host.

use blst::blst_fr;
use cuzk_gpu_backend::host::HostArg;
use cuzk_gpu_backend::{Family, Grid, Param, Signature};
use cuzk_values::Scalar;

use crate::arith::reversed;

/// Bytes of a factor in a table: the number, not its Montgomery form, and what is known of its products.
pub(super) const FIXED_BYTES: u64 = 64;

const READ: Param = Param::Read(super::BYTES);
const FIXED: Param = Param::Read(FIXED_BYTES);
const WRITE: Param = Param::Write(super::BYTES);
const U32: Param = Param::U32;

/// The kernels of this crate; `kernels/ntt.cu` has the same for NVIDIA's devices.
///
/// | kernel | takes | does |
/// |---|---|---|
/// | `ntt_pass` | log n, levels above, levels, log of a tile, flags; twiddles, low and high powers of w, low and high powers of the coset; scalars | one pass of a transform |
/// | `product` | a, b; c | `c[i] = a[i] b[i]` |
/// | `multiply` | b; a | `a[i] = a[i] b[i]` |
/// | `reverse_difference` | log n; c; a | `a[rev(i)] = c[i] - a[i]` |
pub static FAMILY: Family = Family::new(
    "ntt",
    &[
        Signature {
            name: "ntt_pass",
            params: &[U32, U32, U32, U32, U32, FIXED, FIXED, FIXED, FIXED, FIXED, WRITE],
        },
        Signature { name: "product", params: &[READ, READ, WRITE] },
        Signature { name: "multiply", params: &[READ, WRITE] },
        Signature { name: "reverse_difference", params: &[U32, READ, WRITE] },
    ],
)
.host(&[
    ("ntt_pass", pass),
    ("product", product),
    ("multiply", multiply),
    ("reverse_difference", reverse_difference),
]);

/// What a pass does: `enum Flags` of `kernels/ntt.cuh`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags(u32);

impl Flags {
    pub(super) const NONE: Self = Self(0);
    /// Decimation in time: rows are in bit-reversed order, and the twist belongs to columns.
    pub(super) const DIT: Self = Self(1);
    /// Powers of `1/w` instead of `w`.
    pub(super) const INVERSE: Self = Self(2);
    /// Multiply row `r` by `y^r`.
    pub(super) const TWIST: Self = Self(4);
    /// The powers for that are no multiples of the length of the table of low powers.
    pub(super) const LOW: Self = Self(8);
    /// Multiply by the factors of the coset before the levels.
    pub(super) const SCALE_IN: Self = Self(16);
    /// And after them.
    pub(super) const SCALE_OUT: Self = Self(32);

    pub(super) fn set(&mut self, flag: Self, on: bool) {
        self.0 = if on { self.0 | flag.0 } else { self.0 & !flag.0 };
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

pub(super) fn limbs(scalar: &Scalar) -> [u64; 4] {
    blst_fr::from(*scalar).l
}

pub(super) fn scalar(limbs: &[u64; 4]) -> Scalar {
    Scalar::from(blst_fr { l: *limbs })
}

fn scalars(bytes: &[u8]) -> Vec<Scalar> {
    bytemuck::cast_slice::<u8, [u64; 4]>(bytes).iter().map(scalar).collect()
}

/// The numbers of a table.
fn factors(bytes: &[u8]) -> Vec<Scalar> {
    let number = |words: &[u64; 8]| Scalar::from_u64s_le(&[words[0], words[1], words[2], words[3]]);
    let factors = bytemuck::cast_slice::<u8, [u64; 8]>(bytes).iter();
    factors.map(|words| Option::from(number(words)).expect("below the modulus")).collect()
}

fn put(scalars: &[Scalar], bytes: &mut [u8]) {
    bytemuck::cast_slice_mut::<u8, [u64; 4]>(bytes).iter_mut().zip(scalars).for_each(|(l, s)| *l = limbs(s));
}

/// The scalars are an array of blocks, rows and columns. The rows of one block and column are the
/// coefficients of a polynomial, which is evaluated at `y u^i`, `u` the root of unity of as
/// high an order as there are rows; all else is in `kernels/ntt.cuh`.
fn pass(_: Grid, args: &mut [HostArg<'_>]) {
    let [
        HostArg::U32(log_n),
        HostArg::U32(above),
        HostArg::U32(levels),
        HostArg::U32(_),
        HostArg::U32(flags),
        HostArg::Read(twiddles),
        HostArg::Read(low),
        HostArg::Read(high),
        HostArg::Read(coset_low),
        HostArg::Read(coset_high),
        HostArg::Write(data),
    ] = args
    else {
        unreachable!("the signature")
    };
    let (flags, n, below) = (Flags(*flags), 1_usize << *log_n, *log_n - *above - *levels);
    let dit = flags.has(Flags::DIT);
    let twiddles = factors(twiddles);
    let (low, high) = (factors(low), factors(high));
    let (coset_low, coset_high) = (factors(coset_low), factors(coset_high));
    let coset = |i: usize| coset_low[i % coset_low.len()] * coset_high[i / coset_low.len()];
    let mut values = scalars(data);
    let rows = 1_usize << *levels;
    for (block, column) in (0..1 << *above).flat_map(|b| (0..1 << below).map(move |c| (b, c))) {
        let at = |row: usize| {
            let stored = if dit { reversed(row, *levels) } else { row };
            (block << (*levels + below)) + (stored << below) + column
        };
        let mut y: Vec<Scalar> = (0..rows).map(|row| values[at(row)]).collect();
        if flags.has(Flags::SCALE_IN) {
            for (row, y) in y.iter_mut().enumerate() {
                *y *= coset(if dit { reversed(at(row), *log_n) } else { at(row) });
            }
        }
        if flags.has(Flags::TWIST) {
            let step = if dit { column << *above } else { reversed(block, *above) << below };
            for (row, y) in y.iter_mut().enumerate() {
                let e = step * row;
                let e = if flags.has(Flags::INVERSE) { (n - e) % n } else { e };
                *y *= high[e / low.len()];
                if flags.has(Flags::LOW) {
                    *y *= low[e % low.len()];
                }
            }
        }
        for level in 0..*levels {
            for (group, t) in y.chunks_exact_mut(rows >> level).zip(&twiddles) {
                let (a, b) = group.split_at_mut(rows >> (level + 1));
                for (a, b) in a.iter_mut().zip(b) {
                    let product = *b * t;
                    (*a, *b) = (*a + product, *a - product);
                }
            }
        }
        for (row, y) in y.iter().enumerate() {
            let i = at(row);
            values[i] = *y;
            if flags.has(Flags::SCALE_OUT) {
                values[i] *= coset(if dit { i } else { reversed(i, *log_n) });
            }
        }
    }
    put(&values, data);
}

fn product(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::Read(a), HostArg::Read(b), HostArg::Write(c)] = args else { unreachable!("the signature") };
    let products: Vec<_> = scalars(a).iter().zip(&scalars(b)).map(|(a, b)| a * b).collect();
    put(&products, c);
}

fn multiply(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::Read(b), HostArg::Write(a)] = args else { unreachable!("the signature") };
    let products: Vec<_> = scalars(a).iter().zip(&scalars(b)).map(|(a, b)| a * b).collect();
    put(&products, a);
}

fn reverse_difference(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::U32(log_n), HostArg::Read(c), HostArg::Write(a)] = args else {
        unreachable!("the signature")
    };
    let (c, old) = (scalars(c), scalars(a));
    let differences: Vec<_> = (0..old.len())
        .map(|i| {
            let from = reversed(i, *log_n);
            c[from] - old[from]
        })
        .collect();
    put(&differences, a);
}
