//! Poseidon (Grassi et al., eprint 2019/458), as neptune 11's `circuit::poseidon_hash`.
//!
//! A hash of arity `n` is a permutation of `n + 1` scalars, the first of which is
//! a domain tag. Its S-box takes the fifth power: in all of them in each of the
//! four first and four last rounds, in the first of them in the rounds between,
//! whose matrices are sparse there. Round constants are moved behind the S-boxes
//! (neptune's `compressed_round_constants`).
//!
//! Of an S-box the circuit allocates the input, unless it is a variable as in
//! the first round, its square, its fourth power, and the output.

use std::sync::LazyLock;

use cuzk_values::Scalar;
use ff::Field;
use filecoin_hashers::PoseidonArity;
use generic_array::typenum::{U2, U8, U11, Unsigned};
use neptune::poseidon::{Arity, PoseidonConstants};
use storage_proofs_update::constants::POSEIDON_CONSTANTS_GEN_RANDOMNESS;

/// The most scalars that are permuted: eleven labels and the tag.
const MAX_WIDTH: usize = 12;

/// Poseidon of one arity: its constants.
pub(crate) struct Poseidon {
    width: usize,
    /// The first scalar of the state after the first S-box, which is a constant.
    tag: Scalar,
    /// What is added to each input before the first S-box, and to its output after.
    first: Vec<(Scalar, Scalar)>,
    /// The rounds after the first.
    rounds: Vec<Round>,
    /// The matrix of the first round.
    matrix: Vec<Scalar>,
}

/// A round: S-boxes, then a matrix.
struct Round {
    /// What is added to the S-boxes' outputs, as many as there are S-boxes.
    constants: Vec<Scalar>,
    matrix: Matrix,
}

/// A matrix that a state, as a row, is multiplied by.
enum Matrix {
    /// Columns, one after another.
    Dense(Vec<Scalar>),
    /// The first column, and the first row without its first; ones on the diagonal.
    Sparse(Vec<Scalar>, Vec<Scalar>),
}

impl Poseidon {
    /// The hash of Filecoin's trees and columns.
    ///
    /// # Panics
    /// Unless `arity` is 2, 8 or 11.
    pub(crate) fn of_arity(arity: usize) -> &'static Self {
        static OF_2: LazyLock<Poseidon> = LazyLock::new(|| Poseidon::new(U2::PARAMETERS()));
        static OF_8: LazyLock<Poseidon> = LazyLock::new(|| Poseidon::new(U8::PARAMETERS()));
        static OF_11: LazyLock<Poseidon> = LazyLock::new(|| Poseidon::new(U11::PARAMETERS()));
        match arity {
            2 => &OF_2,
            8 => &OF_8,
            11 => &OF_11,
            _ => unreachable!("Filecoin's trees and columns have arity 2, 8 and 11, not {arity}"),
        }
    }

    /// The hash from which SnapDeals draws `phi`, `rho` and challenges: arity 2,
    /// with a tag of its own.
    pub(crate) fn of_randomness() -> &'static Self {
        static RANDOMNESS: LazyLock<Poseidon> =
            LazyLock::new(|| Poseidon::new(&POSEIDON_CONSTANTS_GEN_RANDOMNESS));
        &RANDOMNESS
    }

    fn new<A: Arity<Scalar>>(neptune: &PoseidonConstants<Scalar, A>) -> Self {
        let width = A::ConstantsSize::to_usize();
        let mut constants = neptune.compressed_round_constants.iter().copied();
        let mut next = |count: usize| constants.by_ref().take(count).collect::<Vec<_>>();
        let (before, after) = (next(width), next(width));
        let mut first = before.into_iter().zip(after);
        let tag = first.next().map_or(Scalar::ZERO, |(before, after)| {
            let input = neptune.domain_tag + before;
            input.square().square() * input + after
        });

        let (half, partial) = (neptune.half_full_rounds, neptune.partial_rounds);
        let dense =
            |rows: &[Vec<Scalar>]| (0..width).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
        let rounds = (1..2 * half + partial).map(|round| {
            let last = round == 2 * half + partial - 1;
            let full = round < half || round >= half + partial;
            let constants = match (full, last) {
                (true, true) => vec![Scalar::ZERO; width],
                (true, false) => next(width),
                (false, _) => next(1),
            };
            let matrix = match round.checked_sub(half) {
                None if round + 1 == half => Matrix::Dense(dense(&neptune.pre_sparse_matrix)),
                Some(at) if at < partial => {
                    let sparse = &neptune.sparse_matrixes[at];
                    Matrix::Sparse(sparse.w_hat.clone(), sparse.v_rest.clone())
                }
                _ => Matrix::Dense(dense(&neptune.mds_matrices.m)),
            };
            Round { constants, matrix }
        });
        let rounds = rounds.collect();
        Self { width, tag, first: first.collect(), rounds, matrix: dense(&neptune.mds_matrices.m) }
    }

    /// How many variables a hash takes.
    pub(crate) fn variables(&self) -> usize {
        let after = self.rounds.iter().map(|round| 4 * round.constants.len()).sum::<usize>();
        3 * (self.width - 1) + after + 1
    }

    /// The hash of as many scalars as the arity; its variables go to `out`.
    pub(crate) fn hash(&self, preimage: &[Scalar], out: &mut [Scalar]) -> Scalar {
        debug_assert_eq!((preimage.len(), out.len()), (self.width - 1, self.variables()));
        let mut out = out.iter_mut();
        let mut emit = |value: Scalar| {
            if let Some(place) = out.next() {
                *place = value;
            }
            value
        };
        let mut state = [Scalar::ZERO; MAX_WIDTH];
        let state = &mut state[..self.width];
        state[0] = self.tag;
        for ((state, input), (before, after)) in state[1..].iter_mut().zip(preimage).zip(&self.first) {
            let input = input + before;
            let square = emit(input.square());
            let fourth = emit(square.square());
            *state = emit(fourth * input + after);
        }
        multiply_dense(state, &self.matrix);
        for Round { constants, matrix } in &self.rounds {
            for (state, constant) in state.iter_mut().zip(constants) {
                let input = emit(*state);
                let square = emit(input.square());
                let fourth = emit(square.square());
                *state = emit(fourth * input + constant);
            }
            match matrix {
                Matrix::Dense(columns) => multiply_dense(state, columns),
                Matrix::Sparse(column, row) => {
                    let first = dot(state, column);
                    for i in 1..state.len() {
                        state[i] += state[0] * row[i - 1];
                    }
                    state[0] = first;
                }
            }
        }
        emit(state[1])
    }
}

fn multiply_dense(state: &mut [Scalar], columns: &[Scalar]) {
    let mut product = [Scalar::ZERO; MAX_WIDTH];
    for (product, column) in product.iter_mut().zip(columns.chunks_exact(state.len())) {
        *product = dot(state, column);
    }
    state.copy_from_slice(&product[..state.len()]);
}

fn dot(a: &[Scalar], b: &[Scalar]) -> Scalar {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
