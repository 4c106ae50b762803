//! A worker's search of a piece, on a recorded tree. It gives away what is nearest to its start, at
//! the same times as [`crew::search`](mazurka::explore::crew::search) does.

use std::collections::{BTreeMap, HashMap};

use mazurka::explore::crew::{Assignment, Report};
use mazurka::explore::dispatcher::{Answer, SPLIT_AFTER};
use mazurka::explore::{Branch, Outcome, Place, Stats};

use super::simulation::{Stretch, Workers};

use super::tree::{Costs, Tree};

/// The most reversals in a branch, as in `parsimonious`.
const MOST_SHARED: u32 = 64;
/// The transitions between two looks whether to split, as in `dispatcher::pace`.
const LOOK: u64 = 1 << 10;
/// A piece makes at least so many transitions between splits for each action of its prefix, as in
/// `crew::search`.
const TRANSITIONS_PER_PREFIX_ACTION: u64 = 8;

/// Workers that go through a recorded tree.
pub struct Recorded<'t> {
    tree: &'t Tree,
    costs: Costs,
    /// The recorded pieces at each place.
    pieces: HashMap<Place, Vec<u32>>,
}

impl Recorded<'_> {
    /// `slowness`: what a transition takes, relative to what was measured.
    pub fn new(tree: &Tree, slowness: f64) -> Recorded<'_> {
        let Costs { transition, begin, .. } = tree.costs;
        let (transition, begin) = (transition * slowness, begin * slowness);
        let costs = Costs { transition, begin, ..tree.costs };
        Recorded { tree, costs, pieces: HashMap::from([(Place::default(), vec![0])]) }
    }
}

impl Workers for Recorded<'_> {
    type Search = Running;

    fn begin(&mut self, piece: Assignment) -> Running {
        Running::new(self.tree, &self.pieces[&piece.place], piece)
    }

    fn go_on(&mut self, search: &mut Running, asked: u32) -> Stretch {
        let (tree, mut reports) = (self.tree, Vec::new());
        let mut seconds = if search.step == 0 { self.costs.begin } else { 0.0 };
        if search.step > 0 {
            while let Some(ids) = search.look(tree, asked.saturating_sub(reports.len() as u32)) {
                let place = search.piece.place.given(search.given - 1);
                self.pieces.insert(place.clone(), ids);
                reports.push(Report::Given(place, Branch::default(), search.step));
                seconds += self.costs.write;
            }
        }
        let made = search.go_on(tree);
        seconds += made as f64 * self.costs.transition;
        let done = search.is_done.then(|| {
            Report::Done(
                search.piece.place.clone(),
                search.given,
                Outcome::from(search.stats.clone()),
            )
        });
        Stretch { seconds, reports, done }
    }

    fn stats(search: &Running) -> Stats {
        search.stats.clone()
    }

    fn reading(&mut self, report: &Report) -> f64 {
        if matches!(report, Report::Given(..)) { self.costs.read } else { 0.0 }
    }

    fn writing(&mut self, answer: &Answer) -> f64 {
        if matches!(answer, Answer::Search(_)) { self.costs.write } else { 0.0 }
    }
}

/// A piece that is searched.
pub struct Running {
    piece: Assignment,
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
    given: u32,
    /// Its figures. `traces` counts recorded pieces.
    stats: Stats,
    is_done: bool,
}

impl Running {
    /// The piece that consists of these recorded pieces.
    fn new(tree: &Tree, ids: &[u32], piece: Assignment) -> Running {
        let prefix = u64::from(tree.pieces[ids[0] as usize].prefix);
        let grain = LOOK.max(TRANSITIONS_PER_PREFIX_ACTION * prefix);
        let mut running = Running {
            grain,
            step: 0,
            next: 0,
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
        running.next = running.next_look();
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
    fn go_on(&mut self, tree: &Tree) -> u64 {
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

    /// Is a branch to be given away now? Returns the recorded pieces of which it consists.
    fn look(&mut self, tree: &Tree, asked: u32) -> Option<Vec<u32>> {
        let is_wanted = match self.known() {
            Some(step) => step == self.step,
            None => asked > 0 || self.step - self.last >= SPLIT_AFTER,
        };
        let ids = is_wanted.then(|| self.split(tree)).flatten();
        if ids.is_some() {
            self.given += 1;
            self.last = self.step;
        }
        self.next = self.next_look();
        ids
    }

    /// After how many steps it was split next when another worker had it.
    fn known(&self) -> Option<u64> {
        self.piece.splits.get(self.given as usize).copied()
    }

    fn next_look(&self) -> u64 {
        let next = self.step + self.grain;
        self.known().map_or(next, |known| known.clamp(self.step, next))
    }

    /// Takes out a branch: recorded pieces with the shortest prefix, which is the same for all.
    fn split(&mut self, tree: &Tree) -> Option<Vec<u32>> {
        let (&(prefix, _), _) = self.pending.first_key_value()?;
        let (mut ids, mut wanted) = (Vec::new(), 0);
        while let Some(entry) = self.pending.first_entry()
            && entry.key().0 == prefix
        {
            // Other explorers give away all that is left there, which is a branch of its own.
            wanted += match tree.pieces[*entry.get() as usize].wanted {
                0 => MOST_SHARED,
                reversals => reversals,
            };
            if wanted > MOST_SHARED && !ids.is_empty() {
                break;
            }
            ids.push(entry.remove());
        }
        Some(ids)
    }
}
