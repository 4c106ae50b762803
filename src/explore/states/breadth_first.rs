//! Breadth-first search through states: every state within a depth bound, at its distance.
//!
//! ```text
//! level 0 := {initial state}
//! for d = 0, 1, .. up to the bound:
//!   level d + 1 := the successors of states of level d that are in no level yet
//! ```
//!
//! A depth is a length here: the level of a state is the length of a shortest execution that leads
//! to it. So every state and every step of an execution within the bound is visited: the state is
//! in one of these levels, and the step leads to one.
//!
//! **Why not depth-first.** A depth-first search may first reach a state by a long path, after
//! which the bound leaves only few steps. When it reaches the state again by a shorter path, it
//! would have to explore it again, and so on.
//!
//! **Why no reduction.** A safe set may go first because the actions of other processes still come
//! later. With a bound they may come too late. In
//!
//! ```text
//! process P { local("a"); local("b"); }        process Q { x = 1; }
//! ```
//!
//! P is a safe set twice. So a reduced search reaches the write only in the third step, and misses
//! it within a bound of two. Therefore all explorers that store states visit the same states within
//! a bound.
//!
//! **Livelocks.** A state before the bound in which all processes that can move are in loops that
//! change nothing is judged as without a bound: the loops lead only to known states, so no cut at
//! the bound would show that the search is incomplete.
//!
//! **Batches.** Where it is known in advance that moves can be memoised, a level is explored in
//! [`super::batches`]. Otherwise its states are visited one after the other.
//!
//! **From one state to the next.** States are numbered in the order in which they are visited, so a
//! level is a range of numbers, and the queue is a single number. Each state stores its predecessor
//! on a shortest path; together they form a tree. To go to a state, the search undoes the actions
//! that are not on the path to it, and executes the rest of the path. Neighbours in a level share
//! most of their paths.

use super::batches;
use super::cursor::Cursor;
use super::plan::Plan;
use super::settings::Stateful;
use super::store::StateId;
use crate::explore::driver::Driver;
use crate::model::{Action, System};
use crate::property::Watch;

/// How a state was first reached.
#[derive(Clone, Copy)]
struct Arrival {
    from: StateId,
    /// The action that led here; `None` for the initial state.
    by: Option<Action>,
}

struct BreadthFirst<'s, S: System> {
    cursor: Cursor<'s, S>,
    /// Per state.
    arrivals: Vec<Arrival>,
    /// The states on the path to the current one, which is the last.
    path: Vec<StateId>,
    /// Scratch space for `seek`: the rest of the path, in reverse order.
    ahead: Vec<StateId>,
    enabled: Vec<Action>,
    /// Finds processes in loops that change nothing.
    watch: Watch,
}

/// Visits every state up to the depth `bound`, in batches if possible.
pub fn explore<S: System>(
    system: &S,
    settings: Stateful,
    (bound, plan): (u32, Plan),
    driver: &mut Driver<'_>,
) {
    match batches::can_look_up(system, settings, driver) && batches::can_go_by_levels(system) {
        true => batches::explore_by_levels(system, settings, plan, driver),
        false => on_the_model(system, settings, bound, driver),
    }
}

/// Visits every state up to the depth `bound`, executing each transition on the model.
fn on_the_model<S: System>(system: &S, settings: Stateful, bound: u32, driver: &mut Driver<'_>) {
    let mut search = BreadthFirst {
        cursor: Cursor::new(system, settings),
        arrivals: Vec::new(),
        path: Vec::new(),
        ahead: Vec::new(),
        enabled: Vec::new(),
        watch: Watch::new(driver.signal().clone()),
    };
    driver.started(&mut search.cursor.locals, &search.cursor.state);
    let (initial, _) = search.cursor.matched();
    search.arrivals.push(Arrival { from: initial, by: None });
    search.path.push(initial);
    let mut counts = Vec::new();
    let mut level = 0..1;
    while !level.is_empty() && !driver.is_stopped() {
        counts.push(level.len() as u64);
        let depth = counts.len() - 1;
        for state in level.clone() {
            if !driver.is_stopped() {
                search.seek(StateId(state), depth);
                search.visit(StateId(state), depth < bound as usize, driver);
            }
        }
        level = level.end..search.arrivals.len() as u32;
    }
    let stats = &mut driver.stats;
    stats.states = Some(search.cursor.count());
    stats.state_bytes = Some(search.bytes() as u64);
    stats.states_by_depth = Some(counts);
}

impl<S: System> BreadthFirst<'_, S> {
    /// Goes to a state at this depth. O(depth), in most cases less.
    fn seek(&mut self, state: StateId, depth: usize) {
        let (mut at, mut place) = (state, depth);
        while self.path.get(place) != Some(&at) {
            self.ahead.push(at);
            at = self.arrivals[at.index()].from;
            place -= 1;
        }
        self.cursor.undo(self.path.len() - 1 - place);
        self.path.truncate(place + 1);
        while let Some(next) = self.ahead.pop() {
            let by = self.arrivals[next.index()].by.expect("the initial state is on every path");
            self.cursor.execute(by);
            self.path.push(next);
        }
    }

    /// Judges the current state. If `goes_on`, also reaches its successors.
    fn visit(&mut self, state: StateId, goes_on: bool, driver: &mut Driver<'_>) {
        let BreadthFirst { cursor, arrivals, enabled, watch, .. } = self;
        enabled.clear();
        cursor.state.enabled(&cursor.locals, enabled);
        if enabled.is_empty() {
            driver.terminal(&mut cursor.locals, &cursor.state);
            return;
        }
        if !goes_on {
            return driver.truncated(&cursor.locals, &cursor.state);
        }
        if cursor.locals.some_may_return() {
            driver.is_livelock(watch, &mut cursor.locals, &mut cursor.state);
        }
        for &action in &*enabled {
            if driver.is_stopped() {
                return;
            }
            cursor.execute(action);
            driver.moved(&mut cursor.locals, &cursor.state, action);
            let (to, is_new) = cursor.matched();
            driver.transition((state.0, &[action], to.0), &cursor.locals, &cursor.state);
            if is_new {
                arrivals.push(Arrival { from: state, by: Some(action) });
                driver.stats.states = Some(cursor.count());
            }
            cursor.undo(1);
        }
    }

    /// Bytes in use for states and their predecessors.
    fn bytes(&self) -> usize {
        self.cursor.bytes() + self.arrivals.len() * size_of::<Arrival>()
    }
}
