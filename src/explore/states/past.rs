//! The memory about states that the search has left: which transitions can come after them.
//!
//! Each stored state has a mark. It is on the stack; or *open*: it was left but leads back to a
//! state on the stack, so not everything after it is explored yet; or *closed*. States of one
//! strongly connected component are closed together, when the search leaves the first of them
//! (Tarjan, SIAM J. Comput. 1972; `low` is the lowest place on the stack that a state is known to
//! lead to). Invariant: a state that leads to a place on the stack is on the stack or open.
//!
//! The transitions after a closed state are stored as a summary, or found by a traversal of the
//! stored transitions, as in the paper. For an open state they are not all known yet.

use super::labels::{LabelId, Labels, Summaries, SummaryId};
use super::processes::Processes;
use super::settings::{Stateful, Switch};
use super::store::StateId;
use crate::model::Action;

/// A stored transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) action: Action,
    /// The label of what it touched.
    pub(crate) label: LabelId,
    /// The state that it led to.
    pub(crate) to: StateId,
}

/// The status of a stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It is on the stack, at this place.
    OnStack(u32),
    /// It was left, but leads to this place of the stack.
    Open(u32),
    /// Everything after it is explored. This is the summary, if summaries are kept.
    Closed(SummaryId),
}

/// How much a search remembers about states that it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Only the marks.
    Marks,
    /// A summary of the transitions after each state.
    Summaries,
    /// Every transition.
    Transitions,
}

impl Memory {
    /// The memory for a reduction that needs the transitions after a state.
    pub(crate) fn of(settings: Stateful) -> Memory {
        match settings.has(Switch::Summaries) {
            true => Memory::Summaries,
            false => Memory::Transitions,
        }
    }
}

/// How to traverse stored transitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traversal<'f> {
    /// Take each transition once, instead of every path.
    pub(crate) once: bool,
    /// End when all of these are found.
    pub(crate) until_all: Option<&'f Processes>,
    /// End when a process is found that is not among these.
    pub(crate) until_outside: Option<&'f Processes>,
}

/// The memory about states that were left.
pub(crate) struct Past {
    memory: Memory,
    marks: Vec<Mark>,
    /// The open states, in the order in which they were left.
    open: Vec<StateId>,
    summaries: Summaries,
    edges: Vec<Edge>,
    /// For each state that was left, the range of its edges.
    ranges: Vec<(u32, u32)>,
    /// For each state, the number of the last traversal that has visited it.
    visited_by: Vec<u32>,
    traversals: u32,
    /// Scratch space: the labels that a traversal has found.
    found: Vec<LabelId>,
}

impl Past {
    /// An empty memory.
    pub(crate) fn new(memory: Memory) -> Past {
        Past {
            memory,
            marks: Vec::new(),
            open: Vec::new(),
            summaries: Summaries::default(),
            edges: Vec::new(),
            ranges: Vec::new(),
            visited_by: Vec::new(),
            traversals: 0,
            found: Vec::new(),
        }
    }

    /// How much it remembers.
    pub(crate) fn memory(&self) -> Memory {
        self.memory
    }

    /// Records that a new state, with the next number, is pushed at this place of the stack.
    pub(crate) fn push(&mut self, state: StateId, place: usize) {
        assert_eq!(self.marks.len(), state.index(), "states are numbered as they come");
        self.marks.push(Mark::OnStack(place as u32));
        if self.memory == Memory::Transitions {
            self.ranges.push((0, 0));
            self.visited_by.push(0);
        }
    }

    /// The status of a stored state.
    pub(crate) fn mark(&self, state: StateId) -> Mark {
        self.marks[state.index()]
    }

    /// The number of open states.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    /// set ∪ {label}; `set` itself if no summaries are kept, or if nothing races with the label.
    pub(crate) fn with(&mut self, set: SummaryId, labels: &Labels, label: LabelId) -> SummaryId {
        match self.memory {
            Memory::Summaries if !labels.is_inert(label) => self.summaries.with(set, label),
            _ => set,
        }
    }

    /// a ∪ b
    pub(crate) fn union(&mut self, a: SummaryId, b: SummaryId) -> SummaryId {
        self.summaries.union(a, b)
    }

    /// Records that the search leaves `state`, which is at `place` of the stack. `low` is the
    /// lowest place that it leads to; `open` is the number of open states when it was pushed.
    pub(crate) fn leave(
        &mut self,
        state: StateId,
        place: usize,
        low: u32,
        open: usize,
        after: SummaryId,
    ) {
        if (low as usize) < place {
            self.marks[state.index()] = Mark::Open(low);
            self.open.push(state);
            return;
        }
        self.marks[state.index()] = Mark::Closed(after);
        for closed in self.open.drain(open..) {
            self.marks[closed.index()] = Mark::Closed(after);
        }
    }

    /// Stores the transitions of a state that the search leaves, if transitions are kept.
    pub(crate) fn keep(&mut self, state: StateId, edges: &[Edge]) {
        if self.memory == Memory::Transitions {
            let from = self.edges.len() as u32;
            self.edges.extend_from_slice(edges);
            self.ranges[state.index()] = (from, self.edges.len() as u32);
        }
    }

    /// The stored transitions of a state.
    pub(crate) fn edges(&self, state: StateId) -> &[Edge] {
        let (from, to) = self.ranges[state.index()];
        &self.edges[from as usize..to as usize]
    }

    /// Adds to `found` the processes with a label after `state` that races with `first`. Returns
    /// false if the transitions after `state` are not all known yet.
    pub(crate) fn rivals_after(
        &mut self,
        labels: &Labels,
        first: LabelId,
        state: StateId,
        how: Traversal<'_>,
        found: &mut Processes,
    ) -> bool {
        if self.memory == Memory::Summaries {
            let Mark::Closed(after) = self.mark(state) else { return false };
            found.unite(self.summaries.rivals(labels, first, after));
            return true;
        }
        let mut all_known = true;
        self.traverse(state, how.once, |edge| {
            all_known &= edge.is_some();
            if let Some(edge) = edge
                && labels.race(first, edge.label)
            {
                found.insert(labels.process(edge.label));
            }
            let has_all = how.until_all.is_some_and(|all| all.is_subset(found));
            let is_outside = how.until_outside.is_some_and(|safe| !found.is_subset(safe));
            all_known && !has_all && !is_outside
        });
        all_known
    }

    /// The set of all labels after `state`; `None` if they are not all known yet.
    pub(crate) fn after(&mut self, state: StateId, once: bool) -> Option<SummaryId> {
        if self.memory == Memory::Summaries {
            let Mark::Closed(after) = self.mark(state) else { return None };
            return Some(after);
        }
        let (mut all_known, mut found) = (true, std::mem::take(&mut self.found));
        found.clear();
        self.traverse(state, once, |edge| {
            all_known &= edge.is_some();
            found.extend(edge.map(|edge| edge.label));
            all_known
        });
        let after = all_known.then(|| self.summaries.of(&found));
        self.found = found;
        after
    }

    /// The processes of the labels in `after` that race with `first`.
    pub(crate) fn rivals(
        &mut self,
        labels: &Labels,
        first: LabelId,
        after: SummaryId,
    ) -> &Processes {
        self.summaries.rivals(labels, first, after)
    }

    /// Traverses the stored transitions from `state` depth-first: each transition once, or along
    /// every path without a repeated state. Ends when `each` returns false. `each` gets `None` for
    /// a state whose transitions are not stored yet.
    fn traverse(&mut self, state: StateId, once: bool, mut each: impl FnMut(Option<Edge>) -> bool) {
        self.traversals += 1;
        // The current path: its states, each with the index of its next edge.
        let mut path = vec![(state, 0)];
        while let Some((state, next)) = path.last_mut() {
            let (state, index) = (*state, *next);
            *next += 1;
            if index == 0 {
                self.visited_by[state.index()] = self.traversals;
            }
            if let Mark::OnStack(_) = self.mark(state) {
                if !each(None) {
                    return;
                }
            } else if let Some(&edge) = self.edges(state).get(index) {
                if !each(Some(edge)) {
                    return;
                }
                if self.visited_by[edge.to.index()] != self.traversals {
                    path.push((edge.to, 0));
                }
                continue;
            }
            path.pop();
            if !once {
                self.visited_by[state.index()] = 0;
            }
        }
    }

    /// Bytes in use, about.
    pub(crate) fn bytes(&self) -> usize {
        self.marks.len() * size_of::<Mark>()
            + self.edges.len() * size_of::<Edge>()
            + self.ranges.len() * 8
            + self.visited_by.len() * 4
            + self.summaries.bytes()
    }
}
