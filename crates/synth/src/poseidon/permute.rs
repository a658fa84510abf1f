//! The permutation, in lanes.
#![allow(
    clippy::inline_always,
    reason = "vector code is compiled for its instruction set in the function it is inlined into, or not at all"
)]

use cuzk_lanes::{Job, Lanes};
use cuzk_values::Scalar;
use ff::Field;

use super::{Constants, Matrix, Output, Round};

/// The most scalars that are permuted: eleven labels and the tag.
const MAX_WIDTH: usize = 12;
const _: () = assert!(MAX_WIDTH <= cuzk_lanes::MAX_DOT);

/// Sparse rounds between two reductions of what they add up: a product each.
const FOLDED_EVERY: u32 = 4;

/// A permutation's constants, those of the matrices prepared for multiplications.
pub(super) struct Permutation<L: Lanes> {
    width: usize,
    variables: usize,
    tag: Scalar,
    first: Vec<(Scalar, Scalar)>,
    matrix: Prepared<L>,
    rounds: Vec<(Vec<Scalar>, Prepared<L>)>,
}

enum Prepared<L: Lanes> {
    Dense(Vec<Vec<L::Fixed>>),
    Sparse(Vec<L::Fixed>, Vec<L::Fixed>),
}

impl<L: Lanes> Permutation<L> {
    pub(super) fn new(constants: &Constants) -> Self {
        const {
            let bounds = L::BOUNDS;
            assert!(bounds.folded + FOLDED_EVERY * bounds.product <= bounds.factor);
        }
        let round = |Round { constants, matrix }: &Round| (constants.clone(), Prepared::new(matrix));
        Self {
            width: constants.width,
            variables: constants.variables(),
            tag: constants.tag,
            first: constants.first.clone(),
            matrix: Prepared::new(&constants.matrix),
            rounds: constants.rounds.iter().map(round).collect(),
        }
    }

    pub(super) fn job<'a>(&'a self, preimages: &'a [Scalar], output: Output<'a>) -> Hashes<'a, L> {
        Hashes { permutation: self, preimages, output }
    }

    /// Hashes a preimage a lane, one after another; the circuit's variables go to
    /// `sink`, the hash last.
    #[inline(always)]
    fn permute(&self, lanes: L, preimages: &[Scalar], mut sink: impl Sink<L>) {
        let mut state = [lanes.zero(); MAX_WIDTH];
        state[0] = lanes.all(&self.tag);
        for (i, (before, after)) in self.first.iter().enumerate() {
            let input = lanes.gather(preimages, i, self.first.len());
            let (sum, _) = lanes.add_sub(input, lanes.all(before));
            state[i + 1] = power(lanes, lanes.canonical(sum), after, &mut sink);
        }
        self.matrix.multiply(lanes, &mut state[..self.width], 0);
        for (round, (constants, matrix)) in (1..).zip(&self.rounds) {
            for (state, constant) in state.iter_mut().zip(constants) {
                let input = lanes.canonical(*state);
                sink.put(lanes, input);
                *state = power(lanes, input, constant, &mut sink);
            }
            matrix.multiply(lanes, &mut state[..self.width], round);
        }
        sink.end(lanes, state[1]);
    }
}

/// The S-box: `input^5 + constant`.
#[inline(always)]
fn power<L: Lanes>(lanes: L, input: L::V, constant: &Scalar, sink: &mut impl Sink<L>) -> L::V {
    let square = lanes.canonical(lanes.times(input, input));
    sink.put(lanes, square);
    let fourth = lanes.canonical(lanes.times(square, square));
    sink.put(lanes, fourth);
    let (sum, _) = lanes.add_sub(lanes.times(fourth, input), lanes.all(constant));
    let output = lanes.canonical(sum);
    sink.put(lanes, output);
    output
}

/// Where a permutation's variables go. Not closures: those are compiled for the
/// instruction set of every CPU unless they happen to be inlined.
trait Sink<L: Lanes> {
    /// All but the last, fully reduced.
    fn put(&mut self, lanes: L, variable: L::V);
    /// The last: the hash.
    fn end(&mut self, lanes: L, hash: L::V);
}

/// All variables of a hash side by side, as many as `size`.
struct Variables<'a> {
    out: &'a mut [Scalar],
    at: usize,
    size: usize,
}

impl<L: Lanes> Sink<L> for Variables<'_> {
    #[inline(always)]
    fn put(&mut self, lanes: L, variable: L::V) {
        lanes.scatter(variable, self.out, self.at, self.size);
        self.at += 1;
    }

    #[inline(always)]
    fn end(&mut self, lanes: L, hash: L::V) {
        self.put(lanes, hash);
    }
}

/// Only the hashes.
struct HashesOnly<'a>(&'a mut [Scalar]);

impl<L: Lanes> Sink<L> for HashesOnly<'_> {
    #[inline(always)]
    fn put(&mut self, _: L, _: L::V) {}

    #[inline(always)]
    fn end(&mut self, lanes: L, hash: L::V) {
        lanes.scatter(hash, self.0, 0, 1);
    }
}

impl<L: Lanes> Prepared<L> {
    fn new(matrix: &Matrix) -> Self {
        let fixed = |scalars: &Vec<Scalar>| scalars.iter().map(L::fixed).collect();
        match matrix {
            Matrix::Dense(columns) => Self::Dense(columns.iter().map(fixed).collect()),
            Matrix::Sparse(column, row) => Self::Sparse(fixed(column), fixed(row)),
        }
    }

    /// Multiplies a state that is within what factors may be.
    #[inline(always)]
    fn multiply(&self, lanes: L, state: &mut [L::V], round: u32) {
        let mut factors = [lanes.factor(state[0]); MAX_WIDTH];
        for (factor, v) in factors.iter_mut().zip(&*state).skip(1) {
            *factor = lanes.factor(*v);
        }
        let factors = &factors[..state.len()];
        match self {
            Self::Dense(columns) => {
                for (v, column) in state.iter_mut().zip(columns) {
                    *v = lanes.dot(factors, column);
                }
            }
            Self::Sparse(column, row) => {
                state[0] = lanes.dot(factors, column);
                for (v, constant) in state[1..].iter_mut().zip(row) {
                    *v = lanes.add_product(*v, &factors[0], constant);
                    if round.is_multiple_of(FOLDED_EVERY) {
                        *v = lanes.fold(*v);
                    }
                }
            }
        }
    }
}

/// Hashes, as many at once as there are lanes.
pub(super) struct Hashes<'a, L: Lanes> {
    permutation: &'a Permutation<L>,
    preimages: &'a [Scalar],
    output: Output<'a>,
}

impl<L: Lanes> Job<L> for Hashes<'_, L> {
    #[inline(always)]
    fn run(self, lanes: L) {
        let Self { permutation, preimages, output } = self;
        let arity = permutation.width - 1;
        let (out, size) = match output {
            Output::Hashes(hashes) => (hashes, 1),
            Output::Variables(variables) => (variables, permutation.variables),
        };
        // Hashes that do not fill the lanes are done in buffers that do.
        let (mut all_preimages, mut all_out) = (Vec::new(), Vec::new());
        let groups = preimages.chunks(L::LANES * arity).zip(out.chunks_mut(L::LANES * size));
        for (preimages, out) in groups {
            let full = out.len() == L::LANES * size;
            if !full {
                all_preimages.extend_from_slice(preimages);
                all_preimages.resize(L::LANES * arity, Scalar::ZERO);
                all_out.resize(L::LANES * size, Scalar::ZERO);
            }
            let preimages = if full { preimages } else { &all_preimages };
            let target = if full { &mut *out } else { &mut all_out[..] };
            if size == 1 {
                permutation.permute(lanes, preimages, HashesOnly(target));
            } else {
                permutation.permute(lanes, preimages, Variables { out: target, at: 0, size });
            }
            if !full {
                out.copy_from_slice(&all_out[..out.len()]);
            }
        }
    }
}
