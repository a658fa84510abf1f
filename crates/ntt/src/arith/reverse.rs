//! The permutation that reverses the bits of each scalar's index, in place.
//!
//! Written as (high, middle, low) with `HALF` bits high and low, index (a, m, b) goes to
//! (rev b, rev m, rev a): the square of all a, b at m changes place with the one at
//! rev m. A square is `2^HALF` runs of neighbours, so that whole cache lines are
//! moved (Carter and Gatlin, "Towards an optimal bit-reversal permutation program",
//! FOCS 1998).

use blstrs::Scalar;
use rayon::prelude::*;

use super::reversed;
use super::shared::SharedScalars;

/// Bits of a square's side.
const HALF: u32 = 5;
const SIDE: usize = 1 << HALF;
type Square = [[Scalar; SIDE]; SIDE];

/// Swaps each scalar with the one whose index has the same bits in reverse.
///
/// # Panics
/// If there are not `2^k` scalars.
pub(crate) fn reverse_bits(scalars: &mut [Scalar]) {
    permute(scalars, |_, scalar| scalar);
}

/// Makes scalar `i` of `a` what was `c_j - a_j`, `j` the bit reversal of `i`.
///
/// # Panics
/// If there are not `2^k` of both.
pub(crate) fn reverse_difference(a: &mut [Scalar], c: &[Scalar]) {
    assert_eq!(a.len(), c.len(), "scalars to subtract");
    permute(a, |i, scalar| c[i] - scalar);
}

/// Moves `map(i, scalar i)` to the bit reversal of `i`.
fn permute(scalars: &mut [Scalar], map: impl Fn(usize, Scalar) -> Scalar + Sync) {
    let n = scalars.len();
    assert!(n.is_power_of_two(), "{n} scalars to reverse");
    let log = n.ilog2();
    if log < 2 * HALF {
        for i in 0..n {
            let j = reversed(i, log);
            if i <= j {
                (scalars[i], scalars[j]) = (map(j, scalars[j]), map(i, scalars[i]));
            }
        }
        return;
    }
    let middle = log - 2 * HALF;
    let scalars = SharedScalars::new(scalars);
    (0..1 << middle).into_par_iter().with_min_len(16).for_each(|m: usize| {
        let image = reversed(m, middle);
        if m <= image {
            // SAFETY: over all `m`, the squares at `m` and at its image are reached here only.
            unsafe {
                let there = read(scalars, log, m, &map);
                if m < image {
                    let back = read(scalars, log, image, &map);
                    write(scalars, log, m, &back);
                }
                write(scalars, log, image, &there);
            }
        }
    });
}

/// Where run `a` of square `m` starts.
fn run(log: u32, m: usize, a: usize) -> usize {
    (a << (log - HALF)) + (m << HALF)
}

/// The square at `m`, mapped and turned: `[a][b]` is what goes to place b of run a.
///
/// # Safety
/// The scalars are `2^log`, and nobody writes this square of them.
unsafe fn read(
    scalars: SharedScalars<'_>,
    log: u32,
    m: usize,
    map: &impl Fn(usize, Scalar) -> Scalar,
) -> Square {
    #[allow(clippy::large_stack_arrays, reason = "a tile that fits the first-level cache")]
    let mut square = [[Scalar::default(); SIDE]; SIDE];
    for a in 0..SIDE {
        let start = run(log, m, a);
        for b in 0..SIDE {
            // SAFETY: below 2^log, by the fields of the index.
            let scalar = unsafe { *scalars.at(start + b) };
            square[reversed(b, HALF)][reversed(a, HALF)] = map(start + b, scalar);
        }
    }
    square
}

/// Writes a square that is turned already.
///
/// # Safety
/// The scalars are `2^log`, and nobody else reaches this square of them.
unsafe fn write(scalars: SharedScalars<'_>, log: u32, m: usize, square: &Square) {
    for (a, values) in square.iter().enumerate() {
        let start = run(log, m, a);
        for (b, value) in values.iter().enumerate() {
            // SAFETY: below 2^log, by the fields of the index.
            unsafe { *scalars.at(start + b) = *value };
        }
    }
}
