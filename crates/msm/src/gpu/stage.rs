//! The stages of sums on a device: they queue, and what they queue is waited for by [`Join`] alone.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use cuzk_gpu_backend::{Backend, Context};
use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Placement, Stage};
use cuzk_values::{Coeffs, Densities, DeviceBases, DeviceWitness, G1Affine, G2Affine, OnDevice, Poly};

use super::{DeviceCurve, DeviceDensity, Extent, Pending, Workspace};
use crate::{G1, G2, MsmError, Sum};

/// `msm.workspace`: the kernels and the memory of a circuit's sums, for all of its proofs.
pub struct LoadWorkspace<B> {
    extent: Extent,
    footprint: Footprint,
    beside: bool,
    backend: PhantomData<fn() -> B>,
}

impl<B> LoadWorkspace<B> {
    /// The workspace of an extent.
    ///
    /// # Errors
    /// [`MsmError::Limit`] if nothing is small enough.
    pub fn new(extent: Extent) -> Result<Self, MsmError> {
        Ok(Self { extent, footprint: extent.footprint()?, beside: false, backend: PhantomData })
    }

    /// The same for sums that are queued [beside](Workspace::beside) others.
    #[must_use]
    pub fn beside(self) -> Self {
        Self { beside: true, ..self }
    }
}

impl<B> Clone for LoadWorkspace<B> {
    fn clone(&self) -> Self {
        Self { extent: self.extent, footprint: self.footprint, beside: self.beside, backend: PhantomData }
    }
}

impl<B: Backend> Stage for LoadWorkspace<B> {
    type In = ();
    type Out = Workspace<B>;
    type Error = MsmError;

    fn name(&self) -> Cow<'static, str> {
        "msm.workspace".into()
    }
    fn cost(&self) -> Cost {
        Cost::free().output(self.footprint)
    }
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    fn kind(&self, error: &MsmError) -> ErrorKind {
        error.kind()
    }
    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<Workspace<B>, MsmError> {
        let workspace = Workspace::new(Context::of(cx)?, self.extent)?;
        Ok(if self.beside { workspace.beside() } else { workspace })
    }
}

/// `msm.densities`: which variables of a circuit have a base in each query, for all of its proofs.
pub struct LoadDensity<B> {
    densities: Arc<Densities>,
    backend: PhantomData<fn() -> B>,
}

impl<B> LoadDensity<B> {
    /// Those of a circuit.
    pub fn new(densities: Arc<Densities>) -> Self {
        Self { densities, backend: PhantomData }
    }
}

impl<B> Clone for LoadDensity<B> {
    fn clone(&self) -> Self {
        Self { densities: self.densities.clone(), backend: PhantomData }
    }
}

impl<B: Backend> Stage for LoadDensity<B> {
    type In = ();
    type Out = DeviceDensity<B>;
    type Error = MsmError;

    fn name(&self) -> Cow<'static, str> {
        "msm.densities".into()
    }
    /// Besides what stays on the device: words and ranks of one query, and bits that are all ones.
    fn cost(&self) -> Cost {
        let bytes = DeviceDensity::<B>::bytes(&self.densities);
        Cost::free().scratch(Footprint::host(bytes)).output(Footprint::device(bytes))
    }
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    fn kind(&self, error: &MsmError) -> ErrorKind {
        error.kind()
    }
    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<DeviceDensity<B>, MsmError> {
        DeviceDensity::new(Context::of(cx)?, &self.densities)
    }
}

/// `msm.h`: the quotient × a range of the `h` query.
pub struct DeviceMsmH<B>(PhantomData<fn() -> B>);

impl<B> Default for DeviceMsmH<B> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<B: Backend> Stage for DeviceMsmH<B> {
    type In =
        (Arc<Poly<Coeffs, OnDevice<B::Buffer>>>, Arc<DeviceBases<B::Buffer, G1Affine>>, Arc<Workspace<B>>);
    type Out = Pending<B, G1>;
    type Error = MsmError;

    fn name(&self) -> Cow<'static, str> {
        "msm.h".into()
    }
    fn cost(&self) -> Cost {
        Cost::free().output(Pending::<B, G1>::WEIGHT)
    }
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    fn kind(&self, error: &MsmError) -> ErrorKind {
        error.kind()
    }
    fn run(&self, cx: &Cx<'_>, (h, bases, workspace): Self::In) -> Result<Self::Out, MsmError> {
        let (stream, range) = (workspace.stream(Context::of(cx)?), bases.range());
        let (at, len) = (range.start as u64, range.len() as u64);
        workspace.queue::<G1>(stream, [bases.points(), h.buffer()], [0, at], len)
    }
}

/// A witness × a range of a query.
macro_rules! witness_stage {
    ($(#[$doc:meta])* $stage:ident, $name:literal, $curve:ident, $base:ident, $query:ident) => {
        $(#[$doc])*
        pub struct $stage<B>(PhantomData<fn() -> B>);

        impl<B> Default for $stage<B> {
            fn default() -> Self {
                Self(PhantomData)
            }
        }

        impl<B: Backend> Stage for $stage<B> {
            type In = (
                Arc<DeviceWitness<B::Buffer>>,
                Arc<DeviceBases<B::Buffer, $base>>,
                Arc<DeviceDensity<B>>,
                Arc<Workspace<B>>,
            );
            type Out = Pending<B, $curve>;
            type Error = MsmError;

            fn name(&self) -> Cow<'static, str> {
                $name.into()
            }
            fn cost(&self) -> Cost {
                Cost::free().output(Pending::<B, G1>::WEIGHT)
            }
            fn placement(&self) -> Placement {
                Placement::Gpu
            }
            fn kind(&self, error: &MsmError) -> ErrorKind {
                error.kind()
            }
            fn run(
                &self,
                cx: &Cx<'_>,
                (witness, bases, density, workspace): Self::In,
            ) -> Result<Self::Out, MsmError> {
                let stream = workspace.stream(Context::of(cx)?);
                workspace.witness::<$curve>(stream, &witness, &density.$query, &bases)
            }
        }
    };
}

witness_stage! {
    /// `msm.l`: the auxiliary variables × a range of the `l` query.
    DeviceMsmL, "msm.l", G1, G1Affine, l
}
witness_stage! {
    /// `msm.a`: the variables × a range of the `a` query.
    DeviceMsmA, "msm.a", G1, G1Affine, a
}
witness_stage! {
    /// `msm.b1`: the variables × a range of the `b_g1` query.
    DeviceMsmB1, "msm.b1", G1, G1Affine, b
}
witness_stage! {
    /// `msm.b2`: the variables × a range of the `b_g2` query.
    DeviceMsmB2, "msm.b2", G2, G2Affine, b
}

/// `msm.join`: the sum of sums under way, those of the ranges of a query. It waits for them.
pub struct Join<B, C>(PhantomData<fn() -> (B, C)>);

impl<B, C> Default for Join<B, C> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<B: Backend, C: DeviceCurve<Projective: Send>> Stage for Join<B, C> {
    type In = Vec<Pending<B, C>>;
    type Out = Sum<C::Projective>;
    type Error = MsmError;

    fn name(&self) -> Cow<'static, str> {
        "msm.join".into()
    }
    fn cost(&self) -> Cost {
        Cost::free().output(Footprint::host(size_of::<C::Projective>() as u64))
    }
    /// Where the sums are, so that a device that was lost is known to be the one.
    fn placement(&self) -> Placement {
        Placement::Gpu
    }
    fn kind(&self, error: &MsmError) -> ErrorKind {
        error.kind()
    }
    fn run(&self, cx: &Cx<'_>, pending: Self::In) -> Result<Self::Out, MsmError> {
        let add = |sum: C::Projective, pending: Pending<B, C>| {
            cx.checkpoint()?;
            Ok(sum + pending.wait()?)
        };
        pending.into_iter().try_fold(C::zero(), add).map(Sum)
    }
}
