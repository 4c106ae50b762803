//! The set of known states, packed.

use std::iter;

use super::packed::{Layout, Repacker};
use super::pool::Pool;
use super::store::Store;
use super::table::Tables;

/// States of more words are stored as trees, unless they are spread over many tables.
const MOST_WORDS: usize = 4;
/// The number of tables over which states are spread for batches.
pub(crate) const SPREAD: usize = 64;

/// The known states, packed, each once.
pub(crate) enum Known {
    /// In hash tables, each with the number of the move that first led to it ([`Known::START`] if
    /// none did).
    Packed(Tables),
    /// As trees of their codes, which share most of their nodes. This takes less memory for states
    /// with many parts.
    Shared {
        /// The trees.
        store: Store,
        /// Scratch space for the codes of a state.
        codes: Vec<u32>,
    },
}

impl Known {
    /// Stands for a move where there is none, or none that has a number.
    pub(crate) const START: u32 = u32::MAX;

    /// The empty set, for states packed in this layout.
    pub(crate) fn new(layout: &Layout) -> Known {
        match layout.width() <= MOST_WORDS {
            true => Known::Packed(Tables::with_room_for(0, layout.width(), 1)),
            false => Known::shared(),
        }
    }

    fn shared() -> Known {
        Known::Shared { store: Store::new(false), codes: Vec::new() }
    }

    /// Is the state known?
    #[inline]
    pub(crate) fn contains(&mut self, packed: &[u64], layout: &Layout) -> bool {
        match self {
            Known::Packed(tables) => tables.contains(packed),
            Known::Shared { store, codes } => {
                unpack(packed, layout, codes);
                store.find(codes).is_some()
            }
        }
    }

    /// Adds a state, to which the move with number `by` leads. Returns whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, packed: &[u64], by: u32, layout: &Layout) -> bool {
        match self {
            Known::Packed(tables) => tables.insert(packed, by),
            Known::Shared { store, codes } => {
                unpack(packed, layout, codes);
                store.insert(codes).1
            }
        }
    }

    /// The tables, unless states are stored as trees.
    pub(crate) fn tables(&mut self) -> Option<&mut Tables> {
        match self {
            Known::Packed(tables) => Some(tables),
            Known::Shared { .. } => None,
        }
    }

    /// Spreads the states over [`SPREAD`] tables.
    pub(crate) fn spread(&mut self, layout: &Layout) {
        if let Known::Packed(tables) = self {
            let same = |key: &[u64], words: &mut Vec<u64>| words.extend_from_slice(key);
            tables.change((SPREAD, layout.width()), same, None);
        }
    }

    /// Converts all states to another layout.
    pub(crate) fn lay_out(&mut self, again: &Repacker, to: &Layout, threads: Option<&Pool>) {
        let Known::Packed(all) = self else { return };
        let count = all.tables().len();
        if count > 1 || to.width() <= MOST_WORDS {
            let change = |key: &[u64], words: &mut Vec<u64>| again.repack(key, words);
            all.change((count, to.width()), change, threads);
            return;
        }
        let mut shared = Known::shared();
        let mut words = Vec::new();
        for (key, by) in all.iter() {
            words.clear();
            again.repack(key, &mut words);
            shared.insert(&words, by, to);
        }
        *self = shared;
    }

    /// The bytes that the next insertion may allocate, besides those in use.
    pub(crate) fn growth(&self) -> usize {
        match self {
            Known::Packed(tables) => tables.growth(iter::repeat(1)),
            Known::Shared { store, .. } => store.growth(),
        }
    }

    /// The number of known states.
    pub(crate) fn len(&self) -> usize {
        match self {
            Known::Packed(tables) => tables.len(),
            Known::Shared { store, .. } => store.count(),
        }
    }

    /// Bytes in use for the states.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Known::Packed(tables) => tables.bytes(),
            Known::Shared { store, .. } => store.bytes(),
        }
    }
}

/// Writes the codes of a state to `codes`, without trailing zeros, because earlier layouts may have
/// had fewer places. The length is rounded up, because lists of equal length share more nodes.
fn unpack(packed: &[u64], layout: &Layout, codes: &mut Vec<u32>) {
    const STEP: usize = 64;
    layout.unpack(packed, codes);
    let used = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    codes.resize(used.next_multiple_of(STEP), 0);
}
