//! Words of 32 bits of which some are constants, as SHA-256's gadgets see them.
//!
//! A bit of a word is a constant, a variable, or the negation of one
//! (bellpepper-core 0.2.1, `Boolean`). Constants are folded, so that which bits
//! of an operation are variables follows from which of its operands' are. All 32
//! are worked out at once, by masks. Where there are only variables, a `u32` is a
//! word, and nothing is left to be worked out.

use super::Part;

/// 32 bits, the least significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Word {
    /// What the bits stand for.
    pub(crate) value: u32,
    /// Which bits are constants.
    pub(crate) constant: u32,
    /// Which bits are negations of variables; no constants.
    pub(crate) negated: u32,
}

impl Word {
    /// All bits are constants.
    pub(crate) const fn constant(value: u32) -> Self {
        Self { value, constant: u32::MAX, negated: 0 }
    }

    /// All bits are variables.
    pub(crate) const fn variable(value: u32) -> Self {
        Self { value, constant: 0, negated: 0 }
    }

    const fn rotate_right(self, by: u32) -> Self {
        let Self { value, constant, negated } = self;
        Self {
            value: value.rotate_right(by),
            constant: constant.rotate_right(by),
            negated: negated.rotate_right(by),
        }
    }

    /// Zeros that come in are constants.
    const fn shift_right(self, by: u32) -> Self {
        let Self { value, constant, negated } = self;
        Self { value: value >> by, constant: (constant >> by) | !(u32::MAX >> by), negated: negated >> by }
    }

    /// The word, if all its bits are variables.
    pub(crate) fn of_variables(self) -> Option<u32> {
        (self.constant | self.negated == 0).then_some(self.value)
    }

    const fn not(self) -> Self {
        Self { value: !self.value, negated: !self.negated & !self.constant, ..self }
    }

    /// Which bits are the constant 0.
    const fn zeros(self) -> u32 {
        self.constant & !self.value
    }

    /// The bits of `self` in `mask`, and those of `other` besides.
    const fn or_in(self, mask: u32, other: Self) -> Self {
        Self {
            value: (self.value & mask) | (other.value & !mask),
            constant: (self.constant & mask) | (other.constant & !mask),
            negated: (self.negated & mask) | (other.negated & !mask),
        }
    }

    /// `Boolean::and`; the second word says which bits are new variables.
    const fn and(self, other: Self) -> (Self, u32) {
        let zero = self.zeros() | other.zeros();
        let both = Self::variable(self.value & other.value);
        let kept = other.or_in(self.constant, self.or_in(other.constant, both));
        (Self::constant(0).or_in(zero, kept), !(self.constant | other.constant))
    }
}

/// What SHA-256's gadget does with words of one kind.
pub(super) trait Operations<W> {
    /// A word whose bits are constants.
    fn constant(value: u32) -> W;
    /// The exclusive or of `word` turned right by so much: Σ of FIPS 180-4, by `UInt32::xor`.
    fn turns(&mut self, word: W, by: [u32; 3]) -> W;
    /// The exclusive or of `word` turned right by so much, and shifted right by `shift`: σ.
    fn turns_and_shift(&mut self, word: W, by: [u32; 2], shift: u32) -> W;
    /// `Boolean::sha256_ch` for each bit: `a` chooses between `b` and `c`.
    fn choose(&mut self, a: W, b: W, c: W) -> W;
    /// `Boolean::sha256_maj` for each bit: what most of the three are, then `b ∧ c`.
    fn majority(&mut self, a: W, b: W, c: W) -> W;
    /// `UInt32::addmany`: the sum of all words, carries included.
    fn add<const N: usize>(&mut self, words: [W; N]) -> W;
}

/// Words of variables. One of constants may be among them where they are added.
impl Operations<u32> for Part<'_> {
    #[inline]
    fn constant(value: u32) -> u32 {
        value
    }

    #[inline]
    fn turns(&mut self, word: u32, [x, y, z]: [u32; 3]) -> u32 {
        let first = word.rotate_right(x) ^ word.rotate_right(y);
        let both = first ^ word.rotate_right(z);
        self.bits(u64::from(first) | (u64::from(both) << 32), 64);
        both
    }

    /// The zeros that come in are constants, which take no variables.
    #[inline]
    fn turns_and_shift(&mut self, word: u32, [x, y]: [u32; 2], shift: u32) -> u32 {
        let first = word.rotate_right(x) ^ word.rotate_right(y);
        let both = first ^ (word >> shift);
        let new = both & (u32::MAX >> shift);
        self.bits(u64::from(first) | (u64::from(new) << 32), 64 - shift);
        both
    }

    #[inline]
    fn choose(&mut self, a: u32, b: u32, c: u32) -> u32 {
        let value = (a & b) | (!a & c);
        self.bits(value.into(), 32);
        value
    }

    #[inline]
    fn majority(&mut self, a: u32, b: u32, c: u32) -> u32 {
        let value = (a & b) | (a & c) | (b & c);
        self.bits(spread(value) | (spread(b & c) << 1), 64);
        value
    }

    #[inline]
    fn add<const N: usize>(&mut self, words: [u32; N]) -> u32 {
        let sum = words.into_iter().map(u64::from).sum::<u64>();
        self.bits(sum, sum_bits(N));
        sum as u32
    }
}

impl Part<'_> {
    /// The bits of `bits` in `mask`, the least significant first.
    #[inline]
    pub(super) fn masked(&mut self, mut bits: u64, mut mask: u64) {
        while mask != 0 {
            let skipped = mask.trailing_zeros();
            (bits, mask) = (bits >> skipped, mask >> skipped);
            let run = mask.trailing_ones();
            if run == 64 {
                return self.bits(bits, 64);
            }
            self.bits(bits & ((1 << run) - 1), run);
            (bits, mask) = (bits >> run, mask >> run);
        }
    }

    /// `UInt32::xor`: a variable for each bit that is one in both operands. It
    /// holds the exclusive or of their variables, whatever negates those.
    #[inline]
    fn xor(&mut self, a: Word, b: Word) -> Word {
        let value = a.value ^ b.value;
        let variables = !(a.constant | b.constant);
        let flipped = a.negated ^ b.negated;
        if variables == u32::MAX {
            self.bits((value ^ flipped).into(), 32);
        } else {
            self.masked((value ^ flipped).into(), variables.into());
        }
        let constant = a.constant & b.constant;
        let negated = flipped ^ (a.value & a.constant) ^ (b.value & b.constant);
        Word { value, constant, negated: negated & !constant }
    }
}

impl Operations<Word> for Part<'_> {
    fn constant(value: u32) -> Word {
        Word::constant(value)
    }

    #[inline]
    fn turns(&mut self, word: Word, by: [u32; 3]) -> Word {
        if let Some(word) = word.of_variables() {
            return Word::variable(self.turns(word, by));
        }
        let [x, y, z] = by.map(|by| word.rotate_right(by));
        let first = self.xor(x, y);
        self.xor(first, z)
    }

    #[inline]
    fn turns_and_shift(&mut self, word: Word, by: [u32; 2], shift: u32) -> Word {
        if let Some(word) = word.of_variables() {
            return Word::variable(self.turns_and_shift(word, by, shift));
        }
        let [x, y] = by.map(|by| word.rotate_right(by));
        let first = self.xor(x, y);
        self.xor(first, word.shift_right(shift))
    }

    #[inline]
    fn choose(&mut self, a: Word, b: Word, c: Word) -> Word {
        if let [Some(a), Some(b), Some(c)] = [a, b, c].map(Word::of_variables) {
            return Word::variable(self.choose(a, b, c));
        }
        let value = (a.value & b.value) | (!a.value & c.value);
        let constant = a.constant & b.constant & c.constant;
        let mut cases = Cases::default();
        cases.case(constant, (Word::constant(value), 0));
        cases.case(a.zeros(), (c, 0));
        cases.case(b.zeros(), a.not().and(c));
        cases.case(c.zeros(), a.and(b));
        cases.case(c.constant, negate(a.and(b.not())));
        cases.case(b.constant, negate(a.not().and(c.not())));
        cases.case(u32::MAX, (Word::variable(value), u32::MAX));
        // Where a new variable stands in the word negated, it is not the word's bit.
        let Cases { word, new, .. } = cases;
        self.masked((word.value ^ word.negated).into(), new.into());
        word
    }

    /// Where none is a constant, `b ∧ c` is a variable too, after each bit's own.
    #[inline]
    fn majority(&mut self, a: Word, b: Word, c: Word) -> Word {
        if let [Some(a), Some(b), Some(c)] = [a, b, c].map(Word::of_variables) {
            return Word::variable(self.majority(a, b, c));
        }
        let value = (a.value & b.value) | (a.value & c.value) | (b.value & c.value);
        let constant = a.constant & b.constant & c.constant;
        let mut cases = Cases::default();
        cases.case(constant, (Word::constant(value), 0));
        cases.case(a.zeros(), b.and(c));
        cases.case(b.zeros(), a.and(c));
        cases.case(c.zeros(), a.and(b));
        cases.case(c.constant, negate(a.not().and(b.not())));
        cases.case(b.constant, negate(a.not().and(c.not())));
        cases.case(a.constant, negate(b.not().and(c.not())));
        let both = !cases.decided;
        cases.case(u32::MAX, (Word::variable(value), u32::MAX));
        let Cases { word, new, .. } = cases;
        self.masked(
            spread(word.value ^ word.negated) | (spread(b.value & c.value) << 1),
            spread(new) | (spread(both) << 1),
        );
        word
    }

    /// No variable where all are constants.
    #[inline]
    fn add<const N: usize>(&mut self, words: [Word; N]) -> Word {
        let sum = words.iter().map(|word| u64::from(word.value)).sum::<u64>();
        if words.iter().all(|word| word.constant == u32::MAX) {
            return Word::constant(sum as u32);
        }
        self.bits(sum, sum_bits(N));
        Word::variable(sum as u32)
    }
}

/// Bits of a sum of `words` words.
const fn sum_bits(words: usize) -> u32 {
    64 - (words as u64 * u32::MAX as u64).leading_zeros()
}

/// A word put together by cases, the first that holds deciding each bit.
#[derive(Default)]
struct Cases {
    word: Word,
    decided: u32,
    /// Which bits are new variables.
    new: u32,
}

impl Cases {
    fn case(&mut self, mask: u32, (word, new): (Word, u32)) {
        let mask = mask & !self.decided;
        self.word = word.or_in(mask, self.word);
        self.new |= new & mask;
        self.decided |= mask;
    }
}

const fn negate((word, new): (Word, u32)) -> (Word, u32) {
    (word.not(), new)
}

/// Bit `i` to bit `2 i` (Warren, *Hacker's Delight*, 7-2).
#[inline]
const fn spread(word: u32) -> u64 {
    let mut wide = word as u64;
    wide = (wide | (wide << 16)) & 0x0000_ffff_0000_ffff;
    wide = (wide | (wide << 8)) & 0x00ff_00ff_00ff_00ff;
    wide = (wide | (wide << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    wide = (wide | (wide << 2)) & 0x3333_3333_3333_3333;
    (wide | (wide << 1)) & 0x5555_5555_5555_5555
}
