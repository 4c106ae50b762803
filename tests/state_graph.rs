//! The state graph that a search visits, and what is in it: ends, and classes of executions.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mazurka::explore::{Budget, End, Explorer, Observer, Outcome, explore};
use mazurka::model::{Action, CellId, Locals, ProcessId, State, System};
use mazurka::property::Position;
use mazurka::trace::{Classes, NormalForm};

use crate::judge::has_ended;

/// Observes searches of one system one after another, in comparable terms.
pub struct Watcher<'s, S: System> {
    system: &'s S,
    /// Shared by all searches, each of which numbers spawned processes in its own way.
    locals: Locals<'s, S>,
    classes: Classes,
    /// The state graph of the last search, and the ends that it visited.
    edges: BTreeMap<u32, Vec<(Vec<Action>, u32)>>,
    ends: BTreeSet<String>,
}

impl<S: System> Observer for Watcher<'_, S> {
    fn trace(&mut self, at: Position<'_>, _: End) {
        let end = at.schedule().replay(&mut self.locals).expect("an execution");
        let end = describe(&self.locals, &end);
        self.ends.insert(end);
    }

    fn transition(&mut self, from: u32, actions: &[Action], to: u32, _: Position<'_>) {
        self.edges.entry(from).or_default().push((actions.to_vec(), to));
    }
}

/// A terminal state: the local states and the cells.
fn describe<S: System>(locals: &Locals<'_, S>, state: &State) -> String {
    let of = |p: ProcessId| format!("{p:?} {:?}", locals.get(state.local(p)));
    let processes: Vec<_> = state.program_processes().map(of).collect();
    let cells = 0..locals.system().objects().cells.len() as u32;
    let cells: Vec<_> = cells.map(|cell| locals.values.get(state.content(CellId(cell)))).collect();
    format!("{processes:?} {cells:?}")
}

impl<'s, S: System> Watcher<'s, S> {
    /// For searches of `system`.
    pub fn of(system: &'s S) -> Self {
        Watcher {
            system,
            locals: Locals::new(system),
            classes: Classes::default(),
            edges: BTreeMap::new(),
            ends: BTreeSet::new(),
        }
    }

    /// Runs a search to its end.
    pub fn watch(&mut self, method: impl Explorer) -> Outcome {
        self.edges.clear();
        self.ends.clear();
        let budget = Budget { all: true, ..Budget::default() };
        let outcome = explore(self.system, method, budget, self);
        assert!(has_ended(&outcome), "{method:?} stopped by {:?}", outcome.stopped_by);
        outcome
    }

    /// The ends that the search visits.
    pub fn ends(&mut self, method: impl Explorer) -> (BTreeSet<String>, Outcome) {
        let outcome = self.watch(method);
        (std::mem::take(&mut self.ends), outcome)
    }

    /// The classes of the executions along the paths of the graph.
    pub fn classes(&mut self, method: impl Explorer) -> HashSet<NormalForm> {
        self.watch(method);
        let mut found = HashSet::new();
        let mut state = State::initial(&mut self.locals);
        self.descend(0, &mut state, &mut found);
        found
    }

    /// For the state graph of the last search, the numbers of states that are 0, 1, 2, .. actions
    /// from the initial one.
    pub fn by_distance(&self) -> Vec<u64> {
        let (mut seen, mut level) = (BTreeSet::from([0]), vec![0]);
        let mut counts = Vec::new();
        while !level.is_empty() {
            counts.push(level.len() as u64);
            let after = level.iter().filter_map(|state| self.edges.get(state)).flatten();
            level = after.map(|(_, to)| *to).filter(|&to| seen.insert(to)).collect();
        }
        counts
    }

    /// Whether the state graph of the last search has a cycle.
    pub fn has_cycle(&self) -> bool {
        // Sources are taken away until there are none: what is left has cycles.
        let mut into: BTreeMap<u32, usize> = BTreeMap::new();
        for (_, to) in self.edges.values().flatten() {
            *into.entry(*to).or_default() += 1;
        }
        let mut sources: Vec<u32> =
            self.edges.keys().copied().filter(|state| !into.contains_key(state)).collect();
        let mut left: usize = self.edges.values().map(Vec::len).sum();
        while let Some(state) = sources.pop() {
            for (_, to) in self.edges.get(&state).into_iter().flatten() {
                left -= 1;
                let count = into.get_mut(to).expect("an edge leads there");
                *count -= 1;
                if *count == 0 {
                    sources.push(*to);
                }
            }
        }
        left > 0
    }

    fn descend(&mut self, from: u32, state: &mut State, found: &mut HashSet<NormalForm>) {
        let Some(edges) = self.edges.get(&from).cloned() else {
            found.insert(self.classes.normal_form());
            return;
        };
        for (actions, to) in edges {
            for &action in &actions {
                state.step(&mut self.locals, action);
                self.classes.push(action, state.effect(&self.locals));
            }
            self.descend(to, state, found);
            for _ in actions {
                state.undo(&self.locals);
                self.classes.pop();
            }
        }
    }
}
