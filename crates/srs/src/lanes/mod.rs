//! Arithmetic on the coordinates of many points at once.
//!
//! [`Coordinate`] is one element of a field, or several side by side in the lanes
//! of vector registers; what is written for it runs on both. [`add_all`] is affine
//! addition with one inversion for many points.

mod fp2;
#[cfg(target_arch = "x86_64")]
mod ifma;

use ff::Field;

pub(crate) use fp2::Fp2;
#[cfg(target_arch = "x86_64")]
pub(crate) use ifma::{Fp8, Ifma, Limbs, WORDS, times_power_of_two};

/// One or more elements of the field in which points have their coordinates.
pub(crate) trait Coordinate: Copy + Send + Sync {
    /// How many elements.
    const LANES: usize;
    /// One of them at rest.
    type Packed: Copy + Send + Sync + 'static;

    /// An element for each lane.
    fn gather<'a>(lane: impl Fn(usize) -> &'a Self::Packed) -> Self;
    /// The elements at rest, lane by lane.
    fn lanes(&self) -> impl Iterator<Item = Self::Packed>;
    fn add(&self, other: &Self) -> Self;
    fn sub(&self, other: &Self) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
    /// Minus itself in the lanes whose bit is set.
    fn negate_if(&self, lanes: u8) -> Self;
    /// The inverses, unless one of the elements is zero.
    fn invert(&self) -> Option<Self>;
}

impl<F: Field + 'static> Coordinate for F {
    const LANES: usize = 1;
    type Packed = F;

    #[inline]
    fn gather<'a>(lane: impl Fn(usize) -> &'a F) -> Self {
        *lane(0)
    }
    #[inline]
    fn lanes(&self) -> impl Iterator<Item = F> {
        std::iter::once(*self)
    }
    #[inline]
    fn add(&self, other: &Self) -> Self {
        *self + other
    }
    #[inline]
    fn sub(&self, other: &Self) -> Self {
        *self - other
    }
    #[inline]
    fn mul(&self, other: &Self) -> Self {
        *self * other
    }
    #[inline]
    fn square(&self) -> Self {
        Field::square(self)
    }
    #[inline]
    fn negate_if(&self, lanes: u8) -> Self {
        if lanes & 1 == 1 { -*self } else { *self }
    }
    fn invert(&self) -> Option<Self> {
        Field::invert(self).into()
    }
}

/// The coordinates of an affine point, or of one in each lane.
#[derive(Clone, Copy)]
pub(crate) struct Xy<F> {
    pub(crate) x: F,
    pub(crate) y: F,
}

impl<F> Xy<F> {
    /// A point in each lane.
    pub(crate) fn gather<'a>(lane: impl Fn(usize) -> &'a Xy<F::Packed>) -> Self
    where
        F: Coordinate,
    {
        Self { x: F::gather(|i| &lane(i).x), y: F::gather(|i| &lane(i).y) }
    }

    /// The points, lane by lane.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = Xy<F::Packed>>
    where
        F: Coordinate,
    {
        self.x.lanes().zip(self.y.lanes()).map(|(x, y)| Xy { x, y })
    }
}

/// What [`add_all`] keeps between its two passes.
pub(crate) struct Scratch<F>(Vec<(F, F)>);

impl<F> Default for Scratch<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Adds to each of `sums` the point whose coordinates `x(i)` and `y(i)` give, with
/// one inversion for all (Montgomery's trick): six multiplications a point.
///
/// Returns false, with `sums` as they were, when an addition is not one of two
/// points with different `x`.
#[must_use]
pub(crate) fn add_all<F: Coordinate>(
    sums: &mut [Xy<F>],
    x: impl Fn(usize) -> F,
    y: impl Fn(usize) -> F,
    scratch: &mut Scratch<F>,
) -> bool {
    // The differences, and before each the product of those before it.
    let Scratch(steps) = scratch;
    steps.clear();
    let mut product = None;
    for (i, sum) in sums.iter().enumerate() {
        let difference = x(i).sub(&sum.x);
        let before = product.unwrap_or(difference);
        steps.push((difference, before));
        product = Some(if i == 0 { difference } else { before.mul(&difference) });
    }
    let Some(product) = product else { return true };
    let Some(mut inverse) = product.invert() else { return false };
    for (i, (sum, (difference, before))) in sums.iter_mut().zip(steps).enumerate().rev() {
        let inverted = if i == 0 { inverse } else { inverse.mul(before) };
        inverse = inverse.mul(difference);
        let slope = y(i).sub(&sum.y).mul(&inverted);
        // x(i) = x + difference.
        let x3 = slope.square().sub(difference).sub(&sum.x).sub(&sum.x);
        let y3 = sum.x.sub(&x3).mul(&slope).sub(&sum.y);
        *sum = Xy { x: x3, y: y3 };
    }
    true
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use blst::{blst_fp, blst_fp2};
    use blstrs::{G1Affine, G2Affine, G2Projective};
    use group::{Curve, Group};
    use rand_chacha::ChaCha8Rng;
    use rand_core::{OsRng, RngCore, SeedableRng};

    use super::*;

    /// blstrs' `Fp`, whose type has no public name.
    fn outside(element: blst_fp) -> impl Field + Into<blst_fp> {
        let mut holder = G1Affine::default();
        holder.as_mut().x = element;
        holder.x()
    }

    /// blstrs' `Fp2`, likewise.
    fn outside2(element: Fp2<blst_fp>) -> impl Field + Into<blst_fp2> {
        let mut holder = G2Affine::default();
        holder.as_mut().x = blst_fp2 { fp: [element.c0, element.c1] };
        holder.x()
    }

    fn blst(ifma: Ifma, value: &Fp8) -> [blst_fp; 8] {
        let words = value.mul(&Fp8::splat(ifma, &times_power_of_two(1, 384))).words();
        std::array::from_fn(|i| blst_fp { l: words.map(|word| word[i]) })
    }

    fn random() -> ChaCha8Rng {
        let seed = OsRng.next_u64();
        println!("seed {seed}");
        ChaCha8Rng::seed_from_u64(seed)
    }

    /// Eight elements, one in four of them 0, 1 or -1.
    fn eight(random: &mut ChaCha8Rng) -> [blst_fp; 8] {
        std::array::from_fn(|_| {
            let x: blst_fp = G2Projective::random(&mut *random).to_affine().x().c0().into();
            let x = outside(x);
            let one = x * Field::invert(&x).unwrap();
            match random.next_u32() % 12 {
                0 => blst_fp::default(),
                1 => one.into(),
                2 => (-one).into(),
                _ => x.into(),
            }
        })
    }

    #[test]
    fn eight_lanes_compute_what_blst_does() {
        let Some(ifma) = Ifma::detect() else {
            println!("skipped: this CPU has no AVX-512 IFMA");
            return;
        };
        let mut random = random();
        for _ in 0..300 {
            let (a, b) = (eight(&mut random), eight(&mut random));
            let (a8, b8) = (Fp8::from_blst(ifma, &a), Fp8::from_blst(ifma, &b));
            let check = |name: &str, result: Fp8, expected: &dyn Fn(usize) -> blst_fp| {
                assert_eq!(blst(ifma, &result), std::array::from_fn(expected), "{name}");
            };
            check("add", a8.add(&b8), &|i| (outside(a[i]) + outside(b[i])).into());
            check("sub", a8.sub(&b8), &|i| (outside(a[i]) - outside(b[i])).into());
            check("mul", a8.mul(&b8), &|i| (outside(a[i]) * outside(b[i])).into());
            check("square", a8.square(), &|i| Field::square(&outside(a[i])).into());
            let lanes = random.next_u32() as u8;
            check("negate_if", a8.negate_if(lanes), &|i| {
                if lanes >> i & 1 == 1 { (-outside(a[i])).into() } else { a[i] }
            });
            let difference = a8.sub(&b8).is_zero();
            assert!((0..8).all(|i| (difference >> i & 1 == 1) == (a[i] == b[i])));
            let invertible = a.iter().all(|a| !outside(*a).is_zero_vartime());
            match a8.invert() {
                Some(inverse) => check("invert", inverse, &|i| Field::invert(&outside(a[i])).unwrap().into()),
                None => assert!(!invertible),
            }
            let rows: Vec<Limbs> = a8.lanes().collect();
            check("gather", Fp8::gather(|i| &rows[i]), &|i| a[i]);
        }
    }

    #[test]
    fn the_extension_computes_what_blst_does() {
        let Some(ifma) = Ifma::detect() else {
            println!("skipped: this CPU has no AVX-512 IFMA");
            return;
        };
        let mut random = random();
        for _ in 0..100 {
            let [a, b] = [(), ()].map(|()| Fp2 { c0: eight(&mut random), c1: eight(&mut random) });
            let [a8, b8] =
                [a, b].map(|x| Fp2 { c0: Fp8::from_blst(ifma, &x.c0), c1: Fp8::from_blst(ifma, &x.c1) });
            let lane = |x: &Fp2<[blst_fp; 8]>, i: usize| outside2(Fp2 { c0: x.c0[i], c1: x.c1[i] });
            let check = |name: &str, result: Fp2<Fp8>, expected: &dyn Fn(usize) -> blst_fp2| {
                let (c0, c1) = (blst(ifma, &result.c0), blst(ifma, &result.c1));
                assert!((0..8).all(|i| blst_fp2 { fp: [c0[i], c1[i]] } == expected(i)), "{name}");
            };
            check("add", a8.add(&b8), &|i| (lane(&a, i) + lane(&b, i)).into());
            check("sub", a8.sub(&b8), &|i| (lane(&a, i) - lane(&b, i)).into());
            check("mul", a8.mul(&b8), &|i| (lane(&a, i) * lane(&b, i)).into());
            check("square", a8.square(), &|i| Field::square(&lane(&a, i)).into());
            check("negate_if", a8.negate_if(0x5a), &|i| {
                if 0x5a_u8 >> i & 1 == 1 { (-lane(&a, i)).into() } else { lane(&a, i).into() }
            });
            if let Some(inverse) = a8.invert() {
                check("invert", inverse, &|i| Field::invert(&lane(&a, i)).unwrap().into());
            }
        }
    }

    /// Numbers between p and 2p, which few random ones are.
    #[test]
    fn the_largest_representatives_compute_too() {
        let Some(ifma) = Ifma::detect() else {
            println!("skipped: this CPU has no AVX-512 IFMA");
            return;
        };
        let zero = Fp8::from_blst(ifma, &[blst_fp::default(); 8]);
        let one = Fp8::splat(ifma, &times_power_of_two(1, 0));
        let two = Fp8::splat(ifma, &times_power_of_two(1, 1));
        // -1 is 2p - 1, and the sum of two such is 2p - 2.
        let minus_one = zero.sub(&one);
        let minus_two = minus_one.add(&minus_one);
        let equal = |a: Fp8, b: Fp8| assert_eq!(a.sub(&b).is_zero() & b.sub(&a).is_zero(), u8::MAX);
        for (negative, positive) in [(minus_one, one), (minus_two, two)] {
            assert_eq!(negative.below_modulus(), 0);
            equal(negative.add(&positive), zero);
            equal(zero.sub(&negative), positive);
            equal(zero.sub(&negative).sub(&negative), positive.add(&positive));
            equal(zero.sub(&negative).mul(&positive), positive.square());
            equal(negative.mul(&negative), positive.square());
            equal(negative.square(), positive.mul(&positive));
            equal(negative.negate_if(u8::MAX), positive);
            assert_eq!(negative.words(), negative.add(&zero).words());
            assert_eq!(zero.sub(&negative).words(), positive.words());
        }
    }
}
