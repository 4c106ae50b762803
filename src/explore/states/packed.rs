//! Packed states: each part of a state is a number of as few bits as possible.
//!
//! A state is given by its portrait, a canonical vector of numbers
//! ([`State::portrait`](crate::model::State::portrait)). An element of this vector takes few
//! different values: a cell two, a process some dozens. So the values of each place are encoded by
//! a dictionary, as numbers in the order of their first occurrence (the *code* of a value), and a
//! state is packed: code after code, each in a field of some bits (as SPIN packs its state vectors:
//! Holzmann, *State compression in SPIN*, 1997). Packed states are equal if and only if the states
//! are.
//!
//! ```text
//!   portrait   3  8  8  71  9  73        codes   0 1 1 2 0 3
//!   fields     .. .  .  ... .. ...       a word: 011 00 010 1 1 00 1
//!                                               (bit 0 is 1: so no packed state is 0)
//! ```
//!
//! The number of bits that a place needs is not known in advance. If a place takes more values than
//! its field can hold, all fields are laid out anew ([`Layout::new`]), and all packed states are
//! repacked. Spare bits of the words are distributed among the fields, so that this is rare.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

/// The dictionaries of all places of portraits.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    places: Vec<Place>,
    has_begun: bool,
}

#[derive(Debug, Default)]
struct Place {
    codes: FxHashMap<u32, u32>,
    count: u32,
}

/// The value at places that a shorter portrait does not have.
const NOTHING: u32 = 0;

impl Codes {
    /// Writes the codes of a portrait to `codes`. New values get new codes.
    pub(crate) fn encode(&mut self, portrait: &[u32], codes: &mut Vec<u32>) {
        while self.places.len() < portrait.len() {
            let mut place = Place::default();
            if self.has_begun {
                place.code(NOTHING);
            }
            self.places.push(place);
        }
        self.has_begun = true;
        codes.clear();
        for (at, place) in self.places.iter_mut().enumerate() {
            codes.push(place.code(portrait.get(at).copied().unwrap_or(NOTHING)));
        }
    }

    /// For each place, the number of its codes.
    pub(crate) fn counts(&self) -> impl ExactSizeIterator<Item = u32> + Clone {
        self.places.iter().map(|place| place.count)
    }

    /// Bytes in use, about.
    pub(crate) fn bytes(&self) -> usize {
        self.places.iter().map(|place| size_of::<Place>() + place.codes.capacity() * 9).sum()
    }
}

impl Place {
    fn code(&mut self, value: u32) -> u32 {
        let next = self.count;
        let code = *self.codes.entry(value).or_insert(next);
        self.count += u32::from(code == next);
        code
    }
}

/// The position of each code in the words of a packed state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    fields: Vec<Field>,
    width: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    word: u32,
    shift: u32,
    mask: u64,
}

/// The most spare bits of a field, and the most fields that get spare bits.
const MOST_SPARE: u32 = 4;
const MOST_SPARED: usize = 64;

impl Layout {
    /// Fields for places with `counts` values each, in as few words as possible. Spare bits go to
    /// the places with the most values, which are likely to take more.
    pub(crate) fn new(counts: impl ExactSizeIterator<Item = u32>) -> Layout {
        let counts: Vec<u32> = counts.collect();
        let needed = |&count: &u32| u32::BITS - count.saturating_sub(1).leading_zeros();
        let mut bits: Vec<u32> = counts.iter().map(needed).collect();
        let least = Layout::with_bits(&bits);
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|&place| Reverse(counts[place]));
        order.truncate(MOST_SPARED);
        for _ in 0..MOST_SPARE {
            for &place in &order {
                bits[place] += 1;
                if bits[place] > u32::BITS || Layout::with_bits(&bits).width > least.width {
                    bits[place] -= 1;
                }
            }
        }
        Layout::with_bits(&bits)
    }

    fn with_bits(bits: &[u32]) -> Layout {
        // The first bit is always 1.
        let (mut word, mut shift) = (0, 1);
        let fields = bits.iter().map(|&bits| {
            if shift + bits > u64::BITS {
                (word, shift) = (word + 1, 0);
            }
            let field = Field { word, shift: shift % u64::BITS, mask: (1 << bits) - 1 };
            shift += bits;
            field
        });
        let fields = fields.collect();
        Layout { fields, width: word as usize + 1 }
    }

    /// The number of words of a packed state.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The number of places of a state.
    pub(crate) fn places(&self) -> usize {
        self.fields.len()
    }

    /// Does each field have room for `counts` values?
    pub(crate) fn has_room_for(&self, counts: impl ExactSizeIterator<Item = u32>) -> bool {
        self.fields.len() == counts.len()
            && self
                .fields
                .iter()
                .zip(counts)
                .all(|(field, count)| u64::from(count) <= field.mask + 1)
    }

    /// The code at this place.
    #[inline]
    pub(crate) fn code(&self, packed: &[u64], place: usize) -> u32 {
        let Field { word, shift, mask } = self.fields[place];
        (packed[word as usize] >> shift & mask) as u32
    }

    /// Replaces code `from` at this place by `to`. The same call undoes it.
    #[inline]
    pub(crate) fn exchange(&self, packed: &mut [u64], place: usize, from: u32, to: u32) {
        let Field { word, shift, .. } = self.fields[place];
        packed[word as usize] ^= u64::from(from ^ to) << shift;
    }

    /// Appends the packed codes to `words`.
    pub(crate) fn pack(&self, codes: &[u32], words: &mut Vec<u64>) {
        let from = words.len();
        words.resize(from + self.width, 0);
        words[from] = 1;
        for (&Field { word, shift, .. }, &code) in self.fields.iter().zip(codes) {
            words[from + word as usize] |= u64::from(code) << shift;
        }
    }

    /// Writes the codes of a packed state to `codes`.
    pub(crate) fn unpack(&self, packed: &[u64], codes: &mut Vec<u32>) {
        codes.clear();
        codes.extend((0..self.fields.len()).map(|place| self.code(packed, place)));
    }
}

/// Converts packed states from one layout to another. Places that the first layout does not have
/// get code 0.
pub(crate) struct Repacker {
    runs: Vec<Run>,
    width: usize,
}

/// Fields that lie side by side in both layouts.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: Field,
    to: Field,
    /// The bit after the last of them, in each layout.
    ends: (u32, u32),
}

impl Repacker {
    /// A repacker from one layout to another, whose fields must be at least as wide.
    pub(crate) fn new(from: &Layout, to: &Layout) -> Repacker {
        let mut runs: Vec<Run> = Vec::new();
        for (&from, &to) in from.fields.iter().zip(&to.fields) {
            let bits = from.mask.count_ones();
            let ends = (from.shift + bits, to.shift + to.mask.count_ones());
            match runs.last_mut() {
                Some(run)
                    if (run.from.word, run.to.word) == (from.word, to.word)
                        && run.ends == (from.shift, to.shift)
                        && from.shift - run.from.shift == to.shift - run.to.shift =>
                {
                    run.from.mask |= from.mask << (from.shift - run.from.shift);
                    run.ends = ends;
                }
                _ => runs.push(Run { from, to, ends }),
            }
        }
        Repacker { runs, width: to.width }
    }

    /// Appends a packed state to `words`, in the new layout.
    pub(crate) fn repack(&self, packed: &[u64], words: &mut Vec<u64>) {
        let at = words.len();
        words.resize(at + self.width, 0);
        words[at] = 1;
        for Run { from, to, .. } in &self.runs {
            let codes = packed[from.word as usize] >> from.shift & from.mask;
            words[at + to.word as usize] |= codes << to.shift;
        }
    }

    /// All of these states in the new layout, concatenated.
    pub(crate) fn repack_all<'p>(&self, states: impl Iterator<Item = &'p [u64]>) -> Vec<u64> {
        let mut words = Vec::new();
        states.for_each(|packed| self.repack(packed, &mut words));
        words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_states_are_equal_if_the_states_are(
            portraits in prop::collection::vec(prop::collection::vec(0_u32..40, 0..30), 1..40)
        ) {
            let mut codes = Codes::default();
            let (mut layout, mut packed) = (Layout::new(std::iter::empty()), Vec::new());
            let mut at_hand = Vec::new();
            for portrait in &portraits {
                codes.encode(portrait, &mut at_hand);
                if !layout.has_room_for(codes.counts()) {
                    let next = Layout::new(codes.counts());
                    let before = packed.chunks_exact(layout.width());
                    packed = Repacker::new(&layout, &next).repack_all(before);
                    layout = next;
                }
                layout.pack(&at_hand, &mut packed);
            }
            let full = |portrait: &[u32]| {
                let mut full = portrait.to_vec();
                full.resize(30, NOTHING);
                full
            };
            for (one, this) in portraits.iter().zip(packed.chunks_exact(layout.width())) {
                prop_assert!(this[0] != 0);
                for (other, that) in portraits.iter().zip(packed.chunks_exact(layout.width())) {
                    prop_assert_eq!(full(one) == full(other), this == that);
                }
            }
        }
    }

    #[test]
    fn fields_fill_words() {
        let most = u32::MAX;
        let widths =
            [(&[2; 63][..], 1), (&[2; 64], 2), (&[1; 500], 1), (&[1 << 31; 4], 2), (&[most; 4], 3)];
        for (counts, width) in widths {
            assert_eq!(Layout::new(counts.iter().copied()).width(), width, "{counts:?}");
        }
    }
}
