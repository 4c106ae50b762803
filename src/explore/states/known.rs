//! Which packed states were met.

use super::packed::{Layout, repack};
use super::store::Store;
use super::table::Table;

/// States of more words are kept as trees.
const MOST_WORDS: usize = 4;

/// Packed states, each once.
pub enum Known {
    /// In a table, as they are.
    Packed(Table),
    /// As the lists of their codes, which share most of their parts. Where there are many parts, that is shorter.
    Shared {
        /// The lists.
        store: Store,
        /// The list at hand.
        codes: Vec<u32>,
    },
}

impl Known {
    /// None, for states packed in this layout.
    pub fn new(layout: &Layout) -> Known {
        Known::with_room_for(0, layout)
    }

    fn with_room_for(count: usize, layout: &Layout) -> Known {
        match layout.width() <= MOST_WORDS {
            true => Known::Packed(Table::with_room_for(count, layout.width())),
            false => Known::Shared { store: Store::new(false), codes: Vec::new() },
        }
    }

    /// Was it met?
    #[inline]
    pub fn contains(&mut self, packed: &[u64], layout: &Layout) -> bool {
        match self {
            Known::Packed(table) => table.contains(packed),
            Known::Shared { store, codes } => {
                unpack(packed, layout, codes);
                store.find(codes).is_some()
            }
        }
    }

    /// Notes that it is met. Is it new?
    #[inline]
    pub fn insert(&mut self, packed: &[u64], layout: &Layout) -> bool {
        match self {
            Known::Packed(table) => table.insert(packed),
            Known::Shared { store, codes } => {
                unpack(packed, layout, codes);
                store.insert(codes).1
            }
        }
    }

    /// Packs all of them in another layout.
    pub fn lay_out(&mut self, from: &Layout, to: &Layout) {
        let Known::Packed(table) = self else { return };
        let mut next = Known::with_room_for(table.len(), to);
        repack(table.iter(), from, to, |packed| _ = next.insert(packed, to));
        *self = next;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Known::Packed(table) => table.len(),
            Known::Shared { store, .. } => store.count(),
        }
    }

    /// Bytes in use for them.
    pub fn bytes(&self) -> usize {
        match self {
            Known::Packed(table) => table.bytes(),
            Known::Shared { store, .. } => store.bytes(),
        }
    }
}

/// The codes of a state, without those at the end that are 0: there may be fewer places in another layout. Their number is
/// rounded up, because lists of one length share more.
fn unpack(packed: &[u64], layout: &Layout, codes: &mut Vec<u32>) {
    const STEP: usize = 64;
    layout.unpack(packed, codes);
    let used = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    codes.resize(used.next_multiple_of(STEP), 0);
}
