//! Where the variables of a part of a circuit go.

use cuzk_values::Scalar;

/// The variables of a part of a circuit, in the order of their allocation.
///
/// The part has a fixed place among the others: its bits start at any bit of a
/// word, so that a word may belong to two parts. It owns those that start in it,
/// and gives the bits before them back ([`Written`]).
pub(crate) struct Part<'a> {
    inputs: &'a mut [Scalar],
    wide: &'a mut [Scalar],
    words: &'a mut [u64],
    /// What is before the part's first word, until it is full.
    head: Option<u64>,
    word: u64,
    filled: u32,
    /// How many variables so far.
    count: u32,
    /// Where the wide ones are.
    places: Option<Vec<u32>>,
}

/// What a part leaves to be done.
pub(crate) struct Written {
    /// Bits of the word before the part's own, which other parts share.
    pub(crate) head: u64,
    /// Where the wide variables are, counted from the part's first.
    pub(crate) places: Option<Vec<u32>>,
}

impl<'a> Part<'a> {
    /// A part whose first bit is `bit % 64` of a word. `words` are those that
    /// start in it, `inputs` and `wide` as many as it has; where `note_places`,
    /// the places of the wide variables are noted.
    pub(crate) fn new(
        bit: usize,
        inputs: &'a mut [Scalar],
        wide: &'a mut [Scalar],
        words: &'a mut [u64],
        note_places: bool,
    ) -> Self {
        let filled = (bit % 64) as u32;
        Self {
            places: note_places.then(|| Vec::with_capacity(wide.len())),
            head: (filled == 0).then_some(0),
            word: 0,
            count: 0,
            inputs,
            wide,
            words,
            filled,
        }
    }

    /// The lowest `count` bits of `bits`, which has no others: at most 64.
    #[inline]
    pub(crate) fn bits(&mut self, bits: u64, count: u32) {
        debug_assert!(count <= 64 && (count == 64 || bits >> count == 0));
        self.count += count;
        self.word |= bits << self.filled;
        let filled = self.filled + count;
        if filled < 64 {
            self.filled = filled;
            return;
        }
        self.flush();
        self.filled = filled - 64;
        // All bits have gone where the word was empty and `count` 64.
        self.word = bits.checked_shr(count - self.filled).unwrap_or(0);
    }

    /// A bit.
    #[inline]
    pub(crate) fn bit(&mut self, bit: bool) {
        self.bits(bit.into(), 1);
    }

    /// A variable of full width.
    #[inline]
    pub(crate) fn wide(&mut self, value: Scalar) -> Scalar {
        self.next_wide(1)[0] = value;
        value
    }

    /// The next `count` variables, all of full width, to be written to.
    #[inline]
    pub(crate) fn next_wide(&mut self, count: usize) -> &'a mut [Scalar] {
        if let Some(places) = &mut self.places {
            places.extend(self.count..self.count + count as u32);
        }
        let mut zeros = count;
        while zeros > 0 {
            let some = zeros.min(64);
            self.bits(0, some as u32);
            zeros -= some;
        }
        self.wide.split_off_mut(..count).expect("room for the wide variables")
    }

    /// A public input.
    pub(crate) fn input(&mut self, value: Scalar) {
        *self.inputs.split_off_first_mut().expect("room for the input") = value;
    }

    /// Ends the part.
    ///
    /// # Panics
    /// Unless it has as many variables as it was made for.
    pub(crate) fn finish(mut self) -> Written {
        if self.filled > 0 {
            self.flush();
        }
        let left = (self.inputs.len(), self.wide.len(), self.words.len());
        assert_eq!(left, (0, 0, 0), "inputs, wide variables and words of a part that were not written");
        Written { head: self.head.unwrap_or(0), places: self.places }
    }

    #[inline]
    fn flush(&mut self) {
        if self.head.is_none() {
            self.head = Some(self.word);
        } else {
            *self.words.split_off_first_mut().expect("room for the word") = self.word;
        }
        self.word = 0;
    }
}
