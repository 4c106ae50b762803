//! Labels of transitions, and summaries of the labels that occur after a state.
//!
//! A *label* is a process together with the accesses of one of its actions (what it touches), or
//! with the accesses that could race with its next operation (what it watches). For a state s on
//! the stack and an operation of process t there, stateful reductions need the processes that later
//! make an action in race with the operation. They follow from A(s'), the set of labels that occur
//! after the successor s'. This set does not depend on how s' was reached.
//!
//! **Summaries.** The paper traverses the stored transitions from s' each time it asks. Here the
//! set is computed once, when the search leaves a state for good: A(s) is the union, over its
//! transitions, of the label and A(s'). There are few distinct sets, so each is stored once, and
//! unions are cached. A state whose successors are not all explored (it is on the stack, or leads
//! back to the stack) has no summary yet.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::processes::Processes;
use crate::model::{ProcessId, Touch};

/// The number of a label: a process with accesses that it makes or watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LabelId(pub(crate) u32);

impl LabelId {
    /// Stands for a label where labels are not needed.
    pub(crate) const UNUSED: LabelId = LabelId(u32::MAX);
}

/// The accesses of a label, sorted.
pub(crate) type Touches = SmallVec<[Touch; 2]>;

/// The labels so far, each once.
#[derive(Default)]
pub(crate) struct Labels {
    ids: FxHashMap<(ProcessId, Touches), LabelId>,
    labels: Vec<(ProcessId, Touches)>,
}

impl Labels {
    /// The number of a label. `touches` may be in any order.
    pub(crate) fn intern(&mut self, process: ProcessId, mut touches: Touches) -> LabelId {
        touches.sort_unstable();
        touches.dedup();
        let labels = &mut self.labels;
        *self.ids.entry((process, touches)).or_insert_with_key(|label| {
            labels.push(label.clone());
            LabelId(labels.len() as u32 - 1)
        })
    }

    /// The process of a label.
    pub(crate) fn process(&self, label: LabelId) -> ProcessId {
        self.labels[label.0 as usize].0
    }

    /// Has the label no accesses, so that nothing races with it?
    pub(crate) fn is_inert(&self, label: LabelId) -> bool {
        self.labels[label.0 as usize].1.is_empty()
    }

    /// Would the operation with label `first` perhaps have another effect if `later`, an action of
    /// another process, came before it?
    pub(crate) fn race(&self, first: LabelId, later: LabelId) -> bool {
        let ((p, watched), (q, touched)) =
            (&self.labels[first.0 as usize], &self.labels[later.0 as usize]);
        p != q && watched.iter().any(|watch| touched.iter().any(|&touch| watch.races(touch)))
    }
}

/// The number of a set of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SummaryId(pub(crate) u32);

impl SummaryId {
    /// ∅
    pub(crate) const NONE: SummaryId = SummaryId(0);
}

/// The sets of labels so far, each once.
pub(crate) struct Summaries {
    ids: HashTable<u32>,
    /// The sets as bit vectors.
    sets: Vec<Box<[u64]>>,
    /// Cached unions: of two sets, and of a set and a label.
    unions: FxHashMap<(SummaryId, SummaryId), SummaryId>,
    extended: FxHashMap<(SummaryId, LabelId), SummaryId>,
    rivals: FxHashMap<(LabelId, SummaryId), Processes>,
    scratch: Vec<u64>,
}

impl Default for Summaries {
    /// Contains only ∅.
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
    pub(crate) fn union(&mut self, a: SummaryId, b: SummaryId) -> SummaryId {
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
    pub(crate) fn with(&mut self, set: SummaryId, label: LabelId) -> SummaryId {
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

    /// The processes of the labels in `set` that race with `first`. O(1) after the first time.
    pub(crate) fn rivals(&mut self, labels: &Labels, first: LabelId, set: SummaryId) -> &Processes {
        let of_set = &self.sets[set.0 as usize];
        self.rivals.entry((first, set)).or_insert_with(|| {
            let racing = members(of_set).filter(|&later| labels.race(first, later));
            racing.map(|later| labels.process(later)).collect()
        })
    }

    /// The set of these labels.
    pub(crate) fn of(&mut self, labels: &[LabelId]) -> SummaryId {
        self.scratch.clear();
        labels.iter().for_each(|&label| self.add(label));
        self.intern()
    }

    /// Adds a label to the set in `scratch`.
    fn add(&mut self, label: LabelId) {
        let word = label.0 as usize / 64;
        if self.scratch.len() <= word {
            self.scratch.resize(word + 1, 0);
        }
        self.scratch[word] |= 1 << (label.0 % 64);
    }

    /// Bytes in use, about.
    pub(crate) fn bytes(&self) -> usize {
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
