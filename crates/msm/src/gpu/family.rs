//! The kernels, by name and arguments.

use cuzk_gpu_backend::Param::{Read, U32, U64, Value, Write};
use cuzk_gpu_backend::{Family, Signature};

use super::host;
use crate::G1;

/// A number, or an index.
const NUMBER: u64 = 4;
/// `what << 32 | point << 1 | negative`, sorted by what.
const ENTRY: u64 = 8;

/// The kernels of this crate. Those of a group have its name in theirs.
pub(super) static MSM: Family = Family::new(
    "msm",
    &[
        Signature {
            name: "msm_digits",
            params: &[U32, U32, U32, U32, U32, Value(32), U64, U64, Read(32), Write(NUMBER)],
        },
        Signature { name: "msm_histogram", params: &[U32, U32, U64, Read(NUMBER), Write(NUMBER)] },
        Signature { name: "msm_scan", params: &[U64, Read(NUMBER), Write(NUMBER)] },
        Signature {
            name: "msm_partition",
            params: &[U32, U32, U64, U64, Read(NUMBER), Write(NUMBER), Write(ENTRY)],
        },
        Signature { name: "msm_count", params: &[U64, U64, Read(ENTRY), Read(NUMBER), Write(NUMBER)] },
        Signature {
            name: "msm_forward_g1",
            params: &[U64, U64, Read(96), Read(ENTRY), Read(NUMBER), Write(48), Write(48)],
        },
        Signature { name: "msm_invert_g1", params: &[U64, U64, Write(48), Write(48)] },
        Signature {
            name: "msm_backward_g1",
            params: &[
                U64,
                U64,
                Read(96),
                Read(ENTRY),
                Read(NUMBER),
                Read(48),
                Read(48),
                Read(NUMBER),
                Write(ENTRY),
                Write(96),
            ],
        },
        Signature {
            name: "msm_sort",
            params: &[U32, U32, U64, U32, Read(NUMBER), Read(ENTRY), Write(ENTRY)],
        },
        Signature {
            name: "msm_accumulate_g1",
            params: &[
                U32,
                U64,
                U64,
                Read(96),
                Read(ENTRY),
                Read(NUMBER),
                Write(192),
                Write(NUMBER),
                Write(192),
            ],
        },
        Signature {
            name: "msm_merge_g1",
            params: &[U32, U64, U64, Read(NUMBER), Read(192), Write(192), Write(NUMBER), Write(192)],
        },
        Signature { name: "msm_fold_g1", params: &[U32, U64, Read(192), Write(192), Write(192)] },
        Signature { name: "msm_lines_g1", params: &[U32, U32, U64, Read(192), Read(192), Write(192)] },
        Signature { name: "msm_bits_g1", params: &[U32, U32, U64, Read(192), Write(192)] },
    ],
)
.host(&[
    ("msm_digits", host::digits),
    ("msm_histogram", host::histogram),
    ("msm_scan", host::scan),
    ("msm_partition", host::partition),
    ("msm_sort", host::sort),
    ("msm_accumulate_g1", host::accumulate::<G1>),
    ("msm_count", host::count),
    ("msm_forward_g1", host::forward::<G1>),
    ("msm_invert_g1", host::invert::<G1>),
    ("msm_backward_g1", host::backward::<G1>),
    ("msm_merge_g1", host::merge::<G1>),
    ("msm_fold_g1", host::fold::<G1>),
    ("msm_lines_g1", host::lines::<G1>),
    ("msm_bits_g1", host::bits::<G1>),
]);
