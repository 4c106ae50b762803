//! DE-S-POR: S-POR with source sets, found eagerly.
//!
//! Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023), algorithm 2.
//!
//! ```text
//! Explore(s):
//!   if s was not visited:
//!     backtrack := {t}  for some t ∈ safeSet(s)
//!     while ∃ t ∈ backtrack ∖ done:
//!       (s, a, s') := next(s, t);  push s';  done := done ∪ {t};  current[t] := {t}
//!       UpdateCurr(a);  Explore(s')
//!       backtrack := UpdateBack(s, a);  pop
//!   else
//!     for each a' in an execution from s: UpdateCurr(a')
//!
//! UpdateCurr(a):
//!   (s', a', _) := the last transition on the stack of another process with which a races
//!   s'.current[tid(a')] := s'.current[tid(a')] ∪ {tid(a)}
//! ```
//!
//! UpdateBack is [`super::source_set`].
//!
//! **As printed, that loses classes**, even for programs that fit the paper's assumptions. Take
//! this one, with P2 first:
//!
//! ```text
//! P0: a := x; y := 1        P1: if y = 1 { x := 1 }        P2: b := x
//! ```
//!
//! The last transition that P1's write of x depends on is P0's read of x, which comes before it in
//! every execution. So the algorithm does not notice that P1's write could have come before P2's
//! read: current\[P2\] stays {P2}, which looks like a persistent set. The right transition is the
//! last one that does not *happen before* a. Here UpdateCurr(a) is done for every transition on the
//! stack with which a races. The paper (appendix A) does this for the transitions after a visited
//! state. Other departures: an action that only enables another is not in race with it
//! ([`Touch`](crate::model::Touch)), and cycles are handled ([`super::depth_first`]).

use super::depth_first::{DepthFirst, Reduction};
use super::past::Memory;
use super::settings::Switch;
use super::store::StateId;
use crate::model::{ProcessId, System};

/// The reduction.
pub(crate) struct Eager {
    /// How the transitions after a state are remembered.
    pub(crate) memory: Memory,
}

impl<S: System> Reduction<S> for Eager {
    fn memory(&self) -> Memory {
        self.memory
    }

    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId> {
        let visited_first = search.settings.visited_first();
        let top = search.top();
        let wanted = match (top.is_full, top.explored.is_empty()) {
            (true, _) => &top.enabled,
            (false, true) => &top.safe,
            (false, false) => &top.backtrack,
        };
        // As printed, it may name processes that are disabled here.
        let rest = wanted.within(&top.enabled).without(&top.explored);
        search.first(&rest, visited_first)
    }

    /// UpdateCurr(a)
    fn moved(&mut self, search: &mut DepthFirst<'_, S>) {
        let only_last = search.settings.as_printed;
        let (stack, labels, _) = search.stack();
        let (top, below) = stack.split_last_mut().expect("a transition has a source");
        let edge = top.edges.last().expect("a transition was taken");
        let process = edge.action.process;
        for frame in below.iter_mut().rev() {
            let taken = frame.taken.last_mut().expect("a state on the stack has a successor");
            let is_news = only_last || !taken.current.contains(process);
            if is_news && labels.race(taken.watch, edge.label) {
                taken.current.insert(process);
                if only_last {
                    return;
                }
            }
        }
    }

    fn revisited(&mut self, search: &mut DepthFirst<'_, S>, state: StateId) {
        let once = search.has(Switch::Once);
        let (stack, labels, past) = search.stack();
        let after = past.after(state, once);
        for frame in stack {
            let taken = frame.taken.last_mut().expect("a state on the stack has a successor");
            match after {
                Some(after) => taken.current.unite(past.rivals(labels, taken.watch, after)),
                None => taken.is_open = true,
            }
        }
    }

    fn explored(&mut self, search: &mut DepthFirst<'_, S>, process: ProcessId) {
        let as_printed = search.settings.as_printed;
        let top = search.top();
        top.done.insert(process);
        top.update_backtrack(as_printed);
    }
}
