//! Holds what a stage declares against what it makes.

use crate::{Cx, Footprint, Outputs, Stage};

/// What [`weigh`] found.
#[derive(Debug)]
pub struct Weighed<O> {
    /// What the stage made.
    pub out: O,
    /// What it declares for each output.
    pub declared: Vec<Footprint>,
    /// What each output weighs.
    pub actual: Vec<Footprint>,
}

impl<O> Weighed<O> {
    /// The outputs that weigh more than was declared: index, declared, actual.
    pub fn overweight(&self) -> impl Iterator<Item = (usize, Footprint, Footprint)> {
        let pairs = self.declared.iter().zip(&self.actual).enumerate();
        pairs.filter(|(_, (declared, actual))| !actual.fits(**declared)).map(|(i, (d, a))| (i, *d, *a))
    }

    /// What was declared and not used, all outputs together: bytes that the
    /// engine keeps from other stages while this one runs.
    pub fn slack(&self) -> Footprint {
        let pairs = self.declared.iter().zip(&self.actual);
        pairs.fold(Footprint::ZERO, |sum, (declared, actual)| sum + declared.beyond(*actual))
    }
}

/// Runs a stage alone, for tests, and weighs what it makes.
///
/// ```
/// use cuzk_pipeline_core::{Cancelled, Cost, Cx, Footprint, Value, stage_fn, weigh};
///
/// struct Bytes(Vec<u8>);
/// impl Value for Bytes {
///     fn footprint(&self) -> Footprint {
///         Footprint::host(self.0.capacity() as u64)
///     }
/// }
///
/// let zeros = stage_fn("zeros", Cost::free().output(Footprint::host(64)), |_, n: usize| {
///     Ok::<_, Cancelled>(Bytes(vec![0; n]))
/// });
/// assert_eq!(weigh(&zeros, &Cx::detached(), 64)?.overweight().count(), 0);
/// assert_eq!(weigh(&zeros, &Cx::detached(), 65)?.overweight().count(), 1);
/// # Ok::<(), Cancelled>(())
/// ```
///
/// # Errors
/// The stage's own.
pub fn weigh<S: Stage>(stage: &S, cx: &Cx<'_>, input: S::In) -> Result<Weighed<S::Out>, S::Error> {
    let declared = stage.cost().outputs().to_vec();
    let out = stage.run(cx, input)?;
    let actual = out.weights();
    Ok(Weighed { out, declared, actual })
}
