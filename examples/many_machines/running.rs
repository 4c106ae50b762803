//! A worker's search of a piece, on a recorded tree. It gives away what is nearest to its start, at
//! the same times as [`crew::search`](mazurka::explore::crew::search) does.

use std::collections::BTreeMap;

use mazurka::explore::Stats;
use mazurka::explore::crew::Assignment;
use mazurka::explore::dispatcher::SPLIT_AFTER;

use crate::tree::Tree;

/// The most reversals in a branch, as in `parsimonious`.
const MOST_SHARED: u32 = 64;
/// The transitions between two looks whether to split, as in `dispatcher::pace`.
const LOOK: u64 = 1 << 10;
/// A piece makes at least so many transitions between splits for each action of its prefix, as in
/// `crew::search`.
const TRANSITIONS_PER_PREFIX_ACTION: u64 = 8;

/// A piece that is searched.
pub struct Running {
    pub piece: Assignment,
    /// Transitions between two looks whether to split.
    grain: u64,
    /// Transitions so far, at the next look, and when the piece was split last.
    step: u64,
    next: u64,
    last: u64,
    /// The recorded piece in which it is, and the transitions made in it.
    at: u32,
    offset: u32,
    /// The number of its children that were reached.
    reached: usize,
    /// The recorded pieces that are left, by the length of their prefix, and then in the order in
    /// which they were reached.
    pending: BTreeMap<(u32, u64), u32>,
    next_key: u64,
    pub given: u32,
    /// Its figures. `traces` counts recorded pieces.
    pub stats: Stats,
    pub is_done: bool,
}

impl Running {
    /// The piece that consists of these recorded pieces.
    pub fn new(tree: &Tree, piece: Assignment, ids: &[u32]) -> Running {
        let prefix = u64::from(tree.pieces[ids[0] as usize].prefix);
        let grain = LOOK.max(TRANSITIONS_PER_PREFIX_ACTION * prefix);
        let mut running = Running {
            grain,
            step: 0,
            next: piece.splits.first().copied().unwrap_or(grain),
            piece,
            last: 0,
            at: 0,
            offset: 0,
            reached: 0,
            pending: BTreeMap::new(),
            next_key: 0,
            given: 0,
            stats: Stats::default(),
            is_done: false,
        };
        ids.iter().for_each(|&id| running.add(tree, id));
        running.descend();
        running
    }

    fn add(&mut self, tree: &Tree, id: u32) {
        let key = (tree.pieces[id as usize].prefix, self.next_key);
        self.pending.insert(key, id);
        self.next_key += 1;
    }

    /// Goes on with the recorded piece farthest from the start; returns false if none is left.
    fn descend(&mut self) -> bool {
        let Some((_, next)) = self.pending.pop_last() else { return false };
        (self.at, self.offset, self.reached) = (next, 0, 0);
        self.stats.traces += 1;
        true
    }

    /// Makes the transitions up to the next look, or to the end. Returns their number.
    pub fn go_on(&mut self, tree: &Tree) -> u64 {
        let begin = self.step;
        loop {
            let piece = &tree.pieces[self.at as usize];
            while let Some(&(at, child)) = piece.given.get(self.reached)
                && at <= self.offset
            {
                self.add(tree, child);
                self.reached += 1;
            }
            let end = piece.given.get(self.reached).map_or(piece.transitions, |(at, _)| *at);
            let step = u64::from(end - self.offset).min(self.next - self.step);
            self.step += step;
            self.offset += step as u32;
            self.stats.transitions += step;
            let is_end = self.offset == piece.transitions && self.reached == piece.given.len();
            self.is_done = is_end && !self.descend();
            if self.is_done || self.step == self.next {
                return self.step - begin;
            }
        }
    }

    /// A look whether to split. Returns the recorded pieces that are given away, as one branch.
    pub fn look(&mut self, tree: &Tree, asked: u32) -> Option<Vec<u32>> {
        self.next = self.step + self.grain;
        let is_known = self.piece.splits.len() > self.given as usize;
        if !is_known && asked == 0 && self.step - self.last < SPLIT_AFTER {
            return None;
        }
        let ids = self.split(tree)?;
        self.given += 1;
        self.last = self.step;
        match self.piece.splits.get(self.given as usize) {
            Some(&next) => self.next = next,
            None if asked > 1 => self.next = self.step + 1,
            None => {}
        }
        Some(ids)
    }

    /// The number of the step after which it is now.
    pub fn now(&self) -> u64 {
        self.step
    }

    /// Takes out a branch: recorded pieces with the shortest prefix, which is the same for all.
    fn split(&mut self, tree: &Tree) -> Option<Vec<u32>> {
        let (&(prefix, _), _) = self.pending.first_key_value()?;
        let (mut ids, mut wanted) = (Vec::new(), 0);
        while let Some(entry) = self.pending.first_entry()
            && entry.key().0 == prefix
        {
            wanted += tree.pieces[*entry.get() as usize].wanted;
            if wanted > MOST_SHARED && !ids.is_empty() {
                break;
            }
            ids.push(entry.remove());
        }
        Some(ids)
    }
}
