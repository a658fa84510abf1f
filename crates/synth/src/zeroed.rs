//! Memory that is zero without having been touched.
#![allow(unsafe_code, reason = "std has no safe way to ask for zeroed memory of a foreign type")]
#![allow(clippy::cast_ptr_alignment, reason = "the memory is allocated by the type's own layout")]

use std::alloc::{Layout, alloc_zeroed};
use std::ptr;

use cuzk_values::Scalar;

use crate::SynthError;

/// `len` zeros. The system hands out zero pages, so that none is touched before
/// it is written, by whichever thread that is.
///
/// # Errors
/// [`SynthError::Memory`] where the system refuses.
pub(crate) fn zeroed_scalars(len: usize) -> Result<Vec<Scalar>, SynthError> {
    let refused = SynthError::Memory { bytes: len.saturating_mul(size_of::<Scalar>()) };
    let Ok(layout) = Layout::array::<Scalar>(len) else { return Err(refused) };
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout's size is not zero.
    #[allow(clippy::cast_ptr_alignment, reason = "the layout is that of scalars")]
    let memory = unsafe { alloc_zeroed(layout) }.cast::<Scalar>();
    if memory.is_null() {
        return Err(refused);
    }
    // SAFETY: the global allocator gave `memory` with the layout of an array of `len` scalars, and
    // all zeros is a scalar, zero: `Scalar` is `blst_fr`, four limbs in Montgomery form.
    let scalars = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(memory, len)) };
    Ok(scalars.into_vec())
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;

    #[test]
    fn zeroed_memory_is_zeros() {
        for len in [0, 1, 1 << 15] {
            let scalars = zeroed_scalars(len).unwrap();
            assert_eq!((scalars.len(), scalars.capacity()), (len, len));
            assert!(scalars.iter().all(|scalar| *scalar == Scalar::ZERO));
        }
        assert!(matches!(zeroed_scalars(usize::MAX), Err(SynthError::Memory { bytes: usize::MAX })));
    }
}
