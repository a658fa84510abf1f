//! Words of 32 bits of which some are constants, as SHA-256's gadgets see them.
//!
//! A bit of a word is a constant, a variable, or the negation of one
//! (bellpepper-core 0.2.1, `Boolean`). Constants are folded, so that which bits
//! of an operation are variables follows from which of its operands' are. All 32
//! are worked out at once, by masks.

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

    pub(crate) const fn rotate_right(self, by: u32) -> Self {
        let Self { value, constant, negated } = self;
        Self {
            value: value.rotate_right(by),
            constant: constant.rotate_right(by),
            negated: negated.rotate_right(by),
        }
    }

    /// Zeros that come in are constants.
    pub(crate) const fn shift_right(self, by: u32) -> Self {
        let Self { value, constant, negated } = self;
        Self { value: value >> by, constant: (constant >> by) | !(u32::MAX >> by), negated: negated >> by }
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
    pub(super) fn xor(&mut self, a: Word, b: Word) -> Word {
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

    /// `Boolean::sha256_ch` for each bit: `a` chooses between `b` and `c`.
    #[inline]
    pub(super) fn choose(&mut self, a: Word, b: Word, c: Word) -> Word {
        let value = (a.value & b.value) | (!a.value & c.value);
        if (a.constant | b.constant | c.constant) == 0 {
            self.bits(value.into(), 32);
            return Word::variable(value);
        }
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

    /// `Boolean::sha256_maj` for each bit: what most of the three are. Where none
    /// is a constant, `b ∧ c` is a variable too, after each bit's own.
    #[inline]
    pub(super) fn majority(&mut self, a: Word, b: Word, c: Word) -> Word {
        let value = (a.value & b.value) | (a.value & c.value) | (b.value & c.value);
        if (a.constant | b.constant | c.constant) == 0 {
            self.bits(spread(value) | (spread(b.value & c.value) << 1), 64);
            return Word::variable(value);
        }
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

    /// `UInt32::addmany`: the sum of all words, carries included, or nothing
    /// where all are constants.
    #[inline]
    pub(super) fn add<const N: usize>(&mut self, words: [Word; N]) -> Word {
        let sum = words.iter().map(|word| u64::from(word.value)).sum::<u64>();
        if words.iter().all(|word| word.constant == u32::MAX) {
            return Word::constant(sum as u32);
        }
        let most = N as u64 * u64::from(u32::MAX);
        self.bits(sum, 64 - most.leading_zeros());
        Word::variable(sum as u32)
    }
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
