//! Cuts, in chunks that they share.
//!
//! A cut has an entry for each line, in chunks of [`WIDTH`] lines. A cut shares most of its chunks
//! with the cut of a cause, so equal chunks are skipped wherever two cuts are compared or joined.
//! A chunk also keeps the sum of the hashes of its codes and the sum of the steps of its processes.
//! So the hash of a state, and the size of a configuration, cost one addition for each chunk.

use super::conditions::{Conditions, Entry, Read};
use super::{Code, Condition, Line};

/// Lines in a chunk.
pub(crate) const WIDTH: usize = 8;

/// The chunk in which every line is at its root.
const EMPTY: u32 = 0;

/// A cut: a range of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    from: u32,
    len: u32,
}

impl Cut {
    /// The cut of the empty configuration.
    pub(crate) const START: Cut = Cut { from: 0, len: 0 };
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    hash: u64,
    steps: u32,
}

#[derive(Debug)]
pub(crate) struct Cuts {
    chunks: Vec<[Entry; WIDTH]>,
    sums: Vec<Sums>,
    /// The numbers of the chunks of each cut.
    numbers: Vec<u32>,
}

impl Default for Cuts {
    fn default() -> Self {
        Cuts { chunks: vec![[0; WIDTH]], sums: vec![Sums::default()], numbers: Vec::new() }
    }
}

/// A hash of a line with a code, such that the hashes of several can be added.
fn hash(line: Line, code: Code) -> u64 {
    let mut word = (u64::from(line) << 32 | u64::from(code)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word = (word ^ word >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 32).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 27
}

/// The part of a line with this condition in the hash of a state. It is 0 for the code at the
/// start.
fn share(conditions: &Conditions, line: Line, condition: Condition) -> u64 {
    let (now, start) =
        (conditions.node(condition).code, conditions.node(conditions.root(line)).code);
    match now == start {
        true => 0,
        false => hash(line, now).wrapping_sub(hash(line, start)),
    }
}

impl Cuts {
    #[inline]
    fn numbers(&self, cut: Cut) -> &[u32] {
        &self.numbers[cut.from as usize..(cut.from + cut.len) as usize]
    }

    /// The entry of a line.
    #[inline]
    pub(crate) fn entry(&self, cut: Cut, line: Line) -> Entry {
        match self.numbers(cut).get(line as usize / WIDTH) {
            Some(&chunk) => self.chunks[chunk as usize][line as usize % WIDTH],
            None => 0,
        }
    }

    /// The hash of the state of a cut.
    pub(crate) fn hash(&self, cut: Cut) -> u64 {
        let sums = self.numbers(cut).iter().map(|&chunk| self.sums[chunk as usize].hash);
        sums.fold(0, u64::wrapping_add)
    }

    /// The number of events of a configuration with this cut.
    pub(crate) fn steps(&self, cut: Cut) -> u32 {
        self.numbers(cut).iter().map(|&chunk| self.sums[chunk as usize].steps).sum()
    }

    #[inline]
    fn chunk(&self, cut: Cut, at: usize) -> u32 {
        self.numbers(cut).get(at).copied().unwrap_or(EMPTY)
    }

    /// Is the union of two configurations a configuration? O(chunks) at least, O(log n) for each
    /// line in which they differ.
    pub(crate) fn are_compatible(&self, conditions: &Conditions, a: Cut, b: Cut) -> bool {
        let common = a.len.min(b.len) as usize;
        let (x, y) = (&self.numbers(a)[..common], &self.numbers(b)[..common]);
        let differ = |&at: &usize| x[at] != y[at];
        (0..common).filter(differ).all(|at| {
            let (one, other) = (&self.chunks[x[at] as usize], &self.chunks[y[at] as usize]);
            (0..WIDTH).all(|index| {
                let (p, q) = (one[index], other[index]);
                p == q || self.agree(conditions, (at * WIDTH + index) as Line, (p, a), (q, b))
            })
        })
    }

    /// Does one of two entries of a line come after the other?
    fn agree(
        &self,
        conditions: &Conditions,
        line: Line,
        (p, a): (Entry, Cut),
        (q, b): (Entry, Cut),
    ) -> bool {
        let (x, y) = (conditions.base(line, p), conditions.base(line, q));
        if x == y {
            return true;
        }
        let (dx, dy) = (conditions.node(x).depth, conditions.node(y).depth);
        match dx.cmp(&dy) {
            std::cmp::Ordering::Equal => false,
            std::cmp::Ordering::Less => self.replaces(conditions, (x, p), (y, b)),
            std::cmp::Ordering::Greater => self.replaces(conditions, (y, q), (x, a)),
        }
    }

    /// Does `later`, a condition in the cut `by`, replace `earlier` after all the reads of its
    /// entry?
    fn replaces(
        &self,
        conditions: &Conditions,
        (earlier, entry): (Condition, Entry),
        (later, by): (Condition, Cut),
    ) -> bool {
        let is_in = |&read: &Read| self.contains(conditions, by, read);
        conditions.is_at_or_above(earlier, later) && conditions.reads_of(entry).iter().all(is_in)
    }

    /// Is this event, known by the line of its process and its condition afterwards, in a
    /// configuration?
    #[inline]
    pub(crate) fn contains(&self, conditions: &Conditions, cut: Cut, (line, made): Read) -> bool {
        conditions.is_at_or_above(made, conditions.base(line, self.entry(cut, line)))
    }

    /// The cut of the union of two compatible configurations.
    pub(crate) fn join(&mut self, conditions: &mut Conditions, a: Cut, b: Cut) -> Cut {
        let from = self.numbers.len() as u32;
        let len = a.len.max(b.len);
        for at in 0..len as usize {
            let (one, other) = (self.chunk(a, at), self.chunk(b, at));
            let joined = match (one, other) {
                _ if one == other || other == EMPTY => one,
                (EMPTY, _) => other,
                _ => self.join_chunks(conditions, at, one, other),
            };
            self.numbers.push(joined);
        }
        Cut { from, len }
    }

    fn join_chunks(&mut self, conditions: &mut Conditions, at: usize, one: u32, other: u32) -> u32 {
        let (x, y) = (self.chunks[one as usize], self.chunks[other as usize]);
        let mut joined = x;
        for index in 0..WIDTH {
            if x[index] != y[index] {
                joined[index] = last(conditions, (at * WIDTH + index) as Line, x[index], y[index]);
            }
        }
        match joined {
            _ if joined == x => one,
            _ if joined == y => other,
            _ => self.add_chunk(conditions, at, joined),
        }
    }

    fn add_chunk(&mut self, conditions: &Conditions, at: usize, entries: [Entry; WIDTH]) -> u32 {
        let mut sums = Sums::default();
        for (index, &entry) in entries.iter().enumerate() {
            if entry != 0 {
                let line = (at * WIDTH + index) as Line;
                let base = conditions.base(line, entry);
                sums.hash = sums.hash.wrapping_add(share(conditions, line, base));
                sums.steps += conditions.node(base).steps;
            }
        }
        self.chunks.push(entries);
        self.sums.push(sums);
        self.chunks.len() as u32 - 1
    }

    /// The cut with these entries replaced, which are in the order of lines.
    pub(crate) fn with(
        &mut self,
        conditions: &Conditions,
        cut: Cut,
        entries: &[(Line, Entry)],
    ) -> Cut {
        let most = entries.last().map_or(0, |&(line, _)| line as usize / WIDTH + 1);
        let (from, len) = (self.numbers.len() as u32, cut.len.max(most as u32));
        let mut rest = entries;
        for at in 0..len as usize {
            let chunk = self.chunk(cut, at);
            let count = rest.iter().take_while(|&&(line, _)| line as usize / WIDTH == at).count();
            let (here, later) = rest.split_at(count);
            rest = later;
            let number = match here {
                [] => chunk,
                _ => {
                    let mut entries = self.chunks[chunk as usize];
                    here.iter().for_each(|&(line, entry)| entries[line as usize % WIDTH] = entry);
                    self.add_chunk(conditions, at, entries)
                }
            };
            self.numbers.push(number);
        }
        Cut { from, len }
    }

    /// The hash of the state that a cut would have with these codes.
    pub(crate) fn hash_with(
        &self,
        conditions: &Conditions,
        cut: Cut,
        codes: impl Iterator<Item = (Line, Code)>,
    ) -> u64 {
        codes.fold(self.hash(cut), |sum, (line, code)| {
            let now = conditions.base(line, self.entry(cut, line));
            let before = conditions.node(now).code;
            match before == code {
                true => sum,
                false => sum.wrapping_add(hash(line, code)).wrapping_sub(hash(line, before)),
            }
        })
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.capacity() * (4 * WIDTH + size_of::<Sums>()) + self.numbers.capacity() * 4
    }
}

/// The later one of two entries of a line that agree; of one condition, with the reads of both.
fn last(conditions: &mut Conditions, line: Line, p: Entry, q: Entry) -> Entry {
    let (x, y) = (conditions.base(line, p), conditions.base(line, q));
    if x != y {
        return if conditions.node(x).depth > conditions.node(y).depth { p } else { q };
    }
    let mut both = conditions.reads_of(p).to_vec();
    let before = both.clone();
    for &(reader, read) in conditions.reads_of(q) {
        match both.binary_search_by_key(&reader, |&(reader, _)| reader) {
            Ok(at) => {
                let is_later = conditions.node(read).depth > conditions.node(both[at].1).depth;
                if is_later {
                    both[at].1 = read;
                }
            }
            Err(at) => both.insert(at, (reader, read)),
        }
    }
    match both {
        _ if both == before => p,
        _ if both[..] == *conditions.reads_of(q) => q,
        _ => conditions.seen(x, both),
    }
}
