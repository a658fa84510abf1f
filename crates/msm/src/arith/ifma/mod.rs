//! Points for AVX-512 IFMA: eight additions at once.

mod add;
mod fp;
mod lanes;
mod point;
mod words;

pub(crate) use point::IfmaPoint;

/// Whether this CPU has what the module needs.
pub(crate) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
}
