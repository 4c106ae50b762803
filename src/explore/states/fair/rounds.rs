//! Short loops within a fair component.
//!
//! A loop must be fair by itself. It has *obligations*: for each weakly fair process, to visit a
//! state where the process cannot move, or to take a step of it; for each strongly fair action, to
//! take it, or to visit no state where it is possible.
//!
//! A shortest loop from a state is found by a breadth-first search of pairs of a state and the set
//! of what has happened on the way. It is done from each state of the component, as long as a
//! shorter lasso is possible. That is exponential in the number of obligations, so its effort is
//! bounded. If the bound is reached first, and nothing is found, a loop is put together greedily:
//! always on to the nearest place where the next open obligation is met, and then back. Such a loop
//! takes every strongly fair action that is possible in the component.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::components::Components;
use super::graph::{Edge, Graph};
use crate::explore::driver::Driver;
use crate::model::{Fairness, ProcessId};

/// The most pairs of a state and a set that the search for shortest loops visits.
const MOST_PAIRS: usize = 1 << 21;
/// The most obligations, in bits, of a search for shortest loops.
const MOST_BITS: usize = 64;

/// Finds loops.
pub(super) struct Rounds<'c, 'g> {
    components: &'c mut Components<'g>,
    graph: &'g Graph,
    /// The number of pairs that may still be visited.
    left: usize,
}

/// What a loop in a component owes.
struct Obligations {
    /// The number of the set of states.
    set: u32,
    /// The weakly fair processes that can move in some of them.
    weak: Vec<ProcessId>,
    /// The strongly fair actions that are possible in some of them.
    strong: Vec<u32>,
}

impl<'c, 'g> Rounds<'c, 'g> {
    pub(super) fn new(components: &'c mut Components<'g>) -> Self {
        let graph = components.graph;
        Rounds { components, graph, left: MOST_PAIRS }
    }

    /// The state and the edges of a loop in one of these fair components, so that the loop and the
    /// way to it are shorter than `most`. None if nothing shorter is found.
    pub(super) fn shortest(
        &mut self,
        fair: Vec<Vec<u32>>,
        most: usize,
        distance: impl Fn(u32) -> u32,
        driver: &mut Driver<'_>,
    ) -> Option<(u32, Vec<usize>)> {
        let mut most = most;
        let mut best = None;
        let mut fair: Vec<_> = fair
            .into_iter()
            .map(|mut states| {
                states.sort_by_key(|&state| (distance(state), state));
                states
            })
            .collect();
        fair.sort_by_key(|states| (distance(states[0]), states[0]));
        for states in fair {
            let set = self.components.put(&states);
            let owed = Obligations::of(self.graph, set, &states);
            if (distance(states[0]) as usize) < most && owed.bits() > MOST_BITS && best.is_none() {
                best = Some((states[0], self.greedy(&owed, states[0])));
            }
            for &state in &states {
                let stem = distance(state) as usize;
                if stem + 1 >= most || self.left == 0 || owed.bits() > MOST_BITS {
                    break;
                }
                driver.worked(1);
                if let Some(round) = self.exact(&owed, state, most - stem - 1) {
                    most = stem + round.len();
                    best = Some((state, round));
                }
            }
            if self.left == 0 && best.is_none() && (distance(states[0]) as usize) < most {
                let round = self.greedy(&owed, states[0]);
                best = Some((states[0], round));
            }
        }
        best
    }

    /// A shortest fair loop from `start`, of at most this length. None also if the effort is at its
    /// bound.
    fn exact(&mut self, owed: &Obligations, start: u32, longest: usize) -> Option<Vec<usize>> {
        let graph = self.graph;
        let mut known: FxHashSet<(u32, u64)> = FxHashSet::default();
        // Pairs, each with the index of the one before, the edge from there, and its length.
        let mut pairs = vec![(start, owed.at(graph, start), usize::MAX, 0, 0)];
        known.insert((start, pairs[0].1));
        let mut next = 0;
        while next < pairs.len() {
            let (state, seen, .., length) = pairs[next];
            if length == longest {
                return None;
            }
            for number in graph.edges_at(state) {
                let edge = graph.edge(number);
                if !self.components.is_in(edge.to, owed.set) {
                    continue;
                }
                let after = seen | owed.by(graph, edge) | owed.at(graph, edge.to);
                if edge.to == start && owed.are_met(after) {
                    let mut round = vec![number];
                    let mut at = next;
                    while pairs[at].2 != usize::MAX {
                        round.push(pairs[at].3);
                        at = pairs[at].2;
                    }
                    round.reverse();
                    return Some(round);
                }
                if known.insert((edge.to, after)) {
                    self.left = self.left.saturating_sub(1);
                    if self.left == 0 {
                        return None;
                    }
                    pairs.push((edge.to, after, next, number, length + 1));
                }
            }
            next += 1;
        }
        None
    }

    /// A fair loop from `start` through the component.
    fn greedy(&self, owed: &Obligations, start: u32) -> Vec<usize> {
        let graph = self.graph;
        let (mut at, mut round) = (start, Vec::new());
        let meets_weak =
            |process, edge: Edge, from| edge.mover() == process || !can_move(graph, from, process);
        for &process in &owed.weak {
            let mut all = round.iter().map(|&number| graph.edge(number));
            let is_met = !can_move(graph, start, process)
                || all.any(|edge| edge.mover() == process || !can_move(graph, edge.to, process));
            if !is_met {
                at =
                    self.extend(owed, &mut round, at, |edge, from| meets_weak(process, edge, from));
            }
        }
        for &action in &owed.strong {
            let is_taken = |edge: Edge| graph.strong(edge).contains(&action);
            if !round.iter().any(|&number| is_taken(graph.edge(number))) {
                at = self.extend(owed, &mut round, at, |edge, _| is_taken(edge));
            }
        }
        if at != start || round.is_empty() {
            self.extend(owed, &mut round, at, |edge, _| edge.to == start);
        }
        round
    }

    /// Goes a shortest way from `at` whose last step is as wanted, and returns where it leads.
    fn extend(
        &self,
        owed: &Obligations,
        round: &mut Vec<usize>,
        at: u32,
        is_wanted: impl Fn(Edge, u32) -> bool,
    ) -> u32 {
        let mut before: FxHashMap<u32, (u32, usize)> = FxHashMap::default();
        let mut queue = VecDeque::from([at]);
        while let Some(state) = queue.pop_front() {
            for number in self.graph.edges_at(state) {
                let edge = self.graph.edge(number);
                if !self.components.is_in(edge.to, owed.set) {
                    continue;
                }
                if is_wanted(edge, state) {
                    let mut way = vec![number];
                    let mut back = state;
                    while back != at {
                        let (earlier, number) = before[&back];
                        way.push(number);
                        back = earlier;
                    }
                    round.extend(way.into_iter().rev());
                    return edge.to;
                }
                if edge.to != at && !before.contains_key(&edge.to) {
                    before.insert(edge.to, (state, number));
                    queue.push_back(edge.to);
                }
            }
        }
        unreachable!("a component is strongly connected, and fair")
    }
}

/// Does the process have to move in the state?
fn can_move(graph: &Graph, state: u32, process: ProcessId) -> bool {
    let mut edges = graph.edges(state).iter();
    edges.any(|edge| edge.mover() == process && !edge.is_optional())
}

impl Obligations {
    fn of(graph: &Graph, set: u32, states: &[u32]) -> Obligations {
        let (mut weak, mut strong) = (Vec::new(), Vec::new());
        let mut known_weak = vec![false; graph.processes()];
        let mut known_strong = vec![false; graph.strong_len()];
        let duties = states.iter().flat_map(|&state| graph.edges(state));
        for &edge in duties.filter(|edge| !edge.is_optional()) {
            let process = edge.mover();
            if !std::mem::replace(&mut known_weak[process.index()], true)
                && edge.fairness() >= Fairness::Weak
            {
                weak.push(process);
            }
            for &action in graph.strong(edge) {
                if !std::mem::replace(&mut known_strong[action as usize], true) {
                    strong.push(action);
                }
            }
        }
        Obligations { set, weak, strong }
    }

    /// One bit for each weakly fair process, and two for each strongly fair action: whether it was
    /// possible, and whether it was taken.
    fn bits(&self) -> usize {
        self.weak.len() + 2 * self.strong.len()
    }

    fn strong_bit(&self, index: usize) -> u64 {
        1 << (self.weak.len() + 2 * index)
    }

    /// What a visit of the state means.
    fn at(&self, graph: &Graph, state: u32) -> u64 {
        let mut seen = 0;
        for (index, &process) in self.weak.iter().enumerate() {
            if !can_move(graph, state, process) {
                seen |= 1 << index;
            }
        }
        for (index, action) in self.strong.iter().enumerate() {
            let mut duties = graph.edges(state).iter().filter(|edge| !edge.is_optional());
            if duties.any(|&edge| graph.strong(edge).contains(action)) {
                seen |= self.strong_bit(index);
            }
        }
        seen
    }

    /// What a step along the edge means.
    fn by(&self, graph: &Graph, edge: Edge) -> u64 {
        let weak = self.weak.iter().position(|&process| process == edge.mover());
        let mut seen = weak.map_or(0, |index| 1 << index);
        for action in graph.strong(edge) {
            if let Some(index) = self.strong.iter().position(|known| known == action) {
                seen |= self.strong_bit(index) << 1;
            }
        }
        seen
    }

    /// Are all obligations met by a loop with this?
    fn are_met(&self, seen: u64) -> bool {
        let all_weak = match self.weak.len() {
            64 => u64::MAX,
            count => (1 << count) - 1,
        };
        let mut strong = (0..self.strong.len()).map(|index| self.strong_bit(index));
        seen & all_weak == all_weak && strong.all(|bit| seen & bit == 0 || seen & bit << 1 != 0)
    }
}
