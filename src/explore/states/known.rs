//! Which packed states were met.

use std::iter;

use rayon::ThreadPool;

use super::packed::{Layout, Repacker};
use super::store::Store;
use super::table::Tables;

/// States of more words are kept as trees, unless they are spread.
const MOST_WORDS: usize = 4;
/// So many tables the states are spread over.
pub const SPREAD: usize = 64;

/// Packed states, each once.
pub enum Known {
    /// In tables, as they are, each with the number of the move that led there first
    /// ([`Known::START`] if none did).
    Packed(Tables),
    /// As the lists of their codes, which share most of their parts. Where there are many parts,
    /// that is shorter.
    Shared {
        /// The lists.
        store: Store,
        /// The list at hand.
        codes: Vec<u32>,
    },
}

impl Known {
    /// Stands for a move where there is none, or none that was learned.
    pub const START: u32 = u32::MAX;

    /// None, for states packed in this layout.
    pub fn new(layout: &Layout) -> Known {
        match layout.width() <= MOST_WORDS {
            true => Known::Packed(Tables::with_room_for(0, layout.width(), 1)),
            false => Known::shared(),
        }
    }

    fn shared() -> Known {
        Known::Shared { store: Store::new(false), codes: Vec::new() }
    }

    /// Was it met?
    #[inline]
    pub fn contains(&mut self, packed: &[u64], layout: &Layout) -> bool {
        match self {
            Known::Packed(tables) => tables.contains(packed),
            Known::Shared { store, codes } => {
                unpack(packed, layout, codes);
                store.find(codes).is_some()
            }
        }
    }

    /// Notes that it is met, where the move with this number leads. Is it new?
    #[inline]
    pub fn insert(&mut self, packed: &[u64], by: u32, layout: &Layout) -> bool {
        match self {
            Known::Packed(tables) => tables.insert(packed, by),
            Known::Shared { store, codes } => {
                unpack(packed, layout, codes);
                store.insert(codes).1
            }
        }
    }

    /// The tables, if they are in tables.
    pub fn tables(&mut self) -> Option<&mut Tables> {
        match self {
            Known::Packed(tables) => Some(tables),
            Known::Shared { .. } => None,
        }
    }

    /// Spreads them over many tables.
    pub fn spread(&mut self, layout: &Layout) {
        if let Known::Packed(tables) = self {
            let same = |key: &[u64], words: &mut Vec<u64>| words.extend_from_slice(key);
            tables.change((SPREAD, layout.width()), same, None);
        }
    }

    /// Packs all of them in another layout.
    pub fn lay_out(&mut self, again: &Repacker, to: &Layout, threads: Option<&ThreadPool>) {
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

    /// The bytes that are allocated before one more is met, besides those in use.
    pub fn growth(&self) -> usize {
        match self {
            Known::Packed(tables) => tables.growth(iter::repeat(1)),
            Known::Shared { store, .. } => store.growth(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Known::Packed(tables) => tables.len(),
            Known::Shared { store, .. } => store.count(),
        }
    }

    /// Bytes in use for them.
    pub fn bytes(&self) -> usize {
        match self {
            Known::Packed(tables) => tables.bytes(),
            Known::Shared { store, .. } => store.bytes(),
        }
    }
}

/// The codes of a state, without those at the end that are 0: there may be fewer places in another
/// layout. Their number is rounded up, because lists of one length share more.
fn unpack(packed: &[u64], layout: &Layout, codes: &mut Vec<u32>) {
    const STEP: usize = 64;
    layout.unpack(packed, codes);
    let used = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    codes.resize(used.next_multiple_of(STEP), 0);
}
