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
//!
//! Hashes are done side by side, one a lane of the CPU's vectors: what is
//! multiplied by the matrices' constants is half the work of other products, and
//! a row by a column is reduced once.

mod permute;

use std::sync::LazyLock;

use cuzk_lanes::{Lanes, Portable};
use cuzk_values::Scalar;
use ff::Field;
use filecoin_hashers::PoseidonArity;
use generic_array::typenum::{U2, U8, U11, Unsigned};
use neptune::poseidon::{Arity, PoseidonConstants};
use storage_proofs_update::constants::POSEIDON_CONSTANTS_GEN_RANDOMNESS;

use permute::Permutation;

/// Poseidon of one arity.
pub(crate) struct Poseidon {
    arity: usize,
    variables: usize,
    engine: Engine,
}

/// The constants, prepared for the CPU's lanes.
enum Engine {
    Portable(Permutation<Portable>),
    #[cfg(target_arch = "x86_64")]
    Ifma(cuzk_lanes::Ifma, Permutation<cuzk_lanes::Ifma>),
}

/// Hashes of one arity, and the variables of their circuits.
pub(crate) struct Traces {
    variables: usize,
    scalars: Vec<Scalar>,
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
        let constants = Constants::new(neptune);
        let portable = || Engine::Portable(Permutation::new(&constants));
        #[cfg(target_arch = "x86_64")]
        let engine = match cuzk_lanes::Ifma::detect() {
            Some(ifma) => Engine::Ifma(ifma, Permutation::new(&constants)),
            None => portable(),
        };
        #[cfg(not(target_arch = "x86_64"))]
        let engine = portable();
        Self { arity: constants.width - 1, variables: constants.variables(), engine }
    }

    /// The hash of as many scalars as the arity.
    pub(crate) fn hash(&self, preimage: &[Scalar]) -> Scalar {
        let mut hash = [Scalar::ZERO];
        self.run(preimage, Output::Hashes(&mut hash));
        hash[0]
    }

    /// Hashes, `preimages` one after another, into as many places.
    pub(crate) fn hashes(&self, preimages: &[Scalar], hashes: &mut [Scalar]) {
        self.run(preimages, Output::Hashes(hashes));
    }

    /// Hashes with the variables of their circuits, `preimages` one after another.
    pub(crate) fn traces(&self, preimages: &[Scalar]) -> Traces {
        let count = preimages.len() / self.arity;
        let mut scalars = vec![Scalar::ZERO; count * self.variables];
        self.run(preimages, Output::Variables(&mut scalars));
        Traces { variables: self.variables, scalars }
    }

    fn run(&self, preimages: &[Scalar], output: Output<'_>) {
        debug_assert!(preimages.len().is_multiple_of(self.arity));
        match &self.engine {
            Engine::Portable(permutation) => Portable.vectorize(permutation.job(preimages, output)),
            #[cfg(target_arch = "x86_64")]
            Engine::Ifma(ifma, permutation) => ifma.vectorize(permutation.job(preimages, output)),
        }
    }
}

impl Traces {
    /// The variables of a hash, itself the last.
    pub(crate) fn of(&self, index: usize) -> &[Scalar] {
        &self.scalars[index * self.variables..][..self.variables]
    }

    /// A hash.
    pub(crate) fn hash(&self, index: usize) -> Scalar {
        self.scalars[(index + 1) * self.variables - 1]
    }
}

/// Where hashes go.
enum Output<'a> {
    /// A scalar for each.
    Hashes(&'a mut [Scalar]),
    /// All variables of each.
    Variables(&'a mut [Scalar]),
}

/// The constants of a permutation.
struct Constants {
    width: usize,
    /// The first scalar of the state after the first S-box, which is a constant.
    tag: Scalar,
    /// What is added to each other one before the first S-box, and to its output after.
    first: Vec<(Scalar, Scalar)>,
    /// The matrix of the first round.
    matrix: Matrix,
    /// The rounds after the first.
    rounds: Vec<Round>,
}

/// A round: S-boxes, then a matrix.
struct Round {
    /// What is added to the S-boxes' outputs, as many as there are S-boxes.
    constants: Vec<Scalar>,
    matrix: Matrix,
}

/// A matrix that a state, as a row, is multiplied by.
enum Matrix {
    /// Columns.
    Dense(Vec<Vec<Scalar>>),
    /// The first column, and the first row without its first; ones on the diagonal.
    Sparse(Vec<Scalar>, Vec<Scalar>),
}

impl Constants {
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
        let dense = |rows: &[Vec<Scalar>]| {
            let column = |j: usize| rows.iter().map(|row| row[j]).collect();
            Matrix::Dense((0..width).map(column).collect())
        };
        let rounds = (1..2 * half + partial).map(|round| {
            let full = round < half || round >= half + partial;
            let constants = match (full, round + 1 == 2 * half + partial) {
                (true, true) => vec![Scalar::ZERO; width],
                (true, false) => next(width),
                (false, _) => next(1),
            };
            let matrix = match round.checked_sub(half) {
                None if round + 1 == half => dense(&neptune.pre_sparse_matrix),
                Some(at) if at < partial => {
                    let sparse = &neptune.sparse_matrixes[at];
                    Matrix::Sparse(sparse.w_hat.clone(), sparse.v_rest.clone())
                }
                _ => dense(&neptune.mds_matrices.m),
            };
            Round { constants, matrix }
        });
        let rounds = rounds.collect();
        Self { width, tag, first: first.collect(), matrix: dense(&neptune.mds_matrices.m), rounds }
    }

    fn variables(&self) -> usize {
        let boxes = self.rounds.iter().map(|round| round.constants.len()).sum::<usize>();
        3 * (self.width - 1) + 4 * boxes + 1
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::print_stdout, reason = "the seed is told")]

    use bellpepper_core::ConstraintSystem;
    use bellpepper_core::num::AllocatedNum;
    use bellperson::util_cs::witness_cs::WitnessCS;
    use neptune::circuit::poseidon_hash;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    /// The variables that neptune's circuit allocates.
    fn upstream<A: Arity<Scalar>>(
        constants: &PoseidonConstants<Scalar, A>,
        preimage: &[Scalar],
    ) -> Vec<Scalar> {
        let mut cs = WitnessCS::<Scalar>::new();
        let preimage = preimage.iter().map(|scalar| AllocatedNum::alloc(cs.namespace(|| ""), || Ok(*scalar)));
        let preimage: Vec<_> = preimage.collect::<Result<_, _>>().expect("numbers");
        let inputs = preimage.len();
        poseidon_hash(cs.namespace(|| ""), preimage, constants).expect("a hash");
        cs.scalar_aux().split_off(inputs)
    }

    fn check<A: Arity<Scalar>>(ours: &Poseidon, constants: &PoseidonConstants<Scalar, A>) {
        let seed = 7;
        println!("seed {seed}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let portable = Permutation::<Portable>::new(&Constants::new(constants));
        for count in [1, 2, 7, 8, 9, 17] {
            let mut preimages: Vec<_> = (0..count * ours.arity).map(|_| Scalar::random(&mut rng)).collect();
            preimages[0] = Scalar::ZERO;
            preimages[1] = -Scalar::ONE;
            let traces = ours.traces(&preimages);
            let mut hashes = vec![Scalar::ZERO; count];
            ours.hashes(&preimages, &mut hashes);
            let mut of_portable = vec![Scalar::ZERO; count * ours.variables];
            Portable.vectorize(portable.job(&preimages, Output::Variables(&mut of_portable)));
            assert!(of_portable == traces.scalars);
            for (i, preimage) in preimages.chunks(ours.arity).enumerate() {
                let upstream = upstream(constants, preimage);
                assert!(traces.of(i) == upstream, "arity {}, hash {i} of {count}", ours.arity);
                assert_eq!(Some(&hashes[i]), upstream.last());
                assert_eq!(hashes[i], traces.hash(i));
            }
            assert_eq!(ours.hash(&preimages[..ours.arity]), hashes[0]);
        }
    }

    #[test]
    fn variables_are_those_of_neptunes_circuit() {
        check(Poseidon::of_arity(2), U2::PARAMETERS());
        check(Poseidon::of_arity(8), U8::PARAMETERS());
        check(Poseidon::of_arity(11), U11::PARAMETERS());
        check(Poseidon::of_randomness(), &POSEIDON_CONSTANTS_GEN_RANDOMNESS);
    }
}
