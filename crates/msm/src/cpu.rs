//! Multi-scalar multiplication on the caller's rayon pool.

use std::borrow::Cow;
use std::ops::Range;

use cuzk_pipeline_core::Cancelled;
use cuzk_values::{Bases, Bits, CompactScalars, Scalar};

use crate::accumulate::Accumulator;
use crate::arith::Packed;
use crate::select::{Selection, Walk, count_wide};
use crate::{Arithmetic, Curve, MsmError};

/// How many bases are asked of a source at once.
pub(crate) const CHUNK: usize = 1 << 18;

/// Asked between chunks whether to go on.
pub type Checkpoint<'a> = &'a (dyn Fn() -> Result<(), Cancelled> + Sync);

/// Which variables of a query have a base.
#[derive(Debug, Clone, Copy)]
pub enum Density<'a> {
    /// All.
    Full,
    /// Those whose bit is set.
    Map {
        /// For the inputs; `None` where all have one.
        inputs: Option<&'a Bits>,
        /// For the auxiliary variables.
        aux: &'a Bits,
    },
}

/// `sum_i scalars_i bases_i`
///
/// Works on the caller's rayon pool. Scalars that are 0, 1 or short, bases that are
/// equal, opposite or infinity, and lengths of any kind are all welcome. Time
/// depends on the scalars.
///
/// # Errors
/// [`MsmError::Lengths`] unless there are as many bases as scalars.
pub fn msm<C: Curve>(bases: &[C::Affine], scalars: &[Scalar]) -> Result<C::Projective, MsmError> {
    msm_with::<C>(Arithmetic::best(), bases, scalars)
}

/// [`msm`] with the given arithmetic, for tests and benches.
///
/// # Errors
/// As [`msm`], and [`MsmError::Unavailable`] where this CPU lacks it.
pub fn msm_with<C: Curve>(
    arithmetic: Arithmetic,
    bases: &[C::Affine],
    scalars: &[Scalar],
) -> Result<C::Projective, MsmError> {
    if bases.len() != scalars.len() {
        return Err(MsmError::Lengths { bases: bases.len(), scalars: scalars.len() });
    }
    let source: Source<'_, C> = &|range| Ok(Cow::Borrowed(&bases[range]));
    multiply::<C>(arithmetic, count_wide(scalars), dense_chunks(scalars, CHUNK), source, &|| Ok(()))
}

/// `sum_i scalars_i bases_i` over the first `scalars.len()` bases, in chunks that a
/// source may have to decode.
///
/// # Errors
/// [`MsmError::Lengths`] if there are fewer bases than scalars, what the source
/// says, and [`MsmError::Cancelled`] once `checkpoint` says so.
pub fn msm_bases<C: Curve>(
    bases: &Bases<C::Affine>,
    scalars: &[Scalar],
    checkpoint: Checkpoint<'_>,
) -> Result<C::Projective, MsmError> {
    if bases.len() < scalars.len() {
        return Err(MsmError::Lengths { bases: bases.len(), scalars: scalars.len() });
    }
    let chunks = dense_chunks(scalars, CHUNK);
    multiply::<C>(
        Arithmetic::best(),
        count_wide(scalars),
        chunks,
        &|range| Ok(bases.points(range)?),
        checkpoint,
    )
}

/// `sum_i x_i bases_i` over the variables `x` that have a base: inputs, then
/// auxiliary variables, each in their order.
///
/// Bases of variables that are 1 are summed, those of wide ones multiplied, in one
/// pass over the bases.
///
/// # Errors
/// [`MsmError::Density`] if a map has not as many bits as there are variables,
/// [`MsmError::Lengths`] unless there are as many bases as variables that have one,
/// what the source says, and [`MsmError::Cancelled`] once `checkpoint` says so.
pub fn msm_compact<C: Curve>(
    bases: &Bases<C::Affine>,
    inputs: &[Scalar],
    aux: &CompactScalars,
    density: Density<'_>,
    checkpoint: Checkpoint<'_>,
) -> Result<C::Projective, MsmError> {
    compact::<C>(Arithmetic::best(), bases, inputs, aux, density, CHUNK, checkpoint)
}

/// [`msm_compact`] with all that it chooses given.
pub(crate) fn compact<C: Curve>(
    arithmetic: Arithmetic,
    bases: &Bases<C::Affine>,
    inputs: &[Scalar],
    aux: &CompactScalars,
    density: Density<'_>,
    chunk: usize,
    checkpoint: Checkpoint<'_>,
) -> Result<C::Projective, MsmError> {
    let (of_inputs, of_aux) = match density {
        Density::Full => (None, None),
        Density::Map { inputs, aux } => (inputs, Some(aux)),
    };
    let fits = |what, map: Option<&Bits>, variables| match map {
        Some(map) if map.len() != variables => Err(MsmError::Density { what, bits: map.len(), variables }),
        _ => Ok(()),
    };
    fits("inputs", of_inputs, inputs.len())?;
    fits("auxiliary variables", of_aux, aux.len())?;
    let has_base = |(i, scalar): (usize, &Scalar)| of_inputs.is_none_or(|map| map.get(i)).then_some(*scalar);
    let inputs: Vec<Scalar> = inputs.iter().enumerate().filter_map(has_base).collect();
    let walk = Walk::new(aux, of_aux);
    let scalars = inputs.len() + walk.bases();
    if bases.len() != scalars {
        return Err(MsmError::Lengths { bases: bases.len(), scalars });
    }
    let after_inputs = |(range, selection): (Range<usize>, _)| {
        (range.start + inputs.len()..range.end + inputs.len(), selection)
    };
    let chunks = dense_chunks(&inputs, chunk).chain(walk.chunks(chunk).map(after_inputs));
    let wide = count_wide(&inputs) + walk.count_wide();
    multiply::<C>(arithmetic, wide, chunks, &|range| Ok(bases.points(range)?), checkpoint)
}

/// Gives the bases of a range.
type Source<'a, C> = &'a dyn Fn(Range<usize>) -> Result<Cow<'a, [<C as Curve>::Affine]>, MsmError>;

/// Chunks of scalars, and what is selected of each.
pub(crate) fn dense_chunks(
    scalars: &[Scalar],
    chunk: usize,
) -> impl Iterator<Item = (Range<usize>, Selection)> {
    scalars.chunks(chunk).scan(0, |start, scalars| {
        let range = *start..*start + scalars.len();
        *start = range.end;
        Some((range, Selection::of_scalars(scalars)))
    })
}

/// Adds up chunks, of which `wide` scalars in all are neither 0 nor 1.
pub(crate) fn multiply<C: Curve>(
    arithmetic: Arithmetic,
    wide: usize,
    chunks: impl Iterator<Item = (Range<usize>, Selection)>,
    source: Source<'_, C>,
    checkpoint: Checkpoint<'_>,
) -> Result<C::Projective, MsmError> {
    match arithmetic {
        _ if !arithmetic.is_available() => Err(MsmError::Unavailable(arithmetic)),
        Arithmetic::Portable => accumulate::<C, C::Portable>(wide, chunks, source, checkpoint),
        Arithmetic::Avx512Ifma => accumulate::<C, C::Ifma>(wide, chunks, source, checkpoint),
    }
}

fn accumulate<C: Curve, P: Packed<Affine = C::Affine>>(
    wide: usize,
    chunks: impl Iterator<Item = (Range<usize>, Selection)>,
    source: Source<'_, C>,
    checkpoint: Checkpoint<'_>,
) -> Result<C::Projective, MsmError> {
    let mut sum = Accumulator::<P>::new(wide);
    for (range, selection) in chunks {
        checkpoint()?;
        if selection.is_empty() {
            continue;
        }
        let asked = range.len();
        let points = source(range)?;
        if points.len() != asked {
            return Err(MsmError::Source { asked, given: points.len() });
        }
        sum.add(&points, &selection);
    }
    checkpoint()?;
    Ok(sum.finish::<C>())
}

#[cfg(test)]
mod tests {
    use cuzk_values::G1Projective;
    use group::{Curve as _, Group};

    use super::*;
    use crate::{G1, naive};

    #[test]
    fn chunks_of_any_size_give_one_sum() {
        let generator = G1Projective::generator();
        let points: Vec<_> = (0..150).map(|i| (generator * Scalar::from(i % 40 + 5)).to_affine()).collect();
        let scalar = |i: u64| {
            [Scalar::from(1), Scalar::from(0), -Scalar::from(i), Scalar::from(i << 40)][i as usize % 4]
        };
        let inputs: Vec<_> = (0..5).map(scalar).collect();
        let aux: Vec<_> = (5..150).map(scalar).collect();
        let want = naive::msm::<G1>(&points, &[inputs.clone(), aux.clone()].concat());
        let (bases, aux) = (Bases::new(points), aux.into_iter().collect::<CompactScalars>());
        for arithmetic in [Arithmetic::Portable, Arithmetic::Avx512Ifma] {
            for chunk in [1, 2, 3, 63, 64, 65, 1000] {
                let sum = compact::<G1>(arithmetic, &bases, &inputs, &aux, Density::Full, chunk, &|| Ok(()));
                let missing = Err(MsmError::Unavailable(arithmetic));
                let end = if arithmetic.is_available() { Ok(want) } else { missing };
                assert_eq!(sum, end, "chunks of {chunk} by {arithmetic:?}");
            }
        }
    }
}
