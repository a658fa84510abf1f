//! The kernels, by name and arguments: a family for each group.

use cuzk_gpu_backend::Param::{Read, U32, U64, Value, Write};
use cuzk_gpu_backend::{Family, Signature};

use super::host;
use crate::{G1, G2};

/// A number, or an index.
const NUMBER: u64 = 4;
/// `what << 32 | point << 1 | negative`, sorted by what.
const ENTRY: u64 = 8;

/// `scalar << 32 | point`.
const PICK: u64 = 8;
/// Bits.
const WORD: u64 = 8;

const fn signature(name: &'static str, params: &'static [cuzk_gpu_backend::Param]) -> Signature {
    Signature { name, params }
}

/// The family of a group whose coordinates have so many bytes.
macro_rules! family {
    ($name:literal, $group:ty, $coordinate:literal) => {{
        const FIELD: u64 = $coordinate;
        const SUM: u64 = 4 * FIELD;
        Family::new(
            $name,
            &[
                signature(
                    "msm_digits",
                    &[
                        U32,
                        U32,
                        U32,
                        U32,
                        U32,
                        Value(32),
                        U64,
                        U64,
                        U32,
                        U64,
                        Read(PICK),
                        Read(NUMBER),
                        Read(32),
                        Read(32),
                        Write(NUMBER),
                    ],
                ),
                signature("msm_histogram", &[U32, U32, U64, Read(NUMBER), Write(NUMBER)]),
                signature("msm_scan", &[U64, Read(NUMBER), Write(NUMBER)]),
                signature(
                    "msm_partition",
                    &[U32, U32, U32, U64, U64, U32, Read(PICK), Read(NUMBER), Write(NUMBER), Write(ENTRY)],
                ),
                signature("msm_sort", &[U32, U32, U64, U32, Read(NUMBER), Read(ENTRY), Write(ENTRY)]),
                signature(
                    "msm_picks",
                    &[
                        U64,
                        U64,
                        U64,
                        U64,
                        U64,
                        Read(WORD),
                        Read(NUMBER),
                        Read(NUMBER),
                        Write(PICK),
                        Write(NUMBER),
                    ],
                ),
                signature(
                    "msm_ones_count",
                    &[
                        U64,
                        U64,
                        U64,
                        U64,
                        U64,
                        U64,
                        U64,
                        U64,
                        Read(WORD),
                        Read(WORD),
                        Read(NUMBER),
                        Read(NUMBER),
                        Write(NUMBER),
                    ],
                ),
                signature(
                    "msm_ones",
                    &[
                        U32,
                        U64,
                        U64,
                        U64,
                        U64,
                        U64,
                        U64,
                        U64,
                        Read(WORD),
                        Read(WORD),
                        Read(NUMBER),
                        Read(NUMBER),
                        Write(ENTRY),
                    ],
                ),
                signature("msm_count", &[U64, U64, Read(ENTRY), Read(NUMBER), Write(NUMBER)]),
                signature(
                    "msm_forward",
                    &[U64, U64, U32, U64, Read(FIELD), Read(ENTRY), Read(NUMBER), Write(FIELD), Write(FIELD)],
                ),
                signature("msm_invert", &[U64, U64, Write(FIELD), Write(FIELD)]),
                signature(
                    "msm_backward",
                    &[
                        U64,
                        U64,
                        U64,
                        U32,
                        U64,
                        Read(FIELD),
                        Read(ENTRY),
                        Read(NUMBER),
                        Read(FIELD),
                        Read(FIELD),
                        Read(NUMBER),
                        Write(ENTRY),
                        Write(FIELD),
                    ],
                ),
                signature(
                    "msm_accumulate",
                    &[
                        U32,
                        U64,
                        U64,
                        U32,
                        U64,
                        Read(FIELD),
                        Read(ENTRY),
                        Read(NUMBER),
                        Write(SUM),
                        Write(NUMBER),
                        Write(SUM),
                    ],
                ),
                signature(
                    "msm_merge",
                    &[U64, U64, Read(NUMBER), Read(SUM), Write(SUM), Write(NUMBER), Write(SUM)],
                ),
                signature("msm_fold", &[U32, U64, Read(SUM), Write(SUM), Write(SUM)]),
                signature("msm_lines", &[U32, U32, U64, Read(SUM), Read(SUM), Write(SUM)]),
                signature("msm_bits", &[U32, U32, U64, Read(SUM), Write(SUM)]),
            ],
        )
        .host(&[
            ("msm_digits", host::digits),
            ("msm_histogram", host::histogram),
            ("msm_scan", host::scan),
            ("msm_partition", host::partition),
            ("msm_sort", host::sort),
            ("msm_picks", host::picks),
            ("msm_ones_count", host::ones_count),
            ("msm_ones", host::ones),
            ("msm_count", host::count),
            ("msm_forward", host::forward::<$group>),
            ("msm_invert", host::invert::<$group>),
            ("msm_backward", host::backward::<$group>),
            ("msm_accumulate", host::accumulate::<$group>),
            ("msm_merge", host::merge::<$group>),
            ("msm_fold", host::fold::<$group>),
            ("msm_lines", host::lines::<$group>),
            ("msm_bits", host::bits::<$group>),
        ])
    }};
}

/// The kernels for G1: `kernels/msm_g1.cu`.
pub(super) static MSM_G1: Family = family!("msm_g1", G1, 48);
/// The kernels for G2: `kernels/msm_g2.cu`.
pub(super) static MSM_G2: Family = family!("msm_g2", G2, 96);
