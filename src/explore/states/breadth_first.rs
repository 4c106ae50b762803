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

use super::batches;
use super::cursor::Cursor;
use super::kept;
use super::paths::Paths;
use super::plan::{Ended, Plan};
use super::settings::Stateful;
use super::store::StateId;
use crate::explore::driver::Driver;
use crate::explore::news::{Form, Led, News, Noting};
use crate::model::{Action, System};
use crate::property::Watch;

struct BreadthFirst<'s, S: System> {
    cursor: Cursor<'s, S>,
    paths: Paths,
    enabled: Vec<Action>,
    /// Finds processes in loops that change nothing.
    watch: Watch,
    /// The size of each level, up to the present one; and where that one ends.
    counts: Vec<u64>,
    end: u32,
    /// The next state to visit.
    next: u32,
    /// What the transitions have led to, if the search is saved.
    news: Option<News>,
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
    let form = Form::BreadthFirst(0);
    let known = kept::gone_again(system, form, driver, |news, next, again| {
        let mut search = BreadthFirst::begun(system, settings, again);
        search.news = Some(news);
        search.go_on(bound, next, again);
        search
    });
    let mut search = match known {
        Ok(Some(search)) => search,
        Err(Ended) => return,
        Ok(None) => {
            let mut search = BreadthFirst::begun(system, settings, driver);
            search.news = kept::news(driver);
            search
        }
    };
    search.go_on(bound, u32::MAX, driver);
    let stats = &mut driver.stats;
    stats.states = Some(search.cursor.count());
    stats.state_bytes = Some(search.bytes() as u64);
    stats.states_by_depth = Some(search.counts);
}

impl<S: System> Noting for BreadthFirst<'_, S> {
    fn news(&mut self) -> Option<&mut News> {
        self.news.as_mut()
    }
}

impl<'s, S: System> BreadthFirst<'s, S> {
    /// A search that has visited no state.
    fn begun(system: &'s S, settings: Stateful, driver: &mut Driver<'_>) -> Self {
        let mut search = BreadthFirst {
            cursor: Cursor::new(system, settings),
            paths: Paths::default(),
            enabled: Vec::new(),
            watch: Watch::new(driver.signal().clone()),
            counts: vec![1],
            end: 1,
            next: 0,
            news: None,
        };
        driver.started(&mut search.cursor.locals, &search.cursor.state);
        let (initial, _) = search.cursor.matched();
        search.paths.begin(initial);
        search
    }

    /// Visits the states up to this one.
    fn go_on(&mut self, bound: u32, until: u32, driver: &mut Driver<'_>) {
        while self.next < until && !driver.is_stopped() {
            if self.next == self.end {
                let count = self.paths.count() as u32;
                if self.end == count {
                    return;
                }
                self.counts.push(u64::from(count - self.end));
                self.end = count;
            }
            let form = Form::BreadthFirst(self.next);
            kept::save_from_state_to_state(self, form, driver);
            let depth = self.counts.len() - 1;
            let state = StateId(self.next);
            self.next += 1;
            self.paths.seek(&mut self.cursor, state, depth);
            self.visit(state, depth < bound as usize, driver);
        }
    }

    /// Judges the current state. If `goes_on`, also reaches its successors.
    fn visit(&mut self, state: StateId, goes_on: bool, driver: &mut Driver<'_>) {
        let BreadthFirst { cursor, paths, enabled, watch, news, .. } = self;
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
            let foretold = news.as_mut().and_then(News::foretold);
            if foretold == Some(Led::Known) {
                driver.moved_on(cursor.state.depth() + 1);
                continue;
            }
            cursor.execute(action);
            driver.moved(&mut cursor.locals, &cursor.state, action);
            let (to, led) = cursor.matched_as();
            if let Some(news) = news {
                news.note(foretold, led);
            }
            driver.transition((state.0, &[action], to.0), &cursor.locals, &cursor.state);
            if led == Led::New {
                paths.add(state, action);
                driver.stats.states = Some(cursor.count());
            }
            cursor.undo(1);
        }
    }

    /// Bytes in use for states and their predecessors.
    fn bytes(&self) -> usize {
        self.cursor.bytes() + self.paths.bytes()
    }
}
