//! The stages of a proof's five sums.

use std::borrow::Cow;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Stage, Value};
use cuzk_values::{Coeffs, Densities, G1Projective, G2Projective, Poly, Scalar, Srs, Witness};

use crate::accumulate::Accumulator;
use crate::cpu::CHUNK;
use crate::{Arithmetic, Curve, Density, G1, G2, MsmError, msm_bases, msm_compact};

/// A sum of points, as it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum<P>(pub P);

impl<P: Send + 'static> Value for Sum<P> {
    fn footprint(&self) -> Footprint {
        Footprint::host(size_of::<P>() as u64)
    }
}

/// What a multiplication of up to `wide` full-width scalars holds beside them:
/// the accumulator's buckets and batches, and a chunk of bases twice, decoded and
/// in the pages of their file.
fn cost<C: Curve>(wide: usize) -> Cost {
    let threads = available_parallelism().map_or(1, NonZero::get);
    let accumulator = match Arithmetic::best() {
        Arithmetic::Avx512Ifma => Accumulator::<C::Ifma>::bytes(wide, CHUNK, threads),
        Arithmetic::Portable => Accumulator::<C::Portable>::bytes(wide, CHUNK, threads),
    };
    let scratch = accumulator + 2 * CHUNK * size_of::<C::Affine>();
    Cost::free()
        .scratch(Footprint::host(scratch as u64))
        .output(Footprint::host(size_of::<C::Projective>() as u64))
}

/// `msm.h`: the quotient × the `h` query. The quotient's last coefficient is
/// zero, and has no base.
#[derive(Debug, Clone, Copy)]
pub struct MsmH {
    points: usize,
}

impl MsmH {
    /// The stage of a query of so many points.
    pub fn new(points: usize) -> Self {
        Self { points }
    }
}

impl Stage for MsmH {
    type In = (Poly<Coeffs>, Arc<Srs>);
    type Out = Sum<G1Projective>;
    type Error = MsmError;

    fn name(&self) -> Cow<'static, str> {
        "msm.h".into()
    }
    fn cost(&self) -> Cost {
        cost::<G1>(self.points)
    }
    fn kind(&self, error: &MsmError) -> ErrorKind {
        error.kind()
    }
    fn run(&self, cx: &Cx<'_>, (h, srs): Self::In) -> Result<Self::Out, MsmError> {
        let scalars = &h.scalars()[..h.len() - 1];
        cx.install(|| msm_bases::<G1>(&srs.h, scalars, &|| cx.checkpoint())).map(Sum)
    }
}

/// The witness × a query: inputs and auxiliary variables that have a base there.
macro_rules! witness_stage {
    ($(#[$doc:meta])* $stage:ident, $name:literal, $curve:ident => $sum:ident, $query:ident, $inputs:expr, $density:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $stage {
            densities: Arc<Densities>,
            wide: usize,
        }

        impl $stage {
            /// The stage of a circuit in which variables occur as `densities` say, and
            /// at most `wide` of them are neither 0 nor 1.
            pub fn new(densities: Arc<Densities>, wide: usize) -> Self {
                Self { densities, wide }
            }
        }

        impl Stage for $stage {
            type In = (Arc<Witness>, Arc<Srs>);
            type Out = Sum<$sum>;
            type Error = MsmError;

            fn name(&self) -> Cow<'static, str> {
                $name.into()
            }
            fn cost(&self) -> Cost {
                cost::<$curve>(self.wide)
            }
            fn kind(&self, error: &MsmError) -> ErrorKind {
                error.kind()
            }
            fn run(&self, cx: &Cx<'_>, (witness, srs): Self::In) -> Result<Self::Out, MsmError> {
                let inputs: fn(&Witness) -> &[Scalar] = $inputs;
                let density: fn(&Densities) -> Density<'_> = $density;
                let (inputs, density) = (inputs(&witness), density(&self.densities));
                let sum = || msm_compact::<$curve>(&srs.$query, inputs, &witness.aux, density, &|| cx.checkpoint());
                cx.install(sum).map(Sum)
            }
        }
    };
}

witness_stage! {
    /// `msm.l`: the auxiliary variables × the `l` query, which has a base for each.
    MsmL, "msm.l", G1 => G1Projective, l, |_| &[], |_| Density::Full
}
witness_stage! {
    /// `msm.a`: the variables × the `a` query, which has a base for each input and
    /// for the auxiliary variables that occur in A.
    MsmA, "msm.a", G1 => G1Projective, a, |w| &w.inputs, |d| Density::Map { inputs: None, aux: &d.a_aux }
}
witness_stage! {
    /// `msm.b1`: the variables × the `b_g1` query, which has a base for those that occur in B.
    MsmB1, "msm.b1", G1 => G1Projective, b_g1, |w| &w.inputs,
    |d| Density::Map { inputs: Some(&d.b_inputs), aux: &d.b_aux }
}
witness_stage! {
    /// `msm.b2`: the variables × the `b_g2` query, which has a base for those that occur in B.
    MsmB2, "msm.b2", G2 => G2Projective, b_g2, |w| &w.inputs,
    |d| Density::Map { inputs: Some(&d.b_inputs), aux: &d.b_aux }
}
