//! Builds the graph of states, breadth-first, and shows the lassos that are found on it.
//!
//! Each state is visited on a shortest path to it ([`Paths`]). Every step from there is executed,
//! and the state that it leads to is looked up. An edge says who moves, but not by which choice:
//! numbers of messages differ between executions that lead to equal states. So the steps of a lasso
//! are found again one by one, as those that lead to a state with the portrait that the graph says.
//!
//! **New processes.** A process that is started, or a carrier of the network, is named after its
//! parent and the number of those that the parent had before. All of these are in the portrait,
//! since no process ever disappears. So states with equal portraits go on alike, under equal names.

#[cfg(feature = "json")]
use std::io::{self, Read, Write};

use super::demands::{self, Lasso};
use super::graph::{Edge, Graph};
use crate::explore::driver::Driver;
use crate::explore::news::{Form, Led, News, Noting};
use crate::explore::result::StopReason;
#[cfg(feature = "json")]
use crate::explore::saved::{read_number, write_number};
use crate::explore::states::cursor::Cursor;
use crate::explore::states::kept;
use crate::explore::states::paths::Paths;
use crate::explore::states::plan::Ended;
use crate::explore::states::settings::Stateful;
use crate::explore::states::store::StateId;
use crate::model::{Action, Fairness, ProcessId, Schedule, StopSignal, System};
use crate::property::{
    Demands, Objection, Position, Watch, fairness, propositions, strong_actions,
};

/// With this number of states, demands are judged for the first time, on the graph so far; and
/// again each time that it has grown to eight times as many.
const FIRST_LOOK: usize = 1 << 16;

/// Builds the graph of a system, or goes on with it, and judges it.
pub(super) fn explore<S: System>(system: &S, driver: &mut Driver<'_>) {
    let form = Form::BreadthFirst(0);
    let known = kept::gone_again(system, form, driver, |news, next, again| {
        let mut growth = Growth::new(system, again.signal().clone());
        growth.news = Some(news);
        growth.begin(again);
        growth.go_on(next, again);
        growth
    });
    match known {
        Ok(Some(growth)) => growth.finish(driver),
        Ok(None) => {
            let mut growth = Growth::new(system, driver.signal().clone());
            growth.news = kept::news(driver);
            growth.begin(driver);
            growth.finish(driver);
        }
        Err(Ended) => {}
    }
}

struct Growth<'s, S: System> {
    system: &'s S,
    cursor: Cursor<'s, S>,
    paths: Paths,
    graph: Graph,
    enabled: Vec<Action>,
    /// Finds processes in loops that change nothing.
    watch: Watch,
    /// The demands that no lasso is known to violate yet. All of them, as long as states are
    /// visited: where the first violation is not enough, they are judged at the end.
    open: Vec<usize>,
    /// With this number of states, they are judged again.
    next_look: usize,
    /// The next state to visit.
    next: u32,
    /// What the transitions have led to, if the search is saved.
    news: Option<News>,
}

impl<S: System> Noting for Growth<'_, S> {
    fn news(&mut self) -> Option<&mut News> {
        self.news.as_mut()
    }

    #[cfg(feature = "json")]
    fn write_rest(&self, to: &mut dyn Write) -> io::Result<()> {
        write_number(to, self.next_look as u64)?;
        self.graph.write_edges(to)
    }

    #[cfg(feature = "json")]
    fn read_rest(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.next_look = read_number(from)? as usize;
        self.graph.read_edges(self.next, from)
    }
}

impl<'s, S: System> Growth<'s, S> {
    fn new(system: &'s S, stop: StopSignal) -> Self {
        let count = system.liveness().map_or(0, |liveness| liveness.count());
        let propositions = system.liveness().map_or(0, |liveness| liveness.propositions());
        Growth {
            system,
            cursor: Cursor::new(system, Stateful::default()),
            paths: Paths::default(),
            graph: Graph::new(propositions),
            enabled: Vec::new(),
            watch: Watch::new(stop),
            open: (0..count).collect(),
            next_look: FIRST_LOOK,
            next: 0,
            news: None,
        }
    }

    /// Begins in the initial state.
    fn begin(&mut self, driver: &mut Driver<'_>) {
        let budget = driver.budget();
        if !budget.properties.contain::<Demands>() {
            self.open.clear();
        }
        // On a part of the graph, a lasso need not be a shortest one.
        if budget.all || budget.shortest {
            self.next_look = usize::MAX;
        }
        driver.started(&mut self.cursor.locals, &self.cursor.state);
        let (initial, _) = self.cursor.matched();
        self.paths.begin(initial);
        self.arrived(0, driver);
    }

    /// Visits all states that are left, and judges the graph.
    fn finish(mut self, driver: &mut Driver<'_>) {
        self.go_on(u32::MAX, driver);
        if !driver.is_stopped() {
            self.judge(driver);
        }
        driver.stats.states = Some(self.cursor.count());
        let bytes = self.cursor.bytes() + self.paths.bytes() + self.graph.bytes().0;
        driver.stats.state_bytes = Some(bytes as u64);
    }

    /// Visits the states that are reached from the first one, up to this one.
    fn go_on(&mut self, until: u32, driver: &mut Driver<'_>) {
        while self.next < until && (self.next as usize) < self.graph.len() && !driver.is_stopped() {
            kept::save_from_state_to_state(self, Form::BreadthFirst(self.next), driver);
            let (state, depth) = (self.next, self.graph.depth(self.next));
            self.next += 1;
            self.paths.seek(&mut self.cursor, StateId(state), depth as usize);
            self.visit(StateId(state), depth as usize, driver);
            let has_next = (self.next as usize) < self.graph.len();
            let ends_level = !has_next || self.graph.depth(self.next) > depth;
            if ends_level && self.graph.len() >= self.next_look && !self.goes_again() {
                self.next_look = self.graph.len() * 8;
                self.judge(driver);
            }
        }
    }

    /// Does it go again through what was saved? Then the edges will be read.
    fn goes_again(&self) -> bool {
        self.news.as_ref().is_some_and(News::goes_again)
    }

    /// Adds the present state, which is new.
    fn arrived(&mut self, depth: usize, driver: &mut Driver<'_>) {
        let Growth { cursor: Cursor { locals, state, .. }, graph, .. } = self;
        let bits = graph.add(depth as u32);
        if self.system.liveness().is_some()
            && let Err(failure) = propositions(locals, state, bits)
        {
            driver.object(locals, Position::new(locals, state), Objection::Wrong(failure));
        }
        driver.stats.states = Some(self.paths.count() as u64);
    }

    /// Judges the current state, and adds its edges.
    fn visit(&mut self, id: StateId, depth: usize, driver: &mut Driver<'_>) {
        let mut enabled = std::mem::take(&mut self.enabled);
        enabled.clear();
        let Cursor { locals, state, .. } = &mut self.cursor;
        state.enabled(locals, &mut enabled);
        if enabled.is_empty() {
            driver.terminal(locals, state);
        } else if locals.some_may_return() {
            driver.is_livelock(&mut self.watch, locals, state);
        }
        if self.misses_polls() {
            driver.stop(StopReason::Polls);
        }
        let (_, more) = self.graph.bytes();
        if more > 0 {
            driver.expect(more);
        }
        for &action in &enabled {
            if driver.is_stopped() {
                break;
            }
            self.step(id, action, depth, driver);
        }
        if !self.goes_again() {
            self.graph.expanded();
        }
        self.enabled = enabled;
    }

    /// Takes a step, adds the edge, and comes back.
    fn step(&mut self, id: StateId, action: Action, depth: usize, driver: &mut Driver<'_>) {
        let Cursor { locals, state, .. } = &self.cursor;
        let is_optional = state.is_optional(locals, action);
        let mover = self.mover(action.process);
        let foretold = self.news.as_mut().and_then(News::foretold);
        if foretold == Some(Led::Known) {
            return driver.moved_on(depth + 1);
        }
        self.cursor.execute(action);
        let Cursor { locals, state, .. } = &mut self.cursor;
        driver.moved(locals, state, action);
        let labels = self.graph.labels();
        let label = match self.system.liveness() {
            Some(_) => self.graph.label(strong_actions(locals, state)),
            None => 0,
        };
        let (to, mut led) = self.cursor.matched_as();
        if led == Led::Known && self.graph.labels() > labels {
            led = Led::Told;
        }
        if let Some(news) = &mut self.news {
            news.note(foretold, led);
        }
        let Cursor { locals, state, .. } = &self.cursor;
        driver.transition((id.0, &[action], to.0), locals, state);
        if led == Led::New {
            self.paths.add(id, action);
            self.arrived(depth + 1, driver);
        }
        if self.system.liveness().is_some() && foretold.is_none() {
            self.graph.add_edge(Edge::new(mover, to.0, label, is_optional));
        }
        self.cursor.undo(1);
    }

    /// A process, with the fairness that executions owe to it.
    fn mover(&self, process: ProcessId) -> (ProcessId, Fairness) {
        let Cursor { locals, state, .. } = &self.cursor;
        let has_demands = self.system.liveness().is_some();
        let owed = has_demands.then(|| fairness(locals, state, process));
        (process, owed.unwrap_or(Fairness::Weak))
    }

    /// Does a process wait at a poll, where it could go on polling and pass through other states?
    fn misses_polls(&self) -> bool {
        let Cursor { locals, state, .. } = &self.cursor;
        let polls_elsewhere =
            |process| state.waits_at_bound(locals, process) && !state.polls_in_place(process);
        state.has_carriers() && state.processes().any(polls_elsewhere)
    }

    /// Looks for lassos that violate demands, on the graph so far.
    fn judge(&mut self, driver: &mut Driver<'_>) {
        let Some(liveness) = self.system.liveness() else { return };
        if !self.open.is_empty() {
            driver.expect(self.graph.len() * demands::BYTES_PER_STATE);
        }
        for number in std::mem::take(&mut self.open) {
            if driver.is_stopped() {
                return;
            }
            let demand = liveness.demand(number);
            let Some(lasso) = demands::violating(&self.graph, &demand, driver) else {
                self.open.push(number);
                continue;
            };
            match self.schedule(&lasso) {
                Some(schedule) => driver.violates(self.system, number as u32, schedule),
                // It is violated, but there is no execution to show.
                None => driver.stop(StopReason::NoGuarantee),
            }
        }
    }

    /// The execution that goes along a lasso; `None` if that cannot be followed.
    fn schedule(&mut self, lasso: &Lasso) -> Option<Schedule> {
        let depth = self.graph.depth(lasso.start) as usize;
        self.paths.seek(&mut self.cursor, StateId(lasso.start), depth);
        let start = self.cursor.state.depth();
        let mut edges = lasso.stem.iter().chain(&lasso.round);
        let is_followed = edges.all(|&edge| self.follow(self.graph.edge(edge)));
        let schedule = is_followed
            .then(|| Schedule::of(&self.cursor.state).with_loop(start + lasso.stem.len()));
        self.cursor.undo(self.cursor.state.depth() - start);
        schedule
    }

    /// Takes a step like this edge. Returns false if there is none.
    fn follow(&mut self, edge: Edge) -> bool {
        let process = edge.mover();
        let mut choices = Vec::new();
        let Cursor { locals, state, .. } = &self.cursor;
        if !state.exists(process) {
            return false;
        }
        state.choices(locals, process, |choice| choices.push(choice));
        for choice in choices {
            let action = Action { process, choice };
            let Cursor { locals, state, .. } = &self.cursor;
            let is_optional = state.is_optional(locals, action);
            let mover = self.mover(process);
            self.cursor.execute(action);
            let Cursor { locals, state, .. } = &self.cursor;
            let label = self.graph.label(strong_actions(locals, state));
            let Some(to) = self.cursor.known() else {
                self.cursor.undo(1);
                continue;
            };
            if Edge::new(mover, to.0, label, is_optional) == edge {
                return true;
            }
            self.cursor.undo(1);
        }
        false
    }
}
