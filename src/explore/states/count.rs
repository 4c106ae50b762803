//! Counts the executions of a program without exploring each.
//!
//! A complete execution is a path through the state graph, from the initial state to a state in
//! which nothing is enabled. The graph is explored once, with every state and every transition
//! ([`EveryState`]), and its paths are counted in topological order: the number of paths to a state
//! is the sum, over its incoming transitions, of the number of paths to their sources. The numbers
//! are unbounded (10^30 is no more work than 10).
//!
//! **Why paths are executions.** Matched states have the same future: the same actions are enabled,
//! and lead to states that match in turn. So the same sequences of actions follow from both, up to
//! the numbers of requests and messages. The search reports every transition of every state, even
//! if it leads to a visited state. Two actions that lead from one state to the same other state are
//! two transitions.
//!
//! **Invariants.** The end of an execution does not show whether an invariant failed on the way.
//! The executions in which none fails are the paths that avoid all states in which one fails. They
//! are counted separately.
//!
//! **Cycles.** If the graph has a cycle, there are executions that never end. If an end can be
//! reached from a cycle, infinitely many executions end; otherwise the executions that end are
//! counted.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::time::Duration;

use num_bigint::BigUint;
use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::every_state::EveryState;
use crate::explore::budget::Budget;
use crate::explore::explorer::explore;
use crate::explore::observer::{End, Observer};
use crate::explore::result::{Outcome, Stats};
use crate::model::{Action, Locals, ProcessId, State, Status, System};
use crate::property::{Invariants, Position};

/// The numbers of executions of a program.
#[derive(Clone, Debug)]
pub struct Count {
    /// The result of the search through the states.
    pub outcome: Outcome,
    /// The numbers of complete executions; `None` if there are infinitely many, or if the search is
    /// not complete.
    pub executions: Option<Executions>,
    /// The processes that act in cycles of the graph, in order. If there are any, some executions
    /// never end.
    pub cycling: Vec<ProcessId>,
}

/// Numbers of complete executions: each interleaving counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executions {
    /// All complete executions.
    pub all: BigUint,
    /// Executions that end in a deadlock.
    pub deadlocked: BigUint,
    /// Executions with a violation.
    pub violating: BigUint,
    /// The length of the shortest execution, in actions.
    pub(crate) shortest: u32,
    /// The length of the longest execution, in actions.
    pub longest: u32,
}

/// Counts the executions of `system`, in time and memory linear in the size of the state graph. The
/// budget must have no depth and no limit on traces, because these do not limit a graph.
pub fn count<S: System>(system: &S, budget: Budget, observer: &mut dyn Observer) -> Count {
    let every_state = EveryState::default();
    let judges = system.invariants().is_some() && budget.properties.contain::<Invariants>();
    let mut graph = Graph {
        observer,
        edges: Vec::new(),
        ends: FxHashMap::default(),
        last: 0,
        broken: judges.then(RoaringBitmap::new),
    };
    graph.begin(system);
    let outcome = explore(system, every_state, Budget { all: true, ..budget }, &mut graph);
    if !outcome.is_complete() {
        return Count { outcome, executions: None, cycling: Vec::new() };
    }
    let states = outcome.stats.states.expect("a search that stores states counts them") as usize;
    let Graph { edges, ends, broken, .. } = graph;
    let cycling = cycling(&edges, states);
    let live = match cycling.is_empty() {
        true => edges,
        false => alive(edges, states, &ends),
    };
    let mut executions = Paths::count(&live, states, &ends);
    if let (Some(executions), Some(broken)) = (&mut executions, broken) {
        executions.violating = &executions.all - fine(&live, states, &ends, &broken);
    }
    Count { outcome, executions, cycling }
}

/// A transition: its source, its target, and the process that acted.
type Edge = (u32, u32, ProcessId);

/// Records the state graph that a search reports.
struct Graph<'o> {
    observer: &'o mut dyn Observer,
    edges: Vec<Edge>,
    /// The ends of terminal states.
    ends: FxHashMap<u32, End>,
    /// The state that the last transition led to.
    last: u32,
    /// The states in which an invariant fails, if any are judged.
    broken: Option<RoaringBitmap>,
}

impl Graph<'_> {
    /// Judges the initial state.
    fn begin<S: System>(&mut self, system: &S) {
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        self.judge(0, Position::new(&locals, &state));
    }

    fn judge(&mut self, state: u32, at: Position<'_>) {
        if let Some(broken) = &mut self.broken
            && at.broken_invariant().is_some()
        {
            broken.insert(state);
        }
    }
}

/// Is there a violation in this end state itself, whatever happened before?
fn is_bad(at: Position<'_>, end: End) -> bool {
    let has_failed = |process| matches!(at.status(process), Status::Failed(_));
    end.is_deadlocked
        || end.is_livelocked
        || at.processes().any(has_failed)
        || at.final_failure().is_some()
}

impl Observer for Graph<'_> {
    fn trace(&mut self, at: Position<'_>, end: End) {
        let known = match self.broken {
            Some(_) => End { is_violating: is_bad(at, end), ..end },
            None => end,
        };
        self.ends.insert(self.last, known);
        self.observer.trace(at, end);
    }

    fn transition(&mut self, from: u32, actions: &[Action], to: u32, at: Position<'_>) {
        self.edges.push((from, to, actions[0].process));
        self.last = to;
        self.judge(to, at);
        self.observer.transition(from, actions, to, at);
    }

    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        self.observer.progress(stats, elapsed);
    }
}

/// The neighbours of each state: those of state s are at `firsts[s]..firsts[s + 1]`.
struct Adjacency {
    firsts: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    /// Groups the edges by their source, or for [`Direction::Incoming`] by their target.
    fn new(edges: &[Edge], states: usize, direction: Direction) -> Self {
        let ends = |&(from, to, _): &Edge| match direction {
            Direction::Outgoing => (from as usize, to),
            Direction::Incoming => (to as usize, from),
        };
        let mut firsts = vec![0_u32; states + 1];
        edges.iter().for_each(|edge| firsts[ends(edge).0 + 1] += 1);
        for state in 0..states {
            firsts[state + 1] += firsts[state];
        }
        let mut next = firsts.clone();
        let mut neighbours = vec![0; edges.len()];
        for edge in edges {
            let (at, neighbour) = ends(edge);
            neighbours[next[at] as usize] = neighbour;
            next[at] += 1;
        }
        Adjacency { firsts, neighbours }
    }

    fn of(&self, state: u32) -> &[u32] {
        let state = state as usize;
        &self.neighbours[self.firsts[state] as usize..self.firsts[state + 1] as usize]
    }
}

/// Calls `each` with the states in topological order, except the states on a cycle or reachable
/// from one. Returns the number of calls.
fn in_order(edges: &[Edge], states: usize, mut each: impl FnMut(u32, &[u32])) -> usize {
    let after = Adjacency::new(edges, states, Direction::Outgoing);
    let mut missing = vec![0_u32; states];
    edges.iter().for_each(|&(_, to, _)| missing[to as usize] += 1);
    let mut ready: Vec<u32> = (0..states as u32).filter(|&s| missing[s as usize] == 0).collect();
    let mut count = 0;
    while let Some(state) = ready.pop() {
        count += 1;
        each(state, after.of(state));
        for &next in after.of(state) {
            missing[next as usize] -= 1;
            if missing[next as usize] == 0 {
                ready.push(next);
            }
        }
    }
    count
}

/// The processes that act in cycles, in order.
fn cycling(edges: &[Edge], states: usize) -> Vec<ProcessId> {
    let mut is_before = vec![false; states];
    if in_order(edges, states, |state, _| is_before[state as usize] = true) == states {
        return Vec::new();
    }
    let rest =
        edges.iter().filter(|(from, to, _)| !is_before[*from as usize] && !is_before[*to as usize]);
    let graph: DiGraphMap<u32, ()> = rest.clone().map(|&(from, to, _)| (from, to)).collect();
    let mut component = FxHashMap::default();
    for (number, states) in kosaraju_scc(&graph).into_iter().enumerate() {
        component.extend(states.into_iter().map(|state| (state, number)));
    }
    // An edge within a component is on a cycle.
    let within = rest.filter(|(from, to, _)| component[from] == component[to]);
    within.map(|&(.., process)| process).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The edges after which an end can be reached.
fn alive(edges: Vec<Edge>, states: usize, ends: &FxHashMap<u32, End>) -> Vec<Edge> {
    let before = Adjacency::new(&edges, states, Direction::Incoming);
    let mut is_alive = vec![false; states];
    let mut pending: Vec<u32> = ends.keys().copied().collect();
    while let Some(state) = pending.pop() {
        if !std::mem::replace(&mut is_alive[state as usize], true) {
            pending.extend(before.of(state));
        }
    }
    edges.into_iter().filter(|&(_, to, _)| is_alive[to as usize]).collect()
}

/// The number of executions without a violation: they avoid the `broken` states and have a good
/// end.
fn fine(
    edges: &[Edge],
    states: usize,
    ends: &FxHashMap<u32, End>,
    broken: &RoaringBitmap,
) -> BigUint {
    let is_kept = |edge: &&Edge| !broken.contains(edge.0) && !broken.contains(edge.1);
    let kept: Vec<_> = edges.iter().filter(is_kept).copied().collect();
    let found = Paths::count(&kept, states, ends).filter(|_| !broken.contains(0));
    found.map_or(BigUint::ZERO, |found| found.all - found.violating)
}

/// The paths from the initial state to one state.
#[derive(Clone, Default)]
struct Paths {
    count: BigUint,
    /// The length of the shortest, if there is one.
    shortest: Option<u32>,
    longest: u32,
}

impl Paths {
    /// All paths along these edges to an end; `None` if there are infinitely many.
    fn count(edges: &[Edge], states: usize, ends: &FxHashMap<u32, End>) -> Option<Executions> {
        let mut paths = vec![Paths::default(); states];
        paths[0] = Paths { count: 1_u32.into(), shortest: Some(0), longest: 0 };
        let mut found = Executions {
            all: BigUint::ZERO,
            deadlocked: BigUint::ZERO,
            violating: BigUint::ZERO,
            shortest: u32::MAX,
            longest: 0,
        };
        let counted = in_order(edges, states, |state, next| {
            // All edges to this state are done: its number of paths is not needed again.
            let here = std::mem::take(&mut paths[state as usize]);
            let Some(shortest) = here.shortest else { return };
            next.iter().for_each(|&next| paths[next as usize] += &here);
            if let Some(end) = ends.get(&state) {
                found.all += &here.count;
                found.deadlocked +=
                    if end.is_deadlocked { here.count.clone() } else { BigUint::ZERO };
                found.violating += if end.is_violating { here.count } else { BigUint::ZERO };
                found.shortest = found.shortest.min(shortest);
                found.longest = found.longest.max(here.longest);
            }
        });
        if found.all == BigUint::ZERO {
            found.shortest = 0;
        }
        (counted == states).then_some(found)
    }
}

/// Adds the paths to a predecessor, each longer by one edge.
impl AddAssign<&Paths> for Paths {
    fn add_assign(&mut self, before: &Paths) {
        let further = before.shortest.map(|length| length + 1);
        self.count += &before.count;
        self.shortest = self.shortest.into_iter().chain(further).min();
        self.longest = self.longest.max(before.longest + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states 3 and 4 are the ends, 4 a deadlock.
    fn counted(edges: &[(u32, u32)]) -> Option<(u32, u32, u32, u32)> {
        let edges: Vec<Edge> = edges.iter().map(|&(from, to)| (from, to, ProcessId(0))).collect();
        let end = |is_bad| End { is_deadlocked: is_bad, is_violating: is_bad, ..End::default() };
        let ends = FxHashMap::from_iter([(3, end(false)), (4, end(true))]);
        let live = alive(edges, 5, &ends);
        let digits = |n: &BigUint| u32::try_from(n).unwrap();
        let found = Paths::count(&live, 5, &ends)?;
        Some((digits(&found.all), digits(&found.deadlocked), found.shortest, found.longest))
    }

    #[test]
    fn paths_are_counted_by_edges() {
        let diamond = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (2, 3), (2, 4)];
        assert_eq!(counted(&diamond), Some((5, 1, 1, 2)));
    }

    #[test]
    fn a_cycle_counts_if_it_can_be_left() {
        assert_eq!(counted(&[(0, 1), (0, 3), (1, 1)]), Some((1, 0, 1, 1)));
        assert_eq!(counted(&[(0, 1), (1, 2), (2, 1), (2, 3)]), None);
    }

    #[test]
    fn those_that_act_in_cycles_are_named() {
        let edges = [(0, 1, 7), (1, 2, 1), (2, 1, 3), (2, 3, 4), (3, 3, 5), (3, 4, 6)];
        let edges = edges.map(|(from, to, process)| (from, to, ProcessId(process)));
        assert_eq!(cycling(&edges, 5), [1, 3, 5].map(ProcessId));
        assert_eq!(cycling(&edges[..2], 5), []);
    }
}
