//! Hash tables with open addressing: keys of a fixed number of words, each with a number.
//!
//! A key lies in the table itself, so a lookup reads one place of memory, or two neighbours. A
//! place is free if its first word is 0, so the first word of a key must not be 0. Keys lie almost
//! in the order of their hashes (linear probing: Knuth, *The art of computer programming*, volume
//! 3, section 6.4). A table that grows is read from its beginning to its end, and the new one is
//! written in nearly the same order.
//!
//! There may be several tables, each for a range of hashes. Then several threads can add keys, each
//! to its own tables.

use std::hint::black_box;
#[cfg(feature = "json")]
use std::io::{self, Read, Write};
use std::mem;

use super::pool::{Pool, each};
#[cfg(feature = "json")]
use crate::explore::saved::{
    read_number, read_numbers, read_words, stray, write_number, write_numbers, write_words,
};

/// A map from keys to numbers, split into tables by hashes.
#[derive(Debug)]
pub(crate) struct Tables(Vec<Table>);

impl Tables {
    /// `tables` empty tables with room for at least `count` keys of `width` words together.
    pub(crate) fn with_room_for(count: usize, width: usize, tables: usize) -> Tables {
        let places = places_for(count / tables);
        Tables((0..tables).map(|_| Table::with_places(width, places, tables)).collect())
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|table| table.count).sum()
    }

    /// Is the key in a table?
    #[inline]
    pub(crate) fn contains(&self, key: &[u64]) -> bool {
        let (table, rest) = spot(key, self.0.len());
        let table = &self.0[table];
        table.words[table.seek(rest, key)] != 0
    }

    /// The number of a key, if it is in a table.
    pub(crate) fn number(&self, key: &[u64]) -> Option<u32> {
        let (table, rest) = spot(key, self.0.len());
        let table = &self.0[table];
        let at = table.seek(rest, key);
        (table.words[at] != 0).then(|| table.numbers[at / table.width])
    }

    /// Adds a key with this number, unless the key is there already. Returns whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, key: &[u64], number: u32) -> bool {
        let (table, rest) = spot(key, self.0.len());
        self.0[table].insert(rest, key, number)
    }

    /// All keys, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u64], u32)> {
        self.0.iter().flat_map(Table::iter)
    }

    /// Rebuilds the map as `tables` tables with keys of `width` words. `change` appends the new key
    /// for each old key. Each old table is dropped as soon as it is read, so that the peak of
    /// memory is little more than one copy of all keys.
    pub(crate) fn change(
        &mut self,
        (tables, width): (usize, usize),
        change: impl Fn(&[u64], &mut Vec<u64>) + Sync,
        threads: Option<&Pool>,
    ) {
        let places = places_for(self.len() / tables);
        let former = mem::take(&mut self.0).into_iter();
        let mut sorted: Vec<_> = former.map(|table| (Some(table), Vec::new())).collect();
        each(threads, &mut sorted, |(table, lists)| {
            *lists = table.take().expect("a table").sorted((tables, width), &change);
        });
        let mut all: Vec<(Option<Table>, Vec<List>)> = Vec::new();
        all.resize_with(tables, Default::default);
        for (at, list) in sorted.into_iter().flat_map(|(_, lists)| lists.into_iter().enumerate()) {
            all[at].1.push(list);
        }
        each(threads, &mut all, |(made, lists)| {
            let table = made.insert(Table::with_places(width, places, tables));
            for (keys, numbers) in lists.drain(..) {
                table.insert_all(&keys, &numbers, &mut Vec::new());
            }
        });
        self.0 = all.into_iter().map(|(table, _)| table.expect("a table")).collect();
    }

    pub(crate) fn tables(&mut self) -> &mut [Table] {
        &mut self.0
    }

    /// The bytes that are allocated while `added` keys are added to each of the tables, besides
    /// those in use.
    pub(crate) fn growth(&self, added: impl Iterator<Item = usize>) -> usize {
        self.0.iter().zip(added).map(|(table, added)| table.growth(added)).sum()
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(Table::bytes).sum()
    }
}

#[cfg(feature = "json")]
impl Tables {
    /// Writes all tables.
    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        write_number(to, self.0.len() as u64)?;
        for table in &self.0 {
            write_number(to, table.places as u64)?;
            let (mut keys, mut numbers) = (Vec::new(), Vec::new());
            for (key, number) in table.iter() {
                keys.extend_from_slice(key);
                numbers.push(number);
            }
            write_words(to, &keys)?;
            write_numbers(to, &numbers)?;
        }
        Ok(())
    }

    /// Reads tables with keys of `width` words. They have the same places as when they were
    /// written.
    pub(crate) fn read(from: &mut dyn Read, width: usize) -> io::Result<Tables> {
        let tables = read_number(from)? as usize;
        let read = (0..tables).map(|index| {
            let places = read_number(from)? as usize;
            let (keys, numbers) = (read_words(from)?, read_numbers(from)?);
            let is_fit = keys.len() == numbers.len() * width
                && places <= 4 * numbers.len() + 4 * FIRST_PLACES
                && 4 * numbers.len() <= 3 * places;
            if !is_fit {
                return Err(stray());
            }
            let mut table = Table::with_places(width, places, tables);
            for (key, number) in keys.chunks_exact(width).zip(numbers) {
                let (own, rest) = spot(key, tables);
                if key[0] == 0 || own != index {
                    return Err(stray());
                }
                let at = table.seek(rest, key);
                table.put(at, key, number);
                table.count += 1;
            }
            Ok(table)
        });
        read.collect::<io::Result<_>>().map(Tables)
    }
}

/// Concatenated keys, with their numbers.
pub(crate) type List = (Vec<u64>, Vec<u32>);

/// The index of the table of a key, and the rest of its hash, which determines the place in the
/// table.
#[inline]
fn spot(key: &[u64], tables: usize) -> (usize, u64) {
    let spread = u128::from(hash(key)) * tables as u128;
    ((spread >> 64) as usize, spread as u64)
}

/// The index of the table of a key, if there are `tables` tables.
#[inline]
pub(crate) fn table_of(key: &[u64], tables: usize) -> usize {
    spot(key, tables).0
}

/// One table: the keys with hashes in one range.
#[derive(Debug)]
pub(crate) struct Table {
    /// The number of words of a key.
    width: usize,
    /// The number of tables of the map.
    tables: usize,
    places: usize,
    count: usize,
    words: Vec<u64>,
    numbers: Vec<u32>,
}

const FIRST_PLACES: usize = 64;

/// The initial number of places of a table for `count` keys.
fn places_for(count: usize) -> usize {
    FIRST_PLACES.max(count / 2 * 3)
}

/// The number of keys that are looked up at a time.
const BLOCK: usize = 32;

impl Table {
    fn with_places(width: usize, places: usize, tables: usize) -> Table {
        let (words, numbers) = (zeros(width * places), vec![0; places]);
        Table { width, tables, places, count: 0, words, numbers }
    }

    /// Adds concatenated keys that belong to this table, with their numbers. New keys are appended
    /// to `new`, in their order.
    pub(crate) fn insert_all(&mut self, keys: &[u64], numbers: &[u32], new: &mut Vec<u64>) {
        match self.width {
            1 => self.insert_all_of::<1>(keys, numbers, new),
            2 => self.insert_all_of::<2>(keys, numbers, new),
            3 => self.insert_all_of::<3>(keys, numbers, new),
            4 => self.insert_all_of::<4>(keys, numbers, new),
            width => {
                for (key, &number) in keys.chunks_exact(width).zip(numbers) {
                    if self.insert(spot(key, self.tables).1, key, number) {
                        new.extend_from_slice(key);
                    }
                }
            }
        }
    }

    /// Adds keys of W words, as [`insert_all`](Table::insert_all) does. The places of a block of
    /// keys are read before the first of them is added, so that the reads of memory overlap.
    fn insert_all_of<const W: usize>(&mut self, keys: &[u64], numbers: &[u32], new: &mut Vec<u64>) {
        let keys = keys.as_chunks::<W>().0;
        for (keys, numbers) in keys.chunks(BLOCK).zip(numbers.chunks(BLOCK)) {
            while !self.has_room_for(BLOCK) {
                self.grow();
            }
            let all = self.words.as_chunks_mut::<W>().0;
            let mut starts = [0; BLOCK];
            let mut met = 0;
            for (start, key) in starts.iter_mut().zip(keys) {
                *start = scale(spot(key, self.tables).1, all.len());
                met ^= all[*start][0];
            }
            black_box(met);
            for (mut at, (key, &number)) in starts.into_iter().zip(keys.iter().zip(numbers)) {
                while all[at][0] != 0 && all[at] != *key {
                    at += 1;
                    if at == all.len() {
                        at = 0;
                    }
                }
                if all[at][0] == 0 {
                    all[at] = *key;
                    self.numbers[at] = number;
                    self.count += 1;
                    new.extend_from_slice(key);
                }
            }
        }
    }

    #[inline]
    fn insert(&mut self, rest: u64, key: &[u64], number: u32) -> bool {
        let at = self.seek(rest, key);
        if self.words[at] != 0 {
            return false;
        }
        self.put(at, key, number);
        self.count += 1;
        if !self.has_room_for(0) {
            self.grow();
        }
        true
    }

    #[inline]
    fn put(&mut self, at: usize, key: &[u64], number: u32) {
        self.words[at..at + self.width].copy_from_slice(key);
        self.numbers[at / self.width] = number;
    }

    /// At most three quarters of the places may be taken.
    #[inline]
    fn has_room_for(&self, more: usize) -> bool {
        4 * (self.count + more) <= 3 * self.places
    }

    fn iter(&self) -> impl Iterator<Item = (&[u64], u32)> {
        let keys = self.words.chunks_exact(self.width).zip(self.numbers.iter().copied());
        keys.filter(|(key, _)| key[0] != 0)
    }

    /// For each of `tables` new tables, the changed keys that belong there, of `width` words each.
    fn sorted(
        self,
        (tables, width): (usize, usize),
        change: impl Fn(&[u64], &mut Vec<u64>),
    ) -> Vec<List> {
        // Rarely more, because hashes are distributed evenly.
        let count = self.count / tables * 9 / 8;
        let list = || (Vec::with_capacity(count * width), Vec::with_capacity(count));
        let mut lists: Vec<List> = (0..tables).map(|_| list()).collect();
        let mut changed = Vec::new();
        for (key, number) in self.iter() {
            changed.clear();
            change(key, &mut changed);
            let (keys, numbers) = &mut lists[table_of(&changed, tables)];
            keys.extend_from_slice(&changed);
            numbers.push(number);
        }
        lists
    }

    /// The size, in bytes, of the largest table that is allocated while `added` keys are added; 0
    /// if none is.
    fn growth(&self, added: usize) -> usize {
        let mut places = self.places;
        while 4 * (self.count + added.next_multiple_of(BLOCK)) > 3 * places {
            places = places / 2 * 3;
        }
        let place = self.width * size_of::<u64>() + size_of::<u32>();
        if places > self.places { places * place } else { 0 }
    }

    fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>() + self.numbers.len() * size_of::<u32>()
    }

    /// Where the lookup of a key begins.
    #[inline]
    fn start(&self, rest: u64) -> usize {
        scale(rest, self.places) * self.width
    }

    /// Where the key is, or where it would be added.
    #[inline]
    fn seek(&self, rest: u64, key: &[u64]) -> usize {
        debug_assert!(key.len() == self.width && key[0] != 0, "{key:?}");
        let mut at = self.start(rest);
        loop {
            let here = self.words[at];
            // The rest of a key is compared only if its first word is equal.
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

    /// Makes the table larger by half.
    #[cold]
    fn grow(&mut self) {
        let mut larger = Table::with_places(self.width, self.places / 2 * 3, self.tables);
        for (key, number) in self.iter() {
            let at = larger.seek(spot(key, self.tables).1, key);
            larger.put(at, key, number);
        }
        larger.count = self.count;
        *self = larger;
    }
}

/// `count` zeros, which are really written. If a page of lazily allocated memory is first read and
/// then written, the page fault stops all threads for a moment.
fn zeros(count: usize) -> Vec<u64> {
    let mut words = black_box(Vec::with_capacity(count));
    words.resize(count, 0);
    words
}

/// Maps `rest` proportionally to a number below `most`.
#[inline]
fn scale(rest: u64, most: usize) -> usize {
    ((u128::from(rest) * most as u128) >> 64) as usize
}

/// A hash whose high bits depend on all bits of the key.
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
    use std::iter;

    use proptest::prelude::*;
    use rustc_hash::FxHashMap;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(
            width in 1_usize..4,
            tables in 1_usize..5,
            keys in prop::collection::vec(prop::collection::vec(0_u64..6, 3), 0..400)
        ) {
            let (mut all, mut twin) = (Tables::with_room_for(0, width, tables), FxHashMap::default());
            for (number, mut key) in (0..).zip(keys) {
                key.truncate(width);
                key[0] = 2 * key[0] + 1;
                prop_assert_eq!(all.number(&key), twin.get(&key).copied());
                prop_assert_eq!(all.contains(&key), twin.contains_key(&key));
                prop_assert_eq!(all.insert(&key, number), !twin.contains_key(&key));
                twin.entry(key).or_insert(number);
            }
            prop_assert_eq!(all.len(), twin.len());
            let listed: FxHashMap<_, _> = all.iter().map(|(key, n)| (key.to_vec(), n)).collect();
            prop_assert_eq!(listed, twin);
        }

        #[test]
        fn many_are_added_as_one_by_one(
            width in 1_usize..7,
            keys in prop::collection::vec(0_u64..300, 0..2000)
        ) {
            let words = keys.iter().flat_map(|&key| (0..width as u64).map(move |at| 2 * (key >> at) + 1));
            let words: Vec<u64> = words.collect();
            let numbers: Vec<u32> = (0..keys.len() as u32).collect();
            let mut tables = [(); 2].map(|()| Tables::with_room_for(0, width, 1));
            let [one, other] = &mut tables;
            let mut new = Vec::new();
            one.tables()[0].insert_all(&words, &numbers, &mut new);
            let both = words.chunks(width).zip(numbers);
            let expected = both.filter(|&(key, number)| other.insert(key, number));
            prop_assert_eq!(new, expected.flat_map(|(key, _)| key.to_vec()).collect::<Vec<_>>());
            let [one, other] = tables.map(|tables| {
                tables.iter().map(|(key, number)| (key.to_vec(), number)).collect::<FxHashMap<_, _>>()
            });
            prop_assert_eq!(one, other);
        }

        #[test]
        fn keys_that_are_changed_keep_their_numbers(
            keys in prop::collection::vec(0_u64..300, 0..200),
            tables in 1_usize..5
        ) {
            let mut all = Tables::with_room_for(0, 1, 2);
            (0..).zip(&keys).for_each(|(number, key)| _ = all.insert(&[2 * key + 1], number));
            let before: Vec<_> = all.iter().map(|(key, number)| (key[0], number)).collect();
            let change = |key: &[u64], words: &mut Vec<u64>| words.extend([key[0] + 2, key[0]]);
            all.change((tables, 2), change, None);
            prop_assert_eq!(all.len(), before.len());
            for (key, number) in before {
                prop_assert_eq!(all.number(&[key + 2, key]), Some(number));
            }
        }
    }

    #[test]
    fn it_is_known_when_a_table_grows() {
        let mut all = Tables::with_room_for(0, 2, 1);
        for number in 0..10_000 {
            let before = all.bytes();
            let expected = all.growth(iter::once(1));
            all.tables()[0].insert_all(&[2 * number + 1, 0], &[0], &mut Vec::new());
            let made = if all.bytes() > before { all.bytes() } else { 0 };
            assert_eq!(made, expected);
        }
    }

    #[test]
    fn many_keys_need_little_room() {
        let mut all = Tables::with_room_for(0, 1, 1);
        (0..100_000).for_each(|number| assert!(all.insert(&[2 * number + 1], 0)));
        assert!((0..100_000).all(|number| all.contains(&[2 * number + 1])));
        assert!(!all.contains(&[200_001]));
        assert!(all.bytes() <= 100_000 * 24);
    }
}
