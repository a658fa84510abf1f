//! Many scalars times one point.
//!
//! A scalar is written in windows of `w` bits whose digits are all odd: with
//! `b_i = +1` or `-1` for each bit, `s = sum b_i 2^i` has a solution for every odd
//! `s` (Joye and Tunstall, "Exponent recoding and regular exponentiation
//! algorithms", AFRICACRYPT 2009), and an even scalar is `r - s` of the negated
//! point. A digit then is `±1, ±3, .., ±(2^w - 1)` and never zero, so that a table of
//! `2^(w-1)` points a window is enough and every scalar takes exactly one addition a
//! window: all of a block at once, with one inversion ([`add_all`]).

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::{Curve, Group};
use rayon::prelude::*;

use crate::Point;
use crate::lanes::{Coordinate, Scratch, Xy, add_all};

/// Scalars that are multiplied together: their sums, and what an addition keeps
/// between its passes, are 1 MiB of a core's cache.
pub(crate) const BLOCK: usize = 4096;
/// Bits of the scalar field's modulus.
const SCALAR_BITS: usize = 255;

/// A point whose multiples are at hand.
pub(crate) trait FixedBase: Send + Sync {
    /// Stores the point times each scalar, as a parameter file does.
    ///
    /// # Panics
    /// If there are fewer bytes than points, or more.
    fn multiply(&self, scalars: &[Scalar], bytes: &mut [u8]);
}

/// The multiples of a G1 point, for about `count` scalars.
pub(crate) fn g1(base: &G1Affine, count: usize) -> Box<dyn FixedBase> {
    #[cfg(target_arch = "x86_64")]
    if let Some(ifma) = crate::lanes::Ifma::detect() {
        return Box::new(super::lanes::g1(ifma, base, count));
    }
    Box::new(portable_g1(base, count))
}

/// The multiples of a G2 point, for about `count` scalars.
pub(crate) fn g2(base: &G2Affine, count: usize) -> Box<dyn FixedBase> {
    #[cfg(target_arch = "x86_64")]
    if let Some(ifma) = crate::lanes::Ifma::detect() {
        return Box::new(super::lanes::g2(ifma, base, count));
    }
    Box::new(portable_g2(base, count))
}

fn portable_g1(base: &G1Affine, count: usize) -> impl FixedBase + use<> {
    let write = |xy: &Xy<_>, bytes: &mut [u8]| G1Affine::from_raw_unchecked(xy.x, xy.y, false).encode(bytes);
    Table::new(base, window(count), |point: &G1Affine| Xy { x: point.x(), y: point.y() }, write)
}

fn portable_g2(base: &G2Affine, count: usize) -> impl FixedBase + use<> {
    let write = |xy: &Xy<_>, bytes: &mut [u8]| G2Affine::from_raw_unchecked(xy.x, xy.y, false).encode(bytes);
    Table::new(base, window(count), |point: &G2Affine| Xy { x: point.x(), y: point.y() }, write)
}

/// The bits of a window that make the fewest additions: a window has an addition a
/// scalar, and one for each point of its table.
pub(super) fn window(count: usize) -> usize {
    let additions = |bits: &usize| windows(*bits) * (count + (1 << (bits - 1)));
    (4..=16).min_by_key(additions).unwrap_or(4)
}

fn windows(bits: usize) -> usize {
    SCALAR_BITS.div_ceil(bits)
}

/// Odd multiples of a point, and how results are written.
pub(super) struct Table<P, F: Coordinate, W> {
    /// The point.
    base: P,
    /// Bits of a window.
    bits: usize,
    /// For each window `j` the points `(2i + 1) 2^(bits j) base`.
    windows: Vec<Vec<Xy<F::Packed>>>,
    /// Stores the points of all lanes.
    write: W,
}

impl<P, F, W> Table<P, F, W>
where
    P: Point,
    F: Coordinate,
    W: Fn(&Xy<F>, &mut [u8]) + Send + Sync,
{
    pub(super) fn new(base: &P, bits: usize, read: impl Fn(&P) -> Xy<F::Packed> + Sync, write: W) -> Self {
        let mut start = base.to_curve();
        let starts = (0..windows(bits)).map(|j| {
            if j > 0 {
                (0..bits).for_each(|_| start = start.double());
            }
            start
        });
        let starts: Vec<_> = starts.collect();
        let windows = starts.into_par_iter().map(|start| odd_multiples::<P, F>(start, bits, &read)).collect();
        Self { base: *base, bits, windows, write }
    }
}

/// `(2i + 1) start` for `i` below `2^(bits - 1)`.
fn odd_multiples<P: Point, F: Coordinate>(
    start: P::Curve,
    bits: usize,
    read: impl Fn(&P) -> Xy<F::Packed>,
) -> Vec<Xy<F::Packed>> {
    let len = 1 << (bits - 1);
    let mut table = Vec::with_capacity(len);
    // One lane after the other, until all lanes have something to do.
    let mut twice = start.double();
    let mut next = start;
    for _ in 0..F::LANES {
        table.push(read(&next.to_affine()));
        next += twice;
    }
    // Then twice as many each time: (2(m + i) + 1) start = (2i + 1) start + 2m start.
    (1..F::LANES).for_each(|_| twice += start.double());
    let mut scratch = Scratch::default();
    while table.len() < len {
        let step = read(&twice.to_affine());
        let step = Xy::<F>::gather(|_| &step);
        let mut sums: Vec<Xy<F>> =
            (0..table.len()).step_by(F::LANES).map(|i| Xy::gather(|lane| &table[i + lane])).collect();
        let added = add_all(&mut sums, |_| step.x, |_| step.y, &mut scratch);
        debug_assert!(added, "0 < 2i + 1 < 2m < r");
        table.extend(sums.iter().flat_map(Xy::lanes));
        twice = twice.double();
    }
    table
}

impl<P, F, W> FixedBase for Table<P, F, W>
where
    P: Point,
    F: Coordinate,
    W: Fn(&Xy<F>, &mut [u8]) + Send + Sync,
{
    fn multiply(&self, scalars: &[Scalar], bytes: &mut [u8]) {
        let mut scratch = Scratch::default();
        for (scalars, bytes) in scalars.chunks(BLOCK).zip(bytes.chunks_mut(BLOCK * P::BYTES)) {
            match self.multiply_block(scalars, &mut scratch) {
                Some(points) => self.write_block::<P>(&points, bytes),
                None => one_by_one(&self.base, scalars, bytes),
            }
        }
    }
}

impl<P, F: Coordinate, W: Fn(&Xy<F>, &mut [u8])> Table<P, F, W> {
    /// The products, unless a scalar is zero or leads to an addition of equal points.
    ///
    /// The sum up to a window is smaller than that window's addend `e`, so the two are
    /// equal modulo r at most in the last window, where the sum may be `e - r`. With
    /// the digits odd there is one such `e` at most, and one scalar, `2e - r`, up to
    /// its sign: nobody meets it by chance.
    fn multiply_block(&self, scalars: &[Scalar], scratch: &mut Scratch<F>) -> Option<Vec<Xy<F>>> {
        if scalars.iter().any(Field::is_zero_vartime) {
            return None;
        }
        let mut odd: Vec<Odd> = scalars.iter().map(Odd::new).collect();
        odd.resize(scalars.len().next_multiple_of(F::LANES), Odd::new(&Scalar::ONE));
        let mut digits = vec![Digit { entry: 0, negative: false }; odd.len()];
        let mut sums: Vec<Xy<F>> = Vec::with_capacity(odd.len() / F::LANES);
        for (j, table) in self.windows.iter().enumerate() {
            let last = j + 1 == self.windows.len();
            digits
                .iter_mut()
                .zip(&odd)
                .for_each(|(digit, odd)| *digit = odd.digit(j * self.bits, self.bits, last));
            let lane = |vector: usize, lane: usize| digits[vector * F::LANES + lane];
            let x = |vector| F::gather(|i| &table[lane(vector, i).entry as usize].x);
            let y = |vector| {
                let negative = lanes::<F>(|i| lane(vector, i).negative);
                F::gather(|i| &table[lane(vector, i).entry as usize].y).negate_if(negative)
            };
            if j == 0 {
                sums.extend((0..odd.len() / F::LANES).map(|vector| Xy { x: x(vector), y: y(vector) }));
            } else if !add_all(&mut sums, x, y, scratch) {
                return None;
            }
        }
        for (sum, odd) in sums.iter_mut().zip(odd.chunks_exact(F::LANES)) {
            sum.y = sum.y.negate_if(lanes::<F>(|i| odd[i].negated));
        }
        Some(sums)
    }

    fn write_block<Q: Point>(&self, points: &[Xy<F>], bytes: &mut [u8]) {
        let full = F::LANES * Q::BYTES;
        for (points, bytes) in points.iter().zip(bytes.chunks_mut(full)) {
            if bytes.len() == full {
                (self.write)(points, bytes);
            } else {
                let mut padded = vec![0; full];
                (self.write)(points, &mut padded);
                bytes.copy_from_slice(&padded[..bytes.len()]);
            }
        }
    }
}

/// A bit for each lane.
fn lanes<F: Coordinate>(bit: impl Fn(usize) -> bool) -> u8 {
    (0..F::LANES).fold(0, |bits, lane| bits | u8::from(bit(lane)) << lane)
}

/// The products as the definition has them.
fn one_by_one<P: Point>(base: &P, scalars: &[Scalar], bytes: &mut [u8]) {
    for (scalar, bytes) in scalars.iter().zip(bytes.chunks_exact_mut(P::BYTES)) {
        let scalar: Vec<u8> = scalar.to_bytes_be().into();
        let product = scalar.iter().fold(P::Curve::identity(), |sum, byte| {
            (0..8)
                .rev()
                .fold(sum, |sum, bit| sum.double() + if byte >> bit & 1 == 1 { *base } else { P::identity() })
        });
        product.to_affine().encode(bytes);
    }
}

/// A scalar that is odd, or r less one that is even and not zero.
#[derive(Clone, Copy)]
struct Odd {
    /// `(s - 1) / 2`, with a word of zeros behind.
    half: [u64; 5],
    /// Whether `s` is r less the scalar.
    negated: bool,
}

/// A digit of a window.
#[derive(Clone, Copy)]
struct Digit {
    /// `(|digit| - 1) / 2`
    entry: u32,
    negative: bool,
}

impl Odd {
    fn new(scalar: &Scalar) -> Self {
        let words = |scalar: &Scalar| {
            let bytes = scalar.to_bytes_le();
            let (words, _) = bytes.as_chunks::<8>();
            std::array::from_fn::<u64, 5, _>(|i| words.get(i).map_or(0, |word| u64::from_le_bytes(*word)))
        };
        let mut s = words(scalar);
        let negated = s[0] & 1 == 0;
        if negated {
            s = words(&-scalar);
        }
        Self { half: std::array::from_fn(|i| s[i] >> 1 | s.get(i + 1).map_or(0, |next| next << 63)), negated }
    }

    /// The digit of the `bits` bits from bit `at`. Bit `i` of `(s - 1) / 2 + 2^(n - 1)`,
    /// for `n` bits of windows in all, says whether `b_i` is +1.
    fn digit(&self, at: usize, bits: usize, last: bool) -> Digit {
        let (word, shift) = (at / 64, at % 64);
        let low = self.half[word] >> shift;
        let high = if shift == 0 { 0 } else { self.half[(word + 1).min(4)] << (64 - shift) };
        let signs = (low | high) as u32 & ((1 << bits) - 1);
        let positive = last || signs >> (bits - 1) == 1;
        let mask = (1 << (bits - 1)) - 1;
        Digit { entry: if positive { signs } else { !signs } & mask, negative: !positive }
    }
}

#[cfg(test)]
mod tests {
    use group::prime::PrimeCurveAffine;
    use rand_chacha::ChaCha8Rng;
    use rand_core::{OsRng, RngCore, SeedableRng};

    use super::*;
    use super::{g1 as g1_table, g2 as g2_table};

    /// The scalar `2e - r` that leads to an addition of equal points; zero, which falls
    /// back too, for a window that has none.
    fn exceptional(bits: usize) -> Scalar {
        let at = bits * (windows(bits) - 1);
        let top = u64::from_be_bytes((-Scalar::ONE).to_bytes_be()[..8].try_into().unwrap()) >> (at - 192);
        Scalar::from(top * (top % 2)) * Scalar::from(2).pow_vartime([at as u64 + 1])
    }

    const EDGES: usize = 8;

    /// Scalars at the edges, of which some make their block fall back, and random ones.
    fn scalars(bits: usize, count: usize, random: &mut ChaCha8Rng) -> Vec<Scalar> {
        let (two, exceptional) = (Scalar::from(2), exceptional(bits));
        let mut scalars = vec![Scalar::ZERO, exceptional, -exceptional];
        scalars.extend([Scalar::ONE, two, -Scalar::ONE, -two, Scalar::from(u64::MAX)]);
        assert_eq!(scalars.len(), EDGES);
        scalars.resize_with(EDGES + count, || Scalar::random(&mut *random));
        scalars
    }

    fn multiplies<P>(base: &P, table: &dyn FixedBase, scalars: &[Scalar])
    where
        P: Point + PrimeCurveAffine<Scalar = Scalar>,
    {
        let mut bytes = vec![0xff; scalars.len() * P::BYTES];
        table.multiply(scalars, &mut bytes);
        let mut expected = vec![0; P::BYTES];
        for (i, (scalar, bytes)) in scalars.iter().zip(bytes.chunks_exact(P::BYTES)).enumerate() {
            (base.to_curve() * scalar).to_affine().encode(&mut expected);
            assert!(bytes == expected, "scalar {i}: {scalar}");
        }
    }

    fn random() -> ChaCha8Rng {
        let seed = OsRng.next_u64();
        println!("seed {seed}");
        ChaCha8Rng::seed_from_u64(seed)
    }

    #[test]
    fn equals_multiplication() {
        let mut random = random();
        let g1 = (G1Affine::generator().to_curve() * Scalar::random(&mut random)).to_affine();
        let g2 = (G2Affine::generator().to_curve() * Scalar::random(&mut random)).to_affine();
        for count in [0, 1, 100, 1000, 20_000] {
            let all = scalars(window(count), 50, &mut random);
            let regular = &all[3..];
            for scalars in
                [&all, regular, &all[..1], &all[1..2], &all[2..9], &regular[..1], &regular[..9], &[]]
            {
                multiplies(&g1, &portable_g1(&g1, count), scalars);
                multiplies(&g1, g1_table(&g1, count).as_ref(), scalars);
            }
            multiplies(&g2, &portable_g2(&g2, count), &regular[..29]);
            multiplies(&g2, g2_table(&g2, count).as_ref(), &regular[..29]);
        }
    }

    #[test]
    fn blocks_are_joined() {
        let mut random = random();
        let g1 = G1Affine::generator();
        let scalars = scalars(window(BLOCK), BLOCK, &mut random);
        multiplies(&g1, g1_table(&g1, BLOCK).as_ref(), &scalars[3..]);
        multiplies(&g1, g1_table(&g1, BLOCK).as_ref(), &scalars);
    }

    #[test]
    fn exceptional_scalars_are_seen() {
        let g1 = G1Affine::generator();
        let mut random = random();
        for bits in [4, 8, 13] {
            let read = |point: &G1Affine| Xy { x: point.x(), y: point.y() };
            let write =
                |xy: &Xy<_>, bytes: &mut [u8]| G1Affine::from_raw_unchecked(xy.x, xy.y, false).encode(bytes);
            let table = Table::new(&g1, bits, read, write);
            let regular =
                |scalar: &Scalar| table.multiply_block(&[*scalar], &mut Scratch::default()).is_some();
            let scalars = scalars(bits, 10, &mut random);
            assert_ne!(scalars[1], Scalar::ZERO);
            assert!(!scalars[..3].iter().any(regular));
            assert!(scalars[3..].iter().all(regular));
        }
    }
}
