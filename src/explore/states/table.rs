//! A set of keys of some words each, in one open table.
//!
//! A key lies in the table itself, so to ask for it is to look at one place of memory, or at two neighbours. A place is free
//! if its first word is 0; so the first word of no key is. Keys lie in the order of their hashes, as far as there is room
//! (linear probing: Knuth, *The art of computer programming*, volume 3, section 6.4). A table that grows is copied from its
//! beginning to its end, and written in nearly the same order.

/// Keys, each once.
#[derive(Debug)]
pub struct Table {
    /// Words of a key.
    width: usize,
    places: usize,
    count: usize,
    words: Vec<u64>,
}

const FIRST_PLACES: usize = 64;

impl Table {
    /// An empty table for so many keys, and more, of so many words.
    pub fn with_room_for(count: usize, width: usize) -> Table {
        Table::with_places(width, FIRST_PLACES.max(count / 2 * 3))
    }

    fn with_places(width: usize, places: usize) -> Table {
        Table { width, places, count: 0, words: vec![0; width * places] }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Is it there?
    #[inline]
    pub fn contains(&self, key: &[u64]) -> bool {
        self.words[self.seek(key)] != 0
    }

    /// Adds a key. Is it new?
    #[inline]
    pub fn insert(&mut self, key: &[u64]) -> bool {
        let at = self.seek(key);
        if self.words[at] != 0 {
            return false;
        }
        self.words[at..at + self.width].copy_from_slice(key);
        self.count += 1;
        // Three quarters are taken at most.
        if 4 * self.count > 3 * self.places {
            self.grow();
        }
        true
    }

    /// All keys.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks_exact(self.width).filter(|key| key[0] != 0)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    /// Where the key is, or would be.
    #[inline]
    fn seek(&self, key: &[u64]) -> usize {
        debug_assert!(key.len() == self.width && key[0] != 0, "{key:?}");
        let place = (u128::from(hash(key)) * self.places as u128) >> 64;
        let mut at = place as usize * self.width;
        loop {
            let here = self.words[at];
            // The rest of a key, if it has one, is compared only if its first word is the same.
            if here == 0 || here == key[0] && self.is_rest(at, key) {
                return at;
            }
            at += self.width;
            if at == self.words.len() {
                at = 0;
            }
        }
    }

    #[inline]
    fn is_rest(&self, at: usize, key: &[u64]) -> bool {
        self.width == 1 || self.words[at + 1..at + self.width] == key[1..]
    }

    /// Half as many places again.
    #[cold]
    fn grow(&mut self) {
        let mut larger = Table::with_places(self.width, self.places / 2 * 3);
        for key in self.iter() {
            let at = larger.seek(key);
            larger.words[at..at + self.width].copy_from_slice(key);
        }
        larger.count = self.count;
        *self = larger;
    }
}

/// Its high bits depend on all bits of the key.
#[inline]
fn hash(key: &[u64]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0;
    for &word in key {
        hash = (hash ^ word).wrapping_mul(ODD);
        hash ^= hash >> 32;
    }
    hash.wrapping_mul(ODD)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustc_hash::FxHashSet;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(
            width in 1_usize..4,
            keys in prop::collection::vec(prop::collection::vec(0_u64..6, 3), 0..400)
        ) {
            let (mut table, mut twin) = (Table::with_room_for(0, width), FxHashSet::default());
            for mut key in keys {
                key.truncate(width);
                key[0] = 2 * key[0] + 1;
                prop_assert_eq!(table.contains(&key), twin.contains(&key));
                prop_assert_eq!(table.insert(&key), twin.insert(key));
            }
            prop_assert_eq!(table.len(), twin.len());
            prop_assert_eq!(table.iter().map(<[u64]>::to_vec).collect::<FxHashSet<_>>(), twin);
        }
    }

    #[test]
    fn many_keys_need_little_room() {
        let mut table = Table::with_room_for(0, 1);
        (0..100_000).for_each(|number| assert!(table.insert(&[2 * number + 1])));
        assert!((0..100_000).all(|number| table.contains(&[2 * number + 1])));
        assert!(!table.contains(&[200_001]));
        assert!(table.bytes() <= 100_000 * 16);
    }
}
