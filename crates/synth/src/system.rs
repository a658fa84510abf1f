//! Constraint systems behind a pointer.
//!
//! `ConstraintSystem` is generic in every call, so that a circuit is compiled anew
//! for each system that looks at it, and Filecoin's are large. Here they are
//! compiled once, for [`Erased`], behind which any [`System`] may stand.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use cuzk_values::Scalar;

/// What is made for the one who asks, if anybody does.
pub(crate) struct Lazy<'a, T>(&'a mut (dyn FnMut() -> T + 'a));

impl<T> Lazy<'_, T> {
    pub(crate) fn get(self) -> T {
        self.0()
    }
}

/// A closure for a [`Lazy`], which is used up by the call.
fn once<T>(make: impl FnOnce() -> T) -> impl FnMut() -> T {
    let mut make = Some(make);
    move || match make.take() {
        Some(make) => make(),
        None => unreachable!("a `Lazy` is used up by its call"),
    }
}

/// A name: of a variable, a constraint or a namespace.
pub(crate) type Name<'a> = Lazy<'a, String>;

/// A variable's value.
pub(crate) type Value<'a> = Lazy<'a, Result<Scalar, SynthesisError>>;

/// The linear combinations a, b and c of a constraint `a · b = c`.
pub(crate) type Product<'a> = Lazy<'a, [LinearCombination<Scalar>; 3]>;

/// A [`ConstraintSystem`] without generics.
pub(crate) trait System: Send {
    /// A new auxiliary variable.
    fn alloc(&mut self, name: Name<'_>, value: Value<'_>) -> Result<Variable, SynthesisError>;

    /// A new public input.
    fn alloc_input(&mut self, name: Name<'_>, value: Value<'_>) -> Result<Variable, SynthesisError>;

    /// A new constraint.
    fn enforce(&mut self, name: Name<'_>, product: Product<'_>);

    /// What follows is within a namespace.
    fn push_namespace(&mut self, _: Name<'_>) {}

    /// The innermost namespace ends.
    fn pop_namespace(&mut self) {}
}

/// Synthesises `circuit` for `system`.
pub(crate) fn synthesize(
    circuit: impl Circuit<Scalar>,
    system: &mut impl System,
) -> Result<(), SynthesisError> {
    circuit.synthesize(&mut Erased(system))
}

/// Synthesises for any system through [`Erased`], for which alone `circuit` is compiled.
pub(crate) fn synthesize_erased<CS: ConstraintSystem<Scalar>>(
    system: &mut CS,
    circuit: impl FnOnce(&mut Erased<'_>) -> Result<(), SynthesisError>,
) -> Result<(), SynthesisError> {
    // The root: a `Namespace` within it cannot open others.
    circuit(&mut Erased(&mut Generic(system.get_root())))
}

/// Any [`System`].
pub(crate) struct Erased<'a>(&'a mut dyn System);

impl ConstraintSystem<Scalar> for Erased<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, annotation: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.alloc(Lazy(&mut once(|| annotation().into())), Lazy(&mut once(value)))
    }

    fn alloc_input<F, A, AR>(&mut self, annotation: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.alloc_input(Lazy(&mut once(|| annotation().into())), Lazy(&mut once(value)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let zero = LinearCombination::zero;
        let mut product = once(|| [a(zero()), b(zero()), c(zero())]);
        self.0.enforce(Lazy(&mut once(|| annotation().into())), Lazy(&mut product));
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, name: N) {
        self.0.push_namespace(Lazy(&mut once(|| name().into())));
    }

    fn pop_namespace(&mut self) {
        self.0.pop_namespace();
    }

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

/// A [`ConstraintSystem`] as a [`System`].
struct Generic<'a, CS>(&'a mut CS);

impl<CS: ConstraintSystem<Scalar>> System for Generic<'_, CS> {
    fn alloc(&mut self, name: Name<'_>, value: Value<'_>) -> Result<Variable, SynthesisError> {
        self.0.alloc(|| name.get(), || value.get())
    }

    fn alloc_input(&mut self, name: Name<'_>, value: Value<'_>) -> Result<Variable, SynthesisError> {
        self.0.alloc_input(|| name.get(), || value.get())
    }

    fn enforce(&mut self, name: Name<'_>, product: Product<'_>) {
        let [a, b, c] = product.get();
        self.0.enforce(|| name.get(), |_| a, |_| b, |_| c);
    }

    fn push_namespace(&mut self, name: Name<'_>) {
        self.0.push_namespace(|| name.get());
    }

    fn pop_namespace(&mut self) {
        self.0.pop_namespace();
    }
}
