//! A set of keys of some words each, with a number for each, in open tables.
//!
//! A key lies in the table itself, so to ask for it is to look at one place of memory, or at two
//! neighbours. A place is free if its first word is 0; so the first word of no key is. Keys lie in
//! the order of their hashes, as far as there is room (linear probing: Knuth, *The art of computer
//! programming*, volume 3, section 6.4). A table that grows is copied from its beginning to its
//! end, and written in nearly the same order.
//!
//! There may be several tables, each for a range of hashes. Then several threads can add keys, each
//! to other tables.

use std::hint::black_box;
use std::mem;

use rayon::ThreadPool;
use rayon::prelude::*;

/// Keys, each once, with its number.
#[derive(Debug)]
pub struct Tables(Vec<Table>);

impl Tables {
    /// So many empty tables for so many keys, and more, of so many words.
    pub fn with_room_for(count: usize, width: usize, tables: usize) -> Tables {
        let places = places_for(count / tables);
        Tables((0..tables).map(|_| Table::with_places(width, places, tables)).collect())
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|table| table.count).sum()
    }

    /// Is it there?
    #[inline]
    pub fn contains(&self, key: &[u64]) -> bool {
        let (table, rest) = spot(key, self.0.len());
        let table = &self.0[table];
        table.words[table.seek(rest, key)] != 0
    }

    /// The number of a key, if it is there.
    pub fn number(&self, key: &[u64]) -> Option<u32> {
        let (table, rest) = spot(key, self.0.len());
        let table = &self.0[table];
        let at = table.seek(rest, key);
        (table.words[at] != 0).then(|| table.numbers[at / table.width])
    }

    /// Adds a key, with this number. Is it new?
    #[inline]
    pub fn insert(&mut self, key: &[u64], number: u32) -> bool {
        let (table, rest) = spot(key, self.0.len());
        self.0[table].insert(rest, key, number)
    }

    /// All keys, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&[u64], u32)> {
        self.0.iter().flat_map(Table::iter)
    }

    /// Makes them so many tables with other keys of so many words: what `change` appends for each
    /// key. What is done with is dropped at once, so that all keys are there little more than once.
    pub fn change(
        &mut self,
        (tables, width): (usize, usize),
        change: impl Fn(&[u64], &mut Vec<u64>) + Sync,
        threads: Option<&ThreadPool>,
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

    /// Those who have the keys.
    pub fn tables(&mut self) -> &mut [Table] {
        &mut self.0
    }

    /// The bytes that are allocated before `added` keys are in each of the tables, besides those in
    /// use.
    pub fn growth(&self, added: impl Iterator<Item = usize>) -> usize {
        self.0.iter().zip(added).map(|(table, added)| table.growth(added)).sum()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(Table::bytes).sum()
    }
}

/// Keys, one behind the other, with their numbers.
pub type List = (Vec<u64>, Vec<u32>);

/// Does some work, on several threads if there are any.
pub fn each<T: Send>(
    threads: Option<&ThreadPool>,
    work: &mut [T],
    each: impl Fn(&mut T) + Send + Sync,
) {
    match threads {
        Some(threads) => threads.install(|| work.par_iter_mut().for_each(each)),
        None => work.iter_mut().for_each(each),
    }
}

/// The number of the table where a key belongs, and what says where in the table.
#[inline]
fn spot(key: &[u64], tables: usize) -> (usize, u64) {
    let spread = u128::from(hash(key)) * tables as u128;
    ((spread >> 64) as usize, spread as u64)
}

/// The number of the table where a key belongs, of so many.
#[inline]
pub fn table_of(key: &[u64], tables: usize) -> usize {
    spot(key, tables).0
}

/// The keys with some hashes.
#[derive(Debug)]
pub struct Table {
    /// Words of a key.
    width: usize,
    /// How many tables there are.
    tables: usize,
    places: usize,
    count: usize,
    words: Vec<u64>,
    numbers: Vec<u32>,
}

const FIRST_PLACES: usize = 64;

/// So many places a table for so many keys has at first.
fn places_for(count: usize) -> usize {
    FIRST_PLACES.max(count / 2 * 3)
}

/// So many keys are looked for at a time.
const BLOCK: usize = 32;

impl Table {
    fn with_places(width: usize, places: usize, tables: usize) -> Table {
        let (words, numbers) = (zeros(width * places), vec![0; places]);
        Table { width, tables, places, count: 0, words, numbers }
    }

    /// Adds keys that belong here, one behind the other, with their numbers. Those that are new are
    /// appended to `new`, in their order.
    pub fn insert_all(&mut self, keys: &[u64], numbers: &[u32], new: &mut Vec<u64>) {
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

    /// The same, for keys of W words. Where they are to lie is looked at for some of them before
    /// the first one is added, so that one need not wait for the memory of the one before.
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

    /// Three quarters of the places are taken at most.
    #[inline]
    fn has_room_for(&self, more: usize) -> bool {
        4 * (self.count + more) <= 3 * self.places
    }

    fn iter(&self) -> impl Iterator<Item = (&[u64], u32)> {
        let keys = self.words.chunks_exact(self.width).zip(self.numbers.iter().copied());
        keys.filter(|(key, _)| key[0] != 0)
    }

    /// For each of so many tables, the changed keys, of so many words, that belong there.
    fn sorted(
        self,
        (tables, width): (usize, usize),
        change: impl Fn(&[u64], &mut Vec<u64>),
    ) -> Vec<List> {
        // Seldom more, because hashes are spread evenly.
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

    /// The size of the largest table that is made before `added` keys are here. The present one is
    /// there until it is full.
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

    /// Where the search for a key begins.
    #[inline]
    fn start(&self, rest: u64) -> usize {
        scale(rest, self.places) * self.width
    }

    /// Where the key is, or would be.
    #[inline]
    fn seek(&self, rest: u64, key: &[u64]) -> usize {
        debug_assert!(key.len() == self.width && key[0] != 0, "{key:?}");
        let mut at = self.start(rest);
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
        let mut larger = Table::with_places(self.width, self.places / 2 * 3, self.tables);
        for (key, number) in self.iter() {
            let at = larger.seek(spot(key, self.tables).1, key);
            larger.put(at, key, number);
        }
        larger.count = self.count;
        *self = larger;
    }
}

/// So many zeros, all of which are written. To read memory first that was only promised, and then
/// to write it, would stop all threads for a moment.
fn zeros(count: usize) -> Vec<u64> {
    let mut words = black_box(Vec::with_capacity(count));
    words.resize(count, 0);
    words
}

/// A number below `most`, in proportion.
#[inline]
fn scale(rest: u64, most: usize) -> usize {
    ((u128::from(rest) * most as u128) >> 64) as usize
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
