//! From one stored state to another, in a breadth-first search.
//!
//! States are numbered in the order in which they are visited. Each stores its predecessor on a
//! shortest path; together they form a tree. To go to a state, the search undoes the actions that
//! are not on the path to it, and executes the rest of the path. Neighbours in a level share most
//! of their paths.

use super::cursor::Cursor;
use super::store::StateId;
use crate::model::{Action, System};

/// How a state was first reached.
#[derive(Clone, Copy)]
struct Arrival {
    from: StateId,
    /// The action that led here; `None` for the initial state.
    by: Option<Action>,
}

/// The tree of shortest paths, and the path to the present state.
#[derive(Default)]
pub(crate) struct Paths {
    /// Per state.
    arrivals: Vec<Arrival>,
    /// The states on the path to the current one, which is the last.
    path: Vec<StateId>,
    /// Scratch space for `seek`: the rest of the path, in reverse order.
    ahead: Vec<StateId>,
}

impl Paths {
    /// Notes the initial state, where the search is.
    pub(crate) fn begin(&mut self, initial: StateId) {
        self.arrivals.push(Arrival { from: initial, by: None });
        self.path.push(initial);
    }

    /// Notes the next new state.
    pub(crate) fn add(&mut self, from: StateId, by: Action) {
        self.arrivals.push(Arrival { from, by: Some(by) });
    }

    /// The number of states.
    pub(crate) fn count(&self) -> usize {
        self.arrivals.len()
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.arrivals.len() * size_of::<Arrival>()
    }

    /// Goes to a state at this depth. O(depth), in most cases less.
    pub(crate) fn seek<S: System>(
        &mut self,
        cursor: &mut Cursor<'_, S>,
        state: StateId,
        depth: usize,
    ) {
        let (mut at, mut place) = (state, depth);
        while self.path.get(place) != Some(&at) {
            self.ahead.push(at);
            at = self.arrivals[at.index()].from;
            place -= 1;
        }
        cursor.undo(self.path.len() - 1 - place);
        self.path.truncate(place + 1);
        while let Some(next) = self.ahead.pop() {
            let by = self.arrivals[next.index()].by.expect("the initial state is on every path");
            cursor.execute(by);
            self.path.push(next);
        }
    }
}
