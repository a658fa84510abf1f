//! SHA-256 (FIPS 180-4), as the gadget of bellperson 0.27, `gadgets/sha256.rs`.
//!
//! A block of variables after the first takes 26,166 variables: 149 for each of
//! the 48 words that extend the message, and in each of the 64 rounds two
//! sums, four exclusive ors, a choice and a majority. The sums of a round are put
//! off to the next, which needs them as one word, so that what ends a block adds
//! its hash value in the same sum.

use super::Part;
use super::word::{Operations, Word};

const ROUND_CONSTANTS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

impl Part<'_> {
    /// The hash of a message of whole words.
    pub(crate) fn sha256(&mut self, message: &[Word]) -> [Word; 8] {
        let mut hash = INITIAL.map(Word::constant);
        let (blocks, rest) = message.as_chunks::<16>();
        for block in blocks {
            self.sha256_block(block, &mut hash);
        }
        let bits = 32 * message.len() as u64;
        let mut last = [Word::constant(0); 32];
        last[..rest.len()].copy_from_slice(rest);
        last[rest.len()] = Word::constant(1 << 31);
        // The length takes the two last words of a block.
        let end = if rest.len() < 14 { 16 } else { 32 };
        last[end - 2] = Word::constant((bits >> 32) as u32);
        last[end - 1] = Word::constant(bits as u32);
        for block in last[..end].as_chunks::<16>().0 {
            self.sha256_block(block, &mut hash);
        }
        hash
    }

    fn sha256_block(&mut self, block: &[Word; 16], hash: &mut [Word; 8]) {
        let message = self.message_schedule(block);
        // After the first block no bit of the hash is a constant, and the message's
        // words, whatever their bits are, are only added to others.
        match of_variables(hash) {
            Some(mut of_variables) => {
                self.rounds(&message.map(|word| word.value), &mut of_variables);
                *hash = of_variables.map(Word::variable);
            }
            None => self.rounds(&message, hash),
        }
    }

    fn message_schedule(&mut self, block: &[Word; 16]) -> [Word; 64] {
        let mut words = [Word::default(); 64];
        words[..16].copy_from_slice(block);
        for i in 16..64 {
            let s0 = self.turns_and_shift(words[i - 15], [7, 18], 3);
            let s1 = self.turns_and_shift(words[i - 2], [17, 19], 10);
            words[i] = self.add([words[i - 16], s0, words[i - 7], s1]);
        }
        words
    }

    fn rounds<W: Copy + Default>(&mut self, message: &[W; 64], hash: &mut [W; 8])
    where
        Self: Operations<W>,
    {
        let [h0, h1, h2, h3, h4, h5, h6, h7] = *hash;

        // Before a round, `a` and `e` are the sums of these; in the first, they are the hash's.
        let (mut a_terms, mut e_terms) = ([W::default(); 7], [W::default(); 6]);
        let (mut b, mut c, mut d, mut f, mut g, mut h) = (h1, h2, h3, h5, h6, h7);
        for (round, (constant, word)) in ROUND_CONSTANTS.into_iter().zip(*message).enumerate() {
            let e = if round == 0 { h4 } else { self.add(e_terms) };
            let s1 = self.turns(e, [6, 11, 25]);
            let choice = self.choose(e, f, g);

            let a = if round == 0 { h0 } else { self.add(a_terms) };
            let s0 = self.turns(a, [2, 13, 22]);
            let majority = self.majority(a, b, c);

            let constant = Self::constant(constant);
            e_terms = [h, s1, choice, constant, word, d];
            a_terms = [h, s1, choice, constant, word, s0, majority];
            (h, g, f, d, c, b) = (g, f, e, c, b, a);
        }
        let [t0, t1, t2, t3, t4, t5, t6] = a_terms;
        let h0 = self.add([t0, t1, t2, t3, t4, t5, t6, h0]);
        let (h1, h2, h3) = (self.add([h1, b]), self.add([h2, c]), self.add([h3, d]));
        let [t0, t1, t2, t3, t4, t5] = e_terms;
        let h4 = self.add([t0, t1, t2, t3, t4, t5, h4]);
        let (h5, h6, h7) = (self.add([h5, f]), self.add([h6, g]), self.add([h7, h]));
        *hash = [h0, h1, h2, h3, h4, h5, h6, h7];
    }
}

/// The words, if all their bits are variables.
fn of_variables<const N: usize>(words: &[Word; N]) -> Option<[u32; N]> {
    let all = words.iter().all(|word| word.of_variables().is_some());
    all.then(|| words.map(|word| word.value))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests")]

    use bellpepper_core::ConstraintSystem;
    use bellpepper_core::boolean::{AllocatedBit, Boolean};
    use bellperson::gadgets::sha256::sha256;
    use bellperson::util_cs::witness_cs::WitnessCS;
    use cuzk_values::Scalar;
    use ff::Field;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The variables of bellperson's gadget, and the hash.
    fn upstream(message: &[Word]) -> (Vec<bool>, Vec<bool>) {
        let mut cs = WitnessCS::<Scalar>::new();
        let mut bits = Vec::new();
        for word in message {
            for i in (0..32).rev() {
                let is = |mask: u32| (mask >> i) & 1 == 1;
                let variable = |cs: &mut WitnessCS<Scalar>, bit| {
                    AllocatedBit::alloc(cs.namespace(|| ""), Some(bit)).unwrap()
                };
                bits.push(match (is(word.constant), is(word.negated)) {
                    (true, _) => Boolean::Constant(is(word.value)),
                    (false, false) => Boolean::Is(variable(&mut cs, is(word.value))),
                    (false, true) => Boolean::Not(variable(&mut cs, !is(word.value))),
                });
            }
        }
        let inputs = cs.scalar_aux().len();
        let hash = sha256(cs.namespace(|| ""), &bits).unwrap();
        let variables = cs.scalar_aux().split_off(inputs);
        let bit = |scalar: Scalar| {
            assert!(scalar == Scalar::ZERO || scalar == Scalar::ONE);
            scalar == Scalar::ONE
        };
        (variables.into_iter().map(bit).collect(), hash.iter().map(|bit| bit.get_value().unwrap()).collect())
    }

    #[test]
    fn variables_are_those_of_bellpersons_gadget() {
        let seed = rand::random();
        println!("seed {seed}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for case in 0..66 {
            // All variables, all constants, and mixtures, sparse and dense.
            let mut mask = || match case % 6 {
                0 => 0,
                1 => u32::MAX,
                2 => rng.r#gen::<u32>() & rng.r#gen::<u32>() & rng.r#gen::<u32>(),
                3 => rng.r#gen::<u32>() | rng.r#gen::<u32>() | rng.r#gen::<u32>(),
                _ => rng.r#gen::<u32>(),
            };
            let words = [0, 1, 13, 14, 15, 16, 17, 29, 30, 39, 48][case % 11];
            let constants: Vec<u32> = (0..words).map(|_| mask()).collect();
            let message: Vec<Word> = constants
                .into_iter()
                .map(|constant| Word {
                    value: rng.r#gen(),
                    constant,
                    negated: if case % 4 == 3 { rng.r#gen::<u32>() & !constant } else { 0 },
                })
                .collect();
            let (variables, hash) = upstream(&message);

            let first = rng.gen_range(0..64);
            let end = first + variables.len();
            let mut own = vec![0; end.div_ceil(64) - usize::div_ceil(first, 64)];
            let mut part = Part::new(first, &mut [], &mut [], &mut own, false);
            let ours = part.sha256(&message);
            let head = part.finish().head;
            let bit = |at: usize| match (at / 64).checked_sub(usize::div_ceil(first, 64)) {
                Some(word) => (own[word] >> (at % 64)) & 1 == 1,
                None => (head >> (at % 64)) & 1 == 1,
            };
            let different = variables.iter().enumerate().position(|(i, bit_)| bit(first + i) != *bit_);
            assert_eq!(different, None, "case {case}, of {} variables", variables.len());
            let ours = ours.iter().flat_map(|word| (0..32).rev().map(move |i| (word.value >> i) & 1 == 1));
            assert!(ours.eq(hash), "case {case}");
        }
    }
}
