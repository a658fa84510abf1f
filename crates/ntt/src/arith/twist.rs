//! The constants of a pass that does not start at 1.
//!
//! Let the `2^b` scalars of a lane be the coefficients of a polynomial in `y` whose
//! values are wanted at `x w^f`, `w` the root of unity of order `2^b`. With DIF, the
//! twiddle of block `q` in level `k` is `x^(2^(b-k-1))` times that of the plain
//! transform. To give each lane its own `x` takes `2^b` constants a lane, one for each
//! scalar: too many to prepare. So only the first group of levels has such twiddles;
//! between the groups each scalar is multiplied by `x^j`, `j` its place in the second
//! group, which then has the twiddles of the plain transform. DIT is the same, with
//! `j` the bit reversal of the place.

use super::{Constant, Lanes};

/// Prepared constants of one tile.
pub(super) struct Twist<L: Lanes> {
    /// The first group's twiddles: `2^k` of level `k`, from place `2^k` on.
    pub(super) twiddles: Vec<L::FixedLanes>,
    /// `c x^j` for each place `j` of the second group.
    pub(super) powers: Vec<L::FixedLanes>,
    /// `x^(2^k)`, and prepared.
    squares: Vec<(L::V, L::FixedLanes)>,
    products: Vec<L::V>,
}

impl<L: Lanes> Twist<L> {
    pub(super) fn new() -> Self {
        Self { twiddles: Vec::new(), powers: Vec::new(), squares: Vec::new(), products: Vec::new() }
    }

    /// The bytes of a twist of `first` and `second` levels.
    pub(super) fn bytes(first: u32, second: u32) -> usize {
        let (v, fixed) = (size_of::<L::V>(), size_of::<L::FixedLanes>());
        fixed * ((1 << first) + (1 << second)) + (v + fixed) * (first + second) as usize + (v << second)
    }

    /// Prepares groups of `first` and `second` levels for `x` and a factor `c`.
    /// `common` are the twiddles of the plain transform.
    #[inline(always)]
    pub(super) fn prepare(
        &mut self,
        l: L,
        x: L::V,
        c: L::V,
        (first, second): (u32, u32),
        common: &[L::Fixed],
    ) {
        self.squares.clear();
        let mut square = x;
        for _ in 0..first + second {
            let fixed = l.fixed_lanes(square);
            self.squares.push((square, fixed));
            square = fixed.mul(l, square);
        }

        self.twiddles.clear();
        for level in 0..first {
            let (base, fixed) = self.squares[(first + second - 1 - level) as usize];
            if level == 0 {
                // Place 0 has no level.
                self.twiddles.push(fixed);
            }
            self.twiddles.push(fixed);
            for w in &common[1..1 << level] {
                self.twiddles.push(l.fixed_lanes(w.mul(l, base)));
            }
        }

        self.products.clear();
        self.products.push(c);
        for (_, power) in &self.squares[..second as usize] {
            for j in 0..self.products.len() {
                self.products.push(power.mul(l, self.products[j]));
            }
        }
        self.powers.clear();
        for product in &self.products {
            self.powers.push(l.fixed_lanes(*product));
        }
    }
}
