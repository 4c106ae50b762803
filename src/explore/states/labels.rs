//! What transitions touch, and what follows a state.
//!
//! A *label* is a process with what an action of it touches, or with what its operation watches.
//! Stateful reductions ask, of a state s on the stack and an operation of process t there: which
//! processes come to act later in a way that races with it? That is a question about A(s'), the set
//! of labels that occur after the successor s'. This set does not depend on how s' was reached.
//!
//! **Summaries.** The paper traverses the stored transitions from s' each time it asks. Instead the
//! set is computed once, when the search leaves a state for good: A(s) is the union, over its
//! transitions, of the label and A(s'). Distinct sets are few, so they are kept once and their
//! unions remembered. A state whose successors are not all explored (it is on the stack, or leads
//! back to the stack) has no summary yet.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::processes::Processes;
use crate::model::{ProcessId, Touch};

/// A process and what it touches or watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LabelId(pub u32);

impl LabelId {
    /// The label that is used where labels do not matter.
    pub const UNUSED: LabelId = LabelId(u32::MAX);
}

/// The touches of a label, in a fixed order.
pub type Touches = SmallVec<[Touch; 2]>;

/// The labels met so far.
#[derive(Default)]
pub struct Labels {
    ids: FxHashMap<(ProcessId, Touches), LabelId>,
    labels: Vec<(ProcessId, Touches)>,
}

impl Labels {
    /// The label; `touches` in any order.
    pub fn intern(&mut self, process: ProcessId, mut touches: Touches) -> LabelId {
        touches.sort_unstable();
        touches.dedup();
        let labels = &mut self.labels;
        *self.ids.entry((process, touches)).or_insert_with_key(|label| {
            labels.push(label.clone());
            LabelId(labels.len() as u32 - 1)
        })
    }

    /// Its process.
    pub fn process(&self, label: LabelId) -> ProcessId {
        self.labels[label.0 as usize].0
    }

    /// Is it certain that nothing races with it?
    pub fn is_inert(&self, label: LabelId) -> bool {
        self.labels[label.0 as usize].1.is_empty()
    }

    /// If `later`, an action of another process, came before what watches `first`, might the effect
    /// be different?
    pub fn race(&self, first: LabelId, later: LabelId) -> bool {
        let ((p, watched), (q, touched)) =
            (&self.labels[first.0 as usize], &self.labels[later.0 as usize]);
        p != q && watched.iter().any(|watch| touched.iter().any(|&touch| watch.races(touch)))
    }
}

/// A set of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SummaryId(pub u32);

impl SummaryId {
    /// ∅
    pub const NONE: SummaryId = SummaryId(0);
}

/// The sets of labels met so far, each kept once.
pub struct Summaries {
    ids: HashTable<u32>,
    /// As bits.
    sets: Vec<Box<[u64]>>,
    /// Unions computed before: of two sets, and of a set and a label.
    unions: FxHashMap<(SummaryId, SummaryId), SummaryId>,
    extended: FxHashMap<(SummaryId, LabelId), SummaryId>,
    rivals: FxHashMap<(LabelId, SummaryId), Processes>,
    scratch: Vec<u64>,
}

impl Default for Summaries {
    /// Only ∅.
    fn default() -> Summaries {
        let mut summaries = Summaries {
            ids: HashTable::new(),
            sets: Vec::new(),
            unions: FxHashMap::default(),
            extended: FxHashMap::default(),
            rivals: FxHashMap::default(),
            scratch: Vec::new(),
        };
        summaries.intern();
        summaries
    }
}

impl Summaries {
    fn intern(&mut self) -> SummaryId {
        while self.scratch.last() == Some(&0) {
            self.scratch.pop();
        }
        let (scratch, sets) = (&self.scratch, &self.sets);
        let hash = FxBuildHasher.hash_one(&scratch[..]);
        if let Some(&id) = self.ids.find(hash, |&id| *sets[id as usize] == scratch[..]) {
            return SummaryId(id);
        }
        let id = sets.len() as u32;
        self.sets.push(self.scratch.as_slice().into());
        let sets = &self.sets;
        self.ids.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(&sets[id as usize][..]));
        SummaryId(id)
    }

    /// a ∪ b. O(1) after the first time.
    pub fn union(&mut self, a: SummaryId, b: SummaryId) -> SummaryId {
        let key = if a.0 <= b.0 { (a, b) } else { (b, a) };
        if a == b || key.0 == SummaryId::NONE {
            return key.1;
        }
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let (one, other) = (&self.sets[a.0 as usize], &self.sets[b.0 as usize]);
        self.scratch.clear();
        self.scratch.resize(one.len().max(other.len()), 0);
        for set in [one, other] {
            self.scratch.iter_mut().zip(set).for_each(|(word, more)| *word |= more);
        }
        let union = self.intern();
        self.unions.insert(key, union);
        union
    }

    /// set ∪ {label}. O(1) after the first time.
    pub fn with(&mut self, set: SummaryId, label: LabelId) -> SummaryId {
        if let Some(&known) = self.extended.get(&(set, label)) {
            return known;
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.sets[set.0 as usize]);
        self.add(label);
        let with = self.intern();
        self.extended.insert((set, label), with);
        with
    }

    /// The processes of those in `set` that race with what watches `first`. O(1) after the first
    /// time.
    pub fn rivals(&mut self, labels: &Labels, first: LabelId, set: SummaryId) -> &Processes {
        let of_set = &self.sets[set.0 as usize];
        self.rivals.entry((first, set)).or_insert_with(|| {
            let racing = members(of_set).filter(|&later| labels.race(first, later));
            racing.map(|later| labels.process(later)).collect()
        })
    }

    /// The set of these.
    pub fn of(&mut self, labels: &[LabelId]) -> SummaryId {
        self.scratch.clear();
        labels.iter().for_each(|&label| self.add(label));
        self.intern()
    }

    /// Adds one to the set at hand.
    fn add(&mut self, label: LabelId) {
        let word = label.0 as usize / 64;
        if self.scratch.len() <= word {
            self.scratch.resize(word + 1, 0);
        }
        self.scratch[word] |= 1 << (label.0 % 64);
    }

    /// Bytes in use, about.
    pub fn bytes(&self) -> usize {
        let sets: usize = self.sets.iter().map(|set| set.len() * 8 + 16).sum();
        sets + self.ids.capacity() * 5
            + (self.unions.capacity() + self.extended.capacity()) * 13
            + self.rivals.capacity() * 41
    }
}

fn members(set: &[u64]) -> impl Iterator<Item = LabelId> {
    let bits = set.iter().enumerate().flat_map(|(index, &word)| {
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index as u32 * 64 + bit)
    });
    bits.map(LabelId)
}
