//! DL-S-POR: S-POR with source sets, found lazily.
//!
//! Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023), algorithm 3.
//!
//! ```text
//! Explore(s):
//!   loop:
//!     choose t ∈ backtrack ∖ done if there is one, or else t ∈ safeSet(s) ∖ done
//!     (s, a, s') := next(s, t);  push s'
//!     if s' was not visited: Explore(s')
//!     pop;  if IsComplete(s): return
//!
//! IsComplete(s):
//!   for each t explored from s, t ∉ done:
//!     done := done ∪ {t}
//!     if done = safeSet(s), or the other t' ∈ safeSet(s) lead to visited states:
//!       take those, and return true
//!     current[t] := {t} ∪ {tid(a') | a' after s', and a races with a'}
//!     backtrack := UpdateBack(s, a)
//!     if backtrack = done: return true
//!   return false
//! ```
//!
//! UpdateBack is [`super::source_set`]. The transitions after s' are summarised when the search
//! leaves s' ([`super::labels`]), so IsComplete is cheap and is evaluated after every transition.
//! To find out which transitions lead to visited states would cost more. Without summaries,
//! IsComplete traverses the stored transitions; it is evaluated only after transitions to new
//! states, and ended early (appendix A). Departures: races are those of
//! [`Touch`](crate::model::Touch), so an action that only enables another is not in race with it;
//! and cycles are handled ([`super::depth_first`]).

use super::depth_first::{DepthFirst, Reduction};
use super::past::{Memory, Traversal};
use super::processes::Processes;
use super::settings::Switch;
use crate::model::{ProcessId, System};

/// The reduction.
pub(crate) struct Lazy {
    /// How the transitions after a state are remembered.
    pub(crate) memory: Memory,
}

impl<S: System> Reduction<S> for Lazy {
    fn memory(&self) -> Memory {
        self.memory
    }

    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId> {
        let visited_first = search.settings.visited_first();
        let top = search.top();
        if top.is_complete && !top.is_full {
            return None;
        }
        let all = if top.is_full { &top.enabled } else { &top.safe };
        // As printed, it may name processes that are disabled here.
        let mut rest = top.backtrack.within(&top.enabled).without(&top.explored);
        if rest.is_empty() || top.is_full {
            rest = all.without(&top.explored);
        }
        search.first(&rest, visited_first)
    }

    fn explored(&mut self, search: &mut DepthFirst<'_, S>, _: ProcessId) {
        let top = search.top();
        let is_last = top.safe.is_subset(&top.explored);
        if top.has_news || is_last || self.memory == Memory::Summaries {
            self.check(search);
        }
    }
}

impl Lazy {
    /// IsComplete(s)
    fn check<S: System>(&self, search: &mut DepthFirst<'_, S>) {
        while let Some(index) = next_undone(search) {
            let top = search.top();
            let process = top.taken[index].process;
            top.done.insert(process);
            let rest = top.safe.without(&top.done);
            if rest.is_empty() && search.has(Switch::LastSuccessor) {
                search.top().is_complete = true;
                return;
            }
            if search.has(Switch::VisitedSuccessors) && self.ends_with(search, &rest) {
                return;
            }
            self.update_current(search, index);
            let as_printed = search.settings.as_printed;
            let top = search.top();
            top.update_backtrack(as_printed);
            top.is_complete = top.backtrack.is_subset(&top.done);
            if top.is_complete {
                return;
            }
        }
    }

    /// If all processes in `rest` that are not explored yet lead to visited states only, takes the
    /// whole safe set, and returns true.
    fn ends_with<S: System>(&self, search: &mut DepthFirst<'_, S>, rest: &Processes) -> bool {
        let unexplored = rest.without(&search.top().explored);
        if rest.is_empty() || search.known(&unexplored).len() < unexplored.len() {
            return false;
        }
        let top = search.top();
        top.done = top.safe.clone();
        top.backtrack = top.safe.clone();
        top.is_complete = unexplored.is_empty();
        true
    }

    /// Updates current\[t\] for the process at `index` in `taken`.
    fn update_current<S: System>(&self, search: &mut DepthFirst<'_, S>, index: usize) {
        let (once, complete, disabled) = (
            search.has(Switch::Once),
            search.has(Switch::CompleteSet),
            search.has(Switch::DisabledProcess),
        );
        let (stack, labels, past) = search.stack();
        let top = stack.last_mut().expect("a state on top");
        let how = Traversal {
            once,
            until_all: complete.then_some(&top.safe),
            until_outside: disabled.then_some(&top.safe),
        };
        let taken = &mut top.taken[index];
        for edge in top.edges.iter().filter(|edge| edge.action.process == taken.process) {
            let is_known = past.rivals_after(labels, taken.watch, edge.to, how, &mut taken.current);
            taken.is_open |= !is_known;
        }
    }
}

/// The index of a process that is explored from the top state, but not in done.
fn next_undone<S: System>(search: &mut DepthFirst<'_, S>) -> Option<usize> {
    let top = search.top();
    top.taken.iter().position(|taken| !top.done.contains(taken.process))
}
