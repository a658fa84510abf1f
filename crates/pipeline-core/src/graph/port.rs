//! Ports, and what may be plugged into a stage.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::Inputs;
use crate::{Footprint, Value};

pub(crate) type AnyBox = Box<dyn Any + Send>;
pub(crate) type AnyArc = Arc<dyn Any + Send + Sync>;
pub(crate) type Brand<'g> = PhantomData<fn(&'g ()) -> &'g ()>;

/// The promise of one `T`. It can be spent once: fan-out is a choice, made
/// with [`Builder::share`](crate::Builder::share).
#[must_use = "a value that nothing takes is a build error"]
pub struct Port<'g, T> {
    pub(super) slot: usize,
    types: PhantomData<fn() -> T>,
    graph: Brand<'g>,
}

/// The promise of one `T` that many stages read, as `Arc<T>`.
///
/// A stage lets go of the `Arc` before it ends: the engine counts the value's
/// bytes until the last of its stages is done, and no longer.
pub struct Shared<'g, T> {
    pub(super) slot: usize,
    pub(super) resident: bool,
    types: PhantomData<fn() -> T>,
    graph: Brand<'g>,
}

impl<T> Port<'_, T> {
    pub(super) fn new(slot: usize) -> Self {
        Self { slot, types: PhantomData, graph: PhantomData }
    }
}

impl<T> Shared<'_, T> {
    pub(super) fn new(slot: usize, resident: bool) -> Self {
        Self { slot, resident, types: PhantomData, graph: PhantomData }
    }
}

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<'_, T> {}

/// Fetches a stage's input from the values of its run.
pub(crate) type Take<V> = Box<dyn Fn(&Inputs<'_>) -> V + Send + Sync>;

/// What may be plugged into a stage: a port, a shared port, or a tuple or
/// `Vec` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be plugged into a stage",
    note = "plug in a `Port`, a `Shared`, or a tuple or `Vec` of these"
)]
pub trait Edge<'g> {
    /// What the stage gets.
    type Value: Send;
    #[doc(hidden)]
    fn plug(self, into: &mut Plug) -> Take<Self::Value>;
}

/// The slots that a stage's inputs come from.
#[doc(hidden)]
#[derive(Default)]
pub struct Plug {
    pub(super) inputs: Vec<usize>,
}

impl<'g, T: Value> Edge<'g> for Port<'g, T> {
    type Value = T;
    fn plug(self, into: &mut Plug) -> Take<T> {
        into.inputs.push(self.slot);
        Box::new(move |inputs| inputs.take(self.slot))
    }
}

impl<'g, T: Value + Sync> Edge<'g> for Shared<'g, T> {
    type Value = Arc<T>;
    fn plug(self, into: &mut Plug) -> Take<Arc<T>> {
        into.inputs.push(self.slot);
        if self.resident {
            Box::new(move |inputs| inputs.resident(self.slot))
        } else {
            Box::new(move |inputs| inputs.read(self.slot))
        }
    }
}

impl<'g, E> Edge<'g> for Vec<E>
where
    E: Edge<'g>,
    E::Value: 'static,
{
    type Value = Vec<E::Value>;
    fn plug(self, into: &mut Plug) -> Take<Self::Value> {
        let each: Vec<_> = self.into_iter().map(|e| e.plug(into)).collect();
        Box::new(move |inputs| each.iter().map(|take| take(inputs)).collect())
    }
}

macro_rules! edge_tuple {
    ($($e:ident)*) => {
        impl<'g, $($e),*> Edge<'g> for ($($e,)*)
        where $($e: Edge<'g>, $e::Value: 'static,)*
        {
            type Value = ($($e::Value,)*);
            #[allow(non_snake_case, unused_variables, clippy::unused_unit, reason = "the macro also makes `()`")]
            fn plug(self, into: &mut Plug) -> Take<Self::Value> {
                let ($($e,)*) = self;
                $(let $e = $e.plug(into);)*
                Box::new(move |inputs| ($($e(inputs),)*))
            }
        }
    };
}
edge_tuple!();
edge_tuple!(A);
edge_tuple!(A B);
edge_tuple!(A B C);
edge_tuple!(A B C D);
edge_tuple!(A B C D E);
edge_tuple!(A B C D E F);
edge_tuple!(A B C D E F G);
edge_tuple!(A B C D E F G H);

/// What may leave a stage: a value, or a tuple of up to four.
pub trait Outputs: Send + 'static {
    /// One port for each value.
    type Ports<'g>;
    #[doc(hidden)]
    const COUNT: usize;
    #[doc(hidden)]
    fn ports<'g>(first: usize) -> Self::Ports<'g>;
    #[doc(hidden)]
    fn weights(&self) -> Vec<Footprint>;
    #[doc(hidden)]
    fn boxes(self) -> Vec<Box<dyn Any + Send>>;
}

impl<T: Value> Outputs for T {
    type Ports<'g> = Port<'g, T>;
    const COUNT: usize = 1;
    fn ports<'g>(first: usize) -> Port<'g, T> {
        Port::new(first)
    }
    fn weights(&self) -> Vec<Footprint> {
        vec![self.footprint()]
    }
    fn boxes(self) -> Vec<AnyBox> {
        vec![Box::new(self)]
    }
}

macro_rules! outputs_tuple {
    ($count:literal: $($v:ident $i:tt)*) => {
        impl<$($v: Value),*> Outputs for ($($v,)*) {
            type Ports<'g> = ($(Port<'g, $v>,)*);
            const COUNT: usize = $count;
            fn ports<'g>(first: usize) -> Self::Ports<'g> {
                ($(Port::<$v>::new(first + $i),)*)
            }
            fn weights(&self) -> Vec<Footprint> {
                vec![$(self.$i.footprint()),*]
            }
            fn boxes(self) -> Vec<AnyBox> {
                vec![$(Box::new(self.$i)),*]
            }
        }
    };
}
outputs_tuple!(2: A 0 B 1);
outputs_tuple!(3: A 0 B 1 C 2);
outputs_tuple!(4: A 0 B 1 C 2 D 3);
